"""Sessions that are read through a translation into τ's lines."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from tau_browser.model.session import Session
from tau_browser.stores.store import Change, StoreError
from tau_browser.stores.translated import State, TranslatedSession, Translation
from tests.conftest import log_of, message


class Kept:
    """A session that is kept as a list of words."""

    def __init__(self, *words: str) -> None:
        self.path = "words"
        self.words = list(words)
        self.gone = False
        self.breaks = False
        self.translations = 0

    def state(self) -> State:
        if self.gone:
            raise StoreError("words: gone")
        return State(" ".join(self.words), len(self.words))

    def translate(self) -> Iterator[Translation]:
        self.translations += 1
        lines = [message(word, None, word) for word in self.words]
        for at, line in enumerate(log_of(lines).splitlines(keepends=True)):
            if self.breaks:
                raise StoreError("words: torn")
            yield Translation(line, at, len(lines))


@pytest.fixture
def kept() -> Kept:
    return Kept("one", "two")


def loaded(opened: TranslatedSession) -> Session:
    *_, last = opened.load()
    assert last.session is not None
    return last.session


def texts(session: Session) -> list[str]:
    return [session.text(at) for at in range(len(session))]


def test_is_translated_once_for_one_state(kept: Kept, tmp_path: Path) -> None:
    for _ in range(2):
        assert texts(loaded(TranslatedSession(kept, tmp_path))) == ["one", "two"]
    assert kept.translations == 1


def test_only_its_owner_may_read_it(kept: Kept, tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    log = Path(TranslatedSession(kept, folder).log().files[0])
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_another_state_replaces_it(kept: Kept, tmp_path: Path) -> None:
    opened = TranslatedSession(kept, tmp_path)
    before = loaded(opened)
    kept.words.append("three")
    assert opened.check() is Change.GREW
    assert texts(opened.follow()) == ["one", "two", "three"]
    assert opened.check() is Change.NONE
    assert texts(before) == ["one", "two"]  # what was read can still be looked at
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize(
    ("words", "change"), [(["one"], Change.SHRANK), (["one", "2"], Change.REWRITTEN)]
)
def test_tells_what_happened(kept: Kept, tmp_path: Path, words: list[str], change: Change) -> None:
    opened = TranslatedSession(kept, tmp_path)
    loaded(opened)
    kept.words = words
    assert opened.check() is change


def test_gone_and_back(kept: Kept, tmp_path: Path) -> None:
    opened = TranslatedSession(kept, tmp_path)
    loaded(opened)
    kept.gone = True
    assert opened.check() is Change.GONE
    kept.gone = False
    assert opened.check() is Change.BACK
    assert opened.check() is Change.NONE


def test_what_cannot_be_translated_leaves_nothing_behind(kept: Kept, tmp_path: Path) -> None:
    kept.breaks = True
    with pytest.raises(StoreError, match="torn"):
        loaded(TranslatedSession(kept, tmp_path))
    assert not list(tmp_path.iterdir())


def test_stopped_half_way_leaves_nothing_behind(kept: Kept, tmp_path: Path) -> None:
    progress = TranslatedSession(kept, tmp_path).load()
    assert next(progress).session is None
    progress.close()
    assert not list(tmp_path.iterdir())


def test_a_cache_that_cannot_be_written_is_said(kept: Kept, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="cannot be read by way of"):
        loaded(TranslatedSession(kept, tmp_path / "file" / "cache"))
