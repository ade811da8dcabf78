"""Corpora as files of their own: read back, verified, and without what was in them twice."""

from __future__ import annotations

import json
import os
import shutil
import stat
from pathlib import Path
from typing import Any

import pytest

from tau_browser.actions.corpora import plan_compact, plan_snapshot
from tau_browser.actions.folder_writer import Folder, FolderWriter
from tau_browser.actions.journal import Journal
from tau_browser.actions.plan import Plan, Refused
from tau_browser.stores.aethergraph.corpora import Corpus, corpus_folders, read_corpus
from tau_browser.stores.aethergraph.store import AethergraphStore
from tau_browser.stores.store import Listed
from tau_browser.stores.verdict import Report, Verdict
from tests.conftest import DATA
from tests.stores.aethergraph.workspace import copied, write_json, write_lines

ROOT = DATA / "aethergraph" / "a1-root"
DESIGN, PROMOTED = (read_corpus(ROOT, folder) for folder in corpus_folders(ROOT))


def verified(root: Path, anchor: str = "") -> Report:
    store = AethergraphStore([str(root)])
    (listed,) = (item for item in store.scan() if isinstance(item, Listed))
    return store.verify(listed.path, anchor)


def write(plan: Plan) -> str:
    """Carry a plan out; returns the anchor that it tells."""
    FolderWriter().apply(plan, Journal(Path(plan.target).parents[1] / "changes"))
    return plan.remarks[-1].split()[1].rstrip(":")


def made(folder: Path, docs: list[Any], chunks: list[Any]) -> tuple[Path, Corpus]:
    place = folder / "kb/corpora/c"
    write_json(place / "corpus.json", {"corpus_id": "c"})
    write_lines(place / "docs.jsonl", *docs)
    write_lines(place / "chunks.jsonl", *chunks)
    return folder, read_corpus(folder, "kb/corpora/c")


def doc(doc_id: str, title: str = "t", **labels: str) -> dict[str, Any]:
    return {"doc_id": doc_id, "title": title, "meta": {"labels": labels}}


def chunk(chunk_id: str, doc_id: str, text: str) -> dict[str, str]:
    return {"chunk_id": chunk_id, "doc_id": doc_id, "text": text}


@pytest.mark.parametrize("corpus", [PROMOTED, DESIGN], ids=["promoted", "design"])
def test_a_snapshot_is_read_back_as_it_was(corpus: Corpus, tmp_path: Path) -> None:
    plan = plan_snapshot(ROOT, corpus, str(tmp_path / "snapshot"))
    anchor = write(plan)
    (folder,) = corpus_folders(tmp_path / "snapshot")
    again = read_corpus(tmp_path / "snapshot", folder)
    assert [each.value for each in again.docs] == [each.value for each in corpus.docs]
    assert [each.value for each in again.chunks] == [each.value for each in corpus.chunks]
    assert again.about == corpus.about
    assert verified(tmp_path / "snapshot").verdict is Verdict.UNSIGNED
    report = verified(tmp_path / "snapshot", anchor)
    assert {check.name: check.verdict for check in report.checks}["snapshot"] is Verdict.VERIFIED
    assert report.anchor == anchor


def test_whatever_is_done_to_a_snapshot_shows(tmp_path: Path) -> None:
    anchor = write(plan_snapshot(ROOT, DESIGN, str(tmp_path / "sound")))
    harms = {
        "changed": lambda root: (_chunks(root)).write_bytes(_chunks(root).read_bytes() + b"\n"),
        "gone": lambda root: _chunks(root).unlink(),
        "added": lambda root: (root / "rag/more.jsonl").touch(),
        "artifact": lambda root: next((root / "artifacts").rglob("*.md")).write_text("other"),
        "manifest": lambda root: (root / "snapshot.json").write_text("{torn"),
    }
    for name, harm in harms.items():
        root = tmp_path / name
        shutil.copytree(tmp_path / "sound", root)
        harm(root)
        assert verified(root).verdict is Verdict.BROKEN, name
    # who can write may make all of it anew: only the anchor tells
    other = tmp_path / "other"
    write(plan_snapshot(ROOT, PROMOTED, str(other)))
    assert verified(other).verdict is Verdict.UNSIGNED
    assert verified(other, anchor).verdict is Verdict.BROKEN


def _chunks(root: Path) -> Path:
    return next(root.rglob("chunks.jsonl"))


def test_a_manifest_cannot_name_what_lies_outside(tmp_path: Path) -> None:
    write(plan_snapshot(ROOT, DESIGN, str(tmp_path / "s")))
    path = tmp_path / "s" / "snapshot.json"
    manifest = json.loads(path.read_bytes())
    manifest["files"].append({"path": "../secret", "sha256": ""})
    path.write_text(json.dumps(manifest))
    reasons = [reason for check in verified(tmp_path / "s").checks for reason in check.reasons]
    assert "snapshot.json names no file: '../secret'" in reasons


def test_is_for_its_owner_and_whole_or_not_at_all(tmp_path: Path) -> None:
    plan = plan_snapshot(ROOT, DESIGN, str(tmp_path / "s"))
    write(plan)
    modes = {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "s").rglob("*")}
    assert modes == {0o600, 0o700}
    assert os.listdir(tmp_path) == ["s"]
    with pytest.raises(Refused, match="is there already"):
        write(plan)
    assert os.listdir(tmp_path) == ["s"]
    (refusal,) = plan_snapshot(ROOT, DESIGN, str(tmp_path / "none" / "s")).refusals
    assert refusal.reason.endswith("no such folder")


def test_is_taken_back_and_brought_again(tmp_path: Path) -> None:
    root, changes = tmp_path / "s", Journal(tmp_path / "changes")
    hand = FolderWriter()
    plan = plan_snapshot(ROOT, DESIGN, str(root))
    made = hand.apply(plan, changes)
    (root / "more").touch()
    assert hand.obstacle(made, changes) == "what it made was changed since"
    (root / "more").unlink()
    undone = hand.undo(made, changes)
    assert not root.exists() and hand.obstacle(made, changes) == "what it made is gone"
    with pytest.raises(Refused, match="is gone"):
        hand.undo(made, changes)
    hand.undo(undone, changes)
    assert isinstance(plan.content, Folder)
    files = {path.relative_to(root): path for path in root.rglob("*") if path.is_file()}
    assert {str(name): path.read_bytes() for name, path in files.items()} == plan.content.files
    assert hand.obstacle(undone, changes) == "there is something at its place again"
    assert [change.verb for change in changes.changes()] == ["snapshot", "undo", "undo"]


def test_compacting_takes_out_what_is_there_twice_and_says_into_what(tmp_path: Path) -> None:
    root, corpus = made(
        tmp_path / "w",
        [
            doc("d1", "one", run_id="r1"),
            doc("d2", "two", run_id="r2"),
            doc("d1", "three"),
            doc("d3"),
        ],
        [
            chunk("k1", "d1", "same"),
            chunk("k2", "d2", "same"),
            chunk("k3", "d1", "same"),
            chunk("k4", "gone", "orphan"),
            chunk("k5", "d3", "other"),
        ],
    )
    plan = plan_compact(root, corpus, str(tmp_path / "new"))
    assert [(each.id, each.says) for each in plan.leaving] == [
        ("k3", "chunk: its document has this text"),
        ("d2", "document: d1 says the same, word for word"),
        ("k2", "chunk: of a document that goes"),
        ("d1", "document: another has its id"),
        ("k4", "chunk: of no document"),
    ]
    write(plan)
    (folder,) = corpus_folders(tmp_path / "new")
    new = read_corpus(tmp_path / "new", folder)
    assert new.id == "c-compacted" and new.about["compacted_from"] == "c"
    assert [each.value["doc_id"] for each in new.docs] == ["d1", "d3"]
    assert [each.value["chunk_id"] for each in new.chunks] == ["k1", "k5"]
    merged = new.docs[0].value["meta"]["merged"]  # nothing of where it came from is lost
    assert [each["title"] for each in merged] == ["two", "three"]
    assert merged[0]["labels"] == {"run_id": "r2"}
    assert verified(tmp_path / "new").verdict is Verdict.UNSIGNED
    with pytest.raises(Refused, match="nothing in it is there twice"):
        plan_compact(tmp_path / "new", new, str(tmp_path / "newer"))


def test_compacting_the_sample_leaves_the_corpus_alone(tmp_path: Path) -> None:
    root = copied("a1-root", tmp_path)
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    plan = plan_compact(root, read_corpus(root, PROMOTED.folder), str(tmp_path / "new"))
    assert plan.about.endswith("16 documents, 16 chunks") and len(plan.leaving) == 4
    write(plan)
    assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == before


def test_ids_of_events_fit_what_they_say(tmp_path: Path) -> None:
    root = copied("a15-fs", tmp_path)
    store = AethergraphStore([str(root)])
    path = f"{root}#session:sess_a2e0dff1"
    before = store.verify(path)
    logs = (root / "mem").rglob("*.jsonl")
    log = next(each for each in logs if "sess_a2e0dff1" in str(each))
    log.write_text(log.read_text().replace("How is a fork stored?", "How is a fork lost?", 1))
    after = store.verify(path)
    ids = [
        next(check for check in report.checks if "ids of" in check.name)
        for report in (before, after)
    ]
    assert "005135b4bec1ba897028ee42" not in str(ids[0])
    assert "005135b4bec1ba897028ee42" in str(ids[1])
