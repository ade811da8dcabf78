"""Claude Code's sessions: sidechains under their calls, asides in their place, one tree."""

from __future__ import annotations

from pathlib import Path

import pytest

from tau_browser.model.calls import call_of
from tau_browser.model.context import fold_at, states
from tau_browser.model.diagnostic import Severity
from tau_browser.model.resume import resume_command
from tau_browser.model.state import State
from tau_browser.model.summary import summary_of
from tau_browser.model.tree import NOWHERE
from tau_browser.search.find import find, pattern_of
from tau_browser.stores.claude_code.format import CLAUDE_CODE
from tau_browser.stores.claude_code.store import ClaudeCodeStore
from tau_browser.stores.store import Change, Listed
from tests.conftest import DATA
from tests.stores.logs.conftest import parents, said, session_in
from tests.stores.logs.writing import Record, claude, tool_result, tool_use, write_lines

CASE = DATA / "bugcases" / "49-claude-sidechain"
SIDE = {"isSidechain": True, "agentId": "g1"}
CALL = claude("assistant", "b", "a", [tool_use("t1", "Task", prompt="look")])
RESULT = claude("user", "c", "b", [tool_result("t1", "seen")], toolUseResult={"agentId": "g1"})
AGENT = [claude("user", "s1", None, "look", **SIDE), claude("assistant", "s2", "s1", "hm", **SIDE)]


def test_sub_agents_are_one_session_with_what_called_them() -> None:
    store = ClaudeCodeStore([str(CASE)])
    (listed,) = (item for item in store.scan() if isinstance(item, Listed))
    session = store.open(listed.path).read()
    above = parents(session)
    assert (above["s1"], above["s2"], above["b1"], above["u3"]) == ("u2", "s1", "u2", "u2")
    assert session.entry_id(session.leaf) == "u3"
    stands = {name: State(states(session, session.leaf)[session.find(name)[0]]) for name in above}
    assert stands["s1"] is stands["s2"] is State.SUBAGENT and stands["u2"] is State.PATH
    pattern = pattern_of("only the subagent knows")
    assert pattern is not None
    (hit,) = (place for batch in find(session, pattern) for place in batch.hits)
    assert session.entry_id(hit) == "s2"
    assert not session.diagnostics
    looked = store.look_into(listed)
    assert isinstance(looked, Listed) and looked.summary
    assert (looked.summary.title, looked.summary.cwd) == ("delegation demo", "/proj/demo")


def test_a_sub_agent_of_a_branch_that_was_left_was_left_with_it() -> None:
    inline = [CALL, *AGENT, RESULT]
    lines = [claude("user", "a", None, "words"), *inline, claude("user", "z", "a", "other")]
    session = session_in(CLAUDE_CODE, lines)
    assert session.entry_id(session.leaf) == "z"
    left = [session.find(name)[0] for name in ("b", "s1", "s2")]
    assert set(states(session, session.leaf)[left]) == {State.ABANDONED}
    inside = session.find("s2")[0]
    assert states(session, inside)[session.find("s1")[0]] == State.PATH


def test_agent_that_still_works_is_found_by_what_it_was_asked(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "c1.jsonl", [claude("user", "a", None, "words"), CALL])
    opened = ClaudeCodeStore([str(tmp_path)]).open(str(path))
    opened.read()
    assert opened.check() is Change.NONE
    write_lines(tmp_path / "c1" / "subagents" / "agent-g1.jsonl", AGENT)
    assert opened.check() is Change.GREW
    session = opened.follow()
    assert parents(session)["s1"] == "b"
    assert opened.check() is Change.NONE


def test_agents_of_older_versions_lie_beside_their_session(tmp_path: Path) -> None:
    write_lines(tmp_path / "c1.jsonl", [claude("user", "a", None, "words"), CALL, RESULT])
    write_lines(tmp_path / "agent-g1.jsonl", AGENT)
    lost = [line | {"sessionId": "gone"} for line in AGENT]
    write_lines(tmp_path / "agent-g2.jsonl", lost)
    store = ClaudeCodeStore([str(tmp_path)])
    found = {Path(item.path).stem: item.path for item in store.scan()}
    assert found.keys() == {"c1", "agent-g2"}
    assert parents(store.open(found["c1"]).read())["s1"] == "b"
    alone = store.open(found["agent-g2"]).read()
    assert alone.tree.roots == [0] and alone.entry_id(alone.leaf) == "s2"


def test_damage_in_an_agents_file_names_that_file(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "c1.jsonl", [claude("user", "a", None, "words"), CALL])
    agent = write_lines(tmp_path / "c1" / "subagents" / "agent-g1.jsonl", AGENT)
    with agent.open("ab") as file:
        file.write(b"{torn\n")
    session = ClaudeCodeStore([str(tmp_path)]).open(str(path)).read()
    (finding,) = session.diagnostics
    assert str(finding).startswith("c1/subagents/agent-g1.jsonl, line 3: not JSON")


def test_lines_without_a_place_of_their_own_make_no_fork() -> None:
    aside = {"type": "file-history-snapshot", "messageId": "a", "snapshot": {}}
    session = session_in(
        CLAUDE_CODE,
        [
            {"type": "summary", "summary": "about", "leafUuid": "x"},
            claude("user", "a", None, "words"),
            aside,
            aside | {"messageId": "b"},
            claude("assistant", "b", "a", "one"),
            claude("assistant", "c", "a", "another"),
            aside,
        ],
    )
    assert parents(session) == {
        "line-1": None,
        "a": "line-1",
        "line-3": "a",
        "line-4": "line-3",
        "b": "line-4",
        "c": "line-4",
        "line-7": "c",
    }
    assert len(session.forks) == 1 and session.entry_id(session.leaf) == "c"
    state = states(session, session.leaf)
    assert state[0] == state[6] == State.PATH and state[4] == State.ABANDONED
    assert session.tree.roots == [0]


def test_what_was_compacted_is_stitched_and_folded() -> None:
    boundary = {"subtype": "compact_boundary", "logicalParentUuid": "b"}
    kept = {"compactMetadata": {"preTokens": 9, "preservedSegment": {"headUuid": "b"}}}
    lines = [
        claude("user", "a", None, "words"),
        claude("assistant", "b", "a", "answer"),
        claude("system", "c", None, "Conversation compacted", **boundary),
        claude("user", "d", "c", "so far", isCompactSummary=True),
        claude("assistant", "e", "d", "on"),
    ]
    session = session_in(CLAUDE_CODE, lines)
    assert session.tree.roots == [0] and parents(session)["c"] == "b"
    assert fold_at(session, session.leaf).context.tolist() == [2, 3, 4]
    lines[2] = claude("system", "c", None, "Conversation compacted", **boundary, **kept)
    session = session_in(CLAUDE_CODE, lines)
    assert fold_at(session, session.leaf).context.tolist() == [2, 1, 3, 4]


def test_entries_repeated_by_a_compaction_are_shown_once() -> None:
    again = claude("user", "a", "c", "words", timestamp="2026-03-01T11:00:00.000Z")
    lines = [claude("user", "a", None, "words"), claude("assistant", "b", "a", "x"), again]
    session = session_in(CLAUDE_CODE, lines)
    assert parents(session) == {"a": None, "b": "a"}
    assert "shown once" in str(session.diagnostics[0])


def test_an_answer_in_several_lines_is_paid_for_once() -> None:
    def part(uuid: str, parent: str, output: int) -> dict[str, object]:
        usage = {"input_tokens": 3, "output_tokens": output}
        return claude("assistant", uuid, parent, "x", message={"id": "m1", "usage": usage})

    lines = [claude("user", "a", None, "words"), part("b", "a", 1), part("c", "b", 8)]
    session = session_in(CLAUDE_CODE, lines)
    used = session.usage[session.columns.usage[session.columns.usage >= 0]]
    assert used.tolist() == [[3, 8, 0, 0]]


def note(leaf: str | None, **fields: object) -> Record:
    return {"type": "last-prompt", "lastPrompt": "words", "leafUuid": leaf, "sessionId": "c1"} | (
        fields
    )


BACK = {"explicit": True, "rewound": True}
ON = [claude("user", "c", "a", "another"), claude("assistant", "d", "c", "way")]
BOUNDARY = claude("system", "e", None, subtype="compact_boundary", logicalParentUuid="d")


@pytest.mark.parametrize(
    ("lines", "leaf"),
    [
        ([], "b"),
        ([note("b")], "b"),
        ([note("a")], "b"),  # which led there
        ([note("a", **BACK)], "a"),
        ([note("a", **BACK), note("a")], "a"),  # told again when it ended
        ([note("a", **BACK), note("b")], "b"),
        ([note("a", **BACK), *ON], "d"),
        ([note("b"), *ON], "b"),  # the program went there, and ended before it noted it
        ([note("b"), *ON, note("d")], "d"),
        ([note("nowhere"), *ON], "d"),
        ([note("b"), *ON, BOUNDARY], "e"),
        ([*ON, BOUNDARY, note("b")], "b"),
        ([note(None), note("a", **BACK)], "a"),
        ([note(None, **BACK)], None),
        ([note(None, **BACK), claude("user", "f", None, "anew")], "f"),
    ],
)
def test_it_goes_on_where_the_program_notes_that_it_does(
    lines: list[Record], leaf: str | None
) -> None:
    """As versions 2.1.197 and 2.1.332 were seen to go on."""
    words = [claude("user", "a", None, "words"), claude("assistant", "b", "a", "answer")]
    session = session_in(CLAUDE_CODE, [*words, *lines])
    assert (session.entry_id(session.leaf) if session.leaf != NOWHERE else None) == leaf
    assert not session.findings
    last = [line["uuid"] for line in [*words, *lines] if "uuid" in line][-1]
    assert bool(session.diagnostics) == (leaf != last)
    if leaf is not None:
        assert states(session, session.leaf)[session.find(leaf)] == State.PATH


@pytest.mark.parametrize("noted", ["b1", "b2", "r1"])
def test_what_belongs_to_an_answer_led_to_what_hangs_under_any_line_of_it(noted: str) -> None:
    answer = {"id": "M1", "usage": {"output_tokens": 1}}
    lines = [
        claude("user", "a", None, "words"),
        claude("assistant", "b1", "a", [tool_use("c1", "Read")], message=answer),
        claude("assistant", "b2", "b1", [tool_use("c2", "Read")], message=answer),
        claude("user", "r1", "b2", [tool_result("c1", "ONE")]),
        claude("progress", "p1", "b1", data={"type": "hook"}),
        claude("user", "r2", "p1", [tool_result("c2", "TWO")]),
    ]
    session = session_in(CLAUDE_CODE, [*lines, note(noted)])
    assert session.entry_id(session.leaf) == "r2" and not session.diagnostics


def test_a_remark_tells_where_the_note_is() -> None:
    lines = [claude("user", "a", None, "words"), claude("assistant", "b", "a", "answer")]
    session = session_in(CLAUDE_CODE, [*lines, note("a", **BACK)])
    (remark,) = session.diagnostics
    assert (remark.line, remark.severity) == (3, Severity.REMARK)
    assert remark.reason == "Claude Code goes on at a, not at the last entry"
    assert states(session, session.leaf)[1] == State.ABANDONED
    session = session_in(CLAUDE_CODE, [*lines, note(None, **BACK)])
    assert session.diagnostics[0].reason == "Claude Code goes on with an empty conversation"


def test_what_sub_agents_write_is_no_place_to_go_on(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path / "c1.jsonl", [claude("user", "a", None, "words"), CALL, note("s2")]
    )
    write_lines(tmp_path / "c1" / "subagents" / "agent-g1.jsonl", AGENT)
    session = ClaudeCodeStore([str(tmp_path)]).open(str(path)).read()
    assert session.entry_id(session.leaf) == "b"


def test_what_the_program_says_opens_no_turn_and_gives_no_title() -> None:
    lines = [
        claude("user", "a", None, "<command-name>/model</command-name>"),
        claude("user", "b", "a", "Caveat: made up", isMeta=True),
        claude("user", "c", "b", "the real question"),
    ]
    session = session_in(CLAUDE_CODE, lines)
    assert session.is_user.tolist() == [False, False, True]
    assert summary_of(session).title == "the real question"


def test_result_answers_its_call() -> None:
    session = session_in(CLAUDE_CODE, [claude("user", "a", None, "words"), CALL, RESULT])
    found = call_of(session, 2)
    assert found is not None and (found[0], found[1].name) == (1, "Task")
    assert said(session)[1] == ("message", "assistant", "Task\nprompt: look")
    assert said(session)[2] == ("message", "toolResult", "seen")


@pytest.mark.parametrize(
    ("lines", "title"),
    [
        ([{"type": "custom-title", "customTitle": "mine", "sessionId": "c1"}], "mine"),
        ([{"type": "ai-title", "aiTitle": "guessed", "sessionId": "c1"}], "guessed"),
        ([{"type": "summary", "summary": "own", "leafUuid": "a"}], "own"),
        ([], "from elsewhere"),
    ],
)
def test_titles(tmp_path: Path, lines: list[dict[str, object]], title: str) -> None:
    write_lines(tmp_path / "c1.jsonl", [claude("user", "a", None, "words"), *lines])
    elsewhere = {"type": "summary", "summary": "from elsewhere", "leafUuid": "a"}
    write_lines(tmp_path / "c2.jsonl", [elsewhere, claude("user", "z", None, "other words")])
    store = ClaudeCodeStore([str(tmp_path)])
    looked = [store.look_into(item) for item in store.scan() if isinstance(item, Listed)]
    titles = {item.summary.id: item.summary.title for item in looked if item.summary}
    assert titles == {"c1": title, "c2": "other words"}


def test_a_session_that_was_moved_goes_on_in_its_new_directory(tmp_path: Path) -> None:
    """As when a worktree was entered: the file lies in the folder of that project then."""
    moves = [
        {"type": "relocated", "relocatedCwd": cwd, "sessionId": "c1"}
        for cwd in ("/a", "/proj/tree")
    ]
    path = write_lines(tmp_path / "c1.jsonl", [claude("user", "a", None, "words"), *moves])
    session = ClaudeCodeStore([str(tmp_path)]).open(str(path)).read()
    assert session.header["cwd"] == "/proj/tree"
    assert (
        resume_command("claude-code", session, str(path)) == "cd /proj/tree && claude --resume c1"
    )


def test_fork_names_the_session_it_came_from() -> None:
    forked = {"forkedFrom": {"sessionId": "c0", "messageUuid": "a"}}
    assert (
        summary_of(session_in(CLAUDE_CODE, [claude("user", "a", None, "x", **forked)])).parent
        == "c0"
    )


@pytest.mark.parametrize("size", [70_000, 300_000])
def test_a_session_that_begins_with_a_picture_is_recognised(tmp_path: Path, size: int) -> None:
    first = claude("user", "a", None, "A" * size)
    path = write_lines(tmp_path / "c1.jsonl", [first, claude("assistant", "b", "a", "ok")])
    assert ClaudeCodeStore.recognises(str(path)) and ClaudeCodeStore.recognises(str(tmp_path))


def called(uuid: str, parent: str, call_id: str, answer: str = "m1") -> Record:
    """A line of an answer, with one of its calls."""
    message = {"id": answer, "usage": {"output_tokens": 1}}
    return claude("assistant", uuid, parent, [tool_use(call_id, "Bash")], message=message)


def answered(uuid: str, parent: str, call_id: str) -> Record:
    return claude("user", uuid, parent, [tool_result(call_id, uuid)])


AT_ONCE = [
    claude("user", "u", None, "words"),
    called("a1", "u", "t1"),
    called("a2", "a1", "t2"),
    called("a3", "a2", "t3"),
]


def test_results_of_calls_at_once_follow_each_other_and_none_was_left() -> None:
    results = [answered("r2", "a2", "t2"), answered("r1", "a1", "t1"), answered("r3", "a3", "t3")]
    next_one = claude("assistant", "n", "r3", "so", message={"id": "m2", "usage": {}})
    session = session_in(CLAUDE_CODE, [*AT_ONCE, *results, next_one])
    above = {"u": None, "a1": "u", "a2": "a1", "a3": "a2", "r2": "a3", "r1": "r2", "r3": "r1"}
    assert parents(session) == above | {"n": "r3"}
    assert session.forks == [] and session.ids(fold_at(session, session.leaf).context)[-1] == "n"
    assert len(fold_at(session, session.leaf).context) == 8
    assert {State(int(state)) for state in states(session, session.leaf)} == {State.PATH}
    assert session.usage[session.columns.usage[session.find("a3")[0]]].tolist() == [0, 1, 0, 0]
    assert session.columns.usage[session.find("a1")[0]] == -1


def test_what_goes_on_under_an_earlier_result_comes_after_the_later_ones() -> None:
    results = [answered("r1", "a1", "t1"), answered("r2", "a2", "t2")]
    lines = [*AT_ONCE[:3], *results, claude("user", "n", "r1", "so"), answered("r9", "a2", "t9")]
    session = session_in(CLAUDE_CODE, lines)
    above = parents(session)
    assert (above["r1"], above["r2"], above["n"]) == ("a2", "r1", "r2")
    assert above["r9"] == "a2"  # a call that was answered again: a branch


def test_answers_that_wait_for_each_result_are_a_row_already() -> None:
    lines = [
        *AT_ONCE[:2],
        answered("r1", "a1", "t1"),
        called("a2", "r1", "t2"),
        answered("r2", "a2", "t2"),
    ]
    above = parents(session_in(CLAUDE_CODE, lines))
    assert above == {"u": None, "a1": "u", "r1": "a1", "a2": "r1", "r2": "a2"}


def test_progress_that_leads_to_nothing_is_no_branch() -> None:
    at_work = {"data": {"type": "hook_progress"}}
    lines = [
        *AT_ONCE[:2],
        claude("progress", "p1", "a1", **at_work),
        claude("progress", "p2", "p1", **at_work),
        answered("r1", "a1", "t1"),
        claude("progress", "p3", "r1", **at_work),
        claude("assistant", "n", "p3", "so"),
    ]
    session = session_in(CLAUDE_CODE, lines)
    above = {"u": None, "a1": "u", "p1": "a1", "p2": "p1", "r1": "p2", "p3": "r1", "n": "p3"}
    assert parents(session) == above and session.forks == []
    assert {State(int(state)) for state in states(session, session.leaf)} == {State.PATH}
