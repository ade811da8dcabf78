"""Promotion on a server: what is there already is left alone, the rest becomes documents."""

from __future__ import annotations

from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tau_browser.actions.journal import Change, Journal
from tau_browser.actions.plan import Bytes, Item, Plan, Refusal, Refused, Verb, Way
from tau_browser.actions.progress import Progress, Tell, silent
from tau_browser.actions.promote.choosing import Candidate
from tau_browser.actions.server_made import all_or_nothing
from tau_browser.actions.server_making import make_tree
from tau_browser.model.text import counted, first_line, safe_line
from tau_browser.stores.jmfts import storing, thread
from tau_browser.stores.jmfts.client import Client
from tau_browser.stores.jmfts.records import FOREIGN
from tau_browser.stores.jmfts.store import JmftsStore
from tau_browser.stores.jmfts.storing import CORPUS, MADE_BY, PROMOTED

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
        elif why := storing.obstacle({"type": FOREIGN, **_body(candidate, 0, "")}):
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
    """Do it, all of it or nothing. Raises Refused, Stopped, StoreError."""
    if not promotion.new:
        raise Refused("nothing to promote that is not there already")
    corpus, count = promotion.document, len(promotion.new)
    path = promotion.corpus if corpus is None else str(corpus)
    change = Change("jmfts", Verb.PROMOTE.value, path, promotion.about, {})

    def added(below: int) -> Coroutine[Any, Any, None]:
        return _add(store.client, below, promotion.new, change.id, tell)

    with journal.lock():
        tell(Progress("promoting", 0, count))
        if corpus is None:
            root = _root(promotion.corpus, store.parent)
            return make_tree(store, root, count, added, change, journal)
        there = thread.run(store.client.frontier(corpus)).nodes_total
        memo = {"url": store.client.url, "root": corpus, "promoted": count, "count": there + count}
        change = replace(change, memo=memo)
        journal.write(change)
        with all_or_nothing(store, change):
            thread.run(added(corpus))
        return change


async def _add(
    client: Client, corpus: int, candidates: Sequence[Candidate], change: str, tell: Tell
) -> None:
    for done, candidate in enumerate(candidates):
        tell(Progress("promoting", done, len(candidates)))
        await client.create(_body(candidate, corpus, change))


def _root(title: str, parent: int | None) -> storing.Body:
    return {
        "title": title,
        "usetype": CORPUS,
        "parent_id": parent,
        "structured_content": {"corpus": {"made_by": "tau-browse"}},
        "auto_embed": False,
    }


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


def _body(candidate: Candidate, document: int, change: str) -> storing.Body:
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
            MADE_BY: change,
        },
        "auto_embed": False,
        "auto_index_bm25": storing.is_indexable(candidate.body),
    }
