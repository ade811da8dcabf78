"""How results are written: text that is safe for a terminal, and JSON that is safe for any."""

from __future__ import annotations

import json
import math
import os
import re
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tau_browser.model.payload import lines_of
from tau_browser.model.text import safe_line

# Beyond what JSON itself escapes: terminal commands, marks that reorder, lone surrogates.
_ESCAPED = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_DEEPEST = 50
_BOLD, _PLAIN = "\x1b[1m", "\x1b[0m"


class Failure(Exception):
    """The command ends here, with a sentence for a person and an exit code."""

    def __init__(self, message: str, code: int = 2, details: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.code = code
        self.details = details


def is_terminal() -> bool:
    """Whether a person sits at every end; Textual reads from stdin and draws on stderr."""
    streams = (sys.stdin, sys.stdout, sys.stderr)
    return all(stream is not None and stream.isatty() for stream in streams)


@dataclass(frozen=True, slots=True)
class Printer:
    """Prints for people. Whatever it is given is data: nothing in it can act on a terminal."""

    ascii_only: bool
    colour: bool

    @classmethod
    def for_stdout(cls, *, ascii_only: bool) -> Printer:
        """Colour where a person looks at it and has not said no (https://no-color.org)."""
        is_seen = sys.stdout is not None and sys.stdout.isatty()
        return cls(ascii_only, is_seen and not os.environ.get("NO_COLOR"))

    def line(self, text: str = "", marks: Iterable[tuple[int, int]] = ()) -> None:
        """Print one line, the marked ranges of the text in bold."""
        text = safe_line(text)
        pieces, at = [], 0
        for start, stop in marks if self.colour else ():
            pieces += [self._spell(text[at:start]), _BOLD, self._spell(text[start:stop]), _PLAIN]
            at = stop
        print("".join([*pieces, self._spell(text[at:])]))

    def table(self, rows: Sequence[Sequence[str]], right: Iterable[int] = ()) -> None:
        """Print rows in columns, those of `right` aligned to the right."""
        spelled = [[self._spell(safe_line(cell)) for cell in row] for row in rows]
        widths = [max(map(_width, column)) for column in zip(*spelled, strict=True)]
        for row in spelled:
            cells = [
                _pad(cell, width, at in right)
                for at, (cell, width) in enumerate(zip(row, widths, strict=True))
            ]
            print("  ".join(cells).rstrip())

    def _spell(self, text: str) -> str:
        if not self.ascii_only:
            return text
        return text.replace("…", "...").encode("ascii", "backslashreplace").decode()


def json_text(value: Any) -> str:
    """A value as JSON: readable, and free of anything that acts on a terminal or is not UTF-8."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (ValueError, RecursionError):
        text = json.dumps(_tamed(value, 0), ensure_ascii=False)
    return _ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def print_json(document: dict[str, Any]) -> None:
    """Print an object. Iterators become arrays, printed item by item, each on a line of its own:
    a session may be larger than memory."""
    before = "{"
    for name, value in document.items():
        print(f"{before}{json_text(name)}: ", end="")
        before = ",\n"
        if isinstance(value, Iterator):
            _print_items(value)
        else:
            print(json_text(value), end="")
    print("}")


def shown_time(stamp: str) -> str:
    """A timestamp as written, short: its date and time to the second."""
    return (
        stamp[:19].replace("T", " ")
        if re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", stamp)
        else stamp
    )


def _tamed(value: Any, depth: int) -> Any:
    """A value as other programs take it: null for NaN and infinities, which JSON does not know;
    lines of text for what is nested too deeply to be written."""
    if depth == _DEEPEST:
        return "\n".join(lines_of(value))
    if isinstance(value, dict):
        return {name: _tamed(item, depth + 1) for name, item in value.items()}
    if isinstance(value, list):
        return [_tamed(item, depth + 1) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _print_items(items: Iterator[Any]) -> None:
    print("[", end="")
    before = "\n"
    for item in items:
        print(f"{before}{json_text(item)}", end="")
        before = ",\n"
    print("]", end="")


def _width(text: str) -> int:
    """Cells that a text takes in a terminal."""
    if text.isascii():
        return len(text)
    widths = (
        0
        if unicodedata.category(char) in ("Mn", "Me")
        else 1 + (unicodedata.east_asian_width(char) in "WF")
        for char in text
    )
    return sum(widths)


def _pad(text: str, width: int, right: bool) -> str:
    blank = " " * (width - _width(text))
    return blank + text if right else text + blank
