"""How an entry stands in a conversation that is too long to be read for it.

Each hit names the documents above it, and what sets a model or folds the context is found by its
kind, in milliseconds. Where τ goes on is told by the newest documents of the server; for what was
written before those, nobody can tell without reading all of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tau_browser.model.context import ANCHORS, settings_of
from tau_browser.model.payload import Record, message_of
from tau_browser.model.state import State
from tau_browser.search.filtering import Unjudged
from tau_browser.search.index.groups import model_name
from tau_browser.search.server.entries import record_of
from tau_browser.search.server.holdings import Holdings
from tau_browser.stores.jmfts import thread
from tau_browser.stores.jmfts.client import Client
from tau_browser.stores.jmfts.documents import ROOT, TAU, Located

_SETTING = ("customEntry", "model_change")
_MOST = 1000  # documents of one kind in a conversation
_NEWEST = 1000  # documents of the server among which it is looked for where τ goes on
_PAGE = 100  # of those, at first; then as many again as were looked at
_REQUESTS = 100  # for one question, pages aside


class Distant:
    """The conversations of one server, asked about for one question, each thing once. Paths are
    numbers of documents, the outermost first. Raises Unjudged for what cannot be told, and
    JmftsError."""

    def __init__(self, client: Client, holdings: Holdings, cancelled: Callable[[], bool]) -> None:
        self.cancelled = cancelled
        self._client = client
        self._holdings = holdings
        self._requests = 0
        self._below: dict[tuple[int, str], list[Located]] = {}
        self._leaves: dict[int, list[int]] = {}  # by root, the path to where τ goes on
        self._looked_at = 0  # of the newest documents
        self._has_older = True

    def model(self, root: int, path: Sequence[int]) -> str:
        """The model that was set at the end of a path in a conversation; "" if none was."""
        config: Record = {}
        for _, record in self._on(root, path, _SETTING):
            config |= settings_of(record)
        return model_name(config)

    def state(self, root: int, path: Sequence[int], record: Record) -> State:
        """How an entry of τ's, with which a path ends, stands to the leaf of its conversation."""
        if record.get("status") == "incomplete":
            return State.INCOMPLETE
        active = self._path_to_leaf(root)
        if path[-1] not in active:
            if isinstance(record.get("branchOf"), str):  # where its sub-agent began is not known
                raise Unjudged
            return State.ABANDONED
        folds = self._on(root, active, ANCHORS)
        if folds and not _is_system(record):
            at, anchor = folds[-1]
            kept = _number(anchor.get("firstKeptId"))
            if active.index(path[-1]) < (active.index(kept) if kept in active[:at] else at):
                return State.FOLDED
        return State.PATH

    def _on(self, root: int, path: Sequence[int], kinds: Sequence[str]) -> list[tuple[int, Record]]:
        """The entries of some kinds on a path, in its order, each with its index there."""
        at = {number: index for index, number in enumerate(path)}
        found = [each for kind in kinds for each in self._of_kind(root, kind) if each.id in at]
        found.sort(key=lambda each: at[each.id])
        return [(at[each.id], record_of(each) or {}) for each in found]

    def _of_kind(self, root: int, kind: str) -> list[Located]:
        if (root, kind) not in self._below:
            if self.cancelled() or self._requests >= _REQUESTS:
                raise Unjudged
            self._requests += 1
            found = thread.run(self._client.below(root, f"{TAU}{kind}", _MOST))
            self._below[root, kind] = found
        if len(self._below[root, kind]) >= _MOST:
            raise Unjudged  # there may be more
        return self._below[root, kind]

    def _path_to_leaf(self, root: int) -> list[int]:
        while root not in self._leaves:
            if self.cancelled() or not self._has_older or self._looked_at >= _NEWEST:
                raise Unjudged
            size = min(max(_PAGE, self._looked_at), _NEWEST - self._looked_at)
            page = thread.run(self._client.newest(size, self._looked_at))
            self._looked_at += size
            self._has_older = len(page) == size
            for document in page:
                if _goes_on_at(document):
                    roots = self._holdings.roots
                    above = next((it for it in document.path if it in roots), None)
                    if above is not None:
                        self._leaves.setdefault(above, [*document.path, document.id])
        return self._leaves[root]


def _goes_on_at(document: Located) -> bool:
    """Whether τ may go on at a document (`Format.leaf`)."""
    kind = document.usetype or ""
    if not kind.startswith(TAU) or kind in (ROOT, f"{TAU}navigate"):
        return False
    record = record_of(document)
    return record is not None and record.get("status") != "incomplete"


def _is_system(record: Record) -> bool:
    return record.get("type") == "message" and message_of(record).get("role") == "system"


def _number(entry_id: Any) -> int | None:
    said = str(entry_id) if isinstance(entry_id, str | int) else ""
    return int(said) if said.isdecimal() else None
