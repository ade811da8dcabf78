"""Corpora as files of their own: a snapshot of one, or one without what is in it twice.

Both are small workspaces, laid out as aethergraph lays them out, with a manifest of hashes: they
open like any other store, and can be verified. The corpus itself is only read.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tau_browser.actions.plan import Refused
from tau_browser.model.text import counted, safe_line
from tau_browser.stores.aethergraph.artifacts import FOLDER, Artifacts
from tau_browser.stores.aethergraph.corpora import FILES, Corpus
from tau_browser.stores.aethergraph.manifest import FILE, anchor_of, manifest_of
from tau_browser.stores.aethergraph.records import Json, Stored, dict_in, text_in
from tau_browser.stores.files import words_of
from tau_browser.stores.store import StoreError

_PLACE = "rag/rag_corpora"


@dataclass(frozen=True, slots=True)
class Gone:
    """A document or a chunk that a compacted corpus leaves out. into: what says the same, or ""."""

    id: str
    what: str
    why: str
    into: str = ""


@dataclass(frozen=True, slots=True)
class CorpusPlan:
    """A corpus ready to be written. files: bytes by path, without the manifest · gone: what is
    left out · remarks: what a person should know."""

    about: str
    target: str
    corpus: str
    documents: int
    chunks: int
    files: dict[str, bytes]
    gone: tuple[Gone, ...] = ()
    remarks: tuple[str, ...] = ()
    told: Json = field(default_factory=dict)

    @property
    def manifest(self) -> bytes:
        """The manifest of all files."""
        counts = {"corpus": self.corpus, "documents": self.documents, "chunks": self.chunks}
        return manifest_of(counts | self.told, self.files)

    @property
    def anchor(self) -> str:
        """What a person may keep elsewhere, to hold the files against it."""
        return anchor_of(self.manifest)


def plan_snapshot(root: Path, corpus: Corpus, target: str) -> CorpusPlan:
    """All of a corpus, byte for byte, with the files of its documents. Raises Refused."""
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
    return CorpusPlan(
        about=f"snapshot of corpus {safe_line(corpus.id)}",
        target=_free(target),
        corpus=corpus.id,
        documents=len(corpus.docs),
        chunks=len(corpus.chunks),
        files=files,
        remarks=tuple(remarks),
    )


def plan_compact(root: Path, corpus: Corpus, target: str) -> CorpusPlan:
    """A corpus without documents that say the same as an earlier one, without chunks that are
    there twice, and without chunks of no document. Raises Refused where nothing would go."""
    gone: list[Gone] = []
    chunks = _chunks_of(corpus, gone)
    kept: list[Json] = []
    first: dict[str, Json] = {}
    ids: dict[str, Json] = {}
    for stored in corpus.docs:
        doc = dict(stored.value)
        name = text_in(doc, "doc_id")
        said = "\0".join(text_in(chunk, "text") for chunk in chunks.get(name, ()))
        if name in ids:  # its chunks hang under the first of that id
            gone.append(Gone(name, "document", "another has its id", name))
            _merge(ids[name], doc)
        elif said and (other := first.setdefault(_hash(said), doc)) is not doc:
            into = text_in(other, "doc_id")
            gone.append(Gone(name, "document", "says the same, word for word", into))
            _merge(other, doc)
            for chunk in chunks.pop(name):
                gone.append(Gone(text_in(chunk, "chunk_id"), "chunk", "of a document that goes"))
        else:
            kept.append(doc)
        ids.setdefault(name, doc)
    for name in sorted(chunks.keys() - ids.keys()):
        orphans = chunks.pop(name)
        gone += [Gone(text_in(each, "chunk_id"), "chunk", "of no document") for each in orphans]
    if not gone:
        raise Refused(f"corpus {corpus.id}: nothing in it is there twice")
    return _compacted(root, corpus, kept, chunks, gone, target)


def write(plan: CorpusPlan) -> str:
    """Write it: whole or not at all. Returns the anchor. Raises StoreError."""
    target = Path(_free(plan.target))
    try:
        folder = Path(tempfile.mkdtemp(prefix=".tau-browse-", dir=target.parent))  # made 0700
    except OSError as error:
        raise StoreError(f"{target.parent}: {words_of(error)}") from error
    try:
        for name, data in {**plan.files, FILE: plan.manifest}.items():
            path = folder / name
            for parent in reversed(path.relative_to(folder).parents):
                (folder / parent).mkdir(exist_ok=True, mode=0o700)
            with open(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
        folder.rename(_free(str(target)))
    except OSError as error:
        raise StoreError(f"{target}: {words_of(error)}") from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return plan.anchor


def described(plan: CorpusPlan) -> dict[str, Any]:
    """A plan for programs."""
    return {
        "about": plan.about,
        "target": plan.target,
        "corpus": plan.corpus,
        "documents": plan.documents,
        "chunks": plan.chunks,
        "files": len(plan.files),
        "bytes": sum(map(len, plan.files.values())),
        "gone": [
            {"id": each.id, "what": each.what, "why": each.why, "into": each.into or None}
            for each in plan.gone
        ],
        "remarks": list(plan.remarks),
        "anchor": plan.anchor,
    }


def _compacted(
    root: Path,
    corpus: Corpus,
    docs: list[Json],
    chunks: dict[str, list[Json]],
    gone: list[Gone],
    target: str,
) -> CorpusPlan:
    name = f"{corpus.id}-compacted"
    folder = f"{_PLACE}/{_folder_name(name)}"
    left = [chunk | {"corpus_id": name} for each in chunks.values() for chunk in each]
    about = corpus.about | {"corpus_id": name, "compacted_from": corpus.id}
    files = {
        f"{folder}/{FILES[0]}": json.dumps(about).encode(),
        f"{folder}/{FILES[1]}": _lines([doc | {"corpus_id": name} for doc in docs]),
        f"{folder}/{FILES[2]}": _lines(left),
    }
    kept = {text_in(doc, "doc_id") for doc in docs}
    sources = [doc for doc in corpus.docs if text_in(doc.value, "doc_id") in kept]
    missing = _add_artifacts(root, sources, files)
    remarks = [f"{damage.spot}: {damage.reason}: not in it" for damage in corpus.damage]
    remarks += [f"{counted(missing, 'file')} of documents not there any more"] if missing else []
    return CorpusPlan(
        about=f"corpus {safe_line(corpus.id)} without what is in it twice",
        target=_free(target),
        corpus=name,
        documents=len(docs),
        chunks=len(left),
        files=files,
        gone=tuple(gone),
        remarks=tuple(remarks),
        told={"compacted_from": corpus.id},
    )


def _chunks_of(corpus: Corpus, gone: list[Gone]) -> dict[str, list[Json]]:
    """The chunks of each document, those that are there twice but once."""
    chunks: dict[str, list[Json]] = defaultdict(list)
    seen: set[tuple[str, str]] = set()
    for stored in corpus.chunks:
        chunk = stored.value
        key = text_in(chunk, "doc_id"), text_in(chunk, "text")
        if key in seen:
            gone.append(Gone(text_in(chunk, "chunk_id"), "chunk", "its document has this text"))
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


def _free(target: str) -> str:
    target = os.path.abspath(target)
    if os.path.lexists(target):
        raise Refused(f"{target} is there already: give another name")
    if not os.path.isdir(os.path.dirname(target)):
        raise Refused(f"{os.path.dirname(target)}: no such folder")
    return target


def _lines(values: list[Json]) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def _folder_name(name: str) -> str:
    """A name for a folder that says its corpus and can be nothing else than a folder."""
    plain = "".join(char if char.isalnum() and char.isascii() else "-" for char in name)
    return f"{plain[:60]}-{_hash(name)[:12]}"


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
