"""`tau-browse search` on a server: where it looks, how it weighs, what it tells."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.jmfts.appliance import Appliance
from tests.jmfts.making import Making


@pytest.fixture(autouse=True)
def connected(home: Path, appliance: Appliance, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JMFTS_API_URL", appliance.url)
    monkeypatch.setenv("JMFTS_API_TOKEN", appliance.token)


def entries(run: Run, *argv: object) -> set[int]:
    """The entries that a search finds."""
    hits = run("search", "--store", "jmfts", "--json", *argv).json["hits"]
    return {int(hit["entry"]) for hit in hits}


def test_where_it_looks(run: Run, making: Making) -> None:
    root, first, second = making.chain("one fox", "two foxes and a fox")
    aside = making.message(first, 3, "fox aside")
    other, far = making.chain("a far fox", id="1" * 32)
    note = making.document(title="note", content="fox of nobody", usetype="note")
    assert entries(run, "fox") == {first, second, aside, far}
    assert entries(run, "fox", "--everything") == {first, second, aside, far, note}
    assert entries(run, "fox", "--in", root) == {first, second, aside}
    assert entries(run, "fox", "--in", second, "--in", other) == {far}
    assert entries(run, "fox", "--in", aside, "--branch") == {first, aside}


def test_what_is_told_of_a_document_of_no_session(run: Run, making: Making) -> None:
    making.chain("one dog")
    note = making.document(title="of foxes", content="fox of nobody", usetype="note")
    result = run("search", "--store", "jmfts", "--everything", "fox")
    assert f"1. in no session {note} " in result.out and " note " in result.out
    (hit,) = run("search", "--store", "jmfts", "--everything", "--json", "fox").json["hits"]
    assert hit["document"]["content"] == "fox of nobody"
    assert (hit["path"], hit["state"], hit["likely"]) == ("", None, [])


def test_what_the_index_of_words_lacks_stands_beside_the_hits(run: Run, making: Making) -> None:
    _, first = making.chain("one fox")
    making.document(first, content="fox unseen", usetype="tau:message", auto_index_bm25=False)
    result = run("search", "--store", "jmfts", "fox")
    assert "1 document indexed, 0 of 2 embedded, 1 not in the index of words" in result.out
    assert "no vector, maxsim: " in result.out
    told = run("search", "--store", "jmfts", "--json", "fox").json
    assert (told["coverage"]["unindexed"], told["coverage"]["what"]) == (1, "document")


def test_the_server_s_own_mixture_has_a_name(run: Run, making: Making) -> None:
    making.chain("one fox")
    command = ("search", "--store", "jmfts", "--json", "--weights", "server", "fox")
    (hit,) = run(*command).json["hits"]
    assert hit["rankers"].keys() == {"bm25"}
    assert hit["rankers"]["bm25"]["contribution"] == pytest.approx(0.14)  # by its rank


@pytest.mark.parametrize(
    ("argv", "why"),
    [
        (["--branch", "fox"], "name its document with --in"),
        (["--everything", "--in", "1", "fox"], "leave out --in"),
        (["--in", "77", "--branch", "fox"], "Document 77 not found"),
        (["--in", "1", "--in", ".", "fox"], "is searched by itself"),
        (["--everything", "--branch", "fox"], "not allowed with"),
    ],
)
def test_what_cannot_be_asked(run: Run, making: Making, argv: list[str], why: str) -> None:
    making.chain("one fox")
    result = run("search", "--store", "jmfts", *argv)
    assert result.code == 2 and why in result.err


def test_files_have_no_branches_to_search(run: Run, home: Path) -> None:
    folder = home / "sessions"
    folder.mkdir()
    result = run("search", "--session-dir", folder, "--everything", "fox")
    assert result.code == 2 and "--everything is of servers" in result.err
