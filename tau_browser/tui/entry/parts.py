"""What the pane shows of an entry, before it is drawn: sections made of parts.

Every text in a part is safe for a terminal already, and is cut to its budget before it gets here.
Each part tells its own text, which is what a copy of the pane holds.
"""

from __future__ import annotations

from dataclasses import dataclass

from tau_browser.model.payload import Image
from tau_browser.model.text import size_of

Span = tuple[str, str]
"""A stretch of text and the name of its style (see palette), "" for none."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of ours, wrapped between words."""

    spans: tuple[Span, ...]

    @property
    def text(self) -> str:
        return "".join(text for text, _ in self.spans)


@dataclass(frozen=True, slots=True)
class Plain:
    """Text that keeps its lines, folded where the pane ends."""

    text: str
    style: str = ""


@dataclass(frozen=True, slots=True)
class Prose:
    """Markdown."""

    text: str


@dataclass(frozen=True, slots=True)
class Code:
    """Source code; the ending of the file's name tells the language."""

    text: str
    file: str


@dataclass(frozen=True, slots=True)
class Diff:
    """Lines that begin with +, -, @@ or a space."""

    text: str


@dataclass(frozen=True, slots=True)
class Picture:
    """An image, drawn if it can be."""

    image: Image

    @property
    def text(self) -> str:
        return ""


@dataclass(frozen=True, slots=True)
class More:
    """How much is left out here, until more is asked for."""

    what: str

    @property
    def text(self) -> str:
        return f"… {self.what} more: m shows more"


Part = Line | Plain | Prose | Code | Diff | Picture | More


@dataclass(frozen=True, slots=True)
class Section:
    """A few parts that belong together, below a title."""

    title: Line | None
    parts: list[Part]

    @property
    def text(self) -> str:
        """The section without its layout."""
        lines = [self.title.text] if self.title else []
        return "\n".join([*lines, *(part.text for part in self.parts if part.text)])


class Budget:
    """How many characters and lines may still be shown; a part of a larger budget, or the whole.

    Taking from a part takes from the whole too, so that many small texts are bounded like a large
    one.
    """

    def __init__(self, characters: int, lines: int, whole: Budget | None = None) -> None:
        self._characters, self._lines = characters, lines
        self._whole = whole

    @property
    def characters(self) -> int:
        """Characters left."""
        whole = self._whole.characters if self._whole else self._characters
        return min(self._characters, whole)

    @property
    def lines(self) -> int:
        """Lines left."""
        whole = self._whole.lines if self._whole else self._lines
        return max(0, min(self._lines, whole))

    @property
    def is_spent(self) -> bool:
        """Whether nothing more may be shown."""
        return self.characters <= 0 or self.lines <= 0

    def part(self, characters: int, lines: int) -> Budget:
        """A smaller budget within this one."""
        return Budget(characters, lines, self)

    def take(self, text: str) -> tuple[str, str]:
        """The beginning of a text that may be shown, and the rest of it."""
        head = text[: self.characters]
        lines = head.split("\n", self.lines)
        if len(lines) > self.lines:
            head = "\n".join(lines[: self.lines])
        self._spend(len(head), head.count("\n") + 1)
        return head, text[len(head) :]

    def _spend(self, characters: int, lines: int) -> None:
        self._characters -= characters
        self._lines -= lines
        if self._whole:
            self._whole._spend(characters, lines)


def more(rest: str) -> More:
    """How much a text that is left out is."""
    size = len(rest) if rest.isascii() else len(rest.encode("utf-8", "surrogatepass"))
    return More(size_of(size))
