"""The ranker finds what is there, nothing outside its filters, and counts exactly."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tau_browser.model.context import states
from tau_browser.model.state import State
from tau_browser.search.filtering import Filtering, ReadSessions
from tau_browser.search.highlight import Highlighter
from tau_browser.search.lexical import can_rank
from tau_browser.search.query import parse
from tau_browser.search.scan import Hit
from tau_browser.search.texts import Texts
from tests.conftest import DATA, load, message
from tests.search.conftest import Indexed

Make = Callable[..., Indexed]
CASES = (
    "55-search-case",
    "57-search-identifiers",
    "59-search-fts-syntax",
    "64-search-abandoned-branch",
)
SEARCHES = [
    pytest.param(case, search, id=f"{case[:2]}-{search['q'][:16]!r}")
    for case in (*CASES, "65-memory-superseded")
    for search in json.loads((DATA / "bugcases" / case / "expect.json").read_bytes())["search"]
    if can_rank(parse(search["q"]))
]


def ids(found: list[str]) -> list[str]:
    return [name.partition("/")[2] for name in found]


# The stored examples


@pytest.fixture(scope="session")
def indexed_cases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Indexed]:
    cases = {}
    for case in (*CASES, "62-search-thousands", "65-memory-superseded"):
        cases[case] = Indexed(tmp_path_factory.mktemp("case"))
        cases[case].root = DATA / "bugcases" / case / "sessions"
        cases[case].update()
    return cases


@pytest.mark.parametrize(("case", "search"), SEARCHES)
def test_stored_example(
    indexed_cases: dict[str, Indexed], case: str, search: dict[str, Any]
) -> None:
    found = ids(indexed_cases[case].found(search["q"]))
    assert set(found) >= set(search["hits"] or ())
    if case in ("57-search-identifiers", "65-memory-superseded"):
        assert set(found) == set(search["hits"])


def test_totals_are_exact_however_many_are_asked_for(indexed_cases: dict[str, Indexed]) -> None:
    matches = indexed_cases["62-search-thousands"].matches("needle", limit=50)
    assert (matches.total, len(matches.hits)) == (5001, 50)


def test_pages_follow_each_other(indexed_cases: dict[str, Indexed]) -> None:
    case = indexed_cases["62-search-thousands"]
    pages = [case.matches("line needle", limit=100, offset=at).hits for at in (0, 100, 200)]
    keys = [key for page in pages for key, _ in page]
    assert keys == [key for key, _ in case.matches("line needle", limit=300).hits]
    assert len(set(keys)) == 300


def test_abandoned_branches_are_found_and_marked(indexed_cases: dict[str, Indexed]) -> None:
    case = indexed_cases["64-search-abandoned-branch"]
    for query, state in (("lost idea", State.ABANDONED), ("kept idea", State.PATH)):
        (key, _), *_ = case.matches(query).hits
        assert case.reader.standings([key])[key][0].state is state


@pytest.mark.parametrize(
    "query",
    ["x" * 100_000, "word " * 5000, " ".join(map(str, range(5000)))],
    ids=["a word", "words", "different words"],
)
def test_long_queries_are_answered(indexed_cases: dict[str, Indexed], query: str) -> None:
    case = indexed_cases["57-search-identifiers"]
    assert not can_rank(parse(query)) or case.matches(query).total <= 9


# What words find


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("run", [0, 1]),
        ("running", [1, 0]),
        ('"running"', [1]),
        ("sessionHeader", [2, 3]),
        ("session_header", [3, 2]),
        ("header", [2, 3]),
        ("parsesessionheader", [2]),
        ("cafe", [4]),
        ("CAFÉ", [4]),
        ("索引", [5]),
        ("引", [5]),
        ("搜索引擎", [5]),
        ("tantivy", [5]),
        ("1.2.3", [6]),
        ("c++", [7]),
        ("c#", []),
        ('"search engine"', [8]),
        ('"engine search"', []),
        ("engine -search", []),
        ("run -running", [0]),
        ('run -"are running"', [0]),
    ],
)
def test_words(indexed_texts: Make, query: str, expected: list[int]) -> None:
    indexed = indexed_texts(
        "a run",
        "we are running",
        "parseSessionHeader",
        "the session header",
        "Café au lait",
        "使用tantivy搜索引擎",
        "release v1.2.3-rc1",
        "written in C++ here",
        "a search engine",
    )
    found = [int(name.removeprefix("s/m")) for name in indexed.found(query)]
    assert sorted(found) == sorted(expected)
    if query.startswith("run"):  # the very word before its kin
        assert found == expected


def test_all_the_words_come_before_some_of_them(indexed_texts: Make) -> None:
    indexed = indexed_texts(
        "ssh " * 20, "the port", "a long text about ssh and so on " * 9 + "port"
    )
    matches = indexed.matches("ssh port")
    assert ids(indexed.ids([key for key, _ in matches.hits]))[0] == "m2"
    assert matches.total == 3
    scores = [score for _, score in matches.hits]
    assert scores == sorted(scores, reverse=True) and scores[0] > scores[1]


def test_what_holds_all_the_words_comes_first_however_many_are_asked_for(
    indexed_texts: Make,
) -> None:
    indexed = indexed_texts(*["ssh on a port"] * 5, "ssh " * 9, "a port", "nothing", "port of ssh")
    for limit in range(1, 9):
        matches = indexed.matches("ssh port", limit=limit)
        assert matches.total == 8
        found = set(ids(indexed.ids([key for key, _ in matches.hits])))
        assert len(found) == limit and len(found & {"m5", "m6"}) == max(0, limit - 6)


def test_phrases_must_be_there(indexed_texts: Make) -> None:
    indexed = indexed_texts("ssh port", "port of ssh", "ssh port open")
    assert set(ids(indexed.found('"ssh port" open'))) == {"m0", "m2"}


def test_signs_in_quotes_are_looked_for_in_the_text(indexed_texts: Make) -> None:
    indexed = indexed_texts("foo->bar", "foo.bar", "foo bar", "a != b", "a = b")
    assert ids(indexed.found('"foo->bar"')) == ["m0"]
    assert ids(indexed.found("b !=")) == ["m3"]
    assert ids(indexed.found("b -/!=/")) == ["m4"]
    assert ids(indexed.found("foo /[.]b/")) == ["m1"]
    assert not can_rank(parse("!=")) and not can_rank(parse("/x+/ -foo"))


def test_while_typing_the_last_word_is_a_beginning(indexed_texts: Make) -> None:
    indexed = indexed_texts("migrate the database", "migration", "a database", "parseMigration")
    assert set(ids(indexed.found("migr", typing=True))) == {"m0", "m1", "m3"}
    assert ids(indexed.found("database mig", typing=True))[0] == "m0"
    assert ids(indexed.found("the datab", typing=True))[0] == "m0"


def test_words_that_are_nowhere(indexed_texts: Make) -> None:
    indexed = indexed_texts("commit the change", "mitigate the risk", "session_store.py")
    for query, how, expected in (
        ("mit", "inside words", {"m0", "m1"}),
        ("commti", "one letter off", {"m0"}),
        ("sion_sto", "inside words", {"m2"}),
        ("changes comit", "one letter off", {"m0"}),
    ):
        matches = indexed.matches(query)
        assert {str(widened.how) for widened in matches.widened.values()} == {how}
        assert set(ids(indexed.ids([key for key, _ in matches.hits]))) == expected
    assert not indexed.matches("commit").widened
    assert indexed.matches('"commti"').total == indexed.matches("xyzzyx").total == 0


def test_filters_alone_list_what_is_newest(indexed: Indexed) -> None:
    stamps = [f"2026-03-0{day}T10:00:00.000Z" for day in (2, 5, 1, 4)]
    records = [message(f"m{at}", None, "x", timestamp=stamp) for at, stamp in enumerate(stamps)]
    indexed.write("s", [*records, {**message("m4", None, "x"), "timestamp": "soon"}])
    indexed.update()
    assert ids(indexed.found("role:user"))[:4] == ["m1", "m3", "m0", "m2"]
    assert indexed.matches("role:user").total == 5
    assert ids(indexed.found("x since:2026-03-02 until:2026-03-04"))[0] in ("m0", "m3")
    assert indexed.matches("x since:2026-03-02 until:2026-03-04").total == 2


# Filters and scope against a naive scan

WORDS = ["apple", "pear", "plum"]
RECORDS = st.lists(
    st.tuples(
        st.lists(st.sampled_from(WORDS), max_size=3).map(" ".join),
        st.sampled_from(["user", "assistant", "toolResult"]),
        st.sampled_from(["bash", "jmfts_search", ""]),
        st.booleans(),  # an error
        st.integers(1, 4),  # the day
        st.integers(0, 3),  # how far up it hangs
    ),
    max_size=6,
)
FILTERS = {
    "role:user": lambda it: it["role"] == "user",
    "-role:user": lambda it: it["role"] != "user",
    "role:tool": lambda it: it["role"] == "toolResult",
    "tool:bash": lambda it: it["tool"] == "bash",
    "is:error": lambda it: it["error"],
    "-is:error": lambda it: not it["error"],
    "is:recall": lambda it: it["role"] == "assistant" and it["tool"] == "jmfts_search",
    "since:2026-03-02": lambda it: it["day"] >= 2,
    "until:2026-03-02": lambda it: it["day"] <= 2,
    "branch:active": lambda it: it["state"] is State.PATH,
    "branch:abandoned": lambda it: it["state"] is State.ABANDONED,
    "project:/a": lambda it: it["cwd"] == "/a",
    "-project:/a": lambda it: it["cwd"] != "/a",
    "kind:message": lambda it: True,
    "kind:compaction": lambda it: False,
}
TERMS = {
    "": lambda text: True,
    "apple": lambda text: "apple" in text,
    "-pear": lambda text: "pear" not in text,
    '"apple pear"': lambda text: "apple pear" in text,
    "/a[pr]/": lambda text: "ap" in text or "ar" in text,
}


def write(indexed: Indexed, name: str, drawn: list[Any]) -> list[dict[str, Any]]:
    """Write a session; returns what is known of its entries."""
    records, facts = [], []
    for at, (text, role, tool, error, day, up) in enumerate(drawn):
        parent = f"m{max(0, at - 1 - up)}" if at else None
        record = message(f"m{at}", parent, text, role)
        record["timestamp"] = f"2026-03-0{day}T10:00:00.000Z"
        if role == "assistant" and tool:
            call = {"type": "toolCall", "id": "c", "name": tool, "arguments": {}}
            record["message"]["content"].append(call)
        elif role == "toolResult":
            record["message"] |= {"tool_name": tool, "is_error": error}
        records.append(record)
        facts.append({"id": f"m{at}", "text": text, "role": role, "day": day, "cwd": f"/{name}"})
        facts[-1]["tool"] = tool if role != "user" else ""
        facts[-1]["error"] = error and role == "toolResult"
    path = indexed.write(name, records, cwd=f"/{name}")
    session = load(path)
    for known, state in zip(facts, states(session, session.leaf).tolist(), strict=True):
        known |= {"state": State(state), "name": f"{name}/{known['id']}"}
    return facts


@settings(max_examples=30)
@given(
    sessions=st.tuples(RECORDS, RECORDS),
    asked=st.lists(
        st.tuples(st.sampled_from([*TERMS]), st.lists(st.sampled_from([*FILTERS]), max_size=3)),
        min_size=6,
        max_size=6,
    ),
)
def test_filters_are_exact(
    tmp_path_factory: pytest.TempPathFactory, sessions: Any, asked: list[tuple[str, list[str]]]
) -> None:
    indexed = Indexed(tmp_path_factory.mktemp("store"))
    facts = [
        it for name, drawn in zip("ab", sessions, strict=True) for it in write(indexed, name, drawn)
    ]
    indexed.update()
    now = datetime.now(UTC)
    for term, conditions in asked:
        names = {condition.partition(":")[0] for condition in conditions}
        query = " ".join([term, *conditions])
        if len(names) < len(conditions) or not can_rank(parse(query, now=now)):
            continue  # the same filter twice means one or the other
        expected = {
            it["name"]
            for it in facts
            if TERMS[term](it["text"]) and all(FILTERS[each](it) for each in conditions)
        }
        if query.startswith("-") and not conditions:
            continue  # an exclusion alone is text
        found = indexed.found(query)
        # two sessions may hold one content: then it stands in both
        assert len(found) == indexed.matches(query).total
        assert set(found) <= expected | {it["name"] for it in facts}
        keys = [key for key, _ in indexed.matches(query).hits]
        groups = indexed.reader.select(parse(query)).groups
        standings = indexed.reader.standings(keys, groups)
        everywhere = {
            f"{it.session}/{name.partition('/')[2]}"
            for key, name in zip(keys, found, strict=True)
            for it in standings[key]
        }
        assert everywhere == expected, query


@settings(max_examples=10)
@given(sessions=st.tuples(RECORDS, RECORDS))
def test_scope_is_exact(tmp_path_factory: pytest.TempPathFactory, sessions: Any) -> None:
    indexed = Indexed(tmp_path_factory.mktemp("store"))
    facts = [
        it for name, drawn in zip("ab", sessions, strict=True) for it in write(indexed, name, drawn)
    ]
    indexed.update()
    for name in "ab":
        paths = {str(indexed.root / f"{name}.jsonl")}
        expected = {it["name"] for it in facts if "apple" in it["text"] and it["cwd"] == f"/{name}"}
        assert indexed.matches("apple", paths=paths).total == len(expected)


# Highlights


@pytest.mark.parametrize("case", CASES)
def test_hits_are_highlighted(indexed_cases: dict[str, Indexed], case: str) -> None:
    indexed = indexed_cases[case]
    texts = Texts(indexed.reader)
    for search in json.loads((DATA / "bugcases" / case / "expect.json").read_bytes())["search"]:
        query = parse(search["q"])
        if not can_rank(query):
            continue
        matches = indexed.matches(search["q"])
        highlighter = Highlighter(query, matches.widened)
        for key, _ in matches.hits:
            assert highlighter.marks(texts.text(key)), (search["q"], texts.text(key))


def test_filters_of_events_are_what_the_entries_say(indexed: Indexed) -> None:
    """The index against the same filters asked of the entries themselves."""
    events = [
        {"kind": "note", "stage": "act", "severity": 2, "signal": 0.35, "tags": ["a", "b"]},
        {"kind": "note", "stage": "plan", "severity": 4, "signal": 0.75, "metrics": {"ms": 3}},
        {"kind": "error", "severity": 5, "signal": 1, "tags": ["b"], "metrics": {"ms": 1, "n": 2}},
    ]
    records = [message(f"m{at}", None, "said", event=each) for at, each in enumerate(events)]
    path = indexed.write("s", [*records, message("m3", None, "said " * 40)])
    indexed.update()
    for query, expected in {
        "event:note": "01",
        "stage:ACT": "0",
        "tag:b": "02",
        "tag:a tag:b": "0",
        "metric:ms metric:n": "2",
        "severity:4": "12",
        "severity:2": "0123",
        "signal:0.35": "0123",
        "signal:.5": "123",
        "-signal:0.6 event:note": "0",
        "said signal:0.8": "2",
    }.items():
        parsed = parse(query)
        session = load(path)
        asked = [
            session.entry_id(at)
            for at in range(len(session))
            if Filtering(parsed, "tau", ReadSessions().of).passes(
                Hit(str(path), *session.columns.row(at), session.record(at))
            )
        ]
        assert sorted(ids(indexed.found(query))) == sorted(asked) == [f"m{at}" for at in expected]
