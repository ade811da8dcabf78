"""All that the model said, as words: where which of them stand, and since when."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np

from tau_browser.audit.following import Following
from tau_browser.audit.runs import SEED, Run, shared_runs, words_in
from tau_browser.audit.said import Said, words_of

_MOST_STARTS = 16  # of the words of a run, from which it is asked whether the model had said them


class Spoken:
    """The passages that the model said, one after the other."""

    def __init__(self, following: Following) -> None:
        self._following = following
        self._passages: list[tuple[Said, int]] = []
        self._texts: list[str] = []
        for said in following.said:
            for at, passage in enumerate(said.passages):
                self._passages.append((said, at))
                self._texts.append(passage.text)
        self._words = words_in(self._texts, 1)
        self._places = np.array([said.place for said, _ in self._passages], np.int32)

    def said(self, passage: int) -> Said:
        """The entry of a passage."""
        return self._passages[passage][0]

    def runs(self, texts: Sequence[str], least: int) -> list[Run]:
        """The runs of words that the passages share with some texts."""
        return shared_runs(self._words, words_in(texts, 2), least)

    def runs_of_users(self, passages: Sequence[int]) -> dict[int, list[Run]]:
        """By passage: the runs that it shares with what a user had said before."""
        found: dict[int, list[Run]] = defaultdict(list)
        if not passages:
            return found
        users = self._following.users
        some = words_in([self._texts[passage] for passage in passages], 1)
        for run in shared_runs(some, self._following.user_words):
            passage = passages[run.one]
            if self._following.is_below(self.said(passage).place, users[run.other][0]):
                found[passage].append(run)
        return found

    def quotation(self, run: Run) -> tuple[str, tuple[str, ...]]:
        """The part of an entry that a run stands in, and its words."""
        said, at = self._passages[run.one]
        return said.passages[at].part, tuple(self._words.of(run.one, run.at, run.length))

    def weight(self, run: Run) -> float:
        """The words of a run. Single signs, such as those of scripts without spaces, are half."""
        words = self._words.of(run.one, run.at, run.length)
        return len(words) - sum(len(word) == 1 for word in words) / 2

    def share_before(self, run: Run, call: int) -> float:
        """How much of a run the model itself had said by the time of a call."""
        count = min(run.length - SEED + 1, _MOST_STARTS)
        holders = self._words.holders(run.one, run.at, count)
        return sum(self._is_before(passages, call) for passages in holders) / count

    def new_words(
        self, terms: Mapping[int, frozenset[str]], calls: Sequence[int]
    ) -> dict[int, frozenset[str]]:
        """Of some words, by a number each: those that neither a user nor the model itself had said
        by the time of a call, or in it. calls: that of each number."""
        every = list(frozenset().union(*terms.values()))
        following, said_by = self._following, {}
        if not every:
            return {}
        sides = [
            (self._places, *self._words.where(every)),
            (following.user_places, *following.user_words.where(every)),
        ]
        for call in {calls[number] for number in terms}:
            said = np.zeros(len(every), np.bool_)
            for places, which, texts in sides:
                said[which[following.above(places, call)[texts]]] = True
            said_by[call] = {every[at] for at in np.flatnonzero(said)}
        return {number: words - said_by[calls[number]] for number, words in terms.items()}

    def holds(self, text: str) -> bool:
        """Whether a text stands in one of the passages, letter by letter, or across several."""
        return self._words.may_hold(words_of(text)) and text in self._all

    @cached_property
    def _all(self) -> str:
        return "\n".join(self._texts)

    def _is_before(self, passages: set[int], call: int) -> bool:
        return any(
            self._following.is_at_or_below(call, self.said(passage).place) for passage in passages
        )
