"""The samples open with exactly what is in them."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from pathlib import Path

import pytest

from tau_browser.model.diagnostic import Severity
from tau_browser.model.session import Session
from tau_browser.stores.aethergraph.store import AethergraphStore
from tau_browser.stores.store import Listed
from tests.stores.aethergraph.workspace import (
    SAMPLES,
    children,
    opened,
    place,
    reasons,
    records,
)

SESSIONS = {
    "a15-default": {
        "014ba9a9-b312-48ce-ac06-02202a7ee22d",
        "70719be1-772c-4b4a-ab06-c912ad5d78a9",
    },
    "a15-fs": {"sess_92ccf0b8", "sess_a2e0dff1"},
}
FIFTEEN = ("a15-default", "a15-fs")


def sessions(name: str) -> dict[str, Session]:
    store = AethergraphStore([str(SAMPLES / name)])
    found = {}
    for listed in store.scan():
        assert isinstance(listed, Listed)
        *_, last = store.open(listed.path).load()
        assert last.session is not None
        found[last.session.id] = last.session
    return found


def stored_events(session: Session) -> list[dict[str, object]]:
    return [record["event"] for record in records(session) if "event" in record]


def kinds(session: Session) -> Counter[str]:
    names = (str(record.get("type")).removeprefix("aethergraph:") for record in records(session))
    return Counter(names)


def test_first_alpha_has_its_runs_and_corpora() -> None:
    found = sessions("a1-root")
    assert sorted(found) == [
        "corpus:docs:design",
        "corpus:run:lazy-loading-f70cbea892ed",
        "run-20260302-1",
        "run-20260303-2",
        "run-20260303-3",
        "run-20260304-4",
    ]
    runs = [session for name, session in found.items() if name.startswith("run-")]
    assert sum(len(stored_events(session)) for session in runs) == 61
    assert sum(kinds(session)["artifact"] for session in runs) == 1
    assert sum(kinds(session)["index"] for session in runs) == 12
    promoted = found["corpus:run:lazy-loading-f70cbea892ed"]
    assert (kinds(promoted)["document"], kinds(promoted)["chunk"]) == (18, 18)
    design = found["corpus:docs:design"]
    assert (kinds(design)["document"], kinds(design)["chunk"]) == (2, 4)


@pytest.mark.parametrize("name", FIFTEEN)
def test_fifteenth_alpha_has_its_sessions_and_corpus(name: str) -> None:
    found = sessions(name)
    assert found.keys() - {"corpus:design", "no-session"} == SESSIONS[name]
    talks = [found[key] for key in SESSIONS[name]]
    assert sum(kinds(session)["run"] for session in talks) == 9
    assert sum(len(stored_events(session)) for session in talks) == 38
    assert sum(kinds(session)["artifact"] for session in talks) == 5
    assert kinds(found["corpus:design"]) == {"document": 2, "chunk": 2}


@pytest.mark.parametrize("name", FIFTEEN)
def test_each_row_of_the_event_log_is_in_one_entry(name: str) -> None:
    told = []
    for session in sessions(name).values():
        for record in records(session):
            origin = record.get("origin", {})
            phases = record.get("data", {}).get("phases", [{"origin": origin}])
            told += [each["origin"] for each in phases]
    files = ("events/events.db", "events/events.jsonl")
    rows = [json.dumps(origin) for origin in told if origin.get("file") in files]
    assert len(rows) == len(set(rows)) == 168


def test_both_layouts_of_the_fifteenth_give_the_same_tree() -> None:
    """The two samples were made by the same script, a minute apart."""
    shapes = []
    for name in FIFTEEN:
        talks = [each for key, each in sessions(name).items() if not key.startswith("corpus")]
        shape = [
            Counter(
                (str(record["type"]), int(session.tree.depth[at]))
                for at, record in enumerate(records(session))
            )
            for session in talks
        ]
        shapes.append(sorted(shape, key=lambda counts: counts.total()))
    assert shapes[0] == shapes[1]


@pytest.mark.parametrize("name", ["a1-root", *FIFTEEN])
def test_an_event_is_shown_as_it_is_stored(name: str) -> None:
    for session in sessions(name).values():
        for record in records(session):
            if "event" not in record:
                continue
            assert stored_at(SAMPLES / name, record["origin"]) == record["event"]
            assert record["origin"]["id"] == record["event"]["event_id"]


def stored_at(root: Path, origin: dict[str, object]) -> object:
    """What lies where an entry says that it comes from, read without any of our code."""
    path = root / str(origin["file"])
    if "row" in origin:
        connection = sqlite3.connect(f"file:{path}?immutable=1", uri=True)
        query = f"SELECT payload FROM {origin['table']} WHERE rowid = ?"
        (payload,) = connection.execute(query, (origin["row"],)).fetchone()
        connection.close()
        return json.loads(payload)
    assert isinstance(origin["byte"], int)
    return json.loads(path.read_bytes()[origin["byte"] :].split(b"\n")[0])


def test_a_run_holds_its_nodes_and_a_node_its_events() -> None:
    session = opened(SAMPLES / "a1-root", "run-20260303-2")
    nodes = [f"node:run-20260303-2:{name}" for name in ("fetch", "analyze", "write_report")]
    assert [name for name in children(session, "run:run-20260303-2") if name in nodes] == nodes
    # the call, its failure below it, then the result of the second try
    assert children(session, nodes[0]) == ["c74f01f5b632cbcef226f015", "8e372101c393bace83b496ee"]
    assert children(session, "c74f01f5b632cbcef226f015") == ["0a9ee25d61317a42478ed1e7"]
    # the digest of what a tool did hangs with the tool
    assert "0576332a85674337c0a4f855" in children(session, nodes[1])


def test_a_run_that_crosses_midnight_is_one() -> None:
    session = opened(SAMPLES / "a1-root", "run-20260304-4")
    files = {record["origin"]["file"] for record in records(session) if "event" in record}
    assert {Path(file).name for file in files} == {"2026-03-04.jsonl", "2026-03-05.jsonl"}


def test_digests_and_their_sources_lead_to_each_other() -> None:
    session = opened(SAMPLES / "a1-root", "run-20260302-1")
    digest = session.record(place(session, "bff9c6533a6494c171c9c095"))
    sources = ["ed20728d43d3064b4dcccd6b", "61cf84996a4c03743e4d7f47", "f4bf1cbd557672ca7379dd2e"]
    assert digest["links"]["sources"] == {"found": "3 of 3", "entries": sources, "missing": []}
    for source in sources:
        used = session.record(place(session, source))["links"]["used by"]
        assert "bff9c6533a6494c171c9c095" in used


@pytest.mark.parametrize("name", FIFTEEN)
def test_digests_of_the_fifteenth_alpha_lead_to_all_their_sources(name: str) -> None:
    digests = [
        record
        for session in sessions(name).values()
        for record in records(session)
        if record.get("customType", "").startswith("long_term_summary")
    ]
    assert len(digests) == 6
    for digest in digests:
        found, total = digest["links"]["sources"]["found"].split(" of ")
        assert found == total != "0"


def test_promoted_documents_and_events_lead_to_each_other() -> None:
    root = SAMPLES / "a1-root"
    corpus = opened(root, "corpus:run:lazy-loading-f70cbea892ed")
    made_of = [record["links"]["made of"] for record in records(corpus) if "links" in record]
    assert len(made_of) == 18
    led = [
        promoted["doc"]
        for run in ("run-20260303-2", "run-20260303-3", "run-20260304-4")
        for record in records(opened(root, run))
        for promoted in record.get("links", {}).get("promoted to", [])
    ]
    assert sorted(led) == sorted(
        record["id"] for record in records(corpus) if record["type"] == "aethergraph:document"
    )


def test_stored_answers_are_held_against_what_they_cite() -> None:
    session = opened(SAMPLES / "a1-root", "run-20260304-4")
    answer = session.record(place(session, "3a9e4f038d7b8f77dc773a95"))
    cited = answer["links"]["citations"]
    assert [(each["n"], each["used"]) for each in cited] == [(1, True), (2, False), (3, False)]


def test_artifacts_are_found_by_their_hash_after_a_move() -> None:
    session = opened(SAMPLES / "a1-root", "run-20260304-4")
    (artifact,) = [each for each in records(session) if each["type"] == "aethergraph:artifact"]
    assert artifact["data"]["verdict"] == "verified by its SHA-256"
    assert not artifact["data"]["uri"].startswith(f"file://{SAMPLES}")  # where it was once
    assert (SAMPLES / "a1-root" / artifact["data"]["file"]).read_text() == "final report\n"
    assert "pinned" in artifact["title"]


def test_spans_are_a_tree_of_their_own() -> None:
    session = opened(SAMPLES / "a15-fs", "sess_92ccf0b8")
    spans = [each for each in records(session) if each["type"] == "aethergraph:span"]
    assert spans
    by_id = {each["id"]: each for each in spans}
    for span in spans:
        above = span["data"]["phases"][0]["payload"]["parent_span_id"]
        assert span["parentId"] == (
            above if above in by_id else f"spans:{span['data']['phases'][0]['payload']['run_id']}"
        )


def test_states_of_graphs_are_told_by_their_nodes() -> None:
    session = opened(SAMPLES / "a1-root", "run-20260302-1")
    node = session.record(place(session, "node:run-20260302-1:fetch"))
    assert node["data"]["status"] == "DONE"
    assert [step["kind"] for step in node["data"]["history"]] == ["STATUS", "OUTPUT", "STATUS"]
    assert node["data"]["sum of metrics"] == {"latency_ms": 600.0, "tokens": 41}


def test_findings_of_the_samples() -> None:
    """Every one is a fault of the program that is known."""
    found = [
        (finding.severity, finding.reason.split(":")[0])
        for session in sessions("a1-root").values()
        for finding in session.diagnostics
    ]
    assert {severity for severity, _ in found} == {Severity.NOTE}
    assert Counter(reason.split(" ")[0] for _, reason in found) == {
        "expired": 12,  # each index of each run
        "stored": 8,  # each digest bears 0.5, whatever it says
        "says": 2,  # the same lesson was promoted from three runs
    }
    for name in FIFTEEN:
        backwards = [
            reason
            for session in sessions(name).values()
            for reason in reasons(session)
            if "backwards" in reason
        ]
        assert len(backwards) == 4  # the stand-in model, and the one without a model, twice
