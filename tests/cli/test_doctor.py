"""`tau-browse doctor`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tau_browser import __version__, config
from tests.cli.conftest import Run
from tests.stores.conftest import write
from tests.stores.samples import SAMPLES


def test_healthy(run: Run, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(home / ".tau" / "sessions" / "--x--" / "s.jsonl")
    (home / ".tau" / "sessions" / "--x--" / "t.jsonl.gz").write_bytes(b"")
    models = {"models": {"a": {"cost": {"input": 1}}}}
    (home / ".tau" / "config.json").write_text(json.dumps(models))
    monkeypatch.setenv("TERM", "xterm-\x1b[31m")
    result = run("doctor", "--json")
    report = result.json
    assert (result.code, result.err) == (0, "")
    assert report["version"] == __version__
    assert report["packages"]["msgspec"]
    assert report["home"] == {"path": str(home / ".tau"), "origin": "default"}
    (own, here) = report["roots"]
    assert (own["exists"], own["sessions"], own["unreadable"]) == (True, 1, 1)
    assert own["path"] == here["path"]  # the command runs in the home folder
    assert report["folders"]["cache"] == str(config.cache_folder())
    assert report["settings"] == {
        "path": str(config.config_folder() / "config.toml"),
        "exists": False,
    }
    assert report["prices"] == 1
    assert report["catalog"]["bytes"] > 0  # what was looked into is kept
    assert report["terminal"]["variables"]["TERM"] == "xterm-\x1b[31m"
    assert report["problems"] == []

    people = run("doctor")
    assert people.code == 0 and people.out.endswith("no problems\n")
    assert ": 1 session, 1 unreadable" in people.out


def test_every_store_is_named_with_its_sessions_and_what_is_wrong(
    run: Run, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All that lies on this machine, looked into as far as lists do not know it yet."""
    folders = {
        "tau": home / ".tau" / "sessions",
        "pi": home / ".pi" / "agent" / "sessions",
        "claude-code": home / ".claude" / "projects",
        "codex": home / ".codex" / "sessions",
        "aethergraph": home / "events",
        "agmem": home / "work" / "repo",
    }
    assert {sample.name for sample in SAMPLES} == folders.keys()
    for sample in SAMPLES:
        folders[sample.name].mkdir(parents=True)
        sample.make(folders[sample.name])
        sample.damage(folders[sample.name])
    (folders["pi"] / "old.jsonl.gz").write_bytes(b"")
    monkeypatch.setenv("AETHERGRAPH_WORKSPACE", str(folders["aethergraph"]))
    monkeypatch.setenv("JMFTS_API_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("JMFTS_API_TOKEN", "secret-of-mine")
    monkeypatch.chdir(folders["agmem"] / "two")  # the one that is damaged

    def counts(report: Any) -> dict[str, list[int]]:
        found = {store["name"]: store for store in report["stores"]} | {"tau": report["roots"][0]}
        return {
            name: [each["sessions"], len(each["damaged"]), each["not_read"]]
            for name, each in found.items()
        }

    with monkeypatch.context() as patched:
        patched.setattr("tau_browser.cli.doctor._SECONDS", 0.0)  # more than there is time for
        first = run("doctor", "--json").json
        assert counts(first) == {name: [2, 0, 2] for name in folders} | {"agmem": [1, 0, 1]}
        assert "2 sessions (2 not read yet)" in run("doctor").out
    report = run("doctor", "--json").json
    assert counts(report) == {name: [2, 1, 0] for name in folders} | {"agmem": [1, 1, 0]}
    for store in report["stores"]:
        (damaged,) = store["damaged"]
        assert damaged["unreadable"] + damaged["damage"] > 0
    (left,) = next(store["unreadable"] for store in report["stores"] if store["name"] == "pi")
    assert left["path"].endswith("old.jsonl.gz") and "gzip" in left["reason"]
    assert report["unused_server"]["url_origin"] == "$JMFTS_API_URL"
    people = run("doctor").out
    for name in folders.keys() - {"tau"}:
        assert f"--store {name}" in people and str(folders[name]) in people
    assert "2 sessions (1 damaged)" in people and "secret-of-mine" not in people
    assert "http://127.0.0.1:1 (from $JMFTS_API_URL): not asked" in people


def break_tau_home(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TAU_HOME", "/no/such")


def break_tau_config(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / ".tau").mkdir()
    (home / ".tau" / "config.json").write_text("{")


def break_settings(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config.config_folder().mkdir(parents=True)
    (config.config_folder() / "config.toml").write_text("colour = 1")


@pytest.mark.parametrize(
    ("harm", "reason"),
    [
        (break_tau_home, "TAU_HOME=/no/such is not a directory"),
        (break_tau_config, "config.json: "),
        (break_settings, "config.toml: unknown setting 'colour'"),
    ],
)
def test_problem_is_reported_not_raised(
    run: Run, home: Path, monkeypatch: pytest.MonkeyPatch, harm: Any, reason: str
) -> None:
    harm(home, monkeypatch)
    result = run("doctor", "--json")
    (problem,) = result.json["problems"]
    assert result.code == 2 and result.err == "" and reason in problem
    people = run("doctor")
    assert people.code == 2 and f"problem: {problem}" in people.out


def test_missing_session_dir_is_a_problem(run: Run) -> None:
    result = run("doctor", "--session-dir", "gone", "--json")
    assert result.code == 2
    assert result.json["problems"] == ["--session-dir gone is not a directory"]


def test_root_that_may_not_be_listed_is_a_problem(run: Run, locked_out: Path) -> None:
    folder = locked_out / "--proj-locked--"
    result = run("doctor", "--session-dir", folder, "--json")
    assert (result.code, result.err) == (2, "")
    assert f"{folder}: permission denied" in result.json["problems"]
