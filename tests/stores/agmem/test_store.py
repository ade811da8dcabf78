"""Where repositories are found."""

from __future__ import annotations

from pathlib import Path

import pytest

from tau_browser.stores.agmem.store import AgmemStore
from tests.stores.agmem.made import commit, start


def test_the_repository_of_this_directory_is_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert AgmemStore.places({}) == []
    commit(start(tmp_path / "repo"), {"semantic/a.md": "a"})
    monkeypatch.chdir(tmp_path / "repo" / "current")
    (place,) = AgmemStore.places({})
    assert place.path == str(tmp_path / "repo")


def test_repositories_below_a_folder_but_not_behind_links(tmp_path: Path) -> None:
    for name in ("a", "b/c"):
        (tmp_path / name).mkdir(parents=True)
        commit(start(tmp_path / name / "memory"), {"semantic/a.md": "a"})
    (tmp_path / "link").symlink_to(tmp_path / "a")
    found = {Path(item.path).relative_to(tmp_path) for item in AgmemStore([str(tmp_path)]).scan()}
    assert found == {Path("a/memory"), Path("b/c/memory")}
