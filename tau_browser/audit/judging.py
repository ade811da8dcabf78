"""Whether a hit was used: what the model said after it, held against what it was shown.

The rules, strongest first. Only what hangs below the result counts as later, on any branch.

- **cited**: its id ("[doc 4]") or its title, letter by letter. A title that the user or the query
  had named, or that two documents share, says nothing.
- **opened**: a read of it that did not fail.
- **quoted**: a run of `quoting.QUOTE` words (the whole text, if it is shorter) that neither the
  user nor another document nor the model itself had said before.
- **overlapping**: rare words of it in the answer of the same turn, that nobody had said before.
- **unused**: the model answered while the hit was in its context, and none of these holds.
- **unknown**: it did not.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

from tau_browser.audit.citations import cited_ids, names_title
from tau_browser.audit.following import Following
from tau_browser.audit.hits import UNTITLED
from tau_browser.audit.quoting import Proof, quotations
from tau_browser.audit.recall import Evidence, Verdict
from tau_browser.audit.said import Passage
from tau_browser.audit.shown import Shown
from tau_browser.audit.spoken import Spoken
from tau_browser.audit.words import words_of
from tau_browser.search.words import STOPWORDS

_RARE = 3  # weight of shared rare words from which they count
_LONG = 10  # letters of a word that counts twice
_SHORT = 4  # letters that a word needs to be rare
_MOST_EVIDENCE = 5  # of one kind, for one hit


def judge(
    spoken: Spoken,
    following: Following,
    shown: Sequence[Shown],
    reads: Sequence[tuple[int, str]],
) -> list[list[Evidence]]:
    """The evidence for each hit, the strongest first; its verdict is that of the first.

    reads: the call entry and the document of each read that did not fail.
    """
    found: list[list[Evidence]] = [[] for _ in shown]
    for part in (
        _citations(spoken, following, shown),
        _openings(following, shown, reads),
        quotations(spoken, following, shown),
        _overlaps(spoken, following, shown),
    ):
        for at, evidence in part:
            same_kind = sum(one.verdict is evidence.verdict for one in found[at])
            if same_kind < _MOST_EVIDENCE:
                found[at].append(evidence)
    order = list(Verdict)
    return [sorted(each, key=lambda one: order.index(one.verdict)) for each in found]


def verdict_of(following: Following, shown: Shown, evidence: Sequence[Evidence]) -> Verdict:
    """The verdict on a hit."""
    if evidence:
        return evidence[0].verdict
    return Verdict.UNUSED if following.is_answered(shown.result) else Verdict.UNKNOWN


def _citations(spoken: Spoken, following: Following, shown: Sequence[Shown]) -> Iterator[Proof]:
    of_document: dict[str, list[int]] = defaultdict(list)
    of_title: dict[str, list[int]] = defaultdict(list)
    for at, each in enumerate(shown):
        of_document[each.hit.document].append(at)
        of_title[each.hit.title].append(at)
    titles = [
        title
        for title, hits in of_title.items()
        if title not in ("", UNTITLED) and len({shown[at].document for at in hits}) == 1
    ]
    naming = spoken.naming(titles)
    for number in sorted({*spoken.naming_documents, *naming}):
        said = spoken.passages[number]
        for document in cited_ids(said.text):
            for at in of_document.get(document, ()):
                if following.is_below(said.place, shown[at].result):
                    words = (f"doc {document}",)
                    yield at, Evidence(Verdict.CITED, said.place, said.part, words)
        for title in naming.get(number, ()):
            if not names_title(said.text, title):
                continue
            for at in of_title[title]:
                if following.is_below(said.place, shown[at].result) and not _is_named_before(
                    following, shown[at], said.place
                ):
                    yield at, Evidence(Verdict.CITED, said.place, said.part, (title,))


def _is_named_before(following: Following, shown: Shown, place: int) -> bool:
    """Whether the title was, before an entry, the user's or the query's own word."""
    title = words_of(shown.hit.title)
    if shown.query.issuperset(title):
        return True
    wanted = " ".join(title)
    above = following.users_above(place)
    return any(wanted in " ".join(words_of(text)) for text in above)


def _openings(
    following: Following, shown: Sequence[Shown], reads: Sequence[tuple[int, str]]
) -> Iterator[Proof]:
    for place, document in reads:
        for at, each in enumerate(shown):
            if each.hit.document == document and following.is_below(place, each.result):
                yield at, Evidence(Verdict.OPENED, place, "arguments", (document,))


def _overlaps(spoken: Spoken, following: Following, shown: Sequence[Shown]) -> Iterator[Proof]:
    shared = dict(_shared_terms(following, shown))
    new = spoken.new_words(shared, [each.call for each in shown])
    for at, own in new.items():
        for place in following.in_turn(shown[at].result) if _weight(own) >= _RARE else ():
            said = following.transcript.said_at(place)
            if _weight(both := own & _vocabulary(said)) >= _RARE:
                part = _part_with(said, both)
                yield at, Evidence(Verdict.OVERLAPPING, place, part, tuple(sorted(both)))


def _shared_terms(
    following: Following, shown: Sequence[Shown]
) -> Iterator[tuple[int, frozenset[str]]]:
    """By number of a hit: the rare words of it, and of no other document beside it, that the
    answer holds, where they are enough to say something."""
    by_result: dict[int, list[int]] = defaultdict(list)
    for at, each in enumerate(shown):
        by_result[each.result].append(at)
    for result, hits in by_result.items():
        answers = following.in_turn(result)
        if not answers:
            continue
        said = [each for place in answers for each in following.transcript.said_at(place)]
        said_words = _vocabulary(said) - STOPWORDS
        documents: dict[object, frozenset[str]] = defaultdict(frozenset)
        for at in hits:
            documents[shown[at].document] |= shown[at].vocabulary & said_words
        held = Counter(word for words in documents.values() for word in words if _is_rare(word))
        own = frozenset(word for word, count in held.items() if count == 1)
        for at in hits:
            terms = (own & shown[at].vocabulary) - shown[at].query
            if _weight(terms) >= _RARE:
                yield at, terms


def _is_rare(word: str) -> bool:
    """Whether a word could be told apart: a number, or none too short."""
    return len(word) >= _SHORT or (len(word) > 1 and word.isdigit())


def _weight(words: Iterable[str]) -> int:
    """How much shared words say: numbers, names with digits and long words count twice."""
    return sum(
        2 if len(word) >= _LONG or (len(word) > 2 and any(map(str.isdigit, word))) else 1
        for word in words
    )


def _vocabulary(said: Sequence[Passage]) -> frozenset[str]:
    """The words of some passages."""
    return frozenset().union(*[words_of(passage.text) for passage in said])


def _part_with(said: Sequence[Passage], shared: frozenset[str]) -> str:
    """The part of an entry that holds most of some words."""
    return max(said, key=lambda passage: len(shared.intersection(words_of(passage.text)))).part
