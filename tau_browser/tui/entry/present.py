"""What is shown of an entry: a pure function from a session and a place to sections.

Nothing here draws or knows a width. What it costs is what it shows, however large the entry is.
"""

from __future__ import annotations

from collections.abc import Iterator

from tau_browser.model.calls import ResultNames, is_result
from tau_browser.model.columns import Flag
from tau_browser.model.context import ANCHORS
from tau_browser.model.families import told_families
from tau_browser.model.label import label_of, speaker_of
from tau_browser.model.memory import memory_of
from tau_browser.model.payload import (
    ENVELOPE,
    Image,
    Record,
    blocks_of,
    history_of,
    message_of,
    text_of,
)
from tau_browser.model.session import Session
from tau_browser.model.text import counted, safe, size_of
from tau_browser.model.usage import Ledger, Spend, estimate_tokens
from tau_browser.tui.entry.blocks import message_sections, result_sections, text_parts
from tau_browser.tui.entry.parts import (
    Budget,
    Code,
    Line,
    More,
    Part,
    Plain,
    Section,
    Span,
    View,
)
from tau_browser.tui.entry.stored import laid_out
from tau_browser.tui.entry.translated import OF_TRANSLATION, translated_sections
from tau_browser.tui.entry.values import JSON_FILE, fields, texts, word

_CHARACTERS, _LINES = 8_000, 200  # of one section
_SECTIONS = 40
_GROWTH = 4
_LARGE = 1_000_000  # bytes of an entry whose text is not gathered just to be measured

_SCOPE = 9  # cells of the column that names what was counted

_FLAG_WORDS = {
    Flag.INCOMPLETE: "incomplete",
    Flag.ERROR: "error",
    Flag.ABORTED: "aborted",
}
_FACTS = {
    "model": "model",
    "provider": "provider",
    "stop_reason": "stop reason",
    "reasoning_level": "thinking",
}
_REFERENCES = {"copiedFrom": "copied from", "branchOf": "sub-agent branch of"}


def sections_of(
    session: Session, place: int, state: str, view: View, ledger: Ledger
) -> Iterator[Section]:
    """The sections of an entry in reading order, each made when it is asked for.

    state: how the entry stands to the leaf, in a word, or "".
    """
    record = ResultNames(session).named(place, session.record(place))
    yield _head(session, place, record, state)
    factor = _GROWTH**view.more
    whole = Budget(Budget.PARTS * _CHARACTERS * factor, Budget.PARTS * _LINES * factor)
    if view.raw or not record:
        yield _stored(session, place, whole.part())
        return
    yield from _bounded(_body(session, place, record, view, whole), _SECTIONS * factor, whole)
    yield _spending(session, place, record, ledger)


def _bounded(sections: Iterator[Section], most: int, whole: Budget) -> Iterator[Section]:
    for count, section in enumerate(sections):
        if count == most or (count and whole.is_spent):
            left = 1 + sum(1 for _ in sections)
            yield Section(None, [More(counted(left, "part"))])
            return
        yield section


def _body(
    session: Session, place: int, record: Record, view: View, whole: Budget
) -> Iterator[Section]:
    if not message_of(record):
        yield from _facts(session, place, record, whole)
    else:
        sections = result_sections if is_result(session, place) else message_sections
        yield from sections(session, place, record, view.thinking, whole)
    yield from translated_sections(record, whole)


def _head(session: Session, place: int, record: Record, state: str) -> Section:
    message = message_of(record)
    entry_id = session.entry_id(place) if session.has(place, Flag.NO_ID) else record.get("id", "")
    title: list[Span] = [(word(speaker_of(record)), "entry.title"), (f"  {word(entry_id)}", "")]
    if state:
        title.append((f"  {state}", "entry.state"))
    flags = [text for flag, text in _FLAG_WORDS.items() if session.has(place, flag)]
    title += [(f"  {text}", "entry.bad") for text in flags if text != state]

    lines: list[Part] = [Line(((word(record.get("timestamp", "no time")), "entry.muted"),))]
    if memory := memory_of(record):
        rule = f" ({word(memory.rule)})"
        kind = (memory.type.value, "")
        lines.append(Line((("memory ", "entry.key"), kind, (rule, "entry.muted"))))
    lines += _families(record)
    told = {name: message.get(field) for field, name in _FACTS.items()}
    spans = [
        span
        for name, value in told.items()
        if value not in (None, "")
        for span in ((f"{name} ", "entry.key"), (f"{word(value)}  ", ""))
    ]
    if spans:
        lines.append(Line(tuple(spans)))
    for field, text in _REFERENCES.items():
        if field in record:
            lines.append(Line(((f"{text} ", "entry.key"), (word(record[field]), ""))))
    if message.get("display") is False:
        lines.append(Plain("not shown in the transcript", "entry.muted"))
    if message.get("visibleToModel") is False:
        lines.append(Plain("not sent to the model", "entry.muted"))
    for finding in session.diagnostics_of(place):
        lines.append(Line((("! ", "entry.bad"), (word(str(finding)), "entry.warn"))))
    return Section(Line(tuple(title)), lines)


def _families(record: Record) -> Iterator[Part]:
    """The families of an entry's tools, where their names do not say them."""
    for tool, told in told_families(record).items():
        if told.value and told.value != tool.casefold():
            rule = f" ({word(tool)}: {word(told.rule)})"
            yield Line((("family ", "entry.key"), (told.value.value, ""), (rule, "entry.muted")))


def _stored(session: Session, place: int, budget: Budget) -> Section:
    """The record as it is stored."""
    raw = session.raw(place)
    head = raw[: budget.characters]
    shown, cut = budget.take(laid_out(head.decode("utf-8", "replace")))
    title = f"stored in line {session.columns.line[place]}, {size_of(len(raw))}"
    parts: list[Part] = [Code(safe(shown), JSON_FILE)]
    if left := len(raw) - len(head) + len(cut):
        parts.append(More(size_of(left)))
    if not raw:
        parts = [Plain("the bytes of this entry are no longer there", "entry.bad")]
    return Section(Line(((title, "entry.heading"),)), parts)


def _facts(session: Session, place: int, record: Record, whole: Budget) -> Iterator[Section]:
    """The fields of an entry that is no message."""
    if record.get("type") in ANCHORS:
        span = label_of(session, place, {**record, "summary": None})
        yield Section(None, [Line(((word(span), ""),))])
    summary = record.get("summary")
    if isinstance(summary, str):
        yield Section(None, text_parts(summary, whole.part()))
    history = history_of(record)
    if history:
        seen: list[Part] = [Plain("instead of what was before, the model saw:", "entry.muted")]
        for role, text in history:
            seen += [Line(((f"{word(role)}:", "entry.key"),)), *texts(text, whole.part())]
        yield Section(None, seen)
    told = ENVELOPE | OF_TRANSLATION | {"customType"} | ({"history"} if history else set())
    told |= {"summary"} if isinstance(summary, str) else set()
    facts = {name: value for name, value in record.items() if name not in told}
    if facts.keys() == {"title", "data"}:
        yield Section(None, texts(str(facts["title"]), whole.part()))
    if facts.keys() <= {"title", "data"} and "data" in facts:
        facts = facts["data"]
    parts = fields(facts, whole.part())
    yield Section(None, parts or [Plain("(nothing more is stored here)", "entry.muted")])


def _spending(session: Session, place: int, record: Record, ledger: Ledger) -> Section:
    """Tokens and cost of the entry, its turn, and all below it."""
    own = ledger.entry(place)
    told = {"entry": _spend_words(own) if own.entries else _estimate_words(session, place, record)}
    for scope, spend in {"turn": ledger.turn(place), "subtree": ledger.subtree(place)}.items():
        if spend and (spend.entries or spend.copies):
            told[scope] = _spend_words(spend)
    lines: list[Part] = [
        Line(((f"{scope:{_SCOPE}}", "entry.key"), (text, "")), _SCOPE)
        for scope, text in told.items()
    ]
    usage = message_of(record).get("usage")
    extra = usage.get("extra") if isinstance(usage, dict) else None
    if isinstance(extra, dict):
        lines += fields(extra, Budget(_CHARACTERS, _LINES))
    return Section(Line((("tokens and cost", "entry.heading"),)), lines)


def _estimate_words(session: Session, place: int, record: Record) -> str:
    """An estimate from the text of an entry, or from its stored size if it is very large."""
    start, stop = session.columns.row(place)
    if (size := stop - start) <= _LARGE:
        size = len(text_of(record))
    else:
        size -= sum(len(block.data) for block in blocks_of(record) if isinstance(block, Image))
    return f"~{estimate_tokens(size):,} tokens (estimate)"


def _spend_words(spend: Spend) -> str:
    words = [_token_words(spend), _cost_words(spend)] if spend.entries else []
    if spend.copies:
        words.append(f"{counted(spend.copies, 'copy')} not counted")
    return "  ".join(words)


def _token_words(spend: Spend) -> str:
    tokens = spend.tokens
    buckets = {
        "in": tokens.input,
        "out": tokens.output,
        "cache read": tokens.cache_read,
        "cache write": tokens.cache_write,
    }
    used = ", ".join(f"{count:,} {name}" for name, count in buckets.items() if count)
    return f"{tokens.total:,} tokens ({used})"


def _cost_words(spend: Spend) -> str:
    if spend.cost is not None:
        return _dollars(spend.cost)
    lacking = f"no price for {spend.unpriced:,} of {spend.entries:,}"
    return f"at least {_dollars(spend.priced)}, {lacking}" if spend.priced else lacking


def _dollars(amount: float) -> str:
    if 0 < amount < 0.0001:
        return "under $0.0001"
    return f"${amount:,.2f}" if amount >= 1 else f"${amount:.4f}"
