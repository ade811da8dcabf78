"""Codex's rollouts: each thing said is shown once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tau_browser.model.calls import ResultNames
from tau_browser.model.columns import Flag
from tau_browser.model.context import config_at, fold_at
from tau_browser.model.label import SEALED, label_of
from tau_browser.model.payload import history_of
from tau_browser.model.summary import summary_of
from tau_browser.model.tallies import tallied
from tau_browser.model.tools import tools_of
from tau_browser.model.usage import Ledger
from tau_browser.stores.codex.format import CODEX
from tau_browser.stores.codex.store import CodexStore
from tau_browser.stores.store import Listed
from tests.conftest import DATA
from tests.stores.logs.conftest import parents, said, session_in
from tests.stores.logs.writing import Record, codex, codex_message, codex_meta, write_lines

CASE = DATA / "bugcases" / "51-codex-rollout-doubles"


def test_talk_that_is_told_twice_is_shown_once() -> None:
    store = CodexStore([str(CASE)])
    (listed,) = (item for item in store.scan() if isinstance(item, Listed))
    session = store.open(listed.path).read()
    texts = [text for _, _, text in said(session)]
    assert texts.count("unique codex text") == texts.count("done listing") == 1
    assert session.id == "33333333-3333-4333-8333-333333333333"
    summary = summary_of(session)
    assert (summary.cwd, summary.title) == ("/proj/demo", "unique codex text")
    assert summary.parent == "44444444-4444-4444-8444-444444444444"
    assert [str(finding) for finding in session.diagnostics] == [
        "whole file: 2 events that say what items say: shown once",
        "whole file: 1 token count: shown as the usage of the entry before",
        "whole file: a fork of 44444444-4444-4444-8444-444444444444, which is not here: tokens that"
        " it repeats are counted again",
    ]
    assert len(session.findings) == 1  # that a thing said twice is shown once is none


@pytest.mark.parametrize("event_first", [True, False])
def test_the_order_of_the_two_views_does_not_matter(event_first: bool) -> None:
    talk = [
        codex_message("assistant", "done"),
        codex("event_msg", inner="agent_message", message="done"),
    ]
    lines = [codex_meta(), *(talk[::-1] if event_first else talk)]
    assert said(session_in(CODEX, lines)) == [("message", "assistant", "done")]


def item(type: str, **fields: object) -> Record:
    """What newer versions write at the end of an item."""
    return codex("event_msg", inner="item_completed", item={"type": type, **fields})


def test_what_the_newest_versions_tell_at_the_end_of_an_item_is_shown_once() -> None:
    """As version 0.171.0 wrote it."""
    call = {"inner": "function_call", "name": "exec_command", "arguments": "{}", "call_id": "k"}
    output = "Chunk ID: 1a2b3c\nWall time: 0.01 seconds\nProcess exited with code 0\nOutput:\nhi"
    thought = {"summary": [{"type": "summary_text", "text": "hm"}]}
    lines = [
        codex_message("user", "words"),
        item("UserMessage", id="u", content=[{"type": "text", "text": "words"}]),
        codex("response_item", inner="reasoning", **thought),
        item("Reasoning", id="r", summary_text=["hm"], raw_content=[]),
        codex("response_item", **call),
        item("CommandExecution", id="k", aggregated_output="hi", exit_code=0),
        codex("response_item", inner="function_call_output", call_id="k", output=output),
        item("AgentMessage", id="m", content=[{"type": "Text", "text": "done"}]),
        codex_message("assistant", "done"),
        item("Plan", id="p", text="what only it says"),
    ]
    session = session_in(CODEX, [codex_meta(), *lines])
    texts = [text for _, _, text in said(session)]
    assert texts[:5] == ["words", "hm", "exec_command\n{}", output, "done"]
    assert len(texts) == 6 and "what only it says" in texts[5]
    assert str(session.diagnostics[0]).endswith("4 events that say what items say: shown once")


def test_a_record_of_usage_and_a_count_of_the_same_are_one() -> None:
    def record(total: int, output: int) -> Record:
        usage = {"input_tokens": 9, "cached_input_tokens": 4, "output_tokens": output}
        whole = {"output_tokens": total}
        return codex("token_usage_record", usage=usage, thread_token_usage=whole)

    lines = [codex_message("assistant", "one"), record(1, 1), count(1, 1)]
    lines += [codex_message("assistant", "two"), record(3, 2), count(3, 2)]
    session = session_in(CODEX, [codex_meta(), *lines])
    assert len(session) == 2
    assert session.usage[session.columns.usage][:, 1].tolist() == [1, 2]


@pytest.mark.parametrize(
    ("output", "failed"),
    [
        ("Exit code: 1\nWall time: 0.2 seconds\nOutput:\nno", True),
        ("Exit code: 0\nWall time: 0.2 seconds\nOutput:\nExit code: 1", False),
        ("Chunk ID: 1a\nWall time: 0 seconds\nProcess exited with code 127\nOutput:\n", True),
        ("Chunk ID: 1a\nWall time: 0 seconds\nProcess running with session ID 7\n", False),
        ("it says: Exit code: 1", False),
    ],
)
def test_a_command_that_failed_is_told_by_how_its_output_begins(output: str, failed: bool) -> None:
    line = codex("response_item", inner="function_call_output", call_id="k", output=output)
    session = session_in(CODEX, [codex_meta(), line])
    assert session.has(0, Flag.ERROR) == session.record(0)["message"]["is_error"] == failed


def test_what_only_an_event_says_is_kept() -> None:
    lines = [
        codex_meta(),
        codex_message("user", "words"),
        codex("event_msg", inner="agent_message", message="only here"),
        codex("event_msg", inner="turn_aborted", reason="interrupted"),
    ]
    session = session_in(CODEX, lines)
    assert [text for _, _, text in said(session)] == [
        "words",
        "only here",
        "turn_aborted\nreason: interrupted",
    ]
    assert not session.diagnostics


def test_entries_are_one_chain_and_the_last_is_the_leaf() -> None:
    session = session_in(
        CODEX, [codex_meta(), *(codex_message("user", str(at)) for at in range(3))]
    )
    assert parents(session) == {"line-2": None, "line-3": "line-2", "line-4": "line-3"}
    assert session.leaf == 2


def test_tokens_belong_to_the_entry_before_their_count() -> None:
    def count(total: int) -> dict[str, object]:
        last = {"input_tokens": 9, "cached_input_tokens": 4, "output_tokens": total}
        info = {"last_token_usage": last, "total_token_usage": {"output_tokens": total}}
        return codex("event_msg", inner="token_count", info=info)

    answers = [
        codex_message("assistant", "one"),
        count(1),
        count(1),
        codex_message("assistant", "two"),
    ]
    session = session_in(CODEX, [codex_meta(), *answers, count(3)])
    assert len(session) == 2
    assert session.usage[session.columns.usage].tolist() == [[5, 1, 4, 0], [5, 3, 4, 0]]


def test_calls_outputs_and_failures() -> None:
    failed = '{"output": "no such file", "metadata": {"exit_code": 2}}'
    lines = [
        codex(
            "response_item", inner="function_call", name="shell", arguments='{"n": 1}', call_id="k"
        ),
        codex("response_item", inner="function_call_output", call_id="k", output=failed),
        codex(
            "response_item",
            inner="custom_tool_call",
            name="apply_patch",
            input="*** x",
            call_id="l",
        ),
        codex("response_item", inner="web_search_call", action={"query": "tides"}),
    ]
    session = session_in(CODEX, [codex_meta(), *lines])
    assert [text for _, _, text in said(session)] == [
        "shell\nn: 1",
        "no such file",
        "apply_patch\ninput: *** x",
        "web_search\nquery: tides",
    ]
    assert [session.has(place, Flag.ERROR) for place in range(4)] == [False, True, False, False]


def test_results_are_named_after_their_calls() -> None:
    calls = [
        codex("response_item", inner="function_call", name=name, arguments="{}", call_id=name)
        for name in ("exec_command", "read_file")
    ]
    results = [
        codex("response_item", inner="function_call_output", call_id=call_id, output="x")
        for call_id in ("exec_command", "read_file", "nothing")
    ]
    session = session_in(CODEX, [codex_meta(), *calls, *results])
    names = ResultNames(session)
    named = [names.named(place, session.record(place)) for place in (4, 3, 2, 0)]
    tools = [list(tools_of(record)) for record in named]
    assert tools == [[], ["read_file"], ["exec_command"], ["exec_command"]]
    *_, (_, tallies) = tallied(session)
    assert tallies.families == {"shell": 2, "read": 2}


def test_context_settings_and_compaction() -> None:
    lines = [
        codex_message("user", "<environment_context>made up</environment_context>"),
        codex("turn_context", cwd="/proj", model="big", effort="high"),
        codex_message("user", "the question"),
        codex("compacted", message="so far"),
        codex_message("assistant", "on"),
    ]
    session = session_in(CODEX, [codex_meta(), *lines])
    assert session.is_user.tolist() == [False, False, True, False, False]
    assert config_at(session, 4)["model"] == "big"
    assert fold_at(session, 4).context.tolist() == [3, 4]


def test_what_replaces_the_history_is_what_the_model_saw() -> None:
    history = [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "asked"}]},
        {"type": "function_call", "name": "shell", "arguments": '{"n": 1}', "call_id": "k"},
        {"type": "compaction", "encrypted_content": "Z0FB"},
    ]
    lines = [
        codex_message("user", "asked"),
        codex("compacted", message="", replacement_history=history),
    ]
    session = session_in(CODEX, [codex_meta(), *lines])
    assert history_of(session.record(1)) == [
        ("user", "asked"),
        ("assistant", "shell\nn: 1"),
        ("compaction", "type: compaction\nencrypted_content: Z0FB"),
    ]
    assert session.text(1).startswith("asked\nshell\nn: 1\ntype: compaction")
    assert fold_at(session, 1).context.tolist() == [1]


def count(total: int, output: int) -> Record:
    info = {
        "last_token_usage": {"input_tokens": 1, "output_tokens": output},
        "total_token_usage": {"output_tokens": total},
    }
    return codex("event_msg", inner="token_count", info=info)


def test_counts_that_no_entry_can_take_over_stand_for_themselves() -> None:
    lines = [count(1, 1), codex_message("assistant", "one"), count(3, 2), count(3, 2), count(6, 3)]
    lines += [codex("event_msg", inner="token_count", info=None), count(10, 4)]
    session = session_in(CODEX, [codex_meta(), *lines, codex_message("assistant", "two")])
    rows = [session.usage[at].tolist()[1] if at >= 0 else None for at in session.columns.usage]
    assert rows == [1, 2, 3, 4, None]  # the first of all, that of "one", two more
    assert [session.kind(place) for place in (1, 4)] == ["message"] * 2


def test_what_a_fork_repeats_is_counted_in_its_source(tmp_path: Path) -> None:
    old = [codex_meta("x0"), codex_message("user", "words"), codex_message("assistant", "one")]
    old += [count(7, 7), codex_message("user", "more"), codex_message("assistant", "left")]
    source = write_lines(tmp_path / "sessions" / "2026" / "02" / "01" / "rollout-1-x0.jsonl", old)
    later = {"timestamp": "2026-03-02T10:00:00.000Z"}
    new = [codex_meta("x1", forked_from_id="x0"), *(line | later for line in old[:4])]
    new += [codex_message("user", "other"), codex_message("assistant", "two"), count(9, 2)]
    path = write_lines(tmp_path / "archived_sessions" / "rollout-2-x1.jsonl", new)
    store = CodexStore([str(tmp_path / "sessions"), str(tmp_path / "archived_sessions")])
    session = store.open(str(path)).read()
    copied = [
        session.text(place) for place in range(len(session)) if session.has(place, Flag.COPIED)
    ]
    assert copied[-2:] == ["words", "one"]
    spend = Ledger(session, {}).subtree(session.tree.roots[0])
    assert (spend.tokens.output, spend.entries, spend.copies) == (2, 1, 1)
    assert not session.findings
    source.unlink()
    alone = store.open(str(path)).read()
    assert Ledger(alone, {}).subtree(0).tokens.output == 9
    assert ["a fork of x0, which is not here" in str(each) for each in alone.findings] == [True]


def test_a_fork_of_the_newest_versions_says_where_it_goes_on(tmp_path: Path) -> None:
    old = [codex_meta("x0"), codex_message("user", "words"), codex_message("assistant", "one")]
    source = write_lines(tmp_path / "sessions" / "2026" / "02" / "01" / "rollout-1-x0.jsonl", old)
    end = source.read_bytes().index(b"\n", 1 + source.read_bytes().index(b"\n")) + 1
    base = {"thread_id": "x0", "end_ordinal_exclusive": 2, "end_byte_offset": end}
    new = [codex_meta("x1", forked_from_id="x0", history_base=base), codex_message("user", "more")]
    path = write_lines(tmp_path / "sessions" / "2026" / "02" / "02" / "rollout-2-x1.jsonl", new)
    store = CodexStore([str(tmp_path / "sessions")])
    session = store.open(str(path)).read()
    assert summary_of(session).parent == "x0" and not session.findings
    assert [str(each) for each in session.diagnostics] == [
        "whole file: a fork of x0: what was said before stands there, up to line 2"
    ]
    source.unlink()
    (finding,) = store.open(str(path)).read().findings
    assert str(finding).endswith("x0, which is not here: what was said before cannot be shown")


def test_names_stand_in_one_file_for_all(tmp_path: Path) -> None:
    path = tmp_path / "sessions" / "2026" / "02" / "01" / "rollout-1-x0.jsonl"
    write_lines(path, [codex_meta("x0"), codex_message("user", "words")])
    store = CodexStore([str(tmp_path / "sessions")])
    assert summary_of(store.open(str(path)).read()).title == "words"
    named = [{"id": "x0", "thread_name": name} for name in ("first name", "last name")]
    index = write_lines(
        tmp_path / "session_index.jsonl", [*named, {"id": "x1", "thread_name": "y"}]
    )
    with index.open("ab") as file:
        file.write(b'{"id": "x0", "thread_na')
    assert summary_of(store.open(str(path)).read()).title == "last name"


def test_sealed_thoughts_are_said_so() -> None:
    sealed = codex("response_item", inner="reasoning", summary=[], encrypted_content="Z0FB")
    session = session_in(CODEX, [codex_meta(), sealed])
    assert label_of(session, 0, session.record(0)) == SEALED
    told = codex("response_item", inner="reasoning", summary=[{"text": "hm"}])
    assert label_of(session, 0, CODEX.record(told)) == "hm"


def test_spawned_thread_names_its_parent() -> None:
    source = {"subagent": {"thread_spawn": {"parent_thread_id": "x0"}}}
    assert summary_of(session_in(CODEX, [codex_meta(source=source)])).parent == "x0"


def test_first_version_had_no_envelope(tmp_path: Path) -> None:
    lines = [
        {"id": "x0", "timestamp": "2025-05-01T10:00:00.000Z", "instructions": None},
        {"record_type": "state"},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "old"}]},
        {"type": "function_call", "name": "shell", "arguments": "{}", "call_id": "k"},
    ]
    session = session_in(CODEX, lines)
    assert session.id == "x0"
    assert [text for _, _, text in said(session)][1:] == ["old", "shell\n{}"]


def test_places(tmp_path: Path) -> None:
    assert [Path(place.path).name for place in CodexStore.places({"CODEX_HOME": "/x"})] == [
        "sessions",
        "archived_sessions",
    ]
