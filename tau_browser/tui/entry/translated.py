"""What an entry tells of the store that it was translated from: its event, its links, its place."""

from __future__ import annotations

from collections.abc import Iterator

from tau_browser.model.payload import Record, event_of
from tau_browser.model.signal import Signal, signal_of
from tau_browser.model.text import safe_line
from tau_browser.tui.entry.parts import Budget, Line, Part, Section
from tau_browser.tui.entry.values import fields

OF_TRANSLATION = {"event", "links", "origin"}
"""The fields of a record that are told here."""

# Ids and times, which stand elsewhere, and what of an event is its message.
_TOLD_APART = {"event_id", "ts", "text", "signal", "version"}


def translated_sections(record: Record, whole: Budget) -> Iterator[Section]:
    """The sections of an entry's event, links and origin; none for most entries."""
    links = record.get("links")
    cited = links.get("citations") if isinstance(links, dict) else None
    if isinstance(cited, list) and cited:
        told_of = [each for each in cited if isinstance(each, dict)]
        yield Section(_heading("citations, held against the text"), [*map(_citation, told_of)])
    if event := event_of(record):
        told = {name: value for name, value in event.items() if name not in _TOLD_APART}
        shown = {name: value for name, value in told.items() if value not in (None, [], {}, "")}
        parts: list[Part] = [signal_line(signal_of(record)), *fields(shown, whole.part())]
        yield Section(_heading("event"), parts)
    for name, title in (("links", "links"), ("origin", "where it is stored")):
        value = record.get(name)
        if name == "links" and isinstance(value, dict):
            value = {what: each for what, each in value.items() if what != "citations"}
        if isinstance(value, dict) and value:
            yield Section(_heading(title), fields(value, whole.part()))


def signal_line(signal: Signal) -> Line:
    """A signal, and the parts that the formula makes it of."""
    parts = " + ".join(f"{value:.3g} {name}" for name, value in signal.parts.items() if value)
    said = f"{signal.value:.3g}" if signal.stored is not None else f"{signal.value:.3g} (derived)"
    if signal.agrees:
        return Line((("signal: ", "entry.key"), (f"{said} = {parts}", "")))
    formula = f"{said}, but {signal.formula:.3g} = {parts}"
    return Line((("signal: ", "entry.key"), (formula, "entry.warn")))


def _citation(cited: Record) -> Line:
    """One that a stored answer gives: its number, and whether the text says [n]."""
    number, title = safe_line(str(cited.get("n"))), safe_line(str(cited.get("title", "")))
    used = cited.get("used") is True
    words = ("cited" if used else "not cited", "" if used else "entry.warn")
    return Line(((f"[{number}] ", "entry.key"), words, (f"  {title}", "")), hang=4)


def _heading(text: str) -> Line:
    return Line(((text, "entry.heading"),))
