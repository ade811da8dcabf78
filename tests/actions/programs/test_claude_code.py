"""Copies of Claude Code's sessions, as Claude Code reads them: a naive reader is the judge."""

from __future__ import annotations

import itertools
import json
import os
import random
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tau_browser.actions.fork import ForkRequest, plan_fork
from tau_browser.actions.journal import Change, Journal
from tau_browser.actions.log_writers import ClaudeCodeWriter
from tau_browser.actions.plan import Plan, Refused
from tau_browser.actions.prune import How, PruneRequest, plan_prune
from tau_browser.actions.reading import Reading
from tau_browser.actions.undo import last_undoable, take_back
from tau_browser.actions.writers import writers
from tau_browser.model.session import Session
from tau_browser.stores.claude_code.store import ClaudeCodeStore
from tests.actions.conftest import LONG_AGO, snapshot
from tests.actions.programs.reopening import ClaudeCode, Record, records_in
from tests.conftest import DATA
from tests.stores.logs.conftest import parents
from tests.stores.logs.writing import claude, tool_result, tool_use, write_lines

CASE = DATA / "bugcases" / "49-claude-sidechain" / "claude" / "projects" / "-proj-demo"
ID = "11111111-1111-4111-8111-111111111111"
SIDE = {"isSidechain": True, "agentId": "g1"}


class Place:
    """A session of Claude Code's in a project, and a journal beside it."""

    def __init__(self, folder: Path, lines: list[Record], agents: list[Record] = []) -> None:  # noqa: B006
        self.path = folder / "projects" / "-proj-demo" / f"{ID}.jsonl"
        write_lines(self.path, lines)
        if agents:
            write_lines(self.agent, agents)
            self.agent.with_suffix(".meta.json").write_text('{"agentType":"looker"}')
        for path in self.path.parent.rglob("*.jsonl"):
            os.utime(path, ns=(LONG_AGO, LONG_AGO))
        self.journal = Journal(folder / "state")
        self.writer = ClaudeCodeWriter.beside(str(self.path))

    @property
    def agent(self) -> Path:
        return self.path.parent / ID / "subagents" / "agent-g1.jsonl"

    def reading(self) -> Reading:
        return self.writer.read(str(self.path), self.journal)

    def at(self, name: str) -> int:
        return self.reading().session.find(name)[0]

    def fork(self, **request: Any) -> Plan:
        return plan_fork(self.reading(), ForkRequest(**request), self.writer)

    def prune(self, *names: str, **request: Any) -> Plan:
        roots = tuple(map(self.at, names))
        return plan_prune(self.reading(), PruneRequest(roots, **request), self.writer)

    def made(self, plan: Plan) -> Change:
        return self.writer.apply(plan, self.journal)

    def reopened(self, plan: Plan) -> ClaudeCode:
        return ClaudeCode(records_in(self.made(plan).path))

    def agents_of(self, session: Session | None) -> dict[str, list[Record]]:
        """What sub-agents wrote, by the name of their file, where Claude Code looks for it."""
        assert session is not None
        files = (self.path.parent / session.id / "subagents").rglob("agent-*.jsonl")
        return {path.name: records_in(path) for path in files}


def part(uuid: str, parent: str, answer: str, *content: Record) -> Record:
    """A line of an answer that is written in several."""
    return claude("assistant", uuid, parent, list(content), message={"id": answer})


def text(words: str) -> Record:
    return {"type": "text", "text": words}


def state(kind: str, **fields: Any) -> Record:
    return {"type": kind, "sessionId": ID, **fields}


KEPT = {"headUuid": "a5", "anchorUuid": "cs", "tailUuid": "a6"}
TALK = [
    state("mode", mode="normal"),
    claude("user", "u1", None, "first"),
    claude("attachment", "t1", "u1", attachment={"type": "todo"}),
    part("a1", "t1", "M1", text("I look"), tool_use("c1", "Read", file_path="x")),
    part("a2", "a1", "M1", tool_use("c2", "Task", prompt="look")),
    claude("user", "r1", "a1", [tool_result("c1", "ONE")], sourceToolAssistantUUID="a1"),
    claude("user", "r2", "a2", [tool_result("c2", "TWO")], toolUseResult={"agentId": "g1"}),
    part("a3", "r2", "M2", text("done")),
    claude("user", "u2", "a3", "second"),
    part("a4", "u2", "M3", text("yes")),
    {"type": "file-history-snapshot", "messageId": "u3", "snapshot": {"messageId": "u3"}},
    claude("user", "u3", "a3", "other"),
    part("a5", "u3", "M4", tool_use("c5", "Bash", command="ls")),
    claude("user", "r5", "a5", [tool_result("c5", "FIVE")]),
    part("a6", "r5", "M5", text("other done")),
    state("custom-title", customTitle="the title"),
    claude(
        "system",
        "cb",
        None,
        "Conversation compacted",
        subtype="compact_boundary",
        logicalParentUuid="a6",
        compactMetadata={"preTokens": 9, "preservedSegment": KEPT},
    ),
    claude("user", "cs", "cb", "so far", isCompactSummary=True),
    claude("user", "u4", "cs", "third"),
    part("a7", "u4", "M6", text("on")),
    state("last-prompt", lastPrompt="third", leafUuid="a7"),
]
AGENT = [claude("user", "s1", None, "look", **SIDE), claude("assistant", "s2", "s1", "hm", **SIDE)]


def test_the_copy_has_every_entry_under_an_id_of_its_own(tmp_path: Path) -> None:
    place = Place(tmp_path, TALK, AGENT)
    before = snapshot(place.path.parent)
    plan = place.fork()
    made = Path(place.made(plan).path)
    assert before.items() <= snapshot(place.path.parent).items()
    assert plan.result is not None and made == place.path.with_name(f"{plan.result.id}.jsonl")
    about = made.with_suffix("") / "subagents" / "agent-g1.meta.json"
    assert json.loads(about.read_text()) == {"agentType": "looker"}
    for path in (made, about, about.with_name("agent-g1.jsonl")):
        assert path.stat().st_mode & 0o777 == 0o600
    for folder in (about.parent, about.parent.parent):
        assert folder.stat().st_mode & 0o777 == 0o700
    copy, agents = ClaudeCode(records_in(made)), place.agents_of(plan.result)
    assert copy.rows == list(copy.own.values()) and agents.keys() == {"agent-g1.jsonl"}
    known = {row["uuid"]: row for row in [*TALK, *AGENT] if "uuid" in row}
    rows = [*copy.rows, *agents["agent-g1.jsonl"]]
    assert [row["uuid"] for row in rows] == list(known)
    for row in rows:
        mark = {"sessionId": ID, "messageUuid": row["uuid"]}
        assert row == known[row["uuid"]] | {"sessionId": plan.result.id, "forkedFrom": mark}
    assert copy.leaf == "a7"
    assert copy.context("a7") == ClaudeCode(TALK).context("a7")


def test_sub_agents_hang_under_their_calls_in_the_copy(tmp_path: Path) -> None:
    place = Place(tmp_path, TALK, AGENT)
    nested = place.agent.parent / "workflows" / "w1" / "agent-g2.jsonl"
    write_lines(nested, [row | {"uuid": f"n{row['uuid']}", "agentId": "g2"} for row in AGENT])
    os.utime(nested, ns=(LONG_AGO, LONG_AGO))
    plan = place.fork()
    session = ClaudeCodeStore([str(place.path.parent)]).open(place.made(plan).path).read()
    assert parents(session)["s1"] == "a2" and not session.diagnostics
    assert plan.result is not None and parents(plan.result) == parents(session)
    assert place.agents_of(session).keys() == {"agent-g1.jsonl", "agent-g2.jsonl"}
    assert (place.path.parent / session.id / "subagents" / "workflows" / "w1").is_dir()


def test_sub_agents_go_and_come_with_their_session(tmp_path: Path) -> None:
    place = Place(tmp_path, TALK, AGENT)
    before = snapshot(place.path.parent)
    change = place.made(place.fork())
    made = snapshot(place.path.parent)
    undone = take_back(change, place.journal, writers())
    assert snapshot(place.path.parent) == before
    assert {path.name for path in place.path.parent.iterdir()} == {ID, place.path.name}
    redone = take_back(undone, place.journal, writers())
    assert snapshot(place.path.parent) == made
    agent = Path(change.path).with_suffix("") / "subagents" / "agent-g1.jsonl"
    agent.write_bytes(agent.read_bytes() + b"{}\n")
    for each in (change, undone, redone):
        with pytest.raises(Refused):
            take_back(each, place.journal, writers())
    assert Path(change.path).exists() and agent.exists()


def test_lines_keep_their_bytes_but_for_the_id(tmp_path: Path) -> None:
    odd = '{"sessionId": "x", "a": [1.50, "\\u00e9", 1e2]}'
    lines = [*TALK[:2], claude("user", "u9", "u1", odd, toolUseResult={"sessionId": "c1"})]
    place = Place(tmp_path, lines)
    raw = place.path.read_bytes().replace(b'"isSidechain": false', b'"isSidechain":  false')
    place.path.write_bytes(raw.replace(b'"toolUseResult": {"sessionId"', b'"z": {"other"'))
    os.utime(place.path, ns=(LONG_AGO, LONG_AGO))
    plan = place.fork()
    assert plan.result is not None
    new = f'"sessionId": "{plan.result.id}"'.encode()
    rows = [line for line in place.path.read_bytes().split(b"\n") if b'"uuid"' in line]
    made = Path(place.made(plan).path).read_bytes().split(b"\n")[:-1]
    for old, line in zip(rows, made, strict=True):
        kept, _, mark = line.rpartition(b',"forkedFrom":')
        assert kept == old.replace(b'"sessionId": "c1"', new)[:-1] and mark


def test_an_id_that_stands_elsewhere_too_is_left_alone_there(tmp_path: Path) -> None:
    lines = [claude("user", "u1", None, "first", toolUseResult={"sessionId": "c1"})]
    copy = Place(tmp_path, lines)
    (row,) = copy.reopened(copy.fork()).rows
    assert row["toolUseResult"] == {"sessionId": "c1"} and row["sessionId"] != "c1"


def test_what_else_belongs_to_an_answer_goes_along(tmp_path: Path) -> None:
    place = Place(tmp_path, TALK, AGENT)
    plan = place.fork(at=place.at("u2"))
    copy = place.reopened(plan)
    assert [row["uuid"] for row in copy.rows] == [*("u1", "t1", "a1", "a2", "r1", "r2", "a3", "u2")]
    assert [row["uuid"] for row in place.agents_of(plan.result)["agent-g1.jsonl"]] == ["s1", "s2"]
    said = [block.get("text", block.get("content")) for _, block in copy.context("u2")]
    assert said == ["first", "I look", None, None, "TWO", "done", "second", "ONE"]


def test_of_the_last_answer_only_what_was_there(tmp_path: Path) -> None:
    place = Place(tmp_path, TALK, AGENT)
    plan = place.fork(at=place.at("a1"))
    assert plan.refusals[0].entries == ("r1",)
    copy = place.reopened(place.fork(at=place.at("a1"), pairs=True))
    assert copy.leaf == "r2" and {"a1", "a2", "r1"} <= copy.own.keys()
    copy = place.reopened(place.fork(at=place.at("r2")))
    assert copy.leaf == "r2" and "r1" in copy.own


def test_it_goes_on_at_entries_of_the_conversation_alone(tmp_path: Path) -> None:
    place = Place(tmp_path, TALK, AGENT)
    snapshot_line, boundary = place.at("line-11"), place.at("cb")
    for at, ends in ((snapshot_line, "a4"), (boundary, "a6")):
        plan = place.fork(at=at)
        assert plan.leaf is not None and plan.leaf.id == ends
        assert any("is no place at which Claude Code can go on" in note for note in plan.remarks)
    with pytest.raises(Refused, match="nothing hangs under it"):
        place.prune("line-11")


def test_what_was_compacted_stays_so(tmp_path: Path) -> None:
    place = Place(tmp_path, TALK, AGENT)
    copy = place.reopened(place.fork(at=place.at("u4")))
    assert [block.get("text") for _, block in copy.context("u4")] == [
        *("so far", None, None, "other done", "third")
    ]
    plan = place.fork(only=(place.at("cb"),))
    assert ("cb",) in [refusal.entries for refusal in plan.refusals]
    plan = place.prune("u3")  # and all that hangs under it, the compaction too
    assert place.reopened(plan).leaf == "a4"


def test_the_state_of_the_session_stays_with_it(tmp_path: Path) -> None:
    place = Place(tmp_path, [{"type": "summary", "summary": "x", "leafUuid": "u9"}, *TALK])
    plan = place.fork()
    (note,) = (note for note in plan.remarks if note.startswith("not copied"))
    assert note.endswith("file-history-snapshot, last-prompt, mode")
    copy = place.reopened(plan)
    (other,) = (row for row in copy.records if "uuid" not in row)
    assert other["customTitle"] == "the title" and other["sessionId"] != ID


def test_a_copy_goes_on_where_a_person_went_back_to(tmp_path: Path) -> None:
    back = state("last-prompt", leafUuid="u2", explicit=True, rewound=True)
    place = Place(tmp_path, [*TALK[:12], back], AGENT)
    plan = place.fork()
    copy = place.reopened(plan)
    assert plan.leaf is not None and (plan.leaf.id, copy.leaf) == ("u2", "u2")
    assert plan.result is not None
    told = {"leafUuid": "u2", "explicit": True, "sessionId": plan.result.id}
    assert copy.records[-1] == {"type": "last-prompt", **told}
    assert copy.context("u2") == ClaudeCode(TALK).context("u2")
    assert place.reopened(place.prune("a4")).leaf == "u2"


def test_what_is_drawn_between_two_lines_changes_neither(tmp_path: Path) -> None:
    usage = {"usage": {"output_tokens": 1}}
    answer = [
        part("a1", "u1", "M1", tool_use("c1", "Read")),
        part("a2", "a1", "M1", tool_use("c2", "Read")),
    ]
    for line in answer:
        line["message"] |= usage  # then the results are drawn in a row
    results = [
        claude("user", "r1", "a1", [tool_result("c1", "ONE")]),
        claude("user", "r2", "a2", [tool_result("c2", "TWO")]),
    ]
    beside = {"type": "file-history-snapshot", "messageId": "u2", "snapshot": {}}
    begins, goes_on = claude("user", "u1", None, "first"), claude("user", "u2", "r1", "second")
    place = Place(tmp_path, [begins, *answer, *results, beside, goes_on])
    plan = place.fork()
    assert not plan.references
    assert place.reopened(plan).own["u2"]["parentUuid"] == "r1"


def test_a_name_is_written_as_claude_code_writes_it(tmp_path: Path) -> None:
    place = Place(tmp_path, TALK)
    made = place.made(place.fork(name="a try"))
    new_id = Path(made.path).stem
    title = {"type": "custom-title", "customTitle": "a try", "sessionId": new_id}
    assert records_in(made.path)[-1] == title
    session = ClaudeCodeStore([str(place.path.parent)]).open(made.path).read()
    assert (session.header["parent"], session.id) == (ID, new_id)


def test_it_stays_in_its_project(tmp_path: Path) -> None:
    place = Place(tmp_path, TALK)
    with pytest.raises(Refused, match="goes on in the directory of its source"):
        place.fork(cwd="/else/where")
    for how in (How.IN_PLACE, How.FOLD):
        with pytest.raises(Refused, match="a session of Claude Code is pruned in a copy only"):
            place.prune("u3", how=how)
    lost = Place(tmp_path / "other", [row | {"cwd": "/proj/moved"} for row in TALK])
    assert any("Claude Code will not find it" in note for note in lost.fork().remarks)


def test_a_sub_agents_file_alone_is_refused(tmp_path: Path) -> None:
    place = Place(tmp_path, AGENT)
    with pytest.raises(Refused, match="resumes no sub-agent's"):
        place.fork()
    with pytest.raises(Refused, match="resumes no sub-agent's"):
        place.prune("s2")


def test_entries_that_were_written_again_elsewhere_are_refused(tmp_path: Path) -> None:
    again = next(row for row in TALK if row.get("uuid") == "u3") | {"parentUuid": "cs"}
    place = Place(tmp_path, [*TALK, again])
    assert "goes by the last of them" in place.fork().refusals[0].reason


def test_a_plan_does_not_hold_once_a_sub_agent_wrote_on(tmp_path: Path) -> None:
    place = Place(tmp_path, TALK, AGENT)
    plan = place.fork()
    with place.agent.open("ab") as file:
        file.write(json.dumps(claude("assistant", "s3", "s2", "more", **SIDE)).encode() + b"\n")
    before = snapshot(place.path.parent)
    with pytest.raises(Refused, match="changed since it was read"):
        place.made(plan)
    assert snapshot(place.path.parent) == before


def test_the_case_with_sub_agents_is_forked_at_every_entry(tmp_path: Path) -> None:
    project = tmp_path / "-proj-demo"
    shutil.copytree(CASE, project)
    (path,) = project.glob("*.jsonl")
    for file in project.rglob("*.jsonl"):
        os.utime(file, ns=(LONG_AGO, LONG_AGO))
    writer, journal = ClaudeCodeWriter.beside(str(path)), Journal(tmp_path / "state")
    reading = writer.read(str(path), journal)
    source = ClaudeCode(records_in(path))
    made = 0
    for at in range(len(reading.session)):
        try:
            plan = plan_fork(reading, ForkRequest(at=at, pairs=True), writer)
        except Refused as error:
            assert "cannot go on" in str(error)
            continue
        copy = ClaudeCode(records_in(writer.apply(plan, journal).path))
        _holds(plan, copy, source)
        made += 1
    assert made >= 4


def _holds(plan: Plan, copy: ClaudeCode, source: ClaudeCode) -> None:
    """Whether a fork at an entry is what Claude Code had in its context there."""
    assert plan.leaf is not None and copy.leaf == plan.leaf.id
    lines = [row["uuid"] for row in source.rows].index(copy.leaf) + 1
    expected = source.context(copy.leaf, lines)
    assert sorted(map(json.dumps, copy.context(copy.leaf))) == sorted(map(json.dumps, expected))


# Any tree, any plan


@st.composite
def talks(draw: st.DrawFn) -> list[Record]:
    """Sessions of some turns under entries that came before them: answers in several lines, with
    calls side by side whose results may come in any order, or not at all; sidechains, compactions,
    notes of where it goes on and other lines without an id between."""
    lines: list[Record] = []
    ends: list[str | None] = [None]
    in_rows = draw(st.booleans())  # answers tell their usage: results are shown in a row
    for at in range(draw(st.integers(1, 6))):
        parent = draw(st.sampled_from(ends[-3:]))
        lines.append(claude("user", f"u{at}", parent, f"asks {at}"))
        above = f"u{at}"
        if draw(st.booleans()):
            lines.append({"type": "file-history-snapshot", "messageId": above, "snapshot": {}})
        calls = draw(st.integers(0, 3))
        for nth in range(calls):
            name = f"a{at}.{nth}"
            content = [text(f"line {name}"), tool_use(f"c{name}", "Task", prompt=f"do {name}")]
            lines.append(part(name, above, f"M{at}", *content))
            above = name
            if draw(st.booleans()):
                side = {"isSidechain": True, "agentId": f"g{name}"}
                lines.append(claude("user", f"s{name}", None, f"do {name}", **side))
                lines.append(claude("assistant", f"t{name}", f"s{name}", "hm", **side))
        results = draw(st.permutations(range(calls)))
        for nth in results[: draw(st.sampled_from([calls, calls, max(0, calls - 1)]))]:
            name = f"r{at}.{nth}"
            under = draw(st.sampled_from([f"a{at}.{nth}", above]))
            if draw(st.integers(0, 3)) == 0:
                lines.append(claude("progress", f"p{at}.{nth}", under, data={"type": "hook"}))
                under = draw(st.sampled_from([under, f"p{at}.{nth}"]))
            if under == above or nth == results[-1]:
                above = name
            lines.append(claude("user", name, under, [tool_result(f"ca{at}.{nth}", f"did {nth}")]))
        if draw(st.booleans()):
            lines.append(part(f"z{at}", above, f"Z{at}", text(f"answers {at}")))
            above = f"z{at}"
        if draw(st.integers(0, 4)) == 0:
            kept = {"subtype": "compact_boundary", "logicalParentUuid": above}
            lines.append(claude("system", f"b{at}", None, "Conversation compacted", **kept))
            lines.append(claude("user", f"k{at}", f"b{at}", f"sum {at}", isCompactSummary=True))
            above = f"k{at}"
        ends.append(above)
        if in_rows and draw(st.booleans()):
            lines.append(state("last-prompt", leafUuid=draw(st.sampled_from([f"u{at}", above]))))
            lines[-1]["explicit"] = draw(st.booleans())
    for at, line in enumerate(lines):
        if "uuid" in line:
            line["timestamp"] = f"2026-03-01T10:00:{at:02}.000Z"
    if in_rows:
        for line in lines:
            if line["type"] == "assistant":
                line["message"]["usage"] = {"input_tokens": 1, "output_tokens": 1}
    return lines


@settings(max_examples=150)
@given(talks(), st.randoms(use_true_random=False))
def test_any_tree_any_plan(lines: list[Record], choice: random.Random) -> None:
    with tempfile.TemporaryDirectory() as folder:
        apart = [line for line in lines if line.get("isSidechain")] if choice.random() < 0.5 else []
        place = Place(Path(folder), [line for line in lines if line not in apart])
        for name in {line["agentId"] for line in apart}:
            agent = place.agent.with_name(f"agent-{name}.jsonl")
            write_lines(agent, [line for line in apart if line["agentId"] == name])
            os.utime(agent, ns=(LONG_AGO, LONG_AGO))
        before = snapshot(place.path.parent)
        session, source = place.reading().session, ClaudeCode(lines)
        assert session.entry_id(session.leaf) == source.leaf
        at = choice.randrange(len(session))
        how = choice.choice(["whole", "at", "only", "prune"])
        try:
            plan = _planned(place, session, how, at, pairs=choice.random() < 0.5)
            plan.require_sound()
        except Refused as error:
            assert str(error)
            return
        copy = place.reopened(plan)
        assert plan.result is not None and plan.leaf is not None
        assert {row["sessionId"] for row in copy.records} == {plan.result.id}
        assert copy.leaf == plan.leaf.id

        agents = place.agents_of(plan.result)
        inside = {row["agentId"] for row in copy.rows if row["isSidechain"]}
        assert not (inside if apart else agents)
        for name, rows in agents.items():
            assert {f"agent-{row['agentId']}.jsonl" for row in rows} == {name}
        known = {row["uuid"]: row for row in source.rows}
        changed = {(loose.entry, loose.field) for loose in plan.references}
        for row in [*copy.rows, *itertools.chain(*agents.values())]:
            stored = known[row["uuid"]]
            differs = {name for name in row if row[name] != stored.get(name)}
            differs -= {"sessionId", "forkedFrom"}
            assert {(row["uuid"], name) for name in differs} <= changed
            assert row.get("parentUuid") is None or row["parentUuid"] in known
        if how == "at":
            _holds(plan, copy, source)
        elif how == "whole" or source.own.keys() == copy.own.keys():
            assert copy.context(copy.leaf) == source.context(source.leaf)
            assert copy.own.keys() == source.own.keys()
        take_back(last_undoable(place.journal, writers()), place.journal, writers())
        assert snapshot(place.path.parent) == before


def _planned(place: Place, session: Session, how: str, at: int, *, pairs: bool) -> Plan:
    match how:
        case "at":
            return place.fork(at=at, pairs=pairs)
        case "only":
            return place.fork(only=(at,))
        case "prune":
            return place.prune(session.entry_id(at), pairs=pairs)
    return place.fork()
