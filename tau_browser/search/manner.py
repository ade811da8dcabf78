"""How the sessions of a store can be searched: by which methods, and which rankers are weighed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tau_browser.search.fusion import DEFAULT_WEIGHTS
from tau_browser.search.results import Method


@dataclass(frozen=True, slots=True)
class Manner:
    """methods, rankers: each with what it is, in a few words · weights: what rankers count by
    default."""

    methods: Mapping[Method, str]
    rankers: Mapping[str, str]
    weights: Mapping[str, float]


FILES = Manner(
    methods={
        Method.HYBRID: "by words and by meaning",
        Method.BM25: "by words",
        Method.VECTOR: "by meaning",
        Method.SUBSTRING: "the query as it is, character by character",
        Method.REGEX: "the query is a regular expression",
    },
    rankers={
        "bm25": "words",
        "static": "meaning, of all entries",
        "neural": "meaning, of the first hits",
    },
    weights=DEFAULT_WEIGHTS,
)
SERVER = Manner(
    methods={
        Method.HYBRID: "by all that the server can",
        Method.BM25: "by words as they are",
        Method.FULLTEXT: "by stems of words, phrases, OR",
        Method.VECTOR: "by meaning",
        Method.MAXSIM: "by meaning, token by token",
    },
    rankers={
        "bm25": "words as they are",
        "fulltext": "stems of words",
        "vector": "meaning",
        "maxsim": "meaning, token by token",
    },
    # The server's own mixture is 0.86 of vector and 0.14 of bm25.
    weights={"bm25": 1.0, "fulltext": 0.4, "vector": 1.0, "maxsim": 0.6},
)
