"""A server of the oldest version that we speak to: all that is done with the newest works there."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.conftest import DATA
from tests.jmfts.appliance import Appliance
from tests.jmfts.making import Making

SESSION = DATA / "tau" / "02-forked-tree.jsonl"


@pytest.fixture(autouse=True)
def named(old: Appliance, monkeypatch: pytest.MonkeyPatch) -> None:
    """The old server is the one that commands find."""
    monkeypatch.setenv("JMFTS_API_URL", old.url)
    monkeypatch.setenv("JMFTS_API_TOKEN", old.token)


def test_from_import_to_undo(run: Run, home: Path, old: Appliance, tmp_path: Path) -> None:
    store = ("--store", "jmfts")
    assert run("doctor", *store, "--json").json["server"]["version"] == "0.5.2"
    assert run("import", *store, SESSION).code == 0
    (row,) = run("ls", *store, "--json").json["sessions"]
    assert (row["path"], row["title"]) == ("1", "three branches")
    entries = run("show", *store, "1", "--json").json["entries"]
    assert len(entries) == len(run("show", SESSION, "--json").json["entries"])

    making = Making(old)
    note = making.document(int(entries[0]["id"]), title="note", content="milk", usetype="note")
    making.close()
    made = run("fork", *store, "1", "--at", entries[1]["id"], "--force", "--json").json
    fork = run("ls", *store, "--json").json["sessions"][0]["path"]
    forked = run("show", *store, fork, "--json").json["entries"]
    assert [each["kind"] for each in forked].count("jmfts:document") == 1

    hits = run("search", *store, "JMFTS", "--method", "bm25", "--json").json["hits"]
    assert hits and {hit["entry"] for hit in hits} <= {each["id"] for each in entries + forked}
    assert run("enrich", *store, "1", "--dry-run", "--json").json["conversations"][0]["plan"]

    out = tmp_path / "out.jsonl"
    assert run("export", *store, "1", "--format", "jsonl", "--no-redact", "-o", str(out)).code == 0
    assert str(note) in out.read_text()
    assert run("undo", made["change"]).code == 0
    assert [row["path"] for row in run("ls", *store, "--json").json["sessions"]] == ["1"]
