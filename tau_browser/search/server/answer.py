"""From what the methods told to an answer: checked, fused, and shown as hits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tau_browser.model.label import speaker_of
from tau_browser.model.payload import Record
from tau_browser.model.session import Session
from tau_browser.model.summary import Summary, stamp_text
from tau_browser.model.text import counted, safe_line
from tau_browser.model.tools import tools_of
from tau_browser.search import fusion
from tau_browser.search.find import snippet
from tau_browser.search.fusion import Fused, Ranking
from tau_browser.search.highlight import Mark, spans_of
from tau_browser.search.hits import numbered
from tau_browser.search.index.reader import Standing
from tau_browser.search.results import Asking, Coverage, Found, Hit, Results
from tau_browser.search.server.asking import BY_MEANING, MOST, Told
from tau_browser.search.server.entries import Entry, named, united
from tau_browser.search.server.scope import Scope
from tau_browser.search.server.wanted import Wanted, is_asked_in_full
from tau_browser.search.snippets import snippet_of

_UNSEEN = "calls and thoughts are found in the open session only"


@dataclass(frozen=True, slots=True)
class Answering:
    """What an answer is made with. open: the path of the session that is open, it, and the places
    of what it holds that a server does not search; None if none is open."""

    store: str
    asking: Asking
    scope: Scope
    wanted: Wanted
    roots: Mapping[int, Summary]
    coverage: Coverage
    open: tuple[str, Session, Sequence[int]] | None

    def results(
        self, told: Mapping[str, Told], remarks: Sequence[str], missing: Sequence[str]
    ) -> Results:
        """The answer, as far as the methods have told. remarks, missing: what else is to be said.
        Raises QueryError if an expression takes too long."""
        asking = self.asking
        each_named = {method: named(it, self.scope) for method, it in told.items()}
        rankings = [
            Ranking(method, it.ranking, complete=told[method].complete)
            for method, it in each_named.items()
            if it.ranking
        ]
        entries = united(each_named.values())
        ranked: list[Hit] = []
        pieces = 0
        for fused in fusion.fuse(rankings, asking.weights, asking.fused_by):
            entry = entries[fused.key]
            marks = self.wanted.marks(entry)
            if marks is not None:
                pieces += entry.pieces
                ranked.append(self._hit(entry, fused, marks))
        similar = [all(part.ranker in BY_MEANING for part in hit.parts) for hit in ranked]
        # What holds the words comes before what does no more than mean the same.
        ahead = similar.index(True) if True in similar else len(ranked)
        unseen = list(self._unseen(entries))
        hits = [*ranked[:ahead], *unseen, *ranked[ahead:]][: asking.limit]
        return Results(
            asking,
            Found(rankings=tuple(rankings)),
            numbered(hits),
            total=similar.count(False) + len(unseen),
            similar=similar.count(True),
            coverage=self.coverage,
            remarks=[*remarks, *self._remarks(told, pieces)],
            missing=[*missing, *(it.problem for it in told.values() if it.problem), _UNSEEN],
        )

    def _remarks(self, told: Mapping[str, Told], pieces: int) -> Iterator[str]:
        if short := [method for method, it in told.items() if it.is_short]:
            yield f"{', '.join(short)} cut short by the server"
        is_whole = is_asked_in_full(self.asking.query) and self.scope.is_asked_exactly
        if not is_whole and not all(it.complete for it in told.values()):
            yield f"chosen among the first {MOST} of each method"
        if self.wanted.unjudged:
            hits = counted(self.wanted.unjudged, "hit")
            yield (
                f"{hits} not judged and left out: their sessions are too long to be read for it; "
                "once opened, they are judged"
            )
        if pieces:
            yield f"{counted(pieces, 'piece')} counted for the entries they are of"

    def _unseen(self, known: Mapping[int, Entry]) -> Iterator[Hit]:
        """Entries of the open session that hold the words where the server does not look."""
        if self.open is None:
            return
        path, session, places = self.open
        for place in places:
            number = int(session.entry_id(place))
            if number in known:
                continue
            entry = Entry(number, int(path), session.record(place), number)
            marks = self.wanted.marks(entry)
            if not marks or not self.wanted.holds_all(marks):
                continue
            above = (int(each) for each in session.ids(session.tree.path(place)[:-1]))
            if self.scope.holds(number, [int(path), *above]):
                yield self._hit(entry, None, marks)

    def _hit(self, entry: Entry, fused: Fused[int] | None, marks: list[Mark]) -> Hit:
        record, text = entry.record, entry.text
        summary = self.roots.get(entry.root) if entry.root is not None else None
        standing = Standing(
            path=entry.path,
            start=-entry.document,
            stop=0,
            session=summary.id if summary else "",
            cwd=summary.cwd if summary else "",
            state=None,
            model="",
            group=-1,
        )
        return Hit(
            store=self.store,
            standing=standing,
            entry=str(entry.document),
            speaker=_kind_of(record) if entry.is_foreign else speaker_of(record),
            time=stamp_text(record.get("timestamp")),
            rank=0,
            parts=fused.parts if fused else (),
            spans=spans_of(marks),
            terms=list(dict.fromkeys(mark.term.text for mark in marks)),
            snippet=snippet_of(text, marks) if marks else snippet(text, []),
            tools=tuple(dict.fromkeys(tools_of(record))),
            also_in=[],
            document=record if entry.root is None else None,
        )


def _kind_of(document: Record) -> str:
    """What a document is that τ did not write, in a safe word or two."""
    kind = document.get("usetype")
    return safe_line(kind) if isinstance(kind, str) and kind else "document"
