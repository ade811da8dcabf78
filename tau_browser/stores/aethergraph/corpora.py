"""Corpora: documents cut into chunks, some of them made of events.

Both versions keep a folder with three files for each. A document that was made of an event does
not say of which: its title and labels do, unless two events of one second share them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from tau_browser.stores.aethergraph.events import Event
from tau_browser.stores.aethergraph.lines import folders_in, read_lines, read_object
from tau_browser.stores.aethergraph.records import Damage, Json, Stored, dict_in, text_in

FOLDERS = ("rag/rag_corpora", "kb/corpora")
FILES = ("corpus.json", "docs.jsonl", "chunks.jsonl")


@dataclass(slots=True)
class Corpus:
    """One corpus. folder: as seen from the workspace."""

    folder: str
    about: Json = field(default_factory=dict)
    docs: list[Stored] = field(default_factory=list)
    chunks: list[Stored] = field(default_factory=list)
    damage: list[Damage] = field(default_factory=list)

    @property
    def id(self) -> str:
        """Its id, or the name of its folder where it tells none."""
        return text_in(self.about, "corpus_id") or self.folder.rpartition("/")[2]


class Promoted(NamedTuple):
    """A document that was made of an event."""

    corpus: str
    doc: str


class Source(NamedTuple):
    """What a promoted document tells of the event it was made of."""

    title: str
    run: str
    node: str


def corpus_folders(root: Path) -> list[str]:
    """The folders of all corpora."""
    return [f"{folder}/{name}" for folder in FOLDERS for name in folders_in(root, folder)]


def about_corpus(root: Path, folder: str) -> Corpus:
    """A corpus without its documents."""
    corpus = Corpus(folder)
    match read_object(root, f"{folder}/{FILES[0]}"):
        case Stored() as stored:
            corpus.about = stored.value
        case Damage() as damage:
            corpus.damage.append(damage)
    return corpus


def read_corpus(root: Path, folder: str) -> Corpus:
    """A corpus with all that it holds."""
    corpus = about_corpus(root, folder)
    docs, chunks = (read_lines(root, f"{folder}/{file}") for file in FILES[1:])
    corpus.docs, corpus.chunks = docs.values, chunks.values
    corpus.damage += [*docs.damage, *chunks.damage]
    return corpus


def source_of(doc: Json) -> Source | None:
    """The event that a document names as its own, if it does."""
    labels = dict_in(dict_in(doc, "meta"), "labels")
    run = text_in(labels, "run_id")
    if not run:
        return None
    return Source(text_in(doc, "title"), run, text_in(labels, "node_id"))


def source_named(event: Event) -> Source:
    """How a document names an event that it was made of."""
    what = event.tool or event.stage or "n/a"
    return Source(f"{event.kind or ''}:{what}:{event.ts}", event.run, event.node)


class Promotions:
    """Which events of a workspace became documents."""

    def __init__(self, root: Path) -> None:
        self._root = root

    @property
    def are_any(self) -> bool:
        """Whether any event became one."""
        return bool(self._by_source)

    def of(self, event: Event) -> list[Promoted]:
        """The documents made of an event."""
        return self._by_source.get(source_named(event), [])

    @cached_property
    def _by_source(self) -> dict[Source, list[Promoted]]:
        found: dict[Source, list[Promoted]] = {}
        for corpus, doc in self._docs():
            if (source := source_of(doc)) is not None:
                found.setdefault(source, []).append(Promoted(corpus, text_in(doc, "doc_id")))
        return found

    def _docs(self) -> Iterator[tuple[str, Json]]:
        for folder in corpus_folders(self._root):
            corpus = about_corpus(self._root, folder)
            for stored in read_lines(self._root, f"{folder}/{FILES[1]}").values:
                yield corpus.id, stored.value
