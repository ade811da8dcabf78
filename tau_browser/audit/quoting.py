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
    users = following.users
    runs = spoken.runs([*(each.words for each in shown), *(words for _, words in users)])
    for passage, some in runs.items():
        said = spoken.said(passage)
        of_hits = [
            run
            for run in some
            if run.other < len(shown) and following.is_later(said, shown[run.other].result)
        ]
        of_users = [
            run
            for run in some
            if run.other >= len(shown)
            and following.is_below(said.place, users[run.other - len(shown)][0])
        ]
        for run in of_hits:
            hit = shown[run.other]
            if run.length < _needed(hit) or not _is_new(run, of_users):
                continue
            if spoken.share_before(run, hit.call) >= _SAID_BEFORE:
                continue
            others = [one for one in of_hits if shown[one.other].document != hit.document]
            verdict = Verdict.QUOTED if _is_new(run, others) else Verdict.OVERLAPPING
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

    def runs(self, texts: Sequence[Sequence[str]]) -> dict[int, list[Run]]:
        """By passage: the runs of words that it shares with some texts."""
        found: dict[int, list[Run]] = defaultdict(list)
        for run in shared_runs(self._words, words_in(texts, 2)):
            found[run.one].append(run)
        return found

    def quotation(self, run: Run) -> tuple[str, tuple[str, ...]]:
        """The part of an entry that a run stands in, and its words."""
        said, at = self._passages[run.one]
        return said.passages[at].part, tuple(self._of(run))

    def share_before(self, run: Run, call: int) -> float:
        """How much of a run the model itself had said by the time of a call."""
        words = self._of(run)
        starts = range(min(len(words) - SEED + 1, _MOST_STARTS))
        before = 0
        for start in starts:
            places = {
                self.said(passage).place
                for passage in self._words.places_of(words[start : start + SEED])
            }
            before += any(self._following.is_at_or_below(call, place) for place in places)
        return before / len(starts)

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
