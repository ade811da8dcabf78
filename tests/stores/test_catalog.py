"""The catalog: what lists remember between runs."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tau_browser.model.summary import Summary
from tau_browser.stores.catalog import Catalog
from tau_browser.stores.files import Identity

ONE = Identity(1, 2, 3, 4)
SUMMARY = Summary(
    id="s1",
    title="a title",
    named=True,
    cwd="/proj/demo",
    parent=None,
    created="2026-03-01T10:00:00.000Z",
    modified="2026-03-01T10:00:00.000Z",
    entries=3,
    messages=2,
    forks=1,
    unreadable=0,
    damage=0,
    notes=0,
    pending=False,
)


def saved(folder: Path, files: dict[str, Summary], roots: list[str] | None = None) -> Path:
    catalog = Catalog(folder, roots or ["/r"])
    for path, summary in files.items():
        catalog.put(path, ONE, summary)
    catalog.save()
    assert catalog.path is not None
    return catalog.path


def test_remembers_between_runs(tmp_path: Path) -> None:
    saved(tmp_path, {"/r/a.jsonl": SUMMARY})
    assert Catalog(tmp_path, ["/r"]).get("/r/a.jsonl", ONE) == SUMMARY


def test_each_set_of_roots_has_its_own(tmp_path: Path) -> None:
    saved(tmp_path, {"/r/a.jsonl": SUMMARY})
    assert Catalog(tmp_path, ["/other"]).get("/r/a.jsonl", ONE) is None


@pytest.mark.parametrize(
    "change", [{"device": 9}, {"inode": 9}, {"size": 9}, {"mtime_ns": 9}], ids=str
)
def test_file_that_changed_is_not_known(tmp_path: Path, change: dict[str, int]) -> None:
    saved(tmp_path, {"/r/a.jsonl": SUMMARY})
    fields = {name: getattr(ONE, name) for name in ONE.__slots__}
    assert Catalog(tmp_path, ["/r"]).get("/r/a.jsonl", Identity(**fields | change)) is None


def test_text_that_is_not_unicode_is_remembered_as_it_is(tmp_path: Path) -> None:
    odd = msgspec.structs.replace(SUMMARY, title="lone \ud800", cwd="/caf\udce9")
    saved(tmp_path, {"/r/\udce9.jsonl": odd})
    assert Catalog(tmp_path, ["/r"]).get("/r/\udce9.jsonl", ONE) == odd


def test_only_its_owner_may_read_it(tmp_path: Path) -> None:
    path = saved(tmp_path / "new" / "cache", {"/r/a.jsonl": SUMMARY})
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize(
    "damage",
    [
        b"",
        b"\x00\xff\xfe",
        b"[" * 100_000,
        b"null",
        b'{"version": 1}',
        b'{"version": 0, "files": {}}',
        b'{"version": 1, "files": {"/r/a.jsonl": [[1, 2, 3, 4], {"id": 5}]}}',
    ],
    ids=lambda damage: repr(damage[:20]),
)
def test_damaged_catalog_is_made_anew(tmp_path: Path, damage: bytes) -> None:
    path = saved(tmp_path, {"/r/a.jsonl": SUMMARY})
    path.write_bytes(damage)
    catalog = Catalog(tmp_path, ["/r"])
    assert catalog.get("/r/a.jsonl", ONE) is None
    saved(tmp_path, {"/r/a.jsonl": SUMMARY})
    assert Catalog(tmp_path, ["/r"]).get("/r/a.jsonl", ONE) == SUMMARY


def test_forgets_files_that_are_gone(tmp_path: Path) -> None:
    saved(tmp_path, {"/r/a.jsonl": SUMMARY, "/r/b.jsonl": SUMMARY})
    catalog = Catalog(tmp_path, ["/r"])
    catalog.keep_only({"/r/b.jsonl"})
    catalog.save()
    again = Catalog(tmp_path, ["/r"])
    assert again.get("/r/a.jsonl", ONE) is None and again.get("/r/b.jsonl", ONE) == SUMMARY


def test_unchanged_catalog_is_not_written(tmp_path: Path) -> None:
    path = saved(tmp_path, {"/r/a.jsonl": SUMMARY})
    path.unlink()
    catalog = Catalog(tmp_path, ["/r"])
    catalog.keep_only({"/r/a.jsonl"})
    catalog.save()
    assert not path.exists()


@pytest.mark.parametrize("stage", ["os.replace", "os.fdopen", "tempfile.mkstemp"])
def test_catalog_that_cannot_be_written_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stage: str
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    path = saved(tmp_path, {"/r/a.jsonl": SUMMARY})
    before = path.read_bytes()
    monkeypatch.setattr(f"tau_browser.stores.catalog.{stage}", fail)
    saved(tmp_path, {"/r/b.jsonl": SUMMARY})
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_without_a_folder_it_lives_in_memory() -> None:
    catalog = Catalog(None, ["/r"])
    catalog.put("/r/a.jsonl", ONE, SUMMARY)
    catalog.save()
    assert catalog.path is None and catalog.get("/r/a.jsonl", ONE) == SUMMARY
