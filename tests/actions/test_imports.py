"""Imports: every entry of every readable format, as τ reads it; and nothing lost on the way."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tau_browser.actions.export.plan import plan_export
from tau_browser.actions.export.request import ExportRequest, Format
from tau_browser.actions.file_writer import FileWriter
from tau_browser.actions.imports import ImportRequest, plan_import
from tau_browser.actions.journal import Journal
from tau_browser.actions.plan import Plan, Refused
from tau_browser.actions.reading import file_state
from tau_browser.model.payload import text_of
from tau_browser.model.session import Session
from tau_browser.stores.adapters import recognising
from tests.actions.conftest import FIXTURES, LONG_AGO, in_tau, promised, snapshot
from tests.conftest import DATA, load, log_of, message, read
from tests.stores.logs.writing import codex_message, codex_meta, write_lines
from tests.stores.samples import SAMPLES

SDK = sorted((DATA / "tau" / "legacy-sdk").glob("*.jsonl"))


def opened(path: Path) -> Session:
    """The session in a file, by whatever adapter recognises it."""
    store = recognising(str(path))([str(path)], None)
    session = None
    for progress in store.open(str(path)).load():
        session = progress.session
    assert session is not None
    return session


def imported(path: Path, base: Path, taken: tuple[str, ...] = (), cwd: str | None = None) -> Plan:
    writer = FileWriter(str(base))
    state = file_state(str(path))
    return plan_import(opened(path), state, ImportRequest(cwd), writer, lambda name: name in taken)


def entries(data: bytes) -> list[bytes]:
    return data.splitlines()[1:]


def exported(session: Session) -> bytes:
    plan = plan_export(session, ExportRequest(Format.JSONL)).plan
    return b"".join(plan.content.pieces())


@pytest.mark.parametrize("fixture", FIXTURES, ids=lambda path: path.stem)
def test_tau_finds_what_was_promised(fixture: Path, tmp_path: Path, journal: Journal) -> None:
    plan = imported(fixture, tmp_path / "base")
    if fixture.stem.startswith("12"):
        assert not plan.refusals
    change = FileWriter(str(tmp_path / "base")).apply(plan, journal)
    assert in_tau(change.path) == promised(plan)
    theirs, ours = in_tau(str(fixture)), in_tau(change.path)
    assert ours == theirs
    made = Path(change.path)
    assert made.parent.parent == tmp_path / "base" and made.parent.name.startswith("--")
    assert entries(exported(load(made))) == entries(exported(load(fixture)))


@pytest.mark.parametrize("fixture", SDK[:6], ids=lambda path: path.stem[:8])
def test_sessions_of_the_sdk(fixture: Path, tmp_path: Path, journal: Journal) -> None:
    plan = imported(fixture, tmp_path)
    change = FileWriter(str(tmp_path)).apply(plan, journal)
    assert in_tau(change.path) == promised(plan)
    assert any("τ's SDK" in remark for remark in plan.remarks)
    assert load(Path(change.path)).header["version"] == 1


def test_flat_results_of_the_sdk(tmp_path: Path, journal: Journal) -> None:
    header = {"id": "h", "type": "session", "timestamp": 1781773842189, "parent_id": None,
              "cwd": "/proj/demo"}  # fmt: skip
    records: list[dict[str, Any]] = [
        {"type": "message", "id": "u", "parent_id": "h", "timestamp": 1781773842190,
         "message": {"role": "user", "content": [{"type": "text", "text": "look"}]}},
        {"type": "toolResult", "id": "r", "parent_id": "u", "timestamp": 1781773842191,
         "tool_call_id": "c", "tool_name": "ls", "content": [{"type": "text", "text": "a b"}]},
        {"type": "compaction", "id": "k", "parent_id": "r", "timestamp": 1781773842192,
         "summary": "all", "first_kept_id": "r"},
    ]  # fmt: skip
    path = tmp_path / "sdk.jsonl"
    path.write_bytes(log_of(records, header))
    plan = imported(path, tmp_path / "base")
    change = FileWriter(str(tmp_path / "base")).apply(plan, journal)
    assert in_tau(change.path) == promised(plan)
    made = load(Path(change.path))
    assert made.role(1) == "toolResult" and made.record(2)["firstKeptId"] == "r"
    assert [text_of(made.record(at)) for at in range(3)] == ["look", "a b", "all"]
    assert made.stamp(0) == "2026-06-18T09:10:42.190Z"


def pi(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": kind, "timestamp": "2026-03-01T10:00:02.000Z", **fields}


def said(role: str, text: str, **fields: Any) -> dict[str, Any]:
    return {"role": role, "content": [{"type": "text", "text": text}], **fields}


PI_HEADER = {
    "type": "session",
    "id": "p",
    "timestamp": "2026-03-01T10:00:00.000Z",
    "cwd": "/proj/pi",
}
PI_V1 = log_of(
    [
        pi("message", message={"role": "user", "content": "hi"}),
        pi("message", message=said("assistant", "yes", stopReason="stop", usage={"input": 5})),
    ],
    PI_HEADER,
)
PI_V3 = log_of(
    [
        pi("model_change", id="a", parentId=None, provider="x", modelId="heron"),
        pi("message", id="b", parentId="a", message=said("user", "hi")),
        pi("message", id="c", parentId="b", message=said("toolResult", "out", toolName="ls")),
        pi("label", id="d", parentId="c", targetId="b", label="start"),
        pi("compaction", id="e", parentId="d", summary="s", firstKeptEntryId="c"),
        pi("message", id="f", parentId="e", message=said("user", "on")),
    ],
    PI_HEADER | {"version": 3},
)


@pytest.mark.parametrize("log", [PI_V1, PI_V3], ids=["v1", "v3"])
def test_sessions_of_pi(log: bytes, tmp_path: Path, journal: Journal) -> None:
    folder = tmp_path / "--proj-pi--"
    folder.mkdir()
    path = folder / "2026-03-01T10-00-00-000Z_p.jsonl"
    path.write_bytes(log)
    plan = imported(path, tmp_path / "base")
    assert not plan.refusals
    change = FileWriter(str(tmp_path / "base")).apply(plan, journal)
    assert in_tau(change.path) == promised(plan)
    source, made = opened(path), load(Path(change.path))
    assert [text_of(made.record(at)) for at in range(len(made))] == [
        text_of(source.record(at)) for at in range(len(source))
    ]
    assert made.tree.parent.tolist() == source.tree.parent.tolist()
    assert not made.diagnostics


def test_an_export_of_a_format_that_is_only_read_is_a_log_of_tau(tmp_path: Path) -> None:
    talk = [codex_message("user", "words"), codex_message("assistant", "done")]
    path = write_lines(tmp_path / "rollout-1.jsonl", [codex_meta("x1"), *talk])
    made = read(exported(opened(path)))
    assert (made.header["version"], made.id) == (1, "x1")
    assert [made.text(at) for at in range(len(made))] == ["words", "done"]


def test_an_id_that_is_there_already(tmp_path: Path, journal: Journal) -> None:
    fixture = FIXTURES[0]
    name = load(fixture).id
    plan = imported(fixture, tmp_path, taken=(name,))
    assert plan.result is not None and plan.result.id != name
    assert any("is there already" in remark for remark in plan.remarks)


def test_another_directory(tmp_path: Path) -> None:
    plan = imported(FIXTURES[0], tmp_path, cwd="/some/where")
    assert plan.result is not None and plan.result.header["cwd"] == "/some/where"
    assert "--some-where--" in plan.target


def test_what_cannot_be_read_is_said(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(log_of([message("a", None, "one")]) + b"{torn\n")
    assert any("not imported" in remark for remark in imported(path, tmp_path).remarks)
    path.write_bytes(b"")
    with pytest.raises(Refused, match="nothing to import"):
        imported(path, tmp_path)


def test_a_file_that_changes_meanwhile(tmp_path: Path, journal: Journal) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(log_of([message("a", None, "one")]))
    plan = imported(path, tmp_path / "base")
    path.write_bytes(log_of([message("a", None, "two")]))
    with pytest.raises(Refused, match="changed since"):
        FileWriter(str(tmp_path / "base")).apply(plan, journal)
    assert not (tmp_path / "base").exists() or snapshot(tmp_path / "base") == {}


texts = st.text(max_size=12)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)


@st.composite
def logs(draw: st.DrawFn) -> bytes:
    records = []
    for at in range(draw(st.integers(1, 8))):
        above = f"e{draw(st.integers(0, at - 1))}" if at and draw(st.booleans()) else None
        role = draw(st.sampled_from(["user", "assistant", "toolResult", "system"]))
        record = message(f"e{at}", above, draw(texts), role, extra=draw(values))
        if draw(st.integers(0, 5)) == 0:
            record |= {"type": "customEntry", "customType": draw(texts), "data": draw(values)}
            del record["message"]
        records.append(record)
    return log_of(records)


@given(logs())
def test_export_import_export_is_equal_entry_by_entry(log: bytes) -> None:
    session = read(log)
    first = exported(session)
    plan = plan_import(read(first), None, ImportRequest(), FileWriter("/x"), lambda _: True)
    assert plan.result is not None and plan.result.id != session.id
    second = exported(plan.result)
    assert entries(first) == entries(second) == entries(log)
    assert [json.loads(line)["id"] for line in entries(second)] == session.ids(range(len(session)))


def test_the_source_stays_as_it_is(tmp_path: Path, journal: Journal) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(log_of([message("a", None, "one")]))
    os.utime(path, ns=(LONG_AGO, LONG_AGO))
    before = snapshot(tmp_path)
    FileWriter(str(tmp_path / "base")).apply(imported(path, tmp_path / "base"), journal)
    assert before.items() <= snapshot(tmp_path).items()


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
def test_sessions_of_every_kind_of_store(sample: Any, tmp_path: Path, journal: Journal) -> None:
    sample.make(tmp_path / "theirs")
    store = sample.adapter([str(tmp_path / "theirs")], tmp_path / "cache")
    writer = FileWriter(str(tmp_path / "base"))
    count = 0
    for listed in store.scan():
        session = None
        for progress in store.open(listed.path).load():
            session = progress.session
        assert session is not None
        plan = plan_import(session, None, ImportRequest(), writer, lambda _: False)
        count += 1
        if session.is_nested:  # a hierarchy, no conversation: nothing that τ could go on at
            assert "nothing would be left" in plan.refusals[0].reason
            continue
        assert not plan.refusals
        assert in_tau(writer.apply(plan, journal).path) == promised(plan)
    assert count
