"""Corpora as files of their own: a snapshot of one, or one without what is in it twice.

Both are small workspaces, laid out as aethergraph lays them out, with a manifest of hashes: they
open like any other store, and can be verified. The corpus itself is only read.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from tau_browser.actions.folder_writer import Folder, obstacles
from tau_browser.actions.plan import Item, Plan, Refused, Verb, Way
from tau_browser.model.text import counted, safe_line
from tau_browser.stores.aethergraph.artifacts import FOLDER, Artifacts
from tau_browser.stores.aethergraph.corpora import FILES, Corpus
from tau_browser.stores.aethergraph.manifest import FILE, anchor_of, manifest_of
from tau_browser.stores.aethergraph.records import Json, Stored, dict_in, text_in
from tau_browser.stores.files import words_of

_PLACE = "rag/rag_corpora"


@dataclass(frozen=True, slots=True)
class _Made:
    """A corpus ready to be written. files: bytes by path, without the manifest · remarks: what a
    person should know · told: what else the manifest tells."""

    corpus: str
    documents: int
    chunks: int
    files: dict[str, bytes]
    remarks: list[str]
    told: Json = field(default_factory=dict)

    def plan(self, verb: Verb, about: str, target: str, gone: tuple[Item, ...] = ()) -> Plan:
        """The plan of its folder."""
        counts = {"corpus": self.corpus, "documents": self.documents, "chunks": self.chunks}
        manifest = manifest_of(counts | self.told, self.files)
        target = os.path.abspath(target)
        size = f"{counted(self.documents, 'document')}, {counted(self.chunks, 'chunk')}"
        anchor = f"anchor {anchor_of(manifest)}: keep it elsewhere, to hold the folder against it"
        return Plan(
            verb=verb,
            store="aethergraph",
            about=f"{about}: {size}",
            read=None,  # what is written is what was read
            way=Way.NEW,
            target=target,
            content=Folder({**self.files, FILE: manifest}),
            leaving=gone,
            refusals=obstacles(target),
            remarks=(*self.remarks, anchor),
        )


def plan_snapshot(root: Path, corpus: Corpus, target: str) -> Plan:
    """All of a corpus, byte for byte, with the files of its documents."""
    files = {}
    name = corpus.folder.rpartition("/")[2]
    for each in FILES:
        try:
            files[f"{_PLACE}/{name}/{each}"] = (root / corpus.folder / each).read_bytes()
        except FileNotFoundError:
            continue
        except OSError as error:
            raise Refused(f"{root / corpus.folder / each}: {words_of(error)}") from error
    missing = _add_artifacts(root, corpus.docs, files)
    remarks = [f"{damage.spot}: {damage.reason}: kept as it is" for damage in corpus.damage]
    remarks += [f"{counted(missing, 'file')} of documents not there any more"] if missing else []
    made = _Made(corpus.id, len(corpus.docs), len(corpus.chunks), files, remarks)
    return made.plan(Verb.SNAPSHOT, f"snapshot of corpus {safe_line(corpus.id)}", target)


def plan_compact(root: Path, corpus: Corpus, target: str) -> Plan:
    """A corpus without documents that say the same as an earlier one, without chunks that are
    there twice, and without chunks of no document. Raises Refused where nothing would go."""
    gone: list[Item] = []
    chunks = _chunks_of(corpus, gone)
    kept: list[Json] = []
    first: dict[str, Json] = {}
    ids: dict[str, Json] = {}
    for stored in corpus.docs:
        doc = dict(stored.value)
        name = text_in(doc, "doc_id")
        said = "\0".join(text_in(chunk, "text") for chunk in chunks.get(name, ()))
        if name in ids:  # its chunks hang under the first of that id
            gone.append(_gone(name, "document", "another has its id"))
            _merge(ids[name], doc)
        elif said and (other := first.setdefault(_hash(said), doc)) is not doc:
            into = text_in(other, "doc_id")
            gone.append(_gone(name, "document", f"{into} says the same, word for word"))
            _merge(other, doc)
            for chunk in chunks.pop(name):
                gone.append(_gone(text_in(chunk, "chunk_id"), "chunk", "of a document that goes"))
        else:
            kept.append(doc)
        ids.setdefault(name, doc)
    for name in sorted(chunks.keys() - ids.keys()):
        orphans = chunks.pop(name)
        gone += [_gone(text_in(each, "chunk_id"), "chunk", "of no document") for each in orphans]
    if not gone:
        raise Refused(f"corpus {corpus.id}: nothing in it is there twice")
    return _compacted(root, corpus, kept, chunks, gone, target)


def _compacted(
    root: Path,
    corpus: Corpus,
    docs: list[Json],
    chunks: dict[str, list[Json]],
    gone: list[Item],
    target: str,
) -> Plan:
    name = f"{corpus.id}-compacted"
    folder = f"{_PLACE}/{_folder_name(name)}"
    left = [chunk | {"corpus_id": name} for each in chunks.values() for chunk in each]
    told = corpus.about | {"corpus_id": name, "compacted_from": corpus.id}
    files = {
        f"{folder}/{FILES[0]}": json.dumps(told).encode(),
        f"{folder}/{FILES[1]}": _lines([doc | {"corpus_id": name} for doc in docs]),
        f"{folder}/{FILES[2]}": _lines(left),
    }
    kept = {text_in(doc, "doc_id") for doc in docs}
    sources = [doc for doc in corpus.docs if text_in(doc.value, "doc_id") in kept]
    missing = _add_artifacts(root, sources, files)
    remarks = [f"{damage.spot}: {damage.reason}: not in it" for damage in corpus.damage]
    remarks += [f"{counted(missing, 'file')} of documents not there any more"] if missing else []
    made = _Made(name, len(docs), len(left), files, remarks, {"compacted_from": corpus.id})
    about = f"compact corpus {safe_line(corpus.id)}"
    return made.plan(Verb.COMPACT, about, target, tuple(gone))


def _gone(name: str, what: str, why: str) -> Item:
    """A document or a chunk that a compacted corpus leaves out."""
    return Item(name, safe_line(f"{what}: {why}"))


def _chunks_of(corpus: Corpus, gone: list[Item]) -> dict[str, list[Json]]:
    """The chunks of each document, those that are there twice but once."""
    chunks: dict[str, list[Json]] = defaultdict(list)
    seen: set[tuple[str, str]] = set()
    for stored in corpus.chunks:
        chunk = stored.value
        key = text_in(chunk, "doc_id"), text_in(chunk, "text")
        if key in seen:
            gone.append(_gone(text_in(chunk, "chunk_id"), "chunk", "its document has this text"))
            continue
        seen.add(key)
        chunks[key[0]].append(chunk)
    return chunks


def _merge(kept: Json, gone: Json) -> None:
    """Have a document tell which one it stands for, too, and where that came from."""
    meta = dict(dict_in(kept, "meta"))
    told = {"doc_id": gone.get("doc_id"), "title": gone.get("title")}
    labels = dict_in(dict_in(gone, "meta"), "labels")
    merged = [*meta.get("merged", ()), told | ({"labels": labels} if labels else {})]
    kept["meta"] = meta | {"merged": merged}


def _add_artifacts(root: Path, docs: list[Stored], files: dict[str, bytes]) -> int:
    """Take the files of documents along; returns how many are not there."""
    artifacts = Artifacts(root)
    missing = 0
    for doc in docs:
        check = artifacts.check_uri(text_in(doc.value, "uri"))
        if check is None:
            continue
        if not check.file:
            missing += 1
            continue
        name = os.path.basename(check.file)
        files[f"{FOLDER}/{name[:2]}/{name[2:4]}/{name}"] = (root / check.file).read_bytes()
    return missing


def _lines(values: list[Json]) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def _folder_name(name: str) -> str:
    """A name for a folder that says its corpus and can be nothing else than a folder."""
    plain = "".join(char if char.isalnum() and char.isascii() else "-" for char in name)
    return f"{plain[:60]}-{_hash(name)[:12]}"


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
