"""Stored values as parts: names, texts and JSON, each cut to a budget first and made safe then."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tau_browser.model.text import counted, safe, safe_line
from tau_browser.tui.entry.parts import Budget, Code, Line, More, Part, Plain, more
from tau_browser.tui.entry.stored import json_text

JSON_FILE = "value.json"
"""A name that tells the language of JSON."""

WORD = 200
"""Characters of an id, a name or a short text in a line of ours."""

_SHORT_JSON = 120


def word(value: Any) -> str:
    """A value in a line of ours, safe, and cut if it is long."""
    text = value if isinstance(value, str) else json_text(value, WORD, in_lines=False)
    return safe_line(text[:WORD]) + ("..." if len(text) > WORD else "")


def texts(text: str, budget: Budget, style: str = "", file: str = "") -> list[Part]:
    """Text that keeps its lines, and a note of what is left out. A file's name: it is code."""
    shown, rest = budget.take(text.rstrip("\n"))
    shown = safe(shown)
    parts: list[Part] = []
    if shown:
        parts.append(Code(shown, file) if file else Plain(shown, style))
    return [*parts, more(rest)] if rest else parts


def _no_file(_: str) -> str:
    return ""


def fields(value: Any, budget: Budget, file_of: Callable[[str], str] = _no_file) -> list[Part]:
    """A decoded value as "name: text" lines: strings as they are, all else as JSON.

    file_of: by the name of a field, the name of a file in whose language its text is, or "".
    """
    if not isinstance(value, dict):
        return _value(value, budget, "")
    parts: list[Part] = []
    for at, (name, item) in enumerate(value.items()):
        if budget.is_spent:
            return [*parts, More(counted(len(value) - at, "field"))]
        short = _short(item)
        budget.take(f"{name[:WORD]}: {short or ''}")
        if short is not None:
            parts.append(Line(((f"{word(name)}: ", "entry.key"), (short, ""))))
        else:
            parts.append(Line(((f"{word(name)}:", "entry.key"),)))
            parts += _value(item, budget, file_of(name))
    return parts


def _short(value: Any) -> str | None:
    """A value in one safe line, or None where it takes more."""
    if isinstance(value, str):
        return safe_line(value) if len(value) <= WORD and "\n" not in value else None
    text = json_text(value, _SHORT_JSON, in_lines=False)
    return safe_line(text) if len(text) <= _SHORT_JSON else None


def _value(value: Any, budget: Budget, file: str) -> list[Part]:
    if isinstance(value, str):
        return texts(value, budget, file=file)
    shown, rest = budget.take(json_text(value, budget.characters + 1, in_lines=True))
    parts: list[Part] = [Code(safe(shown), JSON_FILE)]
    return [*parts, More("some")] if rest else parts
