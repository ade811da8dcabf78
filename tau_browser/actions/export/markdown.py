"""A session as Markdown: the path that goes on first, then each branch that was left.

What was stored stays what it is: tool output stands in a fence longer than any fence in it, and in
prose whatever would be a heading, a rule or a tag is escaped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tau_browser.actions.export.pictures import is_shown
from tau_browser.model.context import states
from tau_browser.model.label import label_of, speaker_of
from tau_browser.model.payload import (
    Block,
    Call,
    Image,
    Record,
    Text,
    Thinking,
    blocks_of,
    lines_of,
    message_of,
    text_of,
)
from tau_browser.model.session import Session
from tau_browser.model.state import State
from tau_browser.model.summary import stamp_text, summary_of
from tau_browser.model.text import safe, safe_line, size_of
from tau_browser.model.tree import NOWHERE

_TICKS = re.compile(r"`+")
_TAG = re.compile(r"[<&]")
_MARKS = re.compile(r"([\\`*_{}\[\]<>#|~!&])")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r"^( {0,3})(#{1,6}(?=\s|$)|=+\s*$|-+\s*$)")


def markdown_of(session: Session) -> str:
    """The document."""
    return "\n\n".join(_parts(session)) + "\n"


def _parts(session: Session) -> Iterator[str]:
    summary = summary_of(session)
    yield f"# {_inline(summary.title)}"
    facts = {
        "session": summary.id,
        "directory": summary.cwd,
        "created": summary.created,
        "fork of": summary.parent or "",
        "entries": f"{len(session):,}",
    }
    yield "\n".join(f"- {name}: {_code(value)}" for name, value in facts.items() if value)
    state = states(session, session.leaf)
    for heading, places in _strands(session):
        yield heading
        for place in places:
            yield from _entry(session, place, State(int(state[place])))


def _strands(session: Session) -> Iterator[tuple[str, list[int]]]:
    """The stretches that are told one after the other: what goes on, then what was left."""
    tree = session.tree
    path = tree.path(session.leaf).tolist()
    if path:
        yield "## Path to the leaf", path
    told = set(path)
    pending: list[int] = []
    number = 0
    for place in tree.order.tolist():
        if place in told:
            continue
        over = int(tree.parent[place])
        if pending and over == pending[-1]:
            pending.append(place)
            continue
        if pending:
            yield _branch(session, pending[0], number), pending
        number += 1
        pending = [place]
    if pending:
        yield _branch(session, pending[0], number), pending


def _branch(session: Session, head: int, number: int) -> str:
    over = int(session.tree.parent[head])
    where = f"from {_code(session.entry_id(over))}" if over != NOWHERE else "a root of its own"
    return f"## Branch {number}, {where}"


def _entry(session: Session, place: int, state: State) -> Iterator[str]:
    record = session.record(place)
    stamp = safe_line(stamp_text(record.get("timestamp")))
    about = [_code(session.entry_id(place)), *([_inline(stamp)] if stamp else [])]
    if state is not State.PATH:
        about.append(state.word)
    yield f"### {_inline(speaker_of(record))}"
    yield " · ".join(about)
    if record.get("type") in ("compaction", "elide"):
        yield f"*{_inline(label_of(session, place, {**record, 'summary': None}))}*"
    blocks = blocks_of(record)
    if not message_of(record):
        yield from _filled(_fenced(text_of(record)))
    is_result = message_of(record).get("role") == "toolResult"
    for at, block in enumerate(blocks):
        yield from _filled(_block(block, as_code=is_result, name=f"{place}-{at}"))
    yield from _filled(*_notes(record))


def _block(block: Block, *, as_code: bool, name: str) -> str:
    if isinstance(block, Text):
        return _fenced(block.text) if as_code else _prose(block.text)
    if isinstance(block, Thinking):
        quoted = _prose(block.text).replace("\n", "\n> ")
        return f"> thinking: {quoted}" if block.text else ""
    if isinstance(block, Call):
        arguments = "\n".join(lines_of(block.arguments))
        return f"→ {_code(block.name)}\n\n{_fenced(arguments)}"
    if isinstance(block, Image):
        return _picture(block, name)
    return _fenced(block.text)


def _notes(record: Record) -> Iterator[str]:
    """What went wrong, which stands beside the content."""
    message = message_of(record)
    details = message.get("details")
    if isinstance(details, dict) and isinstance(details.get("exception"), str):
        yield f"not shown to the model: {_fenced(details['exception'])}"
    if isinstance(message.get("error_message"), str):
        yield f"error: {_fenced(message['error_message'])}"


def _filled(*parts: str) -> Iterator[str]:
    return (part for part in parts if part)


def _fenced(text: str) -> str:
    """A code block that holds the text as it is, whatever fences are in it."""
    if not text:
        return ""
    text = safe(text.replace("\r\n", "\n"))
    longest = max((len(run) for run in _TICKS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    end = "" if text.endswith("\n") else "\n"
    return f"{fence}text\n{text}{end}{fence}"


def _prose(text: str) -> str:
    """Text as somebody wrote it: its own Markdown stays, but it makes no headings and no tags, and
    a fence that it leaves open is closed."""
    lines: list[str] = []
    fence = ""
    for line in safe(text.replace("\r\n", "\n")).strip("\n").split("\n"):
        found = _FENCE.match(line)
        if fence:
            lines.append(line)
            if found and found[1].startswith(fence) and not line[found.end() :].strip():
                fence = ""
        elif found and "`" not in line[found.end() :]:
            fence = found[1]
            lines.append(line)
        else:
            lines.append(_escaped(_HEADING.sub(r"\1\\\2", line)))
    return "\n".join([*lines, fence] if fence else lines)


def _escaped(line: str) -> str:
    """A line of prose without tags; code in it stays as it is."""
    pieces, at = [], 0
    while opened := _TICKS.search(line, at):
        pieces.append(_TAG.sub(r"\\\g<0>", line[at : opened.start()]))
        closed = next(
            (run for run in _TICKS.finditer(line, opened.end()) if run[0] == opened[0]), None
        )
        if closed is None:  # it would pair with any later line's
            pieces.append("\\`" * len(opened[0]))
            at = opened.end()
        else:
            pieces.append(line[opened.start() : closed.end()])
            at = closed.end()
    return "".join([*pieces, _TAG.sub(r"\\\g<0>", line[at:])])


def _inline(text: str) -> str:
    return _MARKS.sub(r"\\\1", safe_line(text))


def _code(text: str) -> str:
    """A word as inline code."""
    text = safe_line(text)
    longest = max((len(run) for run in _TICKS.findall(text)), default=0)
    ticks = "`" * (longest + 1)
    space = " " if longest or text != text.strip() else ""
    return f"{ticks}{space}{text}{space}{ticks}"


def _picture(image: Image, name: str) -> str:
    """A picture in the text itself, if it is one that readers show; else what it is."""
    if is_shown(image):
        return f"![image {name}](data:{image.mime_type};base64,{image.data})"
    return f"[image {name}: {_code(image.mime_type)}, {size_of(image.size)}: not shown]"
