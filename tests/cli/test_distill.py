"""`tau-browse distill`."""

from __future__ import annotations

import json
import stat
from pathlib import Path

from tests.cli.conftest import Run
from tests.conftest import DATA

TAU = DATA / "tau" / "03-compaction.jsonl"
RUN = [
    "--store",
    "aethergraph",
    "--session-dir",
    DATA / "aethergraph" / "a1-root",
    "run-20260303-2",
]


def test_prints_the_last_turns(run: Run) -> None:
    result = run("distill", TAU, "--turns", "1")
    assert result.code == 0
    assert result.out.splitlines()[0].startswith("User: What did we decide?")
    assert "covers 2 of" in result.out


def test_prints_json_of_a_tool(run: Run) -> None:
    found = run("distill", *RUN, "--tool", "tool.fetch", "--json").json
    assert found["kind"] == "episode" and len(found["sources"]) == 3
    assert found["sources"][0]["event"] == found["sources"][0]["entry"]
    assert found["coverage"]["used"] == 3
    assert found["metrics"]["latency_ms"] == {"last": 600.0, "sum": 30612.0, "count": 2}


def test_writes_a_file_for_its_owner_and_takes_it_back(run: Run, tmp_path: Path) -> None:
    target = tmp_path / "digest.md"
    planned = run("distill", TAU, "-o", target, "--dry-run", "--json").json
    assert planned["change"] is None and not target.exists()
    made = run("distill", TAU, "-o", target, "--json").json
    assert target.read_text().startswith("# Rolling digest of")
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert run("distill", TAU, "-o", target).code == 2
    assert run("undo", made["change"]).code == 0 and not target.exists()
    assert run("distill", TAU, "-o", tmp_path / "digest.json").code == 0
    assert json.loads((tmp_path / "digest.json").read_bytes())["kind"] == "rolling"


def test_nothing_found_is_said(run: Run) -> None:
    result = run("distill", TAU, "--tool", "none")
    assert result.code == 1 and "nothing to distill" in result.err
    silent = run("distill", *CORPUS)
    assert silent.code == 1 and "nobody speaks here; a tool, or what hangs below" in silent.err


CORPUS = [*RUN[:-1], "corpus:run:lazy-loading-f70cbea892ed"]


def test_a_snapshot_is_written_and_verified(run: Run, tmp_path: Path) -> None:
    target = tmp_path / "kept"
    planned = run("snapshot", *CORPUS, "-o", target, "--dry-run", "--json").json
    assert planned["change"] is None and not target.exists()
    made = run("snapshot", *CORPUS, "-o", target, "--json").json
    assert made["plan"]["remarks"] == planned["plan"]["remarks"]
    anchor = made["plan"]["remarks"][-1].split()[1].rstrip(":")
    assert run("verify", target, "--anchor", anchor).code == 0
    assert run("verify", target, "--anchor", "0" * 64).code == 1
    assert run("snapshot", *CORPUS, "-o", target).code == 2
    assert run("snapshot", *RUN, "-o", tmp_path / "other").code == 2
    assert run("undo", made["change"]).code == 0 and not target.exists()


def test_a_compacted_corpus_is_a_new_one(run: Run, tmp_path: Path) -> None:
    shown = run("compact", *CORPUS, "-o", tmp_path / "new")
    assert shown.code == 0 and shown.out.count(" document: ") == 2
    listed = run("ls", tmp_path / "new", "--json").json["sessions"]
    assert [row["id"] for row in listed] == ["corpus:run:lazy-loading-f70cbea892ed-compacted"]
    assert run("compact", tmp_path / "new", "-o", tmp_path / "newer").code == 2
