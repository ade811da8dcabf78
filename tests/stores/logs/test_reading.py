"""What holds for every format: read at once or line by line, heads and records tell the same."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tau_browser.model.columns import COLUMN_TYPES, Flag
from tau_browser.model.decoder import Decoder
from tau_browser.model.heads import head_of
from tau_browser.stores.claude_code.format import CLAUDE_CODE
from tau_browser.stores.codex.format import CODEX
from tau_browser.stores.pi.format import PI
from tests.conftest import log_of
from tests.stores.logs.conftest import session_in
from tests.stores.logs.writing import (
    claude,
    codex,
    codex_message,
    codex_meta,
    pi,
    pi_header,
    pi_message,
    tool_result,
    tool_use,
)

_USAGE = {"input_tokens": 1, "output_tokens": 2, "cache_read_input_tokens": 3}
_INFO = {"last_token_usage": {"input_tokens": 9, "cached_input_tokens": 4, "output_tokens": 1}}
_FAILED = '{"output": "no", "metadata": {"exit_code": 1}}'

PIS = [
    pi_message("a", None),
    pi_message("b", "a", role="assistant", stopReason="error", usage={"input": 1, "output": 2}),
    pi_message("c", "b", role="toolResult", toolCallId="t", toolName="bash", isError=True),
    pi("message", "d", "c", message={"role": "bashExecution", "command": "ls", "output": "x"}),
    pi("label", "e", "d", targetId="a", label="here"),
    pi("custom", "f", "e", customType="x", data={"n": 1}),
    pi("custom_message", "g", "f", customType="x", content="note", display=True),
    pi("thinking_level_change", "h", "g", thinkingLevel="high"),
    pi("model_change", "i", "h", provider="p", modelId="m"),
    pi("compaction", "j", "i", summary="so far", firstKeptEntryId="c", tokensBefore=9),
    pi("branch_summary", "k", "a", summary="left", fromId="b"),
    pi("session_info", "l", "k", name="named"),
    pi("archive", "m", "l", what="ever"),
]
CLAUDES = [
    claude("user", "a", None, "words"),
    claude("assistant", "b", "a", [tool_use("t", "Task", prompt="p")], message={"usage": _USAGE}),
    claude("user", "c", "b", [tool_result("t", "no", is_error=True)], toolUseResult="Error: no"),
    claude("user", "d", "c", "<command-name>/x</command-name>"),
    claude("user", "e", "d", "caveat", isMeta=True),
    claude("system", "f", None, "Compacted", subtype="compact_boundary", logicalParentUuid="e"),
    claude("user", "g", "f", "so far", isCompactSummary=True),
    claude("system", "h", "g", None, subtype="api_error", level="error", error={"status": 529}),
    claude("assistant", "i", "h", [{"type": "text", "text": "x"}], isApiErrorMessage=True),
    claude("attachment", "j", "i", attachment={"type": "todo", "items": []}),
    claude("progress", "k", "j", data={"type": "hook_progress"}),
    claude("user", "s", None, "p", isSidechain=True, agentId="g1"),
    {"type": "summary", "summary": "about", "leafUuid": "i"},
    {"type": "custom-title", "customTitle": "mine", "sessionId": "c1"},
    {"type": "queue-operation", "operation": "enqueue", "sessionId": "c1", "content": "later"},
]
CODEXES = [
    codex_message("user", "words"),
    codex_message("developer", "rules"),
    codex_message("user", "<environment_context>"),
    codex("response_item", inner="reasoning", summary=[{"type": "summary_text", "text": "hm"}]),
    codex("response_item", inner="function_call", name="shell", arguments="{}", call_id="k"),
    codex("response_item", inner="function_call_output", call_id="k", output=_FAILED),
    codex("response_item", inner="function_call_output", call_id="l", output={"content": "y"}),
    codex("response_item", inner="local_shell_call", call_id="m", action={"command": ["ls"]}),
    codex("event_msg", inner="user_message", message="words", images=[]),
    codex("event_msg", inner="agent_message", message="only here"),
    codex("event_msg", inner="token_count", info=_INFO),
    codex("event_msg", inner="error", message="broken"),
    codex("event_msg", inner="thread_name_updated", thread_name="named"),
    codex("turn_context", cwd="/proj", model="m", effort="high"),
    codex("compacted", message="so far"),
    codex_meta("other"),
    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "old"}]},
]
KINDS = {
    "pi": (PI, pi_header(), PIS),
    "claude-code": (CLAUDE_CODE, claude("user", "z", None, "first"), CLAUDES),
    "codex": (CODEX, codex_meta(), CODEXES),
}


class OneByOne(Decoder):
    """Reads no stretch at once."""

    def _fast(self, lines: bytes) -> None:
        return None


class AtOnce(Decoder):
    """Reads nothing line by line but what tells the header."""

    def _slow(self, lines: bytes) -> Any:
        assert self._header is None
        return super()._slow(lines)


def told(decoder: Decoder, data: bytes) -> dict[str, Any]:
    decoder.feed(data)
    log = decoder.log()
    columns = {name: getattr(log.columns, name).tolist() for name in COLUMN_TYPES}
    kinds, roles = list(log.kinds), list(log.roles)
    columns["kind"] = [kinds[code] for code in columns["kind"]]
    columns["role"] = [roles[code] for code in columns["role"]]
    columns["usage"] = [log.usage[at] if at >= 0 else None for at in columns["usage"]]
    return columns


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_lines_read_at_once_and_one_by_one_are_the_same(kind: str, data: st.DataObject) -> None:
    format, header, records = KINDS[kind]
    lines = log_of([header, *data.draw(st.lists(st.sampled_from(records), max_size=12))], None)
    assert told(AtOnce(format), lines) == told(OneByOne(format), lines)


@pytest.mark.parametrize("kind", KINDS)
def test_heads_tell_what_records_tell(kind: str) -> None:
    format, header, records = KINDS[kind]
    session = session_in(format, [header, *records])
    for place in range(len(session)):
        head, _ = head_of(session.record(place))
        assert (session.kind(place), session.role(place)) == (head.type, head.message.role), place
        failed = head.is_error or head.message.is_error or head.message.stop_reason == "error"
        failed = failed or head.customType == "turn_error"
        assert session.has(place, Flag.ERROR) == failed, session.record(place)
        assert session.text(place), session.raw(place)


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_any_record_can_be_shown(kind: str, data: st.DataObject) -> None:
    format, header, records = KINDS[kind]
    values = st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=3), st.just([{}]))
    record = copy.deepcopy(data.draw(st.sampled_from(records)))
    for holder in [record, record.get("message"), record.get("payload")]:
        if isinstance(holder, dict) and holder:
            holder[data.draw(st.sampled_from(sorted(holder)))] = data.draw(values)
    session = session_in(format, [header, record])
    for place in range(len(session)):
        session.text(place)
        assert session.raw(place)
    assert sorted(session.tree.order.tolist()) == list(range(len(session)))
    assert np.all(session.tree.parent < len(session))
