"""Promotion on a server: what is there already is left alone, the rest becomes documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tau_browser.actions.journal import Change, Journal
from tau_browser.actions.plan import Refused
from tau_browser.actions.promote.choosing import Candidate
from tau_browser.model.text import counted, safe_line
from tau_browser.stores.jmfts import storing, thread
from tau_browser.stores.jmfts.store import JmftsStore

CORPUS = "tau-browse:corpus"
PROMOTED = "tau-browse:promoted"
_MOST = 10_000  # corpora that are looked at for one of a name


@dataclass(frozen=True, slots=True)
class Promotion:
    """What will be done. document: the corpus, or None if it has to be made · new: what is added ·
    there: how many are in it already · refused: what no server can hold, with the reason · silent:
    entries that say nothing."""

    corpus: str
    document: int | None
    new: tuple[Candidate, ...]
    there: int
    refused: tuple[tuple[Candidate, str], ...]
    silent: int

    @property
    def about(self) -> str:
        """It in one line."""
        return f"promote {counted(len(self.new), 'entry')} into corpus {safe_line(self.corpus)}"


def plan_promotion(
    store: JmftsStore, corpus: str, candidates: list[Candidate], silent: int = 0
) -> Promotion:
    """What a promotion comes to. corpus: its title, or the number of its document.

    Raises StoreError, and Refused where several corpora have this title.
    """
    document = _corpus(store, corpus)
    known = _identities(store, document) if document is not None else set()
    new: dict[str, Candidate] = {}
    refused = []
    there = 0
    for candidate in candidates:
        if candidate.identity in known or candidate.identity in new:
            there += 1
        elif why := storing.obstacle({"type": PROMOTED, **_body(candidate, 0)}):
            refused.append((candidate, why))
        else:
            new[candidate.identity] = candidate
    return Promotion(corpus, document, tuple(new.values()), there, tuple(refused), silent)


def promote(store: JmftsStore, promotion: Promotion, journal: Journal) -> Change:
    """Do it. What fails half-way leaves what was added, which the journal tells; promoting again
    goes on from there. Raises StoreError."""
    if not promotion.new:
        raise Refused("nothing to promote that is not there already")
    client = store.client
    with journal.lock():
        document = promotion.document
        if document is None:
            made = {
                "title": promotion.corpus,
                "usetype": CORPUS,
                "parent_id": store.parent,
                "structured_content": {"corpus": {"made_by": "tau-browse"}},
                "auto_embed": False,
            }
            document = thread.run(client.create(made)).id
        appended: list[int] = []
        try:
            for candidate in promotion.new:
                appended.append(thread.run(client.create(_body(candidate, document))).id)
        finally:
            memo: dict[str, Any] = {"url": client.url, "root": document, "appended": appended}
            memo["count"] = thread.run(client.frontier(document)).nodes_total
            change = Change("jmfts", "promote", str(document), promotion.about, memo)
            if appended:
                journal.write(change)
    return change


def _corpus(store: JmftsStore, name: str) -> int | None:
    """The document of a corpus; None if there is none of this title."""
    client = store.client
    if name.isdecimal():
        found = thread.run(client.document(int(name)))
        if found.usetype != CORPUS:
            raise Refused(
                f"document {name} is no corpus: it is {found.usetype or 'of no use type'}"
            )
        return found.id
    named = [each.id for each in thread.run(client.documents(CORPUS, _MOST)) if each.title == name]
    if len(named) > 1:
        numbers = ", ".join(map(str, sorted(named)))
        raise Refused(f"{len(named)} corpora are called {name!r}: give a number of {numbers}")
    return named[0] if named else None


def _identities(store: JmftsStore, document: int) -> set[str]:
    """What a corpus holds already."""
    found = thread.run(store.client.children(document, PROMOTED))
    told = (each.structured.get("promoted") for each in found)
    return {str(each.get("identity")) for each in told if isinstance(each, dict)}


def _body(candidate: Candidate, document: int) -> dict[str, Any]:
    return {
        "title": candidate.title,
        "content": candidate.body,
        "parent_id": document,
        "usetype": PROMOTED,
        "structured_content": {
            "promoted": {
                "identity": candidate.identity,
                "labels": candidate.labels,
                "source": candidate.source,
            },
            **({"tau": candidate.summary} if candidate.summary is not None else {}),
        },
        "auto_embed": False,
        "auto_index_bm25": True,
    }
