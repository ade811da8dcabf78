"""The audit of a store: what it adds up to, what it reads again, what it keeps."""

from __future__ import annotations

import itertools
import json
import os
from pathlib import Path

import pytest

from tau_browser.audit import states, store_audit
from tau_browser.audit.store_audit import audit_store, whole_audit
from tau_browser.audit.tools import KNOWN_TOOLS, ToolTable
from tau_browser.audit.totals import by_project, documents_of, totals_of
from tau_browser.stores.targets import store_at, store_over
from tests.audit.labelled import STORIES
from tests.audit.sessions import Doc, Story


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A store of the labelled stories, and of one that never recalls."""
    folder = tmp_path / "sessions"
    folder.mkdir()
    for at, tell in enumerate(STORIES):
        (folder / f"{at:02}.jsonl").write_bytes(tell().log)
    quiet = Story(id="quiet", cwd="/home/ada/quiet")
    quiet.user("Hello.")
    quiet.say("Hello.")
    (folder / "quiet.jsonl").write_bytes(quiet.log)
    return folder


def test_totals_are_those_of_the_labels(folder: Path) -> None:
    labels = [label for tell in STORIES for label in tell().labels]
    audit = whole_audit(store_over([str(folder)], None), None)
    totals = totals_of(audit.audits)
    assert totals.sessions == len(STORIES) + 1
    assert totals.silent == 1
    for verdict in ("cited", "opened", "quoted", "overlapping", "unused", "unknown"):
        assert getattr(totals, verdict) == labels.count(verdict)
    assert totals.used == sum(labels.count(word) for word in ("cited", "opened", "quoted"))
    assert totals.hits == len([label for label in labels if label])
    assert totals.unused_tokens > 0
    projects = by_project(audit.audits)
    assert sum(project.hits for project in projects.values()) == totals.hits
    assert list(projects)[-1] == "/home/ada/quiet"


def test_a_second_look_reads_no_session(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, cache = store_over([str(folder)], None), tmp_path / "cache"
    first = whole_audit(store, cache)
    monkeypatch.setattr(states, "load", None)
    monkeypatch.setattr(store_audit, "header_of", None)
    progress = list(audit_store(store, cache))
    assert [(each.done, each.total, each.read) for each in progress] == [
        (len(STORIES) + 1, len(STORIES) + 1, 0)
    ]
    assert progress[0].audit == first
    files = [path for path in (cache / "audit").iterdir() if path.is_file()]
    assert [path.stat().st_mode & 0o777 for path in files] == [0o600]
    assert (cache / "audit").stat().st_mode & 0o777 == 0o700


def test_a_session_that_changed_is_read_again(folder: Path, tmp_path: Path) -> None:
    store, cache = store_over([str(folder)], None), tmp_path / "cache"
    whole_audit(store, cache)
    story = STORIES[0]()
    story.search("more", Doc(999, "More", "text"))
    (folder / "00.jsonl").write_bytes(story.log)
    (folder / "quiet.jsonl").unlink()
    last = list(audit_store(store, cache))[-1]
    assert last.read == 1
    assert last.audit is not None
    assert len(last.audit.audits) == len(STORIES)
    changed = next(one for one in last.audit.audits if one.path.endswith("00.jsonl"))
    assert [recall.query for recall in changed.recalls][-1] == "more"
    assert not next(iter(audit_store(store, cache))).read


def test_the_audit_of_another_folder_forgets_nothing(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "a.jsonl").write_bytes(STORIES[0]().log)
    cache = tmp_path / "cache"
    for each in (folder, other):
        whole_audit(store_over([str(each)], None), cache)
    for each in (folder, other):
        assert not list(audit_store(store_over([str(each)], None), cache))[-1].read


def test_what_belongs_to_a_session_is_looked_into(tmp_path: Path) -> None:
    """A sub-agent's recall, in a file of its own beside the session's."""
    folder = tmp_path / "projects" / "-home-ada"
    agents = folder / "s1" / "subagents"
    agents.mkdir(parents=True)
    user = {"type": "user", "uuid": "u1", "parentUuid": None, "sessionId": "s1"}
    user |= {"timestamp": "2026-03-01T10:00:00.000Z", "message": {"role": "user", "content": "Go."}}
    call = {"type": "tool_use", "id": "c1", "name": "memory_search", "input": {"query": "tea"}}
    asked = user | {"type": "assistant", "uuid": "a1", "isSidechain": True, "agentId": "x"}
    asked["message"] = {"role": "assistant", "content": [call]}
    (folder / "s1.jsonl").write_text(json.dumps(user) + "\n")
    (agents / "agent-x.jsonl").write_text(json.dumps(asked) + "\n")
    store, cache = store_at(str(tmp_path / "projects"), None, "claude-code"), tmp_path / "cache"
    assert totals_of(whole_audit(store, cache).audits).recalls == 1
    assert not list(audit_store(store, cache))[-1].read
    with (agents / "agent-x.jsonl").open("a") as file:
        file.write(json.dumps(asked | {"uuid": "a2", "parentUuid": "a1"}) + "\n")
    assert list(audit_store(store, cache))[-1].read == 1


def test_another_table_of_tools_is_another_audit(folder: Path, tmp_path: Path) -> None:
    store, cache = store_over([str(folder)], None), tmp_path / "cache"
    before = totals_of(whole_audit(store, cache).audits)
    table = ToolTable.extended({"write": "write", "jmfts_search": "read"}, [])
    after = totals_of(whole_audit(store, cache, table).audits)
    assert (before.hits, after.hits) != (0, before.hits)
    assert after.writes > before.writes
    assert totals_of(whole_audit(store, cache).audits) == before


def test_a_damaged_cache_is_made_anew(folder: Path, tmp_path: Path) -> None:
    store, cache = store_over([str(folder)], None), tmp_path / "cache"
    first = whole_audit(store, cache)
    (kept,) = (cache / "audit").iterdir()
    kept.write_bytes(b"not a database at all" * 100)
    assert whole_audit(store, cache) == first
    assert next(iter(audit_store(store, cache))).audit == first


def test_a_cache_that_cannot_be_written_is_no_reason_to_stop(folder: Path, tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    audit = whole_audit(store_over([str(folder)], None), blocked)
    assert len(audit.audits) == len(STORIES) + 1


def test_strange_text_is_kept(tmp_path: Path) -> None:
    story = Story()
    story.search("lone \ud800 and \x00", Doc(1, "\udfff", "x", score=float("inf")))
    (tmp_path / "a.jsonl").write_bytes(story.log)
    store, cache = store_over([str(tmp_path)], None), tmp_path / "cache"
    first = whole_audit(store, cache)
    assert first.audits[0].recalls[0].query == "lone \ud800 and \x00"
    assert next(iter(audit_store(store, cache))).audit == first


def test_what_cannot_be_read_is_named(folder: Path) -> None:
    (folder / "pipe.jsonl").symlink_to(folder / "nowhere")
    audit = whole_audit(store_over([str(folder)], None), None)
    assert [os.path.basename(item.path) for item in audit.unreadable] == ["pipe.jsonl"]


def test_cancelling_keeps_what_was_found(folder: Path, tmp_path: Path) -> None:
    store, cache = store_over([str(folder)], None), tmp_path / "cache"
    looked = 0

    def cancelled() -> bool:
        nonlocal looked
        looked += 1
        return looked > 3

    stopped = list(audit_store(store, cache, KNOWN_TOOLS, cancelled))
    assert stopped[-1].audit is None or stopped[-1].audit.unread
    assert list(audit_store(store, cache))[-1].read == len(STORIES) + 1 - 3


def test_a_fork_counts_once_with_the_best_that_became_of_a_hit(tmp_path: Path) -> None:
    story = Story(id="one")
    story.user("Go.")
    story.search("x", Doc(1, "One", "first"), Doc(2, "Two", "second"))
    story.say("Nothing.")
    (tmp_path / "one.jsonl").write_bytes(story.log)
    story.header |= {"id": "two", "parent": "one"}
    story.say("It was [doc 2].")
    (tmp_path / "two.jsonl").write_bytes(story.log)
    audits = whole_audit(store_over([str(tmp_path)], None), None).audits
    totals = totals_of(audits)
    assert (totals.recalls, totals.hits, totals.cited, totals.unused) == (1, 2, 1, 1)
    uses = {use.document: (use.recalled, use.used) for use in documents_of(audits)}
    assert uses == {"1": (1, 0), "2": (1, 1)}


def test_documents_recalled_most_and_never_used_come_first(folder: Path) -> None:
    audit = whole_audit(store_over([str(folder)], None), None)
    uses = documents_of(audit.audits)
    assert (uses[0].document, uses[0].recalled, uses[0].used) == ("591", 2, 2)
    assert all(one.recalled >= other.recalled for one, other in itertools.pairwise(uses))
