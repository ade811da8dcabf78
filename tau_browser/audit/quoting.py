"""Quotations: long runs of a hit's words in what the model said, and nowhere else before."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from tau_browser.audit.following import Following
from tau_browser.audit.recall import Evidence, Verdict
from tau_browser.audit.runs import Run
from tau_browser.audit.shown import Shown
from tau_browser.audit.spoken import Spoken

Proof = tuple[int, Evidence]
"""A piece of evidence for the hit of a number."""

QUOTE = 6
"""Words that must be the same, one after the other, to be a quotation."""

_NEW = 3  # words that it must hold beyond what was said before
_SHORTEST_TEXT = 4  # words of a hit that can be quoted at all
_SAID_BEFORE = 0.5  # share of it that the model must not have said before


def quotations(spoken: Spoken, following: Following, shown: Sequence[Shown]) -> Iterator[Proof]:
    """The quotations of each hit, by its number. Where two documents say the same, it cannot be
    told which was quoted: to both it is shared words and no more."""
    needed = [_needed(each) for each in shown]
    of_hits: dict[int, list[Run]] = defaultdict(list)
    for run in spoken.runs([each.hit.text for each in shown], min(needed, default=QUOTE)):
        if following.is_below(spoken.passages[run.one].place, shown[run.other].result):
            of_hits[run.one].append(run)
    long = {
        passage: [run for run in runs if spoken.weight(run) >= needed[run.other]]
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
            said, words = spoken.passages[passage], tuple(spoken.words_of_run(run))
            yield run.other, Evidence(verdict, said.place, said.part, words)


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
