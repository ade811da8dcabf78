"""All that the model said, as words: where which of them stand, and since when."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np

from tau_browser.audit.following import Following
from tau_browser.audit.runs import Run, shared_runs
from tau_browser.audit.words import SEED, Words, words_of
from tau_browser.model.columns import Int32s, Int64s

_MOST_STARTS = 16  # of the words of a run, from which it is asked whether the model had said them


class Spoken:
    """The passages that the model said, one after the other, by number."""

    def __init__(self, following: Following) -> None:
        self._following = following
        self.passages = following.transcript.passages
        self._words = Words([passage.text for passage in self.passages], 1)

    @cached_property
    def naming_documents(self) -> list[int]:
        """The passages that may name documents by their ids."""
        return self._words.texts_with(b"doc")

    def naming(self, titles: Sequence[str]) -> dict[int, list[str]]:
        """The passages in which some titles stand, and which of them."""
        words = {title: frozenset(words_of(title)) for title in titles}
        every = list(frozenset().union(*words.values()))
        holders: dict[str, set[int]] = defaultdict(set)
        which, passages = self._words.where(every)
        for one, passage in zip(which.tolist(), passages.tolist(), strict=True):
            holders[every[one]].add(passage)
        found: dict[int, list[str]] = defaultdict(list)
        for title in titles:
            some = map(holders.__getitem__, words[title])
            likely = set.intersection(*some) if words[title] else range(len(self.passages))
            for passage in likely:
                if title in self.passages[passage].text:
                    found[passage].append(title)
        return found

    def runs(self, texts: Sequence[str], least: int) -> list[Run]:
        """The runs of words that the passages share with some texts."""
        return shared_runs(self._words, Words(texts, 2), least)

    def runs_of_users(self, passages: Sequence[int]) -> dict[int, list[Run]]:
        """By passage: the runs that it shares with what a user had said before."""
        found: dict[int, list[Run]] = defaultdict(list)
        if not passages:
            return found
        users = self._following.transcript.users
        some = Words([self.passages[passage].text for passage in passages], 1)
        for run in shared_runs(some, self._following.user_words):
            passage = passages[run.one]
            if self._following.is_below(self.passages[passage].place, users[run.other][0]):
                found[passage].append(run)
        return found

    def words_of_run(self, run: Run) -> list[str]:
        """The words of a run."""
        return self._words.of(run.one, run.at, run.length)

    def weight(self, run: Run) -> float:
        """The words of a run. Single signs, such as those of scripts without spaces, are half."""
        words = self.words_of_run(run)
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
        if not terms:
            return {}
        every = list(frozenset().union(*terms.values()))
        which, start, stop = self._occurrences(every)
        said_by = {}
        for call in {calls[number] for number in terms}:
            at = self._following.position(call)
            said = np.zeros(len(every), np.bool_)
            said[which[(start <= at) & (at < stop)]] = True
            said_by[call] = {every[one] for one in np.flatnonzero(said)}
        return {number: words - said_by[calls[number]] for number, words in terms.items()}

    def _occurrences(self, words: Sequence[str]) -> tuple[Int64s, Int32s, Int32s]:
        """Where users or the model say some words: which of them, and from which to which position
        all that hangs below stands."""
        following = self._following
        answers = np.array([passage.place for passage in self.passages], np.int32)
        sides = (answers, self._words), (following.user_places, following.user_words)
        found = []
        for places, said in sides:
            which, texts = said.where(words)
            found.append((which, *following.extents(places[texts])))
        which, start, stop = map(np.concatenate, zip(*found, strict=True))
        return which, start, stop

    def _is_before(self, passages: set[int], call: int) -> bool:
        following = self._following
        places = (self.passages[passage].place for passage in passages)
        return any(following.is_at_or_below(call, place) for place in places)
