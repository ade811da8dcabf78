"""The words of all contents: fields, analyzers, and what is written for one entry."""

from __future__ import annotations

from collections.abc import Iterable

import tantivy

from tau_browser.model.times import NO_TIME
from tau_browser.search.analysis import extras, identifiers, indexed, register
from tau_browser.search.documents import Document, Part

KEY = "content"
GROUP = "group"
STEM = "stem"
EXTRA = "extra"
ROLE, KIND, TOOL, TRAIT, TIME, PART = "role", "kind", "named", "trait", "time", "part"
FACET, SEVERITY, SIGNAL = "facet", "severity", "signal"

_HEAP = 128 << 20  # bytes that a writer may fill before it writes a segment
_THREADS = 1
_MOST_SEVERE = 99  # more than can be asked for


def schema() -> tantivy.Schema:
    """A field of words per part; over all parts one of stems, also of the parts of identifiers, and
    one of extras; facts; no text."""
    builder = tantivy.SchemaBuilder()
    builder.add_unsigned_field(KEY, indexed=True, fast=True)
    builder.add_unsigned_field(GROUP, indexed=True)
    builder.add_integer_field(TIME, indexed=True, fast=True)
    for number in (SEVERITY, SIGNAL):
        builder.add_integer_field(number, indexed=True)
    for part in Part:
        builder.add_text_field(part, tokenizer_name="word", index_option="position")
    builder.add_text_field(STEM, tokenizer_name="stem", index_option="freq")
    builder.add_text_field(EXTRA, tokenizer_name="extra", index_option="position")
    for fact in (ROLE, KIND, TOOL, TRAIT, FACET, PART):
        builder.add_text_field(fact, tokenizer_name="raw", index_option="basic")
    return builder.build()


def open_postings(path: str | None) -> tantivy.Index:
    """The postings in a folder, made if there are none; in memory where the path is None.

    Raises ValueError or OSError where they cannot be read.
    """
    index = tantivy.Index(schema(), path)
    index.config_reader("manual")  # readers go on when they are told, not by a thread that watches
    register(index)
    return index


def tools_in(searcher: tantivy.Searcher) -> list[str]:
    """The names of the tools in some postings."""
    return [tool for tool, _ in searcher.terms_with_prefix(TOOL, "")]


def writer(index: tantivy.Index, heap: int = _HEAP) -> tantivy.IndexWriter:
    """The only writer of an index. Raises ValueError if there is another."""
    return index.writer(heap, _THREADS)


def written(content: int, groups: Iterable[int], document: Document) -> tantivy.Document:
    """What is written of one content."""
    made = tantivy.Document()
    made.add_unsigned(KEY, content)
    for group in groups:
        made.add_unsigned(GROUP, group)
    facts = document.facts
    if facts.time != NO_TIME:
        made.add_integer(TIME, facts.time)
    made.add_text(ROLE, utf8(facts.role))
    made.add_text(KIND, utf8(facts.kind))
    for tool in facts.tools:
        made.add_text(TOOL, utf8(tool))
    for trait in facts.traits:
        made.add_text(TRAIT, trait)
    for facet in facts.facets:
        made.add_text(FACET, utf8(facet))
    made.add_integer(SEVERITY, max(0, min(facts.severity, _MOST_SEVERE)))
    made.add_integer(SIGNAL, facts.signal)
    for part in {part for part, _ in document.texts}:
        made.add_text(PART, part)
    for part, text in document.texts:
        words = indexed(text)
        made.add_text(part, words)
        made.add_text(STEM, words)
        if names := identifiers(text):
            made.add_text(STEM, names)
            made.add_text(EXTRA, names)
        if extra := extras(text):
            made.add_text(EXTRA, extra)
    return made


def utf8(text: str) -> str:
    """A text as the index can hold it: lone surrogates are replaced."""
    return text.encode("utf-8", "replace").decode()
