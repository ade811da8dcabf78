"""What a word on the command line means."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tau_browser.stores.store import Store, StoreError
from tau_browser.stores.targets import (
    AmbiguousReference,
    NoSession,
    Target,
    demo_target,
    only_session,
    session_named,
    store_over,
    target_of,
)
from tests.stores.conftest import write


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write(tmp_path / "r" / "a.jsonl", "abc123")
    write(tmp_path / "r" / "deep" / "er" / "b.jsonl", "abc999")
    write(tmp_path / "r" / "c.jsonl", "abc")
    write(tmp_path / "r" / "d.jsonl", "zzz")
    return tmp_path / "r"


@pytest.fixture
def store(root: Path) -> Store:
    return store_over([str(root)], None)


@pytest.mark.parametrize(
    ("ref", "name"), [("abc123", "a"), ("abc9", "b"), ("z", "d"), ("abc", "c")]
)
def test_id_or_the_beginning_of_one(store: Store, ref: str, name: str) -> None:
    target = target_of(ref, store, None)
    assert target.store is store
    assert target.path is not None and os.path.basename(target.path) == f"{name}.jsonl"
    assert target.ref == {"a": "abc123", "b": "abc999", "c": "abc", "d": "zzz"}[name]


def test_beginning_of_several_ids_is_ambiguous(store: Store) -> None:
    with pytest.raises(AmbiguousReference, match="'a' names 3 sessions") as error:
        session_named("a", store)
    assert error.value.count == 3
    found = {
        (os.path.basename(item.path), item.summary.title)
        for item in error.value.candidates
        if item.summary
    }
    assert found == {(f"{name}.jsonl", "hello") for name in "abc"}


def test_copies_of_a_session_are_ambiguous(root: Path, store: Store) -> None:
    write(root / "copy.jsonl", "zzz")
    with pytest.raises(AmbiguousReference, match="'zzz' names 2 sessions"):
        session_named("zzz", store)


def test_many_candidates_are_counted_not_all_looked_into(root: Path, store: Store) -> None:
    for at in range(30):
        write(root / f"n{at}.jsonl", f"many{at}")
    with pytest.raises(AmbiguousReference) as error:
        session_named("many", store)
    assert error.value.count == 30 and len(error.value.candidates) == 20


@pytest.mark.parametrize("ref", ["nope", "abcd", "ABC", "x" * 100_000])
def test_unknown_id_says_where_it_was_looked_for(store: Store, root: Path, ref: str) -> None:
    with pytest.raises(NoSession, match=f"no session .* in {root}"):
        target_of(ref, store, None)


@pytest.mark.parametrize("ref", ["./gone", "gone.jsonl", "/no/such/place", "~/gone"])
def test_path_that_leads_nowhere_is_an_error(store: Store, ref: str) -> None:
    with pytest.raises(StoreError, match="no such file or directory") as error:
        target_of(ref, store, None)
    assert not isinstance(error.value, NoSession)


def test_empty_word_names_nothing(store: Store) -> None:
    with pytest.raises(StoreError, match="empty"):
        target_of("", store, None)


def test_path_to_a_file_is_that_file_alone(
    root: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(root / "deep")
    target = target_of("er/b.jsonl", store, None)
    path = str(root / "deep" / "er" / "b.jsonl")
    assert (target.path, target.ref) == (path, path)
    assert [item.path for item in target.store.scan()] == [path]


def test_path_to_a_folder_is_what_is_in_it(root: Path, store: Store) -> None:
    target = target_of(str(root / "deep"), store, None)
    assert target.path is None
    assert len(list(target.store.scan())) == 1
    only = only_session(target)
    assert only.path is not None and only.path.endswith("b.jsonl") and only.ref == only.path


def test_folder_with_several_sessions_does_not_name_one(root: Path, store: Store) -> None:
    with pytest.raises(AmbiguousReference, match="holds 4 sessions"):
        only_session(target_of(str(root), store, None))


def test_folder_without_sessions_names_none(tmp_path: Path, store: Store) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(NoSession, match="no session in"):
        only_session(target_of(str(tmp_path / "empty"), store, None))


def test_tilde_is_the_home(root: Path, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(root))
    assert target_of("~/a.jsonl", store, None).path == str(root / "a.jsonl")


def test_target_that_has_a_path_is_left_as_it_is(store: Store) -> None:
    target = Target(store, "/x")
    assert only_session(target) is target


def test_demo_holds_sessions_and_is_marked() -> None:
    target = demo_target("nothing found")
    assert target.is_demo and target.notice == "nothing found" and target.path is None
    assert len(list(target.store.scan())) == 6
