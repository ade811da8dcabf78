"""Quotations: long runs of a hit's words in what the model said, and nowhere else before."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from tau_browser.audit.following import Following
from tau_browser.audit.recall import Evidence, Verdict
from tau_browser.audit.runs import SEED, Run, shared_runs, words_in
from tau_browser.audit.said import Said
from tau_browser.audit.shown import Shown

QUOTE = 6
"""Words that must be the same, one after the other, to be a quotation."""

_NEW = 3  # words that it must hold beyond what was said before
_SHORTEST_TEXT = 4  # words of a hit that can be quoted at all
_SAID_BEFORE = 0.5  # share of it that the model must not have said before
_MOST_STARTS = 16  # of its words, from which it is asked whether the model had said them


def quotations(following: Following, shown: Sequence[Shown]) -> Iterator[tuple[int, Evidence]]:
    """The quotations of each hit, by its number. Where two documents say the same, it cannot be
    told which was quoted: to both it is shared words and no more."""
    spoken = _Spoken(following)
    of_hits: dict[int, list[Run]] = defaultdict(list)
    for run in spoken.runs([each.words for each in shown]):
        if following.is_later(spoken.said(run.one), shown[run.other].result):
            of_hits[run.one].append(run)
    long = {
        passage: [run for run in runs if spoken.weight(run) >= _needed(shown[run.other])]
        for passage, runs in of_hits.items()
    }
    of_users = spoken.runs_of_users([passage for passage, runs in long.items() if runs])
    for passage, runs in long.items():
        for run in runs:
            hit = shown[run.other]
            others = [one for one in of_hits[passage] if shown[one.other].document != hit.document]
            if not _is_new(run, of_users[passage]):
                continue
            if spoken.share_before(run, hit.call) >= _SAID_BEFORE:
                continue
            verdict = Verdict.QUOTED if _is_new(run, others) else Verdict.OVERLAPPING
            said = spoken.said(passage)
            yield run.other, Evidence(verdict, said.place, *spoken.quotation(run))


class _Spoken:
    """All passages that the model said, one after the other."""

    def __init__(self, following: Following) -> None:
        self._following = following
        self._passages = [(said, at) for said in following.said for at in range(len(said.passages))]
        self._words = words_in([said.words[at] for said, at in self._passages], 1)

    def said(self, passage: int) -> Said:
        """The entry of a passage."""
        return self._passages[passage][0]

    def runs(self, texts: Sequence[Sequence[str]]) -> list[Run]:
        """The runs of words that the passages share with some texts."""
        return shared_runs(self._words, words_in(texts, 2))

    def runs_of_users(self, passages: Sequence[int]) -> dict[int, list[Run]]:
        """By passage: the runs that it shares with what a user had said before."""
        found: dict[int, list[Run]] = defaultdict(list)
        if not passages:
            return found
        users = self._following.users
        some = words_in([self._words.texts[passage] for passage in passages], 1)
        for run in shared_runs(some, words_in([words for _, words in users], 2)):
            passage = passages[run.one]
            if self._following.is_below(self.said(passage).place, users[run.other][0]):
                found[passage].append(run)
        return found

    def weight(self, run: Run) -> float:
        """The words of a run. Single signs, such as those of scripts without spaces, are half."""
        words = self._of(run)
        return len(words) - sum(len(word) == 1 for word in words) / 2

    def quotation(self, run: Run) -> tuple[str, tuple[str, ...]]:
        """The part of an entry that a run stands in, and its words."""
        said, at = self._passages[run.one]
        return said.passages[at].part, tuple(self._of(run))

    def share_before(self, run: Run, call: int) -> float:
        """How much of a run the model itself had said by the time of a call."""
        count = min(run.length - SEED + 1, _MOST_STARTS)
        holders = self._words.holders(run.one, run.at, count)
        known = {
            passage: self._following.is_at_or_below(call, self.said(passage).place)
            for passage in set().union(*holders)
        }
        return sum(any(known[passage] for passage in some) for some in holders) / count

    def _of(self, run: Run) -> Sequence[str]:
        return self._words.texts[run.one][run.at : run.at + run.length]


def _needed(shown: Shown) -> int:
    """The words that must be the same: all of a short text, never of one that says too little."""
    return max(_SHORTEST_TEXT, min(QUOTE, len(shown.words)))


def _is_new(run: Run, others: Sequence[Run]) -> bool:
    """Whether a quotation holds enough that none of the others holds."""
    length = min(QUOTE, run.length)
    windows = range(run.at, run.at + run.length - length + 1)
    new = sum(
        not any(o.at <= at and at + length <= o.at + o.length for o in others) for at in windows
    )
    return new == len(windows) or new >= _NEW
