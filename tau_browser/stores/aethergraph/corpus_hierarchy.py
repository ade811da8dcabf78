"""A corpus as a session: its documents, and the chunks of each below it.

Documents lead to the events they were made of; what has lost its other half, or is there twice,
is found.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from tau_browser.model.diagnostic import Severity
from tau_browser.model.times import NO_TIME, parse_time
from tau_browser.stores.aethergraph.artifacts import Artifacts
from tau_browser.stores.aethergraph.corpora import Corpus, source_of
from tau_browser.stores.aethergraph.nodes import Node, Nodes, titled
from tau_browser.stores.aethergraph.records import Json, Stored, stamp_in, text_in


class CorpusHierarchy:
    """The entries of one corpus."""

    def __init__(self, root: Path, corpus: Corpus) -> None:
        self._root = root
        self._corpus = corpus
        self._files = Artifacts(root)
        self._nodes = Nodes()
        self._orphans = Node("orphans", None, titled("group", "chunks without a document", {}, ""))
        self._chunks: dict[str, list[Stored]] = defaultdict(list)
        for chunk in corpus.chunks:
            self._chunks[text_in(chunk.value, "doc_id")].append(chunk)
        self._docs = [(doc, self._add_doc(doc)) for doc in corpus.docs]
        self._hang_chunks()
        self._note_copies()
        for damage in corpus.damage:
            self._nodes.damage(damage)

    def lines(self) -> Iterator[bytes]:
        """The header, then one line an entry."""
        corpus = self._corpus
        header: Json = {
            "type": "session",
            "version": 1,
            "id": f"corpus:{corpus.id}",
            "timestamp": stamp_in(corpus.about, "created_at"),
            "cwd": str(self._root),
            "parent": None,
            "session_name": f"corpus {corpus.id}",
            "about": corpus.about,
        }
        return self._nodes.lines(header)

    def _add_doc(self, stored: Stored) -> Node:
        doc = stored.value
        name = text_in(doc, "doc_id") or str(stored.spot)
        count = len(self._chunks[text_in(doc, "doc_id")])
        words = [text_in(doc, "title") or name, f"{count} chunk{'' if count == 1 else 's'}"]
        check = self._files.check_uri(text_in(doc, "uri"))
        data = dict(doc)
        if check is not None:
            words += [] if check.is_sound else [check.verdict]
            data |= {"file": check.file, "verdict": check.verdict}
        more = {}
        if (source := source_of(doc)) is not None:
            more["links"] = {"made of": source._asdict()}
        line = titled(
            "document", " · ".join(words), data, stamp_in(doc, "created_at"), stored.spot, **more
        )
        node = Node(name, None, line)
        self._nodes.add(node, parse_time(doc.get("created_at")))
        if check is not None and not check.is_sound:
            reason = f"the file of the document: {check.verdict}"
            self._nodes.note(node, reason, stored.spot, Severity.DAMAGE)
        if not count:
            reason = "a document without chunks: no search finds it"
            self._nodes.note(node, reason, stored.spot, Severity.DAMAGE)
        return node

    def _hang_chunks(self) -> None:
        """Each chunk under its document; those of one id are told apart by what they hold."""
        of_id: dict[str, list[tuple[Stored, Node]]] = defaultdict(list)
        for doc, node in self._docs:
            of_id[text_in(doc.value, "doc_id")].append((doc, node))
        for doc_id, chunks in self._chunks.items():
            docs = of_id.get(doc_id, [])
            for chunk in chunks:
                node = self._add_chunk(chunk, docs[0][1] if docs else self._orphans)
                if not docs:
                    reason = f"a chunk of document {doc_id}, which is not here"
                    self._nodes.note(node, reason, chunk.spot, Severity.DAMAGE)
            if len(docs) > 1:
                for doc, node in docs[1:]:
                    reason = (
                        f"the id {doc_id} is that of another document, too: made of title, labels "
                        "and second alone; the chunks of both hang under the first"
                    )
                    self._nodes.note(node, reason, doc.spot, Severity.DAMAGE)

    def _add_chunk(self, stored: Stored, parent: Node) -> Node:
        chunk = stored.value
        name = text_in(chunk, "chunk_id") or str(stored.spot)
        text = text_in(chunk, "text")
        data: Json = {"text": text, **chunk}
        node = Node(name, parent, titled("chunk", text, data, "", stored.spot))
        self._nodes.add(node, NO_TIME)
        return node

    def _note_copies(self) -> None:
        """Documents that hold the same text, and chunks whose id is there twice."""
        first: dict[str, Node] = {}
        for doc, node in self._docs:
            texts = [
                text_in(each.value, "text") for each in self._chunks[text_in(doc.value, "doc_id")]
            ]
            if not any(texts):
                continue
            digest = hashlib.sha256("\0".join(texts).encode("utf-8", "surrogatepass")).hexdigest()
            if (other := first.setdefault(digest, node)) is not node:
                reason = f"says the same as document {other.entry}, word for word"
                self._nodes.note(node, reason, doc.spot)
        seen: set[str] = set()
        for chunk in self._corpus.chunks:
            name = text_in(chunk.value, "chunk_id")
            if name in seen:
                reason = f"the chunk id {name} is there twice: a search shows only the last"
                self._nodes.note(None, reason, chunk.spot, Severity.DAMAGE)
            seen.add(name)
