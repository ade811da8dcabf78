"""What a message says, as sections: its text, its thinking, its tool calls with their results."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from tau_browser.model.calls import call_of, results_of
from tau_browser.model.families import Family, family_of
from tau_browser.model.payload import (
    ENVELOPE,
    Block,
    Call,
    Image,
    Other,
    Record,
    Text,
    Thinking,
    blocks_of,
    message_of,
)
from tau_browser.model.session import Session
from tau_browser.model.text import counted, first_line, safe, size_of
from tau_browser.tui.entry.parts import (
    CALL,
    FOLDED,
    NESTED,
    RESULT,
    UNFOLDED,
    Budget,
    Diff,
    Line,
    More,
    Part,
    Picture,
    Plain,
    Prose,
    Section,
    Span,
    more,
)
from tau_browser.tui.entry.translated import OF_TRANSLATION
from tau_browser.tui.entry.values import WORD, fields, texts, word

_RUN_ARGUMENTS = ("command", "cmd", "code", "script")
_PATH_ARGUMENTS = ("path", "file_path", "filename", "file")
_OLD_AND_NEW = (("oldText", "newText"), ("old_string", "new_string"), ("old_text", "new_text"))
_NESTED_TOLD_APART = {"tool_call_id", "tool_name", "status", "duration_ms", "args"}
_MESSAGE_TOLD_APART = {
    *("role", "content", "timestamp", "customType", "tool_call_id", "tool_name", "is_error"),
    *("model", "provider", "stop_reason", "reasoning_level", "error_message", "usage", "details"),
    *("display", "visibleToModel"),
    *("api", "response_id"),  # of no use to a reader, who finds them in the stored line
}


def message_sections(
    session: Session, place: int, record: Record, thinking: bool, whole: Budget
) -> Iterator[Section]:
    """The sections of a message: one per block, and one per result of its calls."""
    blocks = blocks_of(record)
    has_calls = any(isinstance(block, Call) for block in blocks)
    results = results_of(session, place, record) if has_calls else {}
    for block in blocks:
        if isinstance(block, Call):
            yield from _answered_call(session, block, results.get(block.id), whole)
        elif parts := _block(block, thinking, whole.part()):
            yield Section(None, parts)
    error = message_of(record).get("error_message")
    if isinstance(error, str) and error:
        yield Section(None, texts(f"error: {error}", whole.part(), "entry.bad"))
    if parts := _detail_parts(_details(record), whole.part()):
        yield Section(None, parts)
    yield from _unknown_fields(record, whole)
    if not any(not isinstance(block, Text | Thinking) or block.text.strip() for block in blocks):
        yield Section(None, [Plain("(nothing is said here)", "entry.muted")])


def result_sections(
    session: Session, place: int, record: Record, thinking: bool, whole: Budget
) -> Iterator[Section]:
    """The sections of a tool's result: the call that it answers, and the result.

    Some stores keep the call and its result as one.
    """
    for block in blocks_of(record):
        if isinstance(block, Call):
            yield _call(block, whole.part(), "")
    found = call_of(session, place, record)
    if found:
        at, call = found
        yield _call(call, whole.part(), f"in {word(session.entry_id(at))}", _has_diff(record))
    yield _result(record, whole, _file_of(found[1]) if found else "")
    yield from _unknown_fields(record, whole)


def text_parts(text: str, budget: Budget) -> list[Part]:
    """Markdown, and a note of what is left out."""
    shown, rest = budget.take(text.strip("\n"))
    parts: list[Part] = [Prose(safe(shown))] if shown.strip() else []
    return [*parts, more(rest)] if rest else parts


def _block(block: Block, thinking: bool, budget: Budget) -> list[Part]:
    match block:
        case Text(text):
            return text_parts(text, budget)
        case Thinking(text):
            return _thinking(text.strip(), thinking, budget)
        case Image():
            name = f"[image {word(block.mime_type)}, about {size_of(block.size)}]"
            return [Line(((name, ""),)), Picture(block)]
        case Other():
            kind = word(block.kind) if block.kind else "(no type)"
            head = Line(((f"block {kind}", "entry.heading"),))
            return [head, *fields(block.value, budget)]
    return []


def _thinking(text: str, unfolded: bool, budget: Budget) -> list[Part]:
    size = f"thinking, {counted(len(text), 'character')}"
    if not text:
        return [Plain("thinking, of which only the signature was kept", "entry.muted")]
    if unfolded:
        head = Line(((UNFOLDED, "entry.muted"), (size, "entry.muted")))
        return [head, *texts(text, budget, "entry.thinking")]
    said = first_line(text[:WORD])
    folded = f"{size}, T unfolds: "
    return [Line(((FOLDED, "entry.muted"), (folded, "entry.muted"), (said, "entry.thinking")))]


def _unknown_fields(record: Record, whole: Budget) -> Iterator[Section]:
    """Fields that nobody told us about."""
    of_record = _without(record, ENVELOPE | OF_TRANSLATION | {"customType", "message"})
    of_message = message_of(record)
    if of_message is record:  # τ's SDK writes a result in one with its entry
        of_record = {}
    unknown = _without({**of_record, **of_message}, ENVELOPE | _MESSAGE_TOLD_APART)
    if parts := fields(unknown, whole.part()):
        yield Section(None, parts)


def _answered_call(
    session: Session, call: Call, answer: int | None, whole: Budget
) -> Iterator[Section]:
    if answer is None:
        yield _call(call, whole.part(), "no result")
        return
    record = session.record(answer)
    yield _call(call, whole.part(), "", _has_diff(record))
    yield _result(record, whole, _file_of(call), word(session.entry_id(answer)))


def _call(call: Call, budget: Budget, note: str, has_diff: bool = False) -> Section:
    """A tool call. has_diff: its result shows what it edited, so it need not."""
    title: list[Span] = [(CALL, "entry.call"), (word(call.name), "entry.call")]
    title += [(f"  {text}", "entry.muted") for text in (word(call.id), note) if text]
    if not isinstance(call.arguments, dict):
        return Section(Line(tuple(title)), fields(call.arguments, budget))
    pairs, others = _edits(call.arguments)
    run, file = _run_of(call), _file_of(call)
    parts = fields(others, budget, lambda name: run if name in _RUN_ARGUMENTS else file)
    return Section(Line(tuple(title)), parts if has_diff else [*parts, *_diffs(pairs, budget)])


def _run_of(call: Call) -> str:
    """The name of a file in whose language a tool runs what it is given, or ""."""
    if call.name == "python":
        return "run.py"
    return "run.sh" if family_of(call.name) is Family.SHELL else ""


def _edits(arguments: dict[str, Any]) -> tuple[list[tuple[str, str]], dict[str, Any]]:
    """The old and new texts that a call names, and its other arguments."""
    pair, others = _old_and_new(arguments)
    if pair:
        return [pair], others
    edits = arguments.get("edits")
    if not isinstance(edits, list) or not all(isinstance(edit, dict) for edit in edits):
        return [], arguments
    parted = [_old_and_new(edit) for edit in edits]
    pairs = [pair for pair, others in parted if pair and not others]
    if not pairs or len(pairs) < len(edits):
        return [], arguments
    return pairs, _without(arguments, {"edits"})


def _old_and_new(edit: dict[str, Any]) -> tuple[tuple[str, str] | None, dict[str, Any]]:
    for old, new in _OLD_AND_NEW:
        if isinstance(edit.get(old), str) and isinstance(edit.get(new), str):
            return (edit[old], edit[new]), _without(edit, {old, new})
    return None, edit


def _diffs(pairs: list[tuple[str, str]], budget: Budget) -> list[Part]:
    parts: list[Part] = []
    for at, (old, new) in enumerate(pairs):
        if budget.is_spent:
            return [*parts, More(counted(len(pairs) - at, "edit"))]
        shown_old, old_rest = budget.take(old.removesuffix("\n"))
        shown_new, new_rest = budget.take(new.removesuffix("\n"))
        lines = [f"-{line}" for line in shown_old.split("\n")] if old else []
        lines += [f"+{line}" for line in shown_new.split("\n")] if new else []
        parts.append(Diff(safe("\n".join(lines))))
        if old_rest or new_rest:
            parts.append(more(old_rest + new_rest))
    return parts


def _result(record: Record, whole: Budget, file: str, entry_id: str = "") -> Section:
    """A tool's result. file: the file that its call names, or ""."""
    budget = whole.part()
    message, details = message_of(record), _details(record)
    failed = message.get("is_error") is True
    title: list[Span] = [(RESULT, "entry.call"), ("result", "entry.call")]
    if entry_id:
        title.append((f"  {entry_id}", "entry.muted"))
    if (code := details.get("exit_code")) is not None:
        title.append((f"  exit {word(code)}", "entry.good" if code == 0 else "entry.bad"))
    if failed:
        title.append(("  error", "entry.bad"))
    is_file = message.get("tool_name") == "read" and not failed
    parts: list[Part] = []
    for block in blocks_of(record):
        if isinstance(block, Text):
            parts += texts(block.text, budget, file=file if is_file else "")
        else:
            parts += _block(block, True, budget)
    others = _without(details, {"exit_code"})
    return Section(Line(tuple(title)), [*parts, *_detail_parts(others, whole.part())])


def _has_diff(record: Record) -> bool:
    return isinstance(_details(record).get("diff"), str)


def _details(record: Record) -> dict[str, Any]:
    details = message_of(record).get("details")
    if isinstance(details, dict):
        return details
    return {} if details is None else {"details": details}


def _detail_parts(details: dict[str, Any], budget: Budget) -> list[Part]:
    """What was kept besides what the model got to see."""
    rest, parts = dict(details), list[Part]()
    if isinstance(rest.get("diff"), str):
        shown, left = budget.take(rest.pop("diff").rstrip("\n"))
        parts += [Diff(safe(shown)), *([more(left)] if left else [])]
    if isinstance(rest.get("exception"), str):
        text = f"Not shown to the model: {rest.pop('exception')}"
        parts += texts(text, budget, "entry.warn")
    if isinstance(rest.get("captured_output"), dict):
        captured = rest.pop("captured_output")
        parts += fields({f"captured {name}": text for name, text in captured.items()}, budget)
    if isinstance(rest.get("nested_calls"), list):
        parts += _nested_calls(rest.pop("nested_calls"), budget)
    return [*parts, *_joined(fields(rest, budget))]


def _joined(parts: list[Part]) -> list[Part]:
    """The parts, with lines that follow one another in one."""
    joined: list[Part] = []
    for part in parts:
        last = joined[-1] if joined else None
        if isinstance(part, Line) and isinstance(last, Line):
            joined[-1] = Line((*last.spans, ("  ", ""), *part.spans))
        else:
            joined.append(part)
    return joined


def _nested_calls(calls: list[Any], budget: Budget) -> list[Part]:
    parts: list[Part] = []
    for at, call in enumerate(calls):
        if budget.is_spent:
            return [*parts, More(counted(len(calls) - at, "nested call"))]
        if isinstance(call, dict):
            told = [call.get("tool_name"), call.get("status")]
            words = [word(value) for value in told if value is not None]
            if isinstance(call.get("duration_ms"), int | float):
                words.append(f"{call['duration_ms']:,.0f} ms")
            parts.append(Line(((NESTED, "entry.call"), ("  ".join(words), "entry.call"))))
            others = _without(call, _NESTED_TOLD_APART)
            parts += [*fields(call.get("args", {}), budget), *_joined(fields(others, budget))]
        else:
            parts += fields(call, budget)
    return parts


def _without(values: dict[str, Any], names: set[str]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name not in names}


def _file_of(call: Call) -> str:
    """The name of the file that a call is about; "" if it names none."""
    if isinstance(call.arguments, dict):
        for name in _PATH_ARGUMENTS:
            value = call.arguments.get(name)
            if isinstance(value, str) and value:
                return PurePosixPath(value[-WORD:]).name
    return ""
