"""What the pane shows of an entry, before it is drawn: sections made of parts.

Every text in a part is safe for a terminal already, and is cut to its budget before it gets here.
Each part tells its own text, which is what a copy of the pane holds.
"""

from __future__ import annotations

from dataclasses import dataclass

from tau_browser.model.payload import Image
from tau_browser.model.text import size_of

# Our signs. Each is a span of its own, so that it can be drawn in ASCII without touching a text.
CALL, RESULT, NESTED = "→ ", "← ", "↳ "
FOLDED, UNFOLDED = "▸ ", "▾ "
ELLIPSIS = "… "

Span = tuple[str, str]
"""A stretch of text and the name of its style (see palette), "" for none."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of ours, wrapped between words. hang: how far its other rows are indented."""

    spans: tuple[Span, ...]
    hang: int = 0

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
    """What is left out here, until more is asked for."""

    left: str

    @property
    def text(self) -> str:
        return f"{ELLIPSIS}{self.what}"

    @property
    def what(self) -> str:
        """It in words."""
        return f"{self.left} more: m shows more"


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


@dataclass(frozen=True, slots=True)
class View:
    """How an entry is to be shown. more: how often more was asked for, each time four times as
    much."""

    thinking: bool = False
    raw: bool = False
    more: int = 0


class Budget:
    """How many characters and lines may still be shown, of an entry or of one part of it.

    What a part takes, the whole has less, so that many small texts are bounded like a large one.
    """

    PARTS = 4  # so many full parts make a whole

    def __init__(self, characters: int, lines: int, whole: Budget | None = None) -> None:
        self._size = characters, lines
        self._characters, self._lines = characters, lines
        self._whole = whole

    @property
    def characters(self) -> int:
        """Characters left."""
        whole = self._whole.characters if self._whole else self._characters
        return max(0, min(self._characters, whole))

    @property
    def lines(self) -> int:
        """Lines left."""
        whole = self._whole.lines if self._whole else self._lines
        return max(0, min(self._lines, whole))

    @property
    def is_spent(self) -> bool:
        """Whether nothing more may be shown."""
        return not self.characters or not self.lines

    def part(self) -> Budget:
        """The budget of one part of this whole."""
        characters, lines = self._size
        return Budget(characters // self.PARTS, lines // self.PARTS, self)

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
    """How much text is left out."""
    size = len(rest) if rest.isascii() else len(rest.encode("utf-8", "surrogatepass"))
    return More(size_of(size))
