"""What τ itself would not open: all of it is shown, with the reason, and nothing changes it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.jmfts.appliance import Appliance
from tests.jmfts.making import Making, message
from tests.jmfts.tau import TauFailed, ask

HELLO = message("hello") | {"timestamp": "2026-03-01T10:00:02.000Z"}


def two_writers(making: Making) -> int:
    root, first, _ = making.chain("hello", "b")
    making.message(first, 2, "by another")
    return root


def counted_down(making: Making) -> int:
    root, first = making.chain("hello")
    making.message(making.message(first, 9, "later"), 3, "sooner")
    return root


def no_seq(making: Making) -> int:
    root, first = making.chain("hello")
    making.document(first, usetype="tau:message", structured_content={"tau": HELLO})
    return root


def odd_seq(making: Making) -> int:
    root, first = making.chain("hello")
    making.document(first, usetype="tau:message", structured_content={"tau": HELLO, "seq": "two"})
    return root


def no_entry(making: Making) -> int:
    root, first = making.chain("hello")
    making.document(first, usetype="tau:message", structured_content={"tau": [1], "seq": 2})
    return root


def bad_header(making: Making) -> int:
    header = {"type": "session", "version": 1, "id": "x" * 32, "timestamp": "2026-03-01T10:00:00Z"}
    root = making.document(
        None, usetype="tau:conversation", title="t", structured_content={"tau": header}
    )
    making.message(root, 1, "hello")
    return root


def no_header(making: Making) -> int:
    root = making.document(None, usetype="tau:conversation", title="t")
    making.message(root, 1, "hello")
    return root


def no_conversation(making: Making) -> int:
    root = making.document(None, usetype="note", title="A note", content="x")
    making.message(root, 1, "hello")
    return root


SPOILT: dict[Callable[[Making], int], str] = {
    two_writers: "a second program wrote to it: document 4 has seq 2 after 2 of document 3",
    counted_down: "a second program wrote to it: document 4 has seq 3 after 9 of document 3",
    no_seq: "not τ wrote document 3: it has no seq",
    odd_seq: "not τ wrote document 3: it has no seq",
    no_entry: "not τ wrote document 3: it has no entry",
    bad_header: "its session header lacks cwd, hostname, parent",
    no_header: "document 1 holds no session header",
    no_conversation: "document 1 is no tau:conversation (its usetype is 'note')",
}


@pytest.mark.parametrize("spoil", SPOILT, ids=lambda spoil: spoil.__name__)
def test_it_is_shown_and_left_as_it_is(
    run: Run,
    home: Path,
    making: Making,
    appliance: Appliance,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    spoil: Callable[[Making], int],
) -> None:
    monkeypatch.setenv("JMFTS_API_URL", appliance.url)
    monkeypatch.setenv("JMFTS_API_TOKEN", appliance.token)
    root, why = str(spoil(making)), SPOILT[spoil]
    with pytest.raises(TauFailed):
        ask(appliance, "server", int(root))
    store = ("--store", "jmfts")
    shown = run("show", *store, root, "--json").json
    assert why in {finding["reason"] for finding in shown["diagnostics"]}
    assert "hello" in run("show", *store, root).out
    assert run("find", *store, root, "hello").code == 0
    copy = tmp_path / "copy.jsonl"
    assert run("export", *store, root, "--format", "jsonl", "-o", copy).code == 0

    before = appliance.sql("SELECT count(*), max(id), max(updated_at) FROM documents")
    entry = shown["entries"][-1]["id"]
    for words in (
        ["fork", root],
        ["fork", root, "--force"],
        ["rename", root, "x"],
        ["prune", root, entry],
        ["prune", root, entry, "--in-place", "--confirm", "1"],
        ["enrich", root],
    ):
        told = run(words[0], *store, *words[1:])
        assert told.code == 2 and why in told.out + told.err, (words, told)
    assert appliance.sql("SELECT count(*), max(id), max(updated_at) FROM documents") == before
