"""How the sessions of a store can be searched: by which methods, and which rankers are weighed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tau_browser.search import fusion
from tau_browser.search.fusion import DEFAULT_WEIGHTS
from tau_browser.search.results import Method


@dataclass(frozen=True, slots=True)
class Preset:
    """A mixture that has a name: what each ranker counts, and how they become one."""

    weights: Mapping[str, float]
    fused_by: fusion.Method


@dataclass(frozen=True, slots=True)
class Manner:
    """methods, rankers: each with what it is, in a few words · weights: what rankers count by
    default · presets: other mixtures by name."""

    methods: Mapping[Method, str]
    rankers: Mapping[str, str]
    weights: Mapping[str, float]
    presets: Mapping[str, Preset] = field(default_factory=dict)


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
    weights={"bm25": 1.0, "fulltext": 0.4, "vector": 1.0, "maxsim": 0.6},
    # What a server makes of the same methods where it is asked for its hybrid of them.
    presets={
        "server": Preset(
            {"bm25": 0.14, "fulltext": 0.0, "vector": 0.86, "maxsim": 0.0}, fusion.Method.RRF
        )
    },
)
