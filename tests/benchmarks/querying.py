"""What a query costs, against bare tantivy on the same index, and what a whole answer costs.

CPU times, as others may use the machine; it is one thread that works."""

from __future__ import annotations

import random
import re
from statistics import median

import tantivy

from tau_browser.search.documents import Part
from tau_browser.search.engine import Engine
from tau_browser.search.index.postings import EXTRA, STEM, open_postings
from tau_browser.search.index.reader import Reader
from tau_browser.search.lexical import search
from tau_browser.search.query import parse
from tau_browser.search.texts import Texts
from tests.benchmarks.measuring import in_turns, late
from tests.benchmarks.table import Figure

_QUERIES = 40
_SHOWN = 50  # hits
_FIELDS = [*map(str, Part), STEM, EXTRA]
_FILTER = "role:user "


def figures(engine: Engine) -> list[Figure]:
    """Per class of queries: CPU of the words alone, and of a whole answer, by words and meaning."""
    reader = Reader(engine.folder)
    bare = _Bare(reader, engine)
    found = []
    for kind, queries in _queries(reader).items():
        ours, theirs = in_turns(
            [lambda q=q: search(reader, parse(q), limit=_SHOWN) for q in queries],
            [lambda q=q: bare.search(q) for q in queries],
        )
        ratio = median(ours) / median(theirs)
        found.append(Figure(f"CPU of {kind} / bare tantivy, median", ratio, 1.5))
        ratio = late(ours) / late(theirs)
        found.append(Figure(f"CPU of {kind} / bare tantivy, 95th percentile", ratio, 3))
        whole, _ = in_turns(
            [lambda q=q: engine.search(parse(q), limit=_SHOWN) for q in queries], []
        )
        what = f"CPU of a whole answer to {kind}, {_SHOWN} marked snippets, 95th percentile"
        found.append(Figure(what, late(whole) * 1000, 60, "ms"))
    reader.close()
    return found


class _Bare:
    """The index asked in tantivy's own query language: no parts of identifiers, no typos, no
    forks, no order of what holds all the words."""

    def __init__(self, reader: Reader, engine: Engine) -> None:
        self._searcher = reader.searcher
        self._index = open_postings(str(engine.folder / "postings"))

    def search(self, query: str) -> object:
        words = query.removeprefix(_FILTER)
        plain = re.sub(r'[^\w" ]', " ", words)  # what would be its operators
        parsed = self._index.parse_query(plain, _FIELDS)
        if words != query:
            role = tantivy.Query.term_query(self._index.schema, "role", "user")
            both = [(tantivy.Occur.Must, parsed), (tantivy.Occur.Must, role)]
            parsed = tantivy.Query.boolean_query(both)
        return self._searcher.search(parsed, _SHOWN)


def _queries(reader: Reader) -> dict[str, list[str]]:
    """Queries by class, out of what is there."""
    rng = random.Random(1)
    texts = Texts(reader)
    sample = [texts.text(rng.randrange(1, reader.count)) for _ in range(1000)]
    texts.close()
    said = [words for text in sample if len(words := re.findall(r"\w+", text)) >= 8]
    plain = [word for words in said for word in words if re.fullmatch("[a-z]{4,}", word)]
    names = [name for words in said for name in words if re.fullmatch("[a-z]+[A-Z_][a-z]+", name)]
    pairs = re.findall(r"\b[a-z]+ [a-z]+\b", "\n".join(sample))
    some = rng.sample(plain, 2 * _QUERIES)
    return {
        "one word": rng.sample(plain, _QUERIES),
        "two words": [" ".join(pair) for pair in zip(some[::2], some[1::2], strict=True)],
        "a sentence": [" ".join(words[:8]) for words in rng.sample(said, _QUERIES)],
        "an identifier": rng.choices(names, k=_QUERIES),
        "a phrase": [f'"{pair}"' for pair in rng.sample(pairs, _QUERIES)],
        "a word with a filter": [_FILTER + word for word in rng.sample(plain, _QUERIES)],
    }
