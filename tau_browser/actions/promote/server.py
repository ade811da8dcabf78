"""Promotion on a server: what is there already is left alone, the rest becomes documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tau_browser.actions.journal import Change, Journal
from tau_browser.actions.plan import Bytes, Item, Plan, Refusal, Refused, Verb, Way
from tau_browser.actions.progress import Progress, Stopped, Tell, silent
from tau_browser.actions.promote.choosing import Candidate
from tau_browser.model.text import counted, first_line, safe_line
from tau_browser.stores.jmfts import storing, thread
from tau_browser.stores.jmfts.records import FOREIGN
from tau_browser.stores.jmfts.store import JmftsStore
from tau_browser.stores.store import StoreError

CORPUS = "tau-browse:corpus"
PROMOTED = "tau-browse:promoted"
_MOST = 10_000  # corpora that are looked at for one of a name
_BODY = 120  # characters of a text in the preview


@dataclass(frozen=True, slots=True)
class Promotion:
    """What will be done on the server at a URL. document: the corpus, or None if it has to be made
    · new: what is added · there: how many are in it already · refused: what no server holds, with
    the reason · silent: entries that say nothing."""

    url: str
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

    @property
    def plan(self) -> Plan:
        """It as it is shown. Refused where nothing would be added."""
        nothing = Refusal("nothing new: what is asked for says nothing, or is there already")
        number = "" if self.document is None else f" (document {self.document})"
        remarks = []
        if self.there:
            remarks.append(f"there already and left alone: {counted(self.there, 'entry')}")
        if self.silent:
            remarks.append(f"saying nothing: {counted(self.silent, 'entry')}")
        return Plan(
            verb=Verb.PROMOTE,
            store="jmfts",
            about=self.about,
            read=None,  # what is promoted is what was read
            way=Way.NEW if self.document is None else Way.APPEND,
            target=f"corpus {self.corpus}{number} on {self.url}",
            content=Bytes("".join(each.body for each in self.new).encode("utf-8", "replace")),
            adding=tuple(map(_item, self.new)),
            leaving=tuple(Item(_origin(each), safe_line(why)) for each, why in self.refused),
            refusals=() if self.new else (nothing,),
            remarks=tuple(remarks),
        )


def plan_promotion(
    store: JmftsStore, corpus: str, candidates: list[Candidate], says_nothing: int = 0
) -> Promotion:
    """What a promotion comes to. corpus: its title, or the number of its document ·
    says_nothing: how many entries do.

    Raises StoreError, and Refused where several corpora have this title.
    """
    if not corpus:
        raise Refused("a corpus needs a title, or the number of its document")
    document = _corpus(store, corpus)
    known = _identities(store, document) if document is not None else set()
    new: dict[str, Candidate] = {}
    refused = []
    there = 0
    for candidate in candidates:
        if candidate.identity in known or candidate.identity in new:
            there += 1
        elif why := storing.obstacle({"type": FOREIGN, **_body(candidate, 0)}):
            refused.append((candidate, why))
        else:
            new[candidate.identity] = candidate
    url = store.client.url
    return Promotion(
        url, corpus, document, tuple(new.values()), there, tuple(refused), says_nothing
    )


def promote(
    store: JmftsStore, promotion: Promotion, journal: Journal, tell: Tell = silent
) -> Change:
    """Do it. What is stopped leaves nothing; what fails half-way leaves what was added, which the
    journal tells: promoting again goes on from there. Raises Stopped, StoreError."""
    if not promotion.new:
        raise Refused("nothing to promote that is not there already")
    with journal.lock():
        document = promotion.document
        if document is None:
            document = _make_corpus(store, promotion.corpus)
        appended: list[int] = []
        try:
            for candidate in promotion.new:
                tell(Progress("promoting", len(appended), len(promotion.new)))
                made = thread.run(store.client.create(_body(candidate, document)))
                appended.append(made.id)
        except Stopped:
            for each in appended if promotion.document is not None else [document]:
                thread.run(store.client.delete(each))
            raise
        except StoreError:
            if appended:
                _write(store, promotion, document, appended, journal)
            raise
        return _write(store, promotion, document, appended, journal)


def _make_corpus(store: JmftsStore, title: str) -> int:
    made = {
        "title": title,
        "usetype": CORPUS,
        "parent_id": store.parent,
        "structured_content": {"corpus": {"made_by": "tau-browse"}},
        "auto_embed": False,
    }
    return thread.run(store.client.create(made)).id


def _write(
    store: JmftsStore, promotion: Promotion, document: int, appended: list[int], journal: Journal
) -> Change:
    """Write what was added into the journal."""
    memo: dict[str, Any] = {"url": store.client.url, "root": document, "appended": appended}
    memo["count"] = thread.run(store.client.frontier(document)).nodes_total
    change = Change("jmfts", Verb.PROMOTE.value, str(document), promotion.about, memo)
    journal.write(change)
    return change


def _item(candidate: Candidate) -> Item:
    """A document in lines: its title, the beginning of its text, where it is from, its labels."""
    labels = ", ".join(f"{name} {value}" for name, value in candidate.labels.items())
    body = safe_line(first_line(candidate.body)[:_BODY])
    origin = safe_line(f"from {_origin(candidate)}: {labels}")
    return Item(candidate.title, "", (body, origin))


def _origin(candidate: Candidate) -> str:
    source = candidate.source
    return str(source.get("entry") or f"{len(source['entries'])} entries")


def _corpus(store: JmftsStore, name: str) -> int | None:
    """The document of a corpus; None if there is none of this title."""
    client = store.client
    if name.isdecimal():
        found = thread.run(client.document(int(name)))
        if found.usetype != CORPUS:
            what = safe_line(found.usetype or "of no use type")
            raise Refused(
                f"document {name} is no corpus: it is {what}; a title that is new makes one"
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
        "auto_index_bm25": storing.is_indexable(candidate.body),
    }
