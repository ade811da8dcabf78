"""What every adapter keeps to, whatever its store is made of (`samples.py`)."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tau_browser.stores.adapters import adapter, names, recognising
from tau_browser.stores.store import Capability, Change, Listed, StoreError, Unreadable
from tests.stores.contract import Made, entries, listed, make, opened, state_of
from tests.stores.samples import SAMPLES


@pytest.fixture(params=SAMPLES, ids=lambda sample: sample.name)
def made(request: pytest.FixtureRequest, tmp_path: Path) -> Made:
    return make(request.param, tmp_path)


def test_is_registered(made: Made) -> None:
    assert made.sample.name in names()
    assert adapter(made.sample.name) is made.sample.adapter
    assert made.store.name == made.sample.name and str(made.folder) in made.store.title


def test_recognises_its_own_and_nothing_else(made: Made, tmp_path: Path) -> None:
    assert recognising(str(made.folder)) is made.sample.adapter
    assert made.sample.adapter.recognises(str(made.folder))
    for other in SAMPLES:
        if other.name != made.sample.name:
            folder = tmp_path / other.name
            folder.mkdir()
            other.make(folder)
            assert not made.sample.adapter.recognises(str(folder)), other.name
    for path in (tmp_path / "cache", tmp_path / "gone", "\0", __file__):
        assert not made.sample.adapter.recognises(str(path)), path


def test_names_the_places_of_its_program(made: Made) -> None:
    if env := made.sample.env(made.folder):
        places = made.sample.adapter.places(env)
        found = listed(made.sample.adapter([place.path for place in places], None))
        assert found.keys() == made.sessions.keys()
        assert all(place.origin for place in places)


def test_lists_each_session_once_with_what_it_holds(made: Made) -> None:
    found = listed(made.store)
    assert found.keys() == made.sessions.keys()
    assert all(item.store == made.sample.name for item in found.values())
    for session_id, item in found.items():
        looked = made.store.look_into(item)
        assert isinstance(looked, Listed) and looked.summary is not None
        assert (looked.summary.id, looked.summary.entries) == (
            session_id,
            made.sessions[session_id],
        )
        assert looked.summary.title
        assert (looked.summary.unreadable, looked.summary.damage) == (0, 0)
    assert not made.store.is_empty()


def test_what_was_looked_into_is_known_the_next_time(made: Made, tmp_path: Path) -> None:
    for item in listed(made.store).values():
        made.store.look_into(item)
    made.store.remember()
    again = made.sample.adapter([str(made.folder)], tmp_path / "cache")
    assert all(item.summary is not None for item in listed(again).values())


def test_declares_what_can_be_changed(made: Made) -> None:
    assert made.store.capabilities <= frozenset(Capability)
    assert made.store.refresh_every > 0


def test_nothing_there_is_an_empty_store(made: Made, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for name in ("empty", "not-there"):
        store = made.sample.adapter([str(tmp_path / name)], None)
        assert store.is_empty() and not list(store.scan())


def test_opens_to_the_end(made: Made) -> None:
    for session_id, count in made.sessions.items():
        session_opened = opened(made, session_id)
        names = entries(session_opened)
        assert len(names) == len(set(names)) == count
        assert session_opened.check() is Change.NONE
        session_opened.close()


def test_every_entry_says_something(made: Made) -> None:
    for session_id in made.sessions:
        *_, last = opened(made, session_id).load()
        session = last.session
        assert session is not None
        for place in range(len(session)):
            assert session.raw(place) and session.record(place) and session.text(place)


def test_damage_is_said_and_spares_the_rest(made: Made) -> None:
    word = made.sample.damage(made.folder)
    said = []
    sound = 0
    for item in made.store.scan():
        looked = made.store.look_into(item) if isinstance(item, Listed) else item
        if isinstance(looked, Unreadable):
            said.append(looked.reason)
            continue
        *_, last = made.store.open(looked.path).load()
        assert last.session is not None
        findings = [finding.reason for finding in last.session.diagnostics]
        said += findings
        sound += not findings
    assert any(word in reason for reason in said), said
    assert sound == len(made.sessions) - 1


def test_follows_what_grows(made: Made) -> None:
    session_opened = opened(made, made.sample.follows)
    before = entries(session_opened)
    made.sample.grow(made.folder)
    assert session_opened.check() is Change.GREW
    session = session_opened.follow()
    after = [session.entry_id(place) for place in range(len(session))]
    assert after[: len(before)] == before and len(after) == len(before) + 1
    assert session_opened.check() is Change.NONE
    assert sorted(after) == sorted(entries(opened(made, made.sample.follows)))


def test_says_that_it_is_gone_and_still_shows_what_was_read(made: Made) -> None:
    session_opened = opened(made, made.sample.follows)
    *_, last = session_opened.load()
    shutil.rmtree(made.folder)
    assert session_opened.check() is Change.GONE
    assert last.session is not None and last.session.record(0)
    with pytest.raises(StoreError):
        list(session_opened.load())


def test_refuses_what_is_not_there(made: Made) -> None:
    path = str(made.folder / made.sample.missing)
    with pytest.raises(StoreError) as error:
        list(made.store.open(path).load())
    assert str(error.value).startswith(path)


def test_reading_leaves_bytes_and_times(made: Made) -> None:
    for path in sorted(made.folder.rglob("*"), reverse=True):
        os.utime(path, (1_700_000_000, 1_700_000_000))
    before = state_of(made.folder)
    for item in listed(made.store).values():
        made.store.look_into(item)
        session_opened = made.store.open(item.path)
        entries(session_opened)
        session_opened.check()
        session_opened.close()
    made.sample.adapter.recognises(str(made.folder))
    made.store.remember()
    assert state_of(made.folder) == before
