"""The two places of a verdict side by side: the hit, and what speaks for its use."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tau_browser.audit.citations import cited_spans
from tau_browser.audit.following import Following
from tau_browser.audit.live import Live, in_words
from tau_browser.audit.memory import Now
from tau_browser.audit.recall import Evidence, Hit, Judged, Recall, Verdict
from tau_browser.audit.words import word_spans
from tau_browser.model.tree import NOWHERE

Span = tuple[int, int]

_SHOWN = 4000
"""Characters of a side: of a longer text, those around what is marked."""
_BEFORE = 600
_THE_HIT = "the hit"
_UNUSED = "Nothing of it is found in what the model said after it, such as:"
_UNKNOWN = "The model said nothing with this hit in its context: nobody can tell."


@dataclass(frozen=True, slots=True)
class Side:
    """A text with its marks, and the entry it stands in (-1 for none)."""

    heading: str
    text: str
    marks: list[Span]
    place: int = -1


def sides(
    following: Following,
    recall: Recall,
    judged: Judged,
    hit: Hit,
    number: int = 0,
    live: Live | None = None,
) -> tuple[Side, Side]:
    """The hit, and the evidence of this number for its verdict. Where there is none: what the
    model said first after it. live: the hit's document today, which is told with it."""
    shown = f"[doc {hit.document}] {hit.title}\n{hit.text}" if hit.document else hit.text
    if not judged.evidence:
        side = _side(_THE_HIT, shown, [], recall.result)
        return _with_live(side, live), _without(following, recall, judged)
    evidence = judged.evidence[number % len(judged.evidence)]
    said = following.transcript.said_at(evidence.place)
    texts = [passage.text for passage in said]
    if evidence.verdict is Verdict.OPENED:
        texts = [call.text for call in following.calls_at(evidence.place)]
    parts = [passage.part for passage in said]
    other, marks = _best(texts, evidence, hit, parts)
    count = len(judged.evidence)
    which = f" ({number % count + 1} of {count})" if count > 1 else ""
    heading = f"{evidence.verdict.value} in the {_WHERE[evidence.part]}{which}"
    side = _side(_THE_HIT, shown, _marks(shown, evidence, hit), recall.result)
    return _with_live(side, live), _side(heading, other, marks, evidence.place)


_WHERE = {"text": "answer", "thinking": "model's thinking", "arguments": "arguments of a call"}


def _with_live(side: Side, live: Live | None) -> Side:
    """The hit, and what its document is today; where that is another text, this text as well."""
    if live is None:
        return side
    text = side.text
    if live.document is not None and live.now is not Now.SAME:
        text += f"\n\nnow: {live.document.title}\n{live.document.text[:_SHOWN]}"
    return Side(f"{side.heading} · now: {in_words(live)}", text, side.marks, side.place)


def _without(following: Following, recall: Recall, judged: Judged) -> Side:
    if judged.verdict is Verdict.UNKNOWN:
        return Side("unknown", _UNKNOWN, [])
    first = following.first_after(recall.result)
    if first == NOWHERE:
        return Side("unused", _UNUSED, [])
    said = following.transcript.said_at(first)
    text = "\n".join([_UNUSED, "", *(passage.text for passage in said)])
    return _side("unused", text, [], first)


def _best(
    texts: Sequence[str], evidence: Evidence, hit: Hit, parts: Sequence[str]
) -> tuple[str, list[Span]]:
    """The text of an entry that holds most of what is shared, and where."""
    found = [(text, _marks(text, evidence, hit)) for text in texts]
    right = [
        each for each, part in zip(found, parts, strict=False) if part == evidence.part and each[1]
    ]
    return max(right or found or [("", [])], key=lambda each: len(each[1]))


def _marks(text: str, evidence: Evidence, hit: Hit) -> list[Span]:
    match evidence.verdict:
        case Verdict.CITED:
            by_id = cited_spans(text, hit.document)
            return by_id or [each.span() for each in re.finditer(re.escape(hit.title), text)]
        case Verdict.OPENED:
            return [each.span() for each in re.finditer(rf"\b{re.escape(hit.document)}\b", text)]
        case Verdict.QUOTED:
            return list(_runs(text, evidence.shared))
    words, spans = word_spans(text)
    if len(evidence.shared) > 1 and (whole := list(_runs(text, evidence.shared))):
        return whole  # words in their order, of which two documents may be the source
    wanted = set(evidence.shared)
    return [span for word, span in zip(words, spans, strict=True) if word in wanted]


def _runs(text: str, run: Sequence[str]) -> Iterator[Span]:
    """Where some words stand in a text one after the other."""
    words, spans = word_spans(text)
    length = len(run)
    at = 0
    while at + length <= len(words):
        if words[at : at + length] == list(run):
            yield spans[at][0], spans[at + length - 1][1]
            at += length
        else:
            at += 1


def _side(heading: str, text: str, marks: Sequence[Span], place: int) -> Side:
    """A side, cut to what is around the first mark."""
    start = max(0, marks[0][0] - _BEFORE) if marks and len(text) > _SHOWN else 0
    cut = text[start : start + _SHOWN]
    before, after = "…" * (start > 0), "…" * (start + _SHOWN < len(text))
    moved = len(before) - start
    kept = [(a + moved, b + moved) for a, b in marks if b <= start + _SHOWN]
    return Side(heading, f"{before}{cut}{after}", kept, place)
