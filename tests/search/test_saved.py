"""Searches with names: what is kept of them, and where."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from tau_browser.search import fusion
from tau_browser.search.commands import command_line
from tau_browser.search.results import Method
from tau_browser.search.saved import Saved, SavedError, SavedSearches

PLAIN = Saved("retry policy")
OWN = Saved("-DFOO", Method.BM25, {"bm25": 2.0, "static": 0.0, "neural": 1.0}, fusion.Method.RRF)


def test_what_is_saved_is_there_again_for_its_owner_alone(tmp_path: Path) -> None:
    folder = tmp_path / "state"
    searches = SavedSearches(folder)
    assert searches.all() == {}
    assert not searches.save("one", PLAIN)
    assert not searches.save(" two ", OWN)
    assert list(SavedSearches(folder).all().items()) == [("one", PLAIN), ("two", OWN)]
    assert searches.save("one", OWN)
    assert SavedSearches(folder).get("one") == OWN
    searches.delete("one")
    assert searches.all() == {"two": OWN}
    for path in (folder, *folder.iterdir()):
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0


def test_an_unknown_name_is_told_with_those_there_are(tmp_path: Path) -> None:
    searches = SavedSearches(tmp_path)
    searches.save("one", PLAIN)
    for ask in (searches.get, searches.delete):
        with pytest.raises(SavedError, match="'two'; there are: 'one'"):
            ask("two")


@pytest.mark.parametrize("name", ["", "  ", "x" * 101, "a\x1bb", "a\nb"])
def test_a_name_can_be_printed(tmp_path: Path, name: str) -> None:
    with pytest.raises(SavedError, match="a name has"):
        SavedSearches(tmp_path).save(name, PLAIN)


@pytest.mark.parametrize("stored", ["{", "[]", '{"a": {}}', '{"a": {"query": "x", "method": "?"}}'])
def test_a_damaged_file_is_left_as_it_is(tmp_path: Path, stored: str) -> None:
    path = tmp_path / "searches.json"
    path.write_text(stored)
    searches = SavedSearches(tmp_path)
    for ask in (searches.all, lambda: searches.save("one", PLAIN), lambda: searches.delete("one")):
        with pytest.raises(SavedError, match="mend the file or move it away"):
            ask()
    assert path.read_text() == stored


def test_the_command_says_what_is_unusual() -> None:
    assert command_line(PLAIN) == "tau-browse search 'retry policy'"
    assert command_line(OWN) == (
        "tau-browse search --method bm25 --weights bm25=2,static=0,neural=1 --fusion rrf -- -DFOO"
    )
