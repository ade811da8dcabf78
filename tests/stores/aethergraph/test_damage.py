"""What a crash, a careless hand or the program itself does to a workspace is found, and no more
of it is lost than what is lost."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tau_browser.model.diagnostic import Severity
from tau_browser.model.session import Session
from tau_browser.stores.aethergraph.store import AethergraphStore
from tau_browser.stores.store import Listed, Unreadable
from tests.stores.aethergraph.workspace import (
    copied,
    event,
    events_file,
    opened,
    place,
    reasons,
    records,
    write_events,
    write_json,
    write_lines,
    write_run,
)


def findings(session: Session) -> list[tuple[Severity, str]]:
    return [(finding.severity, finding.reason) for finding in session.diagnostics]


def about(session: Session, entry_id: str) -> list[str]:
    return [finding.reason for finding in session.diagnostics_of(place(session, entry_id))]


ONE, TWO, THREE = (f"{number:024x}" for number in (1, 2, 3))


# Files


def test_a_torn_last_line_is_still_being_written(tmp_path: Path) -> None:
    path = write_run(tmp_path, event(1), event(2))
    path.write_bytes(path.read_bytes()[:-20])
    session = opened(tmp_path, "r1")
    ((severity, reason),) = findings(session)
    assert severity is Severity.PENDING and "incomplete" in reason
    assert session.find(ONE) and not session.find(TWO)


def test_a_torn_line_within_is_an_entry_of_its_own(tmp_path: Path) -> None:
    path = write_run(tmp_path, event(1), event(2), event(3))
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + lines[1][:60] + b"\n" + lines[2])
    session = opened(tmp_path, "r1")
    assert session.find(ONE) and session.find(THREE)
    (finding,) = session.diagnostics
    assert finding.severity is Severity.UNREADABLE
    assert finding.source == "memory/mem/r1/events/2026-03-02.jsonl, line 2"
    (damaged,) = [each for each in records(session) if each["type"] == "aethergraph:damaged"]
    assert damaged["data"]["text"] == lines[1][:60].decode()
    assert session.diagnostics_of(place(session, damaged["id"])) == [finding]


def test_blank_and_glued_lines_cost_nothing(tmp_path: Path) -> None:
    path = write_run(tmp_path, event(1), event(2), event(3))
    lines = path.read_bytes().splitlines()
    path.write_bytes(lines[0] + b"\n\n" + lines[1] + lines[2] + b"\n")
    session = opened(tmp_path, "r1")
    assert all(session.find(name) for name in (ONE, TWO, THREE))
    assert sorted(reason.split(":")[0] for reason in reasons(session)) == [
        "2 objects on one line",
        "a blank line",
    ]


@pytest.mark.parametrize("line", ["[1, 2]", "7", '"text"', "null"])
def test_a_line_that_is_no_event_is_said(tmp_path: Path, line: str) -> None:
    path = write_run(tmp_path, event(1))
    path.write_text(path.read_text() + line + "\n")
    session = opened(tmp_path, "r1")
    assert session.find(ONE)
    assert [severity for severity, _ in findings(session)] == [Severity.UNREADABLE]


def test_an_event_of_odd_fields_is_shown_with_what_it_has(tmp_path: Path) -> None:
    odd = event(1, kind=7, tags="x", severity="high", node_id=["n"], text=None, metrics=[1])
    write_run(tmp_path, odd | {"event_id": None, "ts": {"at": 1}})
    session = opened(tmp_path, "r1")
    (shown,) = [each for each in records(session) if "event" in each]
    assert shown["event"]["severity"] == "high"
    assert shown["event"]["node_id"] == ["n"]


def test_numbers_and_letters_that_json_does_not_know_are_kept(tmp_path: Path) -> None:
    path = write_run(tmp_path, event(1))
    line = json.dumps(event(2, text="lone \udc80 half")).replace(
        '"signal": 0.', '"signal": NaN, "x": 0.'
    )
    path.write_text(path.read_text() + line + "\n")
    session = opened(tmp_path, "r1")
    assert session.text(place(session, TWO)) == "lone \udc80 half"
    assert session.find(ONE)


def test_a_run_that_cannot_be_opened_leaves_the_others(tmp_path: Path) -> None:
    write_run(tmp_path, event(1))
    path = events_file(tmp_path, "r2")
    path.write_bytes(b"\xff\xfe\x00not json\n")
    store = AethergraphStore([str(tmp_path)])
    looked = [store.look_into(item) for item in store.scan() if isinstance(item, Listed)]
    summaries = {each.path[-2:]: each.summary for each in looked if isinstance(each, Listed)}
    assert summaries["r1"] and summaries["r1"].unreadable == 0
    assert summaries["r2"] and summaries["r2"].unreadable == 1


def test_a_database_that_is_none_is_said(tmp_path: Path) -> None:
    write_events(tmp_path, event(1, version=2, session_id="s1")).close()
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs/runs.db").write_bytes(b"SQLite format 3\x00" + b"\x00" * 2000)
    session = opened(tmp_path, "s1")
    assert session.find(ONE)
    assert any("not a readable SQLite database" in reason for reason in reasons(session))


def test_rows_that_are_no_json_are_said(tmp_path: Path) -> None:
    connection = write_events(tmp_path, event(1, version=2, session_id="s1"))
    connection.execute("INSERT INTO events (ts, payload, session_id) VALUES (1, '{torn', 's1')")
    connection.execute("INSERT INTO events (ts, payload, session_id) VALUES (1, NULL, 's1')")
    connection.commit()
    connection.close()
    session = opened(tmp_path, "s1")
    assert session.find(ONE)
    found = [
        finding.source for finding in session.diagnostics if finding.reason == "not a JSON object"
    ]
    assert found == [f"memory_events/events.db, row {row} of events" for row in (2, 3)]


# Faults of the program (their numbers in its review)


@pytest.mark.parametrize("version", [1, 2])
def test_ids_that_collide_are_told_apart(tmp_path: Path, version: int) -> None:
    """C3, D1: the id is made of the second and the text, so results of one second share it."""
    same = [
        event(1, text=f"result {value}", version=version, session_id="s1") for value in (1, 2, 3)
    ]
    if version == 1:
        write_run(tmp_path, *same)
    else:
        write_events(tmp_path, *same).close()
    session = opened(tmp_path, "r1" if version == 1 else "s1")
    texts = [session.text(place(session, name)) for name in (ONE, f"{ONE}~2", f"{ONE}~3")]
    assert texts == ["result 1", "result 2", "result 3"]
    assert sum("is that of another event" in reason for reason in reasons(session)) == 2


def test_a_signal_that_is_not_the_formula_s_is_said(tmp_path: Path) -> None:
    """C2, and whoever gives a signal of his own."""
    write_run(tmp_path, event(1), event(2, signal=0.99))
    session = opened(tmp_path, "r1")
    assert about(session, ONE) == []
    assert about(session, TWO) == ["stored signal 0.99, by the formula 0.36"]


def test_sources_that_are_lost_are_counted(tmp_path: Path) -> None:
    """C1: what a digest was made of is kept only in its file; here some of it is gone."""
    digest = event(3, kind="rolling_summary", tags=["summary"], ts="2026-03-02T09:00:03Z")
    write_run(tmp_path, event(1), digest)
    summary = {"kind": "rolling_summary", "run_id": "r1", "ts": "2026-03-02T09:00:03Z"}
    folder = tmp_path / "memory/mem/r1/summaries/rolling"
    write_json(folder / "2026-03-02T09-00-03Z.json", summary | {"sources": [ONE, TWO]})
    session = opened(tmp_path, "r1")
    assert session.record(place(session, THREE))["links"]["sources"]["found"] == "1 of 2"
    assert about(session, THREE) == [f"1 of 2 sources are not in this session: {TWO}"]


def test_a_digest_without_its_event_is_said(tmp_path: Path) -> None:
    write_run(tmp_path, event(1))
    summary = {"kind": "episode_summary", "run_id": "r1", "tool": "t", "sources": [ONE]}
    write_json(tmp_path / "memory/mem/r1/episodes/t/r1.json", summary)
    assert "a digest whose event is missing" in reasons(opened(tmp_path, "r1"))


def test_digests_of_digests_are_said(tmp_path: Path) -> None:
    """C7, D2: a later episode counts its own earlier summary; summaries feed summaries."""
    first = event(2, kind="run_summary", tool="t", sources=[ONE])
    second = event(3, kind="run_summary", tool="t", sources=[ONE, TWO])
    write_run(tmp_path, event(1, tool="t", kind="tool_result", node_id="n"), first, second)
    session = opened(tmp_path, "r1")
    assert about(session, THREE) == ["1 of its 2 sources are digests themselves"]


def test_a_window_that_runs_backwards_is_said(tmp_path: Path) -> None:
    """D2: the newest are read first, and the last of those are taken."""
    data = {
        "source_event_ids": [ONE],
        "time_window": {"from": "2026-03-02T09:04:10Z", "to": "2026-03-02T09:00:51Z"},
    }
    digest = event(2, kind="long_term_summary", version=2, session_id="s1", data=data)
    write_events(tmp_path, event(1, version=2, session_id="s1"), digest).close()
    assert "its window runs backwards" in about(opened(tmp_path, "s1"), TWO)[0]


@pytest.mark.parametrize(
    ("data", "severity"), [(None, Severity.DAMAGE), ({"long": "x" * 3000}, Severity.NOTE)]
)
def test_a_text_that_was_cut_is_said(tmp_path: Path, data: object, severity: Severity) -> None:
    """A long string is lost from its 2,001st character on; a long object is kept beside it."""
    text = "x" * 2000 + " ...[truncated]"
    cut = event(1, version=2, session_id="s1", text=text, data=data, signal=0.75)
    write_events(tmp_path, cut).close()
    ((found, reason),) = findings(opened(tmp_path, "s1"))
    assert found is severity and "2,000 characters" in reason


def answer(text: str, *ranks: int) -> dict[str, object]:
    cited = [
        {"name": f"cite_{rank}", "value": {"rank": rank, "doc_id": "d", "snippet": "s"}}
        for rank in ranks
    ]
    outputs = [{"name": "answer", "value": text}, *cited]
    return event(1, kind="tool_result", tool="rag.answer.c", outputs=outputs)


@pytest.mark.parametrize(
    ("text", "ranks", "said"),
    [
        ("so it is [1][2]", (1, 2, 3), []),
        ("so it is [4]", (1, 2), ["its text cites [4], which is not among its citations"]),
        ("so it is", (1, 2), ["its text uses none of its 2 citations"]),
        ("so it is", (), []),
    ],
)
def test_citations_are_held_against_the_text(
    tmp_path: Path, text: str, ranks: tuple[int, ...], said: list[str]
) -> None:
    write_run(tmp_path, answer(text, *ranks))
    assert about(opened(tmp_path, "r1"), ONE) == said


def test_citations_without_a_text_are_said(tmp_path: Path) -> None:
    """D7: the fifteenth looks for a file of another name, and cites nothing at all."""
    cited = {"rank": 1, "doc_id": "d", "title": "(untitled)", "uri": None, "snippet": ""}
    outputs = [{"name": "answer", "value": "see [1]"}, {"name": "cite_1", "value": cited}]
    write_run(tmp_path, event(1, kind="tool_result", tool="rag.answer.c", outputs=outputs))
    assert about(opened(tmp_path, "r1"), ONE) == ["citations without a text: 1"]


def test_a_run_that_never_ended_is_said(tmp_path: Path) -> None:
    write_events(tmp_path, event(1, version=2, session_id="s1")).close()
    run = {"run_id": "r1", "session_id": "s1", "status": "running"}
    write_json(tmp_path / "runs/run-r1.json", run)
    session = opened(tmp_path, "s1")
    assert about(session, "run:r1") == ["the run has not finished"]


# Artifacts


def test_an_artifact_whose_bytes_changed_is_said(tmp_path: Path) -> None:
    root = copied("a1-root", tmp_path)
    hash_ = "086c491f7596b946fb680af470f8f00afa3e3b6f741eb9b7727b068e74db1cb3"
    file = root / "artifacts/08/6c" / f"{hash_}.txt"
    file.write_text("another report\n")
    session = opened(root, "run-20260304-4")
    assert about(session, f"artifact:{hash_}") == [
        "artifact 086c491f7596: not the bytes that were stored"
    ]
    file.unlink()
    session = opened(root, "run-20260304-4")
    assert about(session, f"artifact:{hash_}") == ["artifact 086c491f7596: the file is gone"]


def test_an_artifact_moved_to_another_folder_is_found(tmp_path: Path) -> None:
    root = copied("a1-root", tmp_path)
    hash_ = "086c491f7596b946fb680af470f8f00afa3e3b6f741eb9b7727b068e74db1cb3"
    os.renames(root / "artifacts/08/6c" / f"{hash_}.txt", root / "artifacts/blobs" / f"{hash_}.txt")
    session = opened(root, "run-20260304-4")
    assert about(session, f"artifact:{hash_}") == []


# Corpora


def corpus(root: Path, docs: list[object], chunks: list[object]) -> Session:
    folder = root / "rag/rag_corpora/c"
    write_json(folder / "corpus.json", {"corpus_id": "c"})
    write_lines(folder / "docs.jsonl", *docs)
    write_lines(folder / "chunks.jsonl", *chunks)
    return opened(root, "corpus:c")


def chunk(chunk_id: str, doc_id: str, text: str = "text") -> dict[str, object]:
    return {"chunk_id": chunk_id, "doc_id": doc_id, "text": text}


def test_documents_and_chunks_that_lost_each_other_are_said(tmp_path: Path) -> None:
    session = corpus(tmp_path, [{"doc_id": "d1", "title": "one"}], [chunk("k1", "gone")])
    assert about(session, "d1") == ["a document without chunks: no search finds it"]
    assert about(session, "k1") == ["a chunk of document gone, which is not here"]
    assert session.record(place(session, "k1"))["parentId"] == "orphans"


def test_documents_of_one_id_are_all_shown(tmp_path: Path) -> None:
    """C8: same second and labels, same id: the text of all but the last cannot be found."""
    docs = [{"doc_id": "d1", "title": "one"}, {"doc_id": "d1", "title": "two"}]
    session = corpus(tmp_path, docs, [chunk("k1", "d1", "a"), chunk("k1", "d1", "b")])
    assert session.find("d1") and session.find("d1~2")
    assert "is that of another document" in about(session, "d1~2")[0]
    assert any("the chunk id k1 is there twice" in reason for reason in reasons(session))


def test_documents_that_say_the_same_are_said(tmp_path: Path) -> None:
    """C8, C9, D7: promoting or upserting again only adds."""
    docs = [{"doc_id": "d1", "title": "one"}, {"doc_id": "d2", "title": "one"}]
    session = corpus(tmp_path, docs, [chunk("k1", "d1"), chunk("k2", "d2")])
    assert about(session, "d2") == ["says the same as document d1, word for word"]


def test_a_torn_chunk_leaves_the_others(tmp_path: Path) -> None:
    """C9: the program's own search raises."""
    session = corpus(tmp_path, [{"doc_id": "d1"}], [chunk("k1", "d1"), chunk("k2", "d1")])
    path = tmp_path / "rag/rag_corpora/c/chunks.jsonl"
    path.write_bytes(path.read_bytes()[:-9])
    session = opened(tmp_path, "corpus:c")
    assert session.find("k1") and not session.find("k2")
    assert [severity for severity, _ in findings(session)] == [Severity.PENDING]


# Stores


def test_strange_names_of_folders_escape_nowhere(tmp_path: Path) -> None:
    """C6, D11: a run's id is a path to the program; to us, a folder is a folder."""
    root = tmp_path / "inner"
    write_run(root, event(1))
    write_run(tmp_path, event(2), run="outside")
    names = [item.path for item in AethergraphStore([str(root)]).scan()]
    assert names == [f"{root}#run:r1"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_what_may_not_be_read_is_said(tmp_path: Path) -> None:
    path = write_run(tmp_path, event(1))
    path.chmod(0)
    assert not AethergraphStore.recognises(str(tmp_path))


def test_expired_and_stale_indices_are_marked(tmp_path: Path) -> None:
    import sqlite3

    outputs = [{"name": "rows", "vtype": "number", "value": 2}]
    write_run(tmp_path, event(1), event(2, kind="tool_result", tool="t", outputs=outputs))
    (tmp_path / "kv").mkdir()
    connection = sqlite3.connect(tmp_path / "kv/kv.sqlite")
    connection.execute("CREATE TABLE kv (k TEXT PRIMARY KEY, v TEXT, expire_at REAL)")
    rows = json.dumps({"rows": {"event_id": ONE, "value": 1}})
    connection.execute("INSERT INTO kv VALUES ('mem:r1:idx2:name', ?, 1.0)", (rows,))
    connection.execute("INSERT INTO kv VALUES ('mem:r2:idx2:name', ?, 1.0)", (rows,))
    connection.commit()
    connection.close()
    session = opened(tmp_path, "r1")
    index = session.record(place(session, "index:r1:name"))
    assert index["title"] == "latest by name · 1 name · expired · stale"
    assert index["data"]["stale"] == ["rows"]
    assert not session.find("index:r2:name")


def test_unreadable_is_told_by_the_store(tmp_path: Path) -> None:
    write_events(tmp_path, event(1, version=2, session_id="s1")).close()
    write_json(tmp_path / "sessions/session-s2.json", {"session_id": "s2"})
    (tmp_path / "sessions/session-s3.json").write_text("{torn")
    found = [*AethergraphStore([str(tmp_path)]).scan()]
    (unreadable,) = [item for item in found if isinstance(item, Unreadable)]
    assert unreadable.path.endswith("session-s3.json")
    assert sorted(item.path.rpartition(":")[2] for item in found if isinstance(item, Listed)) == [
        "s1",
        "s2",
    ]
