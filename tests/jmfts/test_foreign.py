"""What others put below a conversation: notes, files, pieces. Whatever is made of the conversation
has them in their places, and τ goes on where it would have gone on without them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tau_browser.actions import reading as readings
from tau_browser.actions.fork import ForkRequest, plan_fork
from tau_browser.actions.journal import Journal
from tau_browser.actions.plan import Plan
from tau_browser.actions.prune import How, PruneRequest, plan_prune
from tau_browser.actions.server_writer import ServerWriter
from tau_browser.model.session import Session
from tau_browser.stores.jmfts.store import JmftsStore
from tests.jmfts.appliance import Appliance
from tests.jmfts.making import Making
from tests.jmfts.tau import ask


@pytest.fixture(autouse=True)
def nobody_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    """What tests have just written counts as written long ago."""
    monkeypatch.setattr(readings, "_STILL", 0)


@dataclass(frozen=True)
class Furnished:
    """A conversation of three turns, the second asked in two ways, with documents of others."""

    root: int
    store: JmftsStore
    writer: ServerWriter
    journal: Journal

    def session(self, root: int | None = None) -> Session:
        *_, last = self.store.open(str(root or self.root)).load()
        assert last.session is not None
        return last.session

    def fork(self, *, at: str = "", only: tuple[str, ...] = ()) -> Plan:
        """The plan of a fork, entries named by what they say."""
        session = self.session()
        place_of = {session.text(at): at for at in session.places_of_kind("message")}
        request = ForkRequest(
            at=place_of[at] if at else None, only=tuple(place_of[text] for text in only)
        )
        return plan_fork(self.writer.read(str(self.root), self.journal), request, self.writer)

    def made(self, plan: Plan) -> int:
        return int(self.writer.apply(plan, self.journal).path)


@pytest.fixture
def furnished(store: JmftsStore, making: Making, tmp_path: Path) -> Iterator[Furnished]:
    root, first, answer = making.chain("ask", "answer")
    second = making.message(answer, 3, "ask more")
    other = making.message(answer, 4, "ask else")
    making.document(root, title="of all", content="of all", usetype="note")
    note = making.document(
        answer,
        title="report.pdf",
        content="ingested",
        usetype="raw",
        structured_content={"by": ["me", None, 1.5]},
        event_time="2026-01-02T03:04:05.678901Z",
    )
    making.document(note, title=None, content="below it", usetype=None)
    making.document(second, title="", content="of the second", usetype="note")
    making.document(other, title="of the other", content="of the other", usetype="note")
    making.document(answer, title="— chunk 0", content="(answer)", usetype="jmfts:chunk")
    piece = making.document(first, title="— chunk 0", content="(ask)", usetype="jmfts:chunk")
    making.document(piece, title="on a piece", content="on a piece", usetype="note")
    yield Furnished(root, store, ServerWriter(store), Journal(tmp_path / "state"))


def placed(session: Session) -> set[tuple[str, str]]:
    """What each entry says, or holds, below what."""
    said = [_content(session, place) for place in range(len(session))]
    return {
        (said[over] if over >= 0 else "", said[place])
        for place, over in enumerate(session.tree.parent.tolist())
    }


def _content(session: Session, place: int) -> str:
    return str(session.record(place).get("content") or session.text(place))


ALL = {
    ("", "ask"),
    ("ask", "answer"),
    ("answer", "ask more"),
    ("answer", "ask else"),
    ("", "of all"),
    ("answer", "ingested"),
    ("ingested", "below it"),
    ("ask more", "of the second"),
    ("ask else", "of the other"),
    ("ask", "on a piece"),  # which enrich makes anew
}


def test_fork_of_all(furnished: Furnished) -> None:
    plan = furnished.fork()
    assert "2 pieces made for search left out: enrich makes them" in plan.remarks
    assert plan.before is not None and plan.before.entries == len(furnished.session())
    fork = furnished.session(furnished.made(plan))
    assert placed(fork) == ALL
    assert plan.after is not None and plan.after.entries == len(fork)


def test_fork_at_an_entry_takes_along_what_hangs_on_its_path(
    furnished: Furnished, appliance: Appliance
) -> None:
    plan = furnished.fork(at="ask more")
    fork = furnished.made(plan)
    session = furnished.session(fork)
    assert plan.after is not None and plan.after.entries == len(session)
    assert placed(session) == {pair for pair in ALL if not pair[1].endswith(("else", "other"))}
    assert session.text(session.leaf) == "ask more"
    there = ask(appliance, "server", fork)
    # τ's own fork of what stands on that path: nobody's documents, the same conversation
    here = ask(appliance, "fork_at", furnished.root, named(furnished, "ask more"))
    for same in ("context", "messages"):
        assert there[same] == here[same]


def test_fork_of_the_marked_takes_along_what_hangs_on_them(
    furnished: Furnished, appliance: Appliance
) -> None:
    fork = furnished.made(furnished.fork(only=("ask", "ask else")))
    kept = {"ask", "answer", "ask else", "of all", "ingested", "below it", "of the other"}
    assert placed(furnished.session(fork)) == {
        pair for pair in ALL if pair[1] in kept | {"on a piece"}
    }
    assert ask(appliance, "server", fork)["entries"] == len(kept) + 1


def test_documents_keep_what_they_hold_and_their_time(furnished: Furnished) -> None:
    before, after = (
        furnished.session(root) for root in (None, furnished.made(furnished.fork(at="answer")))
    )
    told = [_told(session) for session in (before, after)]
    assert told[1] == {content: told[0][content] for content in told[1]}
    assert told[1]["ingested"]["timestamp"] == "2026-01-02T03:04:05.678901Z"
    assert told[1]["ingested"]["structured_content"] == {"by": ["me", None, 1.5]}


def _told(session: Session) -> dict[str, dict[str, Any]]:
    return {
        record["content"]: {k: v for k, v in record.items() if k not in ("id", "parentId")}
        for record in map(session.record, session.places_of_kind("jmfts:document"))
        if record["usetype"] != "jmfts:chunk"
    }


def test_prune_and_back(furnished: Furnished) -> None:
    session = furnished.session()
    (place,) = session.find(named(furnished, "answer"))
    reading = furnished.writer.read(str(furnished.root), furnished.journal)
    plan = plan_prune(reading, PruneRequest((place,), How.IN_PLACE), furnished.writer)
    furnished.writer.apply(plan, furnished.journal)
    assert plan.after is not None and plan.after.entries == len(furnished.session())
    assert placed(furnished.session()) == {
        ("", "ask"),
        ("", "of all"),
        ("ask", "(ask)"),
        ("(ask)", "on a piece"),
    }
    furnished.writer.undo(furnished.journal.changes()[-1], furnished.journal)
    back = {("ask", "(ask)"), ("(ask)", "on a piece")}  # was never away
    assert placed(furnished.session()) == ALL - {("ask", "on a piece")} | back


def named(furnished: Furnished, text: str) -> str:
    """The id of the entry that says this."""
    session = furnished.session()
    (place,) = (at for at in session.places_of_kind("message") if session.text(at) == text)
    return session.entry_id(place)
