"""From file to server and back, from server to file and back: the same, entry by entry."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tau_browser.actions import reading as readings
from tau_browser.actions.export.plan import plan_export
from tau_browser.actions.export.request import ExportRequest, Format
from tau_browser.actions.file_writer import FileWriter
from tau_browser.actions.fork import ForkRequest, plan_fork
from tau_browser.actions.journal import Journal
from tau_browser.actions.plan import Plan
from tau_browser.actions.reading import read_file
from tau_browser.actions.server_import import plan_import
from tau_browser.actions.server_writer import ServerWriter
from tau_browser.model.payload import Record
from tau_browser.model.session import Session
from tau_browser.stores.jmfts import storing
from tau_browser.stores.jmfts.documents import Document
from tau_browser.stores.jmfts.records import line_of
from tau_browser.stores.jmfts.store import JmftsStore
from tests.conftest import DATA, HEADER, load, log_of, message
from tests.jmfts.appliance import Appliance
from tests.jmfts.making import Making
from tests.jmfts.tau import ask
from tests.jmfts.telling import named_by_place

TAU_FILES = sorted((DATA / "tau").glob("*.jsonl"))
# 16 holds what no server can store; 17 and 18 only take long; 33 is no session that τ goes on in.
FILES = [path for path in TAU_FILES if path.name[:2] not in ("16", "17", "18", "33")]


@pytest.fixture(autouse=True)
def nobody_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    """What tests have just written counts as written long ago."""
    monkeypatch.setattr(readings, "_STILL", 0)


class Ways:
    """To the server and back."""

    def __init__(self, store: JmftsStore, folder: Path) -> None:
        self._store = store
        self.writer = ServerWriter(store)
        self._folder = folder
        self._journal = Journal(folder / "state")
        self._files = 0

    def plan(self, path: Path) -> Plan:
        return plan_import(read_file(str(path)), self.writer)

    def bring(self, path: Path) -> int:
        """Import a file; returns the root's document."""
        return int(self.writer.apply(self.plan(path), self._journal).path)

    def fetch(self, root: int) -> Path:
        """Export a conversation."""
        self._files += 1
        path = self._folder / f"fetched-{self._files}.jsonl"
        plan = plan_export(self.session(root), ExportRequest(Format.JSONL, str(path))).plan
        FileWriter("").apply(plan, self._journal)
        return path

    def fork(self, root: int) -> int:
        reading = self.writer.read(str(root), self._journal)
        plan = plan_fork(reading, ForkRequest(), self.writer)
        return int(self.writer.apply(plan, self._journal).path)

    def session(self, root: int) -> Session:
        *_, last = self._store.open(str(root)).load()
        assert last.session is not None
        return last.session

    def file(self, *records: Record, **header: Any) -> Path:
        """A file with these records."""
        self._files += 1
        path = self._folder / f"made-{self._files}.jsonl"
        path.write_bytes(log_of(records, HEADER | header))
        return path


@pytest.fixture
def ways(store: JmftsStore, tmp_path: Path) -> Ways:
    return Ways(store, tmp_path)


def header_of(session: Session) -> Record:
    return {name: value for name, value in session.header.items() if name != "hostname"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_there_and_back(ways: Ways, appliance: Appliance, making: Making, path: Path) -> None:
    root = ways.bring(path)
    back = ways.fetch(root)
    source = load(path)
    assert named_by_place(load(back)) == named_by_place(source)
    assert header_of(load(back)) == header_of(source)
    said = ask(appliance, "file", path)
    for same in ("id", "context", "messages"):
        assert ask(appliance, "file", back)[same] == said[same]

    # what others put there goes both ways, too
    ids = ways.session(root).ids([0, -1])
    for number in map(int, ids):
        note = making.document(number, title="Note", content="milk", usetype="note")
    making.document(note, title=None, usetype=None, structured_content={"by": [None, 1.5]})
    there = ways.session(root)
    again = ways.bring(ways.fetch(root))
    assert named_by_place(ways.session(again)) == named_by_place(there)
    assert len(named_by_place(there)) == len(named_by_place(source)) + 3
    for same in ("id", "context", "messages", "leaf"):
        assert ask(appliance, "server", again)[same] == ask(appliance, "server", root)[same]


def positions(appliance: Appliance, root: int) -> str:
    """The numbers that the server gave the entries of a conversation among their siblings."""
    below = f"FROM documents WHERE path @> '[{root}]'"
    return appliance.sql(f"SELECT coalesce(position::text, 'none') {below} ORDER BY id")


def test_entries_are_numbered_among_their_siblings_as_tau_does(
    ways: Ways, appliance: Appliance
) -> None:
    path = ways.file(message("a", None), message("b", "a"), message("c", "a"), message("d", "c"))
    root, of_tau = ways.bring(path), ask(appliance, "import", path)
    assert positions(appliance, root) == positions(appliance, of_tau) != ""
    root, of_tau = ways.fork(root), ask(appliance, "fork", root)
    assert positions(appliance, root) == positions(appliance, of_tau) != ""


# Whatever is in an entry

# The server holds no NUL, and no half of a character.
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
# It keeps numbers as decimals: a large float comes back as the whole number that it is written as.
NUMBERS = st.integers(-(2**70), 2**70) | st.floats(-1e15, 1e15)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
NAMES = st.sampled_from(["message", "summary", "data", "tau", "seq", "path", "status"]) | TEXT
PAYLOADS = st.dictionaries(NAMES, VALUES, max_size=4)
KINDS = st.sampled_from(["message", "customEntry", "compaction", "elide", "x:y", ""]) | TEXT


@st.composite
def trees(draw: st.DrawFn) -> list[Record]:
    """Entries in order below each other, foreign ones among them, that refer to each other in all
    directions. Some message comes last: τ goes on there."""
    count = draw(st.integers(1, 6))
    ids = [f"e{at}" for at in range(count)]
    found = []
    for at in range(count):
        over = draw(st.sampled_from([None, *ids[:at]]))
        found.append(_foreign(draw, ids[at], over) if draw(st.booleans()) and at < count - 1
                     else _entry(draw, ids, at, over))  # fmt: skip
    return [*found, message("last", draw(st.sampled_from([None, *ids])), draw(TEXT))]


def _entry(draw: st.DrawFn, ids: list[str], at: int, over: str | None) -> Record:
    target = draw(st.sampled_from(ids))
    payload = draw(
        st.sampled_from(
            [
                {"type": "compaction", "summary": "s", "firstKeptId": target, "configId": target},
                {"type": "elide", "firstKeptId": target},
                {"type": "branch_summary", "summary": "s", "fromId": target},
                {"type": "navigate", "targetId": target},
                {"type": "customEntry", "customType": "bookmark", "data": {"entry_id": target}},
                {"type": "customEntry", "customType": "x", "data": {"requestId": target}},
                {"type": "message", "copiedFrom": target},
            ]
        )
        | st.builds(lambda kind, rest: rest | {"type": kind}, KINDS, PAYLOADS)
    )
    envelope = {"id": ids[at], "parentId": over, "timestamp": "2026-03-01T10:00:01.000Z"}
    return {name: value for name, value in payload.items() if name != "status"} | envelope


def _foreign(draw: st.DrawFn, entry_id: str, over: str | None) -> Record:
    return {
        "type": "jmfts:document",
        "id": entry_id,
        "parentId": over,
        "timestamp": "2026-03-01T10:00:01.000001Z",
        "usetype": draw(st.none() | TEXT),
        "title": draw(st.none() | TEXT),
        "content": draw(st.none() | TEXT),
        "structured_content": draw(PAYLOADS),
    }


@given(trees())
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_is_in_it_comes_back(ways: Ways, records: list[Record]) -> None:
    path = ways.file(*records)
    source = load(path)
    root = ways.bring(path)
    assert named_by_place(ways.session(root)) == named_by_place(source)
    assert named_by_place(load(ways.fetch(root))) == named_by_place(source)
    assert named_by_place(ways.session(ways.fork(root))) == named_by_place(source)


@given(PAYLOADS, KINDS)
def test_entry_is_the_same_as_a_document(payload: Record, kind: str) -> None:
    record = {**payload, "type": kind, "id": "7", "parentId": "5"}
    assert decoded(record) == record


def decoded(record: Record) -> Record:
    """A record once it was a document, as a server would send it."""
    body = storing.document_of(record, 3, 5)
    sent = {name: body[name] for name in ("title", "content", "usetype", "structured_content")}
    answer = json.dumps({"id": 7, "parent_id": 5, "depth": 2, **sent})
    line = line_of(msgspec.json.decode(answer, type=Document), 1)
    read: Record = json.loads(line.data)
    return read


# What a server cannot hold is said before


def deep(levels: int) -> Record:
    inner: Any = "leaf"
    for _ in range(levels):
        inner = [inner]
    return message("a", None, "x") | {"details": inner}


def foreign(**fields: Any) -> Record:
    return {"type": "jmfts:document", "id": "d", "parentId": "a", "timestamp": None} | fields


@pytest.mark.parametrize(
    ("record", "why"),
    [
        (message("a", None, "a\0b"), "a NUL character"),
        (message("a", None, "\ud800"), "half a character"),
        (message("a", None) | {"n": float("nan")}, "a number that JSON does not know"),
        (deep(250), "nested too deeply"),
        (message("a", None) | {"type": "k" * 97}, "its kind has too long a name"),
        (foreign(usetype="u" * 101), "its kind has too long a name"),
        (foreign(usetype="note", content=7), "it is no document"),
        (foreign(usetype=7), "it is no document"),
        (foreign(usetype="note", structured_content=[]), "it is no document"),
        (foreign(usetype="tau:x", structured_content={"tau": {}}), "pass for an entry of τ's"),
        (foreign(usetype="tau:conversation"), "it would pass for a conversation"),
        (foreign(content=" ".join(f"w{at}" for at in range(200_000))), "more words than"),
        (message("a", None) | {"timestamp": 7}, "τ could list no conversation"),
        (message("a", None) | {"timestamp": "noon"}, "τ could list no conversation"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_refused(ways: Ways, appliance: Appliance, record: Record, why: str) -> None:
    first = [] if record["id"] == "a" else [message("a", None, "hello")]
    plan = ways.plan(ways.file(*first, record, message("z", None, "end")))
    (refusal,) = plan.refusals
    assert why in refusal.reason and refusal.entries == (record["id"],)
    assert appliance.sql("SELECT count(*) FROM documents").strip() == "0"


@pytest.mark.parametrize(
    ("header", "why"),
    [
        ({"note": "a\0b"}, "its header: it holds a NUL"),
        ({"timestamp": "noon"}, "its header has no time"),
    ],
)
def test_header_that_is_refused(ways: Ways, header: Record, why: str) -> None:
    (refusal,) = ways.plan(ways.file(message("a", None, "x"), **header)).refusals
    assert why in refusal.reason


def test_header_that_lacks_something_is_refused(ways: Ways, tmp_path: Path) -> None:
    header = {name: value for name, value in HEADER.items() if name != "cwd"}
    path = tmp_path / "s.jsonl"
    path.write_bytes(log_of([message("a", None, "x")], header))
    (refusal,) = ways.plan(path).refusals
    assert "its header lacks cwd" in refusal.reason


def blob() -> str:
    return "".join(f"{at:x}" for at in range(4000))


ODD: dict[str, Callable[[], str]] = {
    "empty": lambda: "",
    "as deep as may be": lambda: "x",
    "a megabyte of different words": lambda: " ".join(f"w{at}" for at in range(90_000)),
    "a word without an end": lambda: f"before {blob()} after",
    "two megabytes": lambda: "some words are here " * 100_000,
    "separators": lambda: "a\u2028b\u0085c\rd\n\x01\x1b[31m\u202e\ufeff\U0010ffff",
}


@pytest.mark.parametrize("name", ODD)
def test_odd_texts_are_held(ways: Ways, appliance: Appliance, name: str) -> None:
    record = message("a", None, ODD[name]()) | {"deep": deep(248)["details"]}
    path = ways.file(record, message("b", "a", "findable"))
    plan = ways.plan(path)
    assert any("too many words" in each for each in plan.remarks) == name.startswith("a mega")
    assert any("too long for BM25" in each for each in plan.remarks) == name.startswith("a word")
    root = ways.bring(path)
    assert named_by_place(ways.session(root)) == named_by_place(load(path))
    assert named_by_place(load(ways.fetch(root))) == named_by_place(load(path))
    assert ask(appliance, "server", root)["entries"] == 2


def test_number_that_names_nothing_does_not_come_to_name_another(ways: Ways) -> None:
    elided = {"type": "elide", "id": "40", "parentId": "39", "firstKeptId": "2"}
    path = ways.file(message("39", None, "x"), elided | {"timestamp": "2026-03-01T10:00:02.000Z"})
    plan = ways.plan(path)
    (loose,) = plan.references
    assert (loose.entry, loose.field, loose.target, loose.becomes) == (
        "40",
        "firstKeptId",
        "2",
        None,
    )
    assert ways.session(ways.bring(path)).record(1)["firstKeptId"] is None
