"""The grammar of what `jmfts_search` prints (tau-format 4.7), read with its author distrusted.

A hit is two lines: "[doc 4] Title (usetype=note, score=0.016)", and its text, whose line breaks
were taken out. Blocks are parted by one blank line. Nobody took the line breaks out of titles, so
a title may look like hits. The number of hits that the tool recorded decides: among all ways to
read the text there must be one with that many blocks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tau_browser.audit.recall import Finding, Hit, Trouble

NOTHING = "No results."
UNTITLED = "(untitled)"
NO_CONTENT = "(no content)"

_SHOWN = 900  # characters of a document that the tool prints at most

_START = re.compile(r"\[doc (\d{1,18})\] ")
_END = re.compile(r"(.*) \(usetype=(.*), score=(-?\d+\.\d{3}|-?inf|nan)\)", re.DOTALL)
_CUT = re.compile(r"… \[truncated; read doc (\d{1,18}) for the rest\]")
_READ_END = re.compile(r"(.*) \(usetype=(.*), parent=(?:\d{1,18}|None)\)", re.DOTALL)
_CHILDREN = "\n\nChildren:\n"
_CHILD = re.compile(r"^  \[doc (\d{1,18})\] ", re.MULTILINE)
_LOOKALIKE = re.compile(r"\[doc \d{1,18}\] .{0,500}? \(usetype=.{0,100}?, (?:score|parent)=")
_MOST_LINES = 3000  # that are tried in all ways


@dataclass(frozen=True, slots=True)
class Parsed:
    """Hits as read, and what was odd about their text."""

    hits: list[Hit]
    findings: list[Finding]


@dataclass(frozen=True, slots=True)
class _Ways:
    """In how many ways (2: several) a rest of lines is so many blocks; where its first ends."""

    count: int
    header: int  # line after the header of the first block


def parse(text: str, recorded: int | None) -> Parsed:
    """The hits of a result. recorded: how many the tool says there are, None if it does not say."""
    if text.strip() == NOTHING:
        return Parsed([], [] if recorded in (0, None) else [_mismatch(0, recorded)])
    lines = text.split("\n")
    regular = _regular(lines)
    if regular is not None and recorded in (None, len(regular)):
        return Parsed(regular, [])
    if recorded and len(lines) <= _MOST_LINES:
        ways, blocks = _blocks(lines, recorded)
        if ways == 1:
            odd = "a title holds line breaks, and may look like hits of its own"
            return Parsed(_hits(blocks), [Finding(Trouble.TITLE, odd)])
        if ways > 1:
            odd = f"the text can be read as {recorded} hits in several ways: titles imitate hits"
            return Parsed(_hits(blocks), [Finding(Trouble.AMBIGUOUS, odd)])
    found = regular if regular is not None else _scattered(lines)
    if recorded is None or recorded == len(found):
        odd = "the text does not follow the grammar of search results: hits are those recognised"
        return Parsed(found, [Finding(Trouble.GRAMMAR, odd)])
    return Parsed(found, [_mismatch(len(found), recorded)])


def is_header(line: str) -> bool:
    """Whether a line looks like that of a hit."""
    return _header(line) is not None


def imitates(text: str) -> bool:
    """Whether a text holds what looks like the line of a hit: an earlier result, or a forgery."""
    return _LOOKALIKE.search(text) is not None


def read_header(line: str, document: str) -> tuple[str, str]:
    """(title, usetype) from the line above what `jmfts_read` prints; ("", "") for any other."""
    start = f"[doc {document}] "
    found = _READ_END.fullmatch(line, len(start)) if line.startswith(start) else None
    return (found[1], found[2]) if found else ("", "")


def shown(text: str) -> str:
    """A document's text as `jmfts_search` prints it, without the note that it was cut."""
    return text.strip().replace("\n", " ")[:_SHOWN]


def listed(text: str) -> list[str]:
    """The documents that `jmfts_read` lists as children, under the text of the one it read."""
    _, sign, children = text.rpartition(_CHILDREN)
    return _CHILD.findall(children) if sign else []


def without_children(text: str) -> str:
    """The text that `jmfts_read` printed, without the children that it lists under it."""
    own, sign, _ = text.rpartition(_CHILDREN)
    return own if sign else text


def _mismatch(read: int, recorded: int) -> Finding:
    odd = f"the tool recorded {recorded} hits, its text holds {read}"
    return Finding(Trouble.MISMATCH, odd)


def _regular(lines: Sequence[str]) -> list[Hit] | None:
    """The hits of a text in which each is two lines and a blank one; None for any other."""
    blocks = []
    for at in range(0, len(lines), 3):
        if _header(lines[at]) is None or any(lines[at + 2 : at + 3]):
            return None
        if at + 2 == len(lines) - 1:  # a blank line after the last
            return None
        blocks.append((lines[at], "".join(lines[at + 1 : at + 2])))
    return _hits(blocks)


def _blocks(lines: Sequence[str], count: int) -> tuple[int, list[tuple[str, str]]]:
    """In how many ways (2: several) some lines are so many blocks, and the blocks of one way."""
    starts = [bool(_START.match(line)) for line in lines]
    ends = [at for at, line in enumerate(lines) if _END.fullmatch(line)]
    total = len(lines)
    ways: dict[tuple[int, int], _Ways] = {(total + 1, 0): _Ways(1, 0)}
    for left in range(1, count + 1):
        for at in range(total - 1, -1, -1):
            if not starts[at]:
                continue
            found, header = 0, 0
            for end in ends:
                # the header ends there, its text is one line, and a blank one follows
                after = end + 3
                is_next = (after, left - 1) in ways and (after > total or not lines[end + 2])
                if end >= at and end + 1 < total and is_next:
                    found, header = found + ways[after, left - 1].count, end + 1
            if found:
                ways[at, left] = _Ways(min(found, 2), header)
    if (0, count) not in ways:
        return 0, []
    blocks, at = [], 0
    for left in range(count, 0, -1):
        header = ways[at, left].header
        blocks.append(("\n".join(lines[at:header]), lines[header]))
        at = header + 2
    return ways[0, count].count, blocks


def _scattered(lines: Sequence[str]) -> list[Hit]:
    """The hits of a text that somebody changed: every line that looks like one begins one."""
    heads = [at for at, line in enumerate(lines) if is_header(line) and not (at and lines[at - 1])]
    ends = [*heads, len(lines)][1:]
    return _hits(
        [
            (lines[at], " ".join(lines[at + 1 : stop]).strip())
            for at, stop in zip(heads, ends, strict=False)
        ]
    )


def _header(line: str) -> tuple[str, str, str, float] | None:
    """(document, title, usetype, score) of a hit's line."""
    start = _START.match(line)
    end = _END.fullmatch(line, start.end()) if start else None
    return (start[1], end[1], end[2], float(end[3])) if start and end else None


def _hits(blocks: Sequence[tuple[str, str]]) -> list[Hit]:
    hits = []
    for rank, (line, text) in enumerate(blocks, 1):
        header = _header(line)
        assert header is not None
        document, title, usetype, score = header
        cut = list(_CUT.finditer(text, _SHOWN))[-1:]
        # a text that says so itself is shorter: it would have been cut too
        truncated = bool(cut) and cut[0].end() == len(text) and cut[0][1] == document
        shown = text[: cut[0].start()] if truncated else text
        hits.append(Hit(rank, document, title, usetype, score, truncated, shown))
    return hits
