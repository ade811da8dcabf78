"""Promotion: what is worth keeping becomes documents, once, and leads back to where it was."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tau_browser.stores.jmfts.store import JmftsStore
from tests.cli.conftest import Run
from tests.conftest import DATA
from tests.jmfts.appliance import Appliance
from tests.jmfts.making import Making

ROOT = DATA / "aethergraph" / "a1-root"
SOURCE = f"{ROOT}#run:run-20260303-2"


def servers(appliance: Appliance, monkeypatch: Any) -> None:
    monkeypatch.setenv("JMFTS_API_URL", appliance.url)
    monkeypatch.setenv("JMFTS_API_TOKEN", appliance.token)


def promoted(making: Making, corpus: int) -> list[dict[str, Any]]:
    path = f"/documents/{corpus}/children?usetype=tau-browse:promoted&limit=1000"
    found: list[dict[str, Any]] = making.request("GET", path)
    return sorted(found, key=lambda document: document["id"])


def test_adds_what_is_new_once_and_keeps_its_sources(
    appliance: Appliance, making: Making, run: Run, monkeypatch: Any
) -> None:
    servers(appliance, monkeypatch)
    command = ["promote", "--store", "jmfts", SOURCE, "--into", "lessons", "--min-signal", "0.9"]
    planned = run(*command, "--dry-run", "--json").json
    assert planned["document"] is None and planned["change"] is None
    made = run(*command, "--json").json
    assert made["new"] == planned["new"] and len(made["new"]) == 6
    corpus = made["document"]
    documents = promoted(making, corpus)
    assert [each["title"] for each in documents] == [each["title"] for each in made["new"]]
    failed = documents[0]
    assert failed["title"] == "error:observe:2026-03-03T10:00:21.000Z"
    assert failed["content"].startswith("TimeoutError")
    source = failed["structured_content"]["promoted"]["source"]
    assert source["event"] == source["entry"] == "0a9ee25d61317a42478ed1e7"
    assert source["origin"]["line"] == 3
    # and that source opens: the document leads back to its event
    shown = run("show", source["path"], "--json").json
    assert source["entry"] in {entry["id"] for entry in shown["entries"]}

    again = run(*command, "--json").json
    assert (again["new"], again["there"], again["change"]) == ([], 6, None)
    more = run(*command[:-1], "0.5", "--json").json
    assert more["there"] == 6 and more["document"] == corpus
    assert len(promoted(making, corpus)) == 6 + len(more["new"])


def test_is_taken_back(appliance: Appliance, making: Making, run: Run, monkeypatch: Any) -> None:
    servers(appliance, monkeypatch)
    where = ["promote", "--store", "jmfts", SOURCE, "--into", "lessons"]
    made = run(*where, "--kind", "checkpoint", "--json").json
    assert len(made["new"]) == 1
    undone = run("undo", "--store", "jmfts", made["change"])
    assert undone.code == 0, undone.err
    assert promoted(making, made["document"]) == []
    assert len(run(*where, "--kind", "checkpoint", "--json").json["new"]) == 1


def test_any_store_and_a_filter_of_facets(
    appliance: Appliance, making: Making, run: Run, monkeypatch: Any
) -> None:
    servers(appliance, monkeypatch)
    where = ["promote", "--store", "jmfts", "--into", "mixed", "--json"]
    events = run(*where, SOURCE, "--facet", "tag:retry").json
    assert [each["labels"]["tags"] for each in events["new"]] == [["fetch", "retry"]]
    known = run(*where, SOURCE, "--memory", "semantic", "--dry-run").json
    assert known["new"] and {each["labels"]["memory"] for each in known["new"]} == {"semantic"}
    log = DATA / "tau" / "02-forked-tree.jsonl"
    said = run(*where, log, "--kind", "user").json
    assert said["new"] and said["document"] == events["document"]
    assert {each["source"]["store"] for each in said["new"]} == {"tau"}


def test_refusals_say_what_to_do(
    appliance: Appliance, making: Making, run: Run, monkeypatch: Any, store: JmftsStore
) -> None:
    servers(appliance, monkeypatch)
    where = ["promote", "--store", "jmfts", SOURCE, "--into"]
    assert "promote what? Give --only" in run(*where, "x").err
    assert "--store jmfts" in run("promote", SOURCE, "--into", "x", "--kind", "y").err
    note = making.document(title="other", usetype="note")
    root, entry = making.chain("hello")
    before = appliance.sql("SELECT count(*), max(updated_at) FROM documents")
    for number, usetype in {note: "note", root: "tau:conversation", entry: "tau:message"}.items():
        for words in (["promote", "--kind", "checkpoint"], ["distill"]):
            told = run(*words, "--store", "jmfts", SOURCE, "--into", str(number))
            assert (told.code, told.out) == (2, "")
            assert f"document {number} is no corpus: it is {usetype}; a title" in told.err
    assert appliance.sql("SELECT count(*), max(updated_at) FROM documents") == before
    for _ in range(2):
        making.document(title="twice", usetype="tau-browse:corpus")
    assert "2 corpora are called" in run(*where, "twice", "--kind", "checkpoint").err


def test_entries_that_no_server_holds_are_said(
    appliance: Appliance, run: Run, monkeypatch: Any, tmp_path: Path
) -> None:
    servers(appliance, monkeypatch)
    from tests.conftest import log_of, message

    path = tmp_path / "s.jsonl"
    path.write_bytes(log_of([message("a", None, "nul \x00 here"), message("b", "a", "fine")]))
    command = ["promote", "--store", "jmfts", path, "--into", "c", "--kind", "user", "--json"]
    found = run(*command).json
    assert [each["source"]["entry"] for each in found["new"]] == ["b"]
    assert found["refused"] == [{"entry": "a", "reason": "it holds a NUL character"}]


def test_a_digest_is_kept_only_when_asked_and_once(
    appliance: Appliance, making: Making, run: Run, monkeypatch: Any
) -> None:
    servers(appliance, monkeypatch)
    command = ["distill", "--store", "jmfts", SOURCE, "--turns", "2", "--into", "digests", "--json"]
    made = run(*command).json
    (document,) = promoted(making, made["document"])
    assert document["content"].startswith("User: Please write report 2")
    told = document["structured_content"]
    assert told["tau"]["type"] == "branch_summary" and told["tau"]["summary"] == document["content"]
    assert len(told["promoted"]["source"]["entries"]) == 3
    again = run(*command).json
    assert (again["new"], again["there"]) == ([], 1)
    assert "--store jmfts" in run("distill", SOURCE, "--into", "digests").err
