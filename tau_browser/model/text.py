"""Text that is safe to show: the one gate between what was stored and a terminal.

Replacement is one character for one, so an offset in the stored text is the same offset in the
safe text. Whoever shows stored text passes it through here first; markup is kept out by handing
the result to widgets as Content or Text objects, never as markup strings.
"""

from __future__ import annotations

import re
from collections.abc import Collection

# Control characters as their pictures; tab and newline are left to the layout.
_PICTURES = {code: chr(0x2400 + code) for code in range(0x20) if code not in (0x09, 0x0A)}
_PICTURES[0x7F] = "␡"
# C1 controls are commands to some terminals; bidi controls reorder what a person reads.
_REPLACED = [*range(0x80, 0xA0), 0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F)]
_REPLACED += [*range(0x2066, 0x206A), *range(0xFFF9, 0xFFFC), *range(0xD800, 0xE000)]
# Characters without width hide in words.
_DOTTED = [0x00AD, 0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180E, *range(0x200B, 0x200E)]
_DOTTED += [*range(0x2060, 0x2066), *range(0x206A, 0x2070), 0x3164, 0xFEFF, 0xFFA0]
_DOTTED += [*range(0xFFF0, 0xFFF9), *range(0x1BCA0, 0x1BCA4), *range(0x1D173, 0x1D17B)]
_DOTTED += [*range(0xE0000, 0xE1000)]
_SEPARATORS = {0x2028: "␤", 0x2029: "␤"}

_TABLE = {
    **_PICTURES,
    **dict.fromkeys(_REPLACED, "�"),
    **dict.fromkeys(_DOTTED, "·"),
    **_SEPARATORS,
}


def _ranges(codes: Collection[int]) -> str:
    """Characters as the ranges of a regular expression: a set of thousands is slow one by one."""
    starts = sorted(code for code in codes if code - 1 not in codes)
    ends = sorted(code for code in codes if code + 1 not in codes)
    return "".join(
        f"{re.escape(chr(start))}-{re.escape(chr(end))}"
        for start, end in zip(starts, ends, strict=True)
    )


_UNSAFE = re.compile(f"[{_ranges(_TABLE.keys())}]")
_LONGEST_ROW = 1000  # characters
_LINE_TABLE = {**_TABLE, 0x09: " ", 0x0A: "␤"}


def safe(text: str) -> str:
    """Text for a place that has lines: newlines and tabs stay, all else that acts is shown."""
    text = text.replace("\r\n", " \n") if "\r\n" in text else text
    return text.translate(_TABLE) if _UNSAFE.search(text) else text


def safe_line(text: str) -> str:
    """Text for one line: newlines are shown as ␤, tabs as spaces."""
    return text.translate(_LINE_TABLE)


def first_line(text: str) -> str:
    """The first line of what is left when blank space around it is gone, ready for a row: no
    longer than any row."""
    line = text.strip().partition("\n")[0].rstrip("\r")
    return safe_line(line[:_LONGEST_ROW])


def counted(count: int, name: str) -> str:
    """A number of things for people: "1 session", "2,000 entries"."""
    if count == 1:
        return f"1 {name}"
    return f"{count:,} {name[:-1]}ies" if name.endswith("y") else f"{count:,} {name}s"


def size_of(count: int) -> str:
    """A number of bytes for people: 512 B, 1.5 KB, 37 MB."""
    if count < 1000:
        return f"{count} B"
    size, units = count / 1000, ["KB", "MB", "GB"]
    while size >= 999.5 and len(units) > 1:
        size /= 1000
        units.pop(0)
    return f"{size:.0f} {units[0]}" if size >= 9.95 else f"{size:.1f} {units[0]}"
