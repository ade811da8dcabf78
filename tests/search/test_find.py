"""Finding inside a session: every entry that holds the query, and nothing else."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tau_browser.model.session import Session
from tau_browser.search.find import QueryError, find, pattern_of, snippet
from tau_browser.search.folding import Fold, fold_case, fold_form
from tau_browser.stores.session_file import load_session
from tests.conftest import DATA, Bytes, load, log_of, message, read
from tests.search.conftest import TRICKY

BUGCASES = DATA / "bugcases"
SEARCHES = [
    pytest.param(case, search, id=f"{case[:2]}-{search.get('q', 'long')[:16]!r}")
    for path in sorted(BUGCASES.glob("*/expect.json"))
    for case in [path.parent.name]
    for search in json.loads(path.read_bytes()).get("search", [])
    if (path.parent / "sessions").exists() and search.get("mode") != "terms"
]


def hits(session: Session, query: str, regex: bool = False) -> list[int]:
    pattern = pattern_of(query, regex=regex)
    return [] if pattern is None else [at for batch in find(session, pattern) for at in batch.hits]


def found(session: Session, query: str, regex: bool = False) -> list[str]:
    return session.ids(hits(session, query, regex))


def session_of_texts(*texts: str) -> Session:
    return read(log_of(message(f"m{at}", None, text) for at, text in enumerate(texts)))


# What the stored examples expect


@pytest.mark.parametrize(("case", "search"), SEARCHES)
def test_stored_example(case: str, search: dict[str, Any]) -> None:
    sessions = [load(path) for path in sorted((BUGCASES / case / "sessions").rglob("*.jsonl"))]
    times = search.get("q_repeat", [])
    query = times[0] * times[1] if times else search["q"]
    # the examples mind no case; here an upper-case letter in the query asks for that very case
    as_typed = [entry for session in sessions for entry in found(session, query)]
    any_case = [entry for session in sessions for entry in found(session, query.lower())]
    expected = search["hits"]
    if expected == ["*"]:
        assert as_typed
    elif expected is not None:
        assert set(any_case) == set(expected)
        assert set(as_typed) <= set(any_case)
        if query == query.lower() or case.startswith(("57", "59")):
            assert set(as_typed) == set(expected)
    if "count" in search:
        assert len(as_typed) == search["count"]


def test_upper_case_in_the_query_asks_for_that_case() -> None:
    session = session_of_texts("the Plan", "a PLAN", "plans")
    assert found(session, "plan") == ["m0", "m1", "m2"]
    assert found(session, "PLAN") == ["m1"]
    assert found(session, "Plan") == ["m0"]


@pytest.mark.parametrize("query", ["", "   ", "\t\n", "\u200b", "\u200b \u2060", "\ufeff"])
@pytest.mark.parametrize("regex", [False, True])
def test_blank_query_asks_for_nothing(query: str, regex: bool) -> None:
    assert pattern_of(query, regex=regex) is None


def test_finds_what_json_escapes_hide() -> None:
    text = 'naïve "quoted" C:\\temp\\new\nnext line \u2028 tab\there </script>'
    for escaped in (True, False):
        record = json.dumps(message("m", None, text), ensure_ascii=escaped).encode()
        session = read(log_of([]) + record.replace(b"/", b"\\/") + b"\n")
        queries = ("naïve", 'e "q', "p\\n", "new\nnext", "tab\th", "</script>", "\u2028 t")
        for query in queries:
            assert found(session, query) == ["m"], (escaped, query)


def test_finds_letters_that_are_escaped_without_need() -> None:
    line = json.dumps(message("m", None, "needle")).replace("needle", "\\u006eee\\u0064le")
    assert found(read(log_of([]) + line.encode() + b"\n"), "needle") == ["m"]


def test_finds_what_is_shown_but_not_stored_so() -> None:
    picture = {"type": "image", "mime_type": "image/png", "data": "QUFB" * 3000}
    call = {"type": "toolCall", "id": "c", "name": "read", "arguments": {"path": {"of": "x"}}}
    records = [
        message("i", None) | {"message": {"role": "user", "content": [picture]}},
        message("t", "i") | {"message": {"role": "assistant", "content": [call]}},
        {"type": "elide", "id": "e", "parentId": "t", "firstKeptId": "i"},
        {
            "type": "customEntry",
            "id": "c",
            "parentId": "e",
            "customType": "config",
            "data": {"thinking": None, "tools": ["read", "write"]},
        },
        {"type": "odd", "id": "n", "parentId": "c", "value": 1e400, "other": 1e22},
    ]
    log = log_of(records).replace(b"Infinity", b"1e999").replace(b"1e+22", b"1" + b"0" * 22 + b".0")
    session = read(log)
    assert found(session, "≈9.0 KB") == ["i"]
    assert found(session, "QUFB") == []
    assert found(session, "path.of: x") == ["t"]
    assert found(session, "resumes at") == ["e"]
    assert found(session, "2 tools: read") == ["c"]
    assert found(session, "default") == ["c"]
    assert found(session, "infinity") == ["n"]
    assert found(session, "1e+22") == ["n"]


def test_one_entry_is_one_hit_however_often_it_matches() -> None:
    session = session_of_texts("needle " * 20_000)
    assert hits(session, "needle") == [0]


def test_huge_line_is_searched_to_its_end(tmp_path: Path) -> None:
    call = {
        "type": "toolCall",
        "id": "c",
        "name": "write",
        "arguments": {"text": "x" * 4_000_000 + "needle-at-end"},
    }
    records = [
        message("m1", None, "write it"),
        message("m2", "m1") | {"message": {"role": "assistant", "content": [call]}},
        message("m3", "m2", "done"),
    ]
    path = tmp_path / "s.jsonl"
    path.write_bytes(log_of(records))
    assert found(load_session(str(path)), "needle-at-end") == ["m2"]


def test_deep_chain_is_found_in_batches() -> None:
    n = 50_000
    records = (message(f"n{at}", f"n{at - 1}" if at else None, f"step {at}") for at in range(n))
    session = read(log_of(records))
    pattern = pattern_of("step 49999")
    assert pattern is not None
    batches = list(find(session, pattern))
    assert [session.ids(batch.hits) for batch in batches if batch.hits] == [["n49999"]]
    assert [batch.total for batch in batches] == [n] * len(batches)
    done = [batch.done for batch in batches]
    assert done == sorted(done) and done[-1] == n
    assert max(after - before for before, after in pairwise([0, *done])) <= 4096


def test_hits_are_in_file_order_though_an_entry_was_finished_late() -> None:
    open_entry = message("late", "m0", role="assistant") | {"status": "incomplete"}
    filler = [message(f"m{at}", "m0", "needle " + "." * 200) for at in range(1, 2000)]
    records = [
        message("m0", None, "go"),
        open_entry,
        *filler,
        message("late", "m0", "needle", "assistant"),
    ]
    session = read(log_of(records))
    assert hits(session, "needle") == list(range(1, 2001))


def test_empty_session_has_no_batches() -> None:
    pattern = pattern_of("x")
    assert pattern is not None
    assert list(find(read(log_of([])), pattern)) == []


def test_source_that_was_cut_short_is_no_error() -> None:
    source = Bytes(log_of([message("m0", None, "needle"), message("m1", "m0", "needle")]))
    session = read(source.data)
    cut = Bytes(source.data[:-20])
    shorter = type(session)(**{**vars(session), "source": cut})
    assert found(shorter, "needle") == ["m0"]


# The prefilter never loses a hit


def _texts(alphabet: str) -> st.SearchStrategy[str]:
    return st.text(st.sampled_from(alphabet), max_size=14)


PLAIN = ["needle", "Needle", "NEEDLE", "true", "null", "image", "a.b", "x/y", "1e5", "a-b_c"]
SPELT_OTHERWISE = ["ﬁle", "fi\u0307le", "ＮＥＥＤＬＥ", "Kelvin", "neeﬄe", "ⓃⒺⒺ", "𝐚𝐛𝐜"]
WORDS = st.sampled_from(PLAIN) | st.sampled_from(SPELT_OTHERWISE)
STRINGS = st.lists(WORDS | _texts(TRICKY) | _texts('ab "\\/\n:;,.[]'), max_size=3).map("".join)
LEAVES = STRINGS | st.integers() | st.floats(allow_nan=True) | st.booleans() | st.none()
VALUES = st.recursive(
    LEAVES,
    lambda below: st.lists(below, max_size=2) | st.dictionaries(STRINGS, below, max_size=2),
    max_leaves=4,
)
BLOCKS = st.one_of(
    st.builds(lambda text: {"type": "text", "text": text}, STRINGS),
    st.builds(lambda text: {"type": "thinking", "thinking": text}, STRINGS),
    st.builds(
        lambda name, given: {"type": "toolCall", "id": "c", "name": name, "arguments": given},
        LEAVES,
        VALUES,
    ),
    st.builds(
        lambda kind, data: {"type": "image", "mime_type": kind, "data": data}, STRINGS, STRINGS
    ),
    VALUES,
)
FIELDS = st.fixed_dictionaries(
    {},
    optional={
        "message": st.fixed_dictionaries(
            {"content": st.lists(BLOCKS, max_size=3) | VALUES},
            optional={"role": STRINGS, "error_message": STRINGS},
        )
        | VALUES,
        "summary": VALUES,
        "name": VALUES,
        "customType": st.sampled_from(["config", "agent_spec"]) | STRINGS,
        "data": st.fixed_dictionaries(
            {}, optional={"model": STRINGS, "tools": st.lists(LEAVES, max_size=2), "cwd": STRINGS}
        )
        | VALUES,
        "firstKeptId": LEAVES,
        "targetId": LEAVES,
        "level": VALUES,
        "model": VALUES,
        "more": VALUES,
    },
)
KINDS = st.sampled_from(
    [
        "message",
        "customMessage",
        "customEntry",
        "compaction",
        "branch_summary",
        "session_info",
        "elide",
        "navigate",
        "model_change",
        "thinking_change",
        "jmfts:document",
        "odd",
    ]
)


@st.composite
def sessions(draw: st.DrawFn) -> Session:
    log = log_of([])
    for at in range(draw(st.integers(1, 4))):
        fields = draw(FIELDS)
        record = {"type": draw(KINDS), "id": f"e{at}", "parentId": None, **fields}
        line = json.dumps(record, ensure_ascii=draw(st.booleans()))
        log += line.encode("utf-8", "surrogatepass") + b"\n"
    return read(log)


@given(session=sessions(), fold=st.sampled_from([fold_case, fold_form]))
def test_finds_the_same_as_reading_every_text(session: Session, fold: Fold) -> None:
    texts = [session.text(at) for at in range(len(session))]
    folded = [fold(text) for text in texts]
    queries = {
        text[at : at + size] for text in folded for size in (3, 5, 9) for at in range(len(text))
    }
    for query in queries:
        pattern = pattern_of(query)
        if pattern is not None:
            naive = [at for at, text in enumerate(texts) if pattern.matches(text)]
            assert hits(session, query) == naive, query


# Where it stands


def spans(query: str, text: str, regex: bool = False) -> list[str]:
    pattern = pattern_of(query, regex=regex)
    assert pattern is not None
    return [text[start:stop] for start, stop in pattern.spans(text)]


@pytest.mark.parametrize(
    ("query", "text", "expected"),
    [
        ("aa", "aaaaa", ["aa", "aa"]),
        ("db", "The DB and the db", ["DB", "db"]),
        ("strasse", "STRASSE and straße.", ["STRASSE", "straße"]),
        ("s", "aßb", ["ß"]),
        ("ss", "sßs", ["sß", "s"]),
        ("é", "cafe\u0301 CAFÉ", ["e\u0301", "É"]),
        ("istanbul", "in İstanbul, ISTANBUL", ["İstanbul", "ISTANBUL"]),
        ("οδοσ", "ΟΔΟΣ οδος", ["ΟΔΟΣ", "οδος"]),
        ("plan", "ＰＬＡＮ B", ["ＰＬＡＮ"]),
        ("fi", "the ﬁle", ["ﬁ"]),
        ("👩", "a 👩‍💻 b", ["👩‍💻"]),
        ("日本", "こんにちは日本語", ["日本"]),
        ("x", "x\u0302y", ["x\u0302"]),
        ("b\nc", "a\nb\nc", ["b\nc"]),
        ("none of it", "é" * 40, []),
    ],
)
def test_spans_are_whole_characters(query: str, text: str, expected: list[str]) -> None:
    assert spans(query, text) == expected


@given(text=st.text(st.sampled_from(TRICKY), max_size=20), query=st.text(max_size=3))
def test_spans_are_in_order_and_hold_the_query(text: str, query: str) -> None:
    pattern = pattern_of(query) or pattern_of("a")
    assert pattern is not None
    found_spans = pattern.spans(text)
    assert bool(found_spans) == pattern.matches(text)
    ends = [0, *(at for span in found_spans for at in span), len(text)]
    assert ends == sorted(ends)
    assert all(start < stop for start, stop in found_spans)
    if len(found_spans) == 1:
        (start, stop), needle = found_spans[0], fold_case(pattern.query)
        assert needle in fold_case(text[start:stop])


# Regular expressions


def test_regular_expression() -> None:
    session = session_of_texts("error 12 at line 3", "Error 404", "no number")
    assert found(session, r"error \d+", regex=True) == ["m0", "m1"]
    assert found(session, r"Error \d+", regex=True) == ["m1"]
    assert found(session, r"^No \D+$", regex=True) == []
    assert found(session, r"^no \D+$", regex=True) == ["m2"]


@pytest.mark.parametrize(
    ("query", "text", "expected"),
    [
        (r"\Sb\D", "ABC", ["ABC"]),  # the upper case of an escape asks for nothing
        (r"(?P<Word>ab)", "AB", ["AB"]),
        (r"\p{Lu}x", "AX", ["AX"]),
        (r"strasse", "straße", ["straße"]),
        (r"a*", "baac", ["aa"]),
        (r"^b$", "a\nb\nc", ["b"]),
        (r"e", "e\u0301 e", ["e\u0301", "e"]),
    ],
)
def test_spans_of_a_regular_expression(query: str, text: str, expected: list[str]) -> None:
    assert spans(query, text, regex=True) == expected


def test_expression_that_matches_nothing_but_emptiness_finds_nothing() -> None:
    assert hits(session_of_texts("abc"), "z*", regex=True) == []


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("(unclosed", r"not a regular expression: missing \) at character 10"),
        ("a{2", None),
        ("[z-a]", "not a regular expression: bad character range.* at character"),
        ("*", "not a regular expression: nothing to repeat at character"),
        ("(?P<n>a)(?P<n", "not a regular expression"),
    ],
)
def test_bad_expression_says_what_and_where(query: str, reason: str | None) -> None:
    if reason is None:
        assert pattern_of(query, regex=True) is not None
    else:
        with pytest.raises(QueryError, match=reason):
            pattern_of(query, regex=True)


def test_expression_without_end_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tau_browser.search.find._PATIENCE", 0.01)
    session = session_of_texts("a" * 64 + "!")
    with pytest.raises(QueryError, match="takes too long"):
        hits(session, "(?:a|aa)+$", regex=True)


# One line around the first match


def test_snippet_of_a_short_text_is_all_of_it() -> None:
    assert snippet("a needle", [(2, 8)]) == snippet("a needle", [(2, 8)], width=8)
    assert snippet("a needle", [(2, 8)]).text == "a needle"


def test_snippet_marks_stand_where_the_matches_stand() -> None:
    text = "x" * 300 + "\nneedle\x1b[31m needle " + "y" * 300
    pattern = pattern_of("needle")
    assert pattern is not None
    around = snippet(text, pattern.spans(text), width=60)
    assert len(around.text) <= 62
    assert around.text.startswith("…") and around.text.endswith("…")
    assert "␤needle␛[31m needle" in around.text
    assert [around.text[start:stop] for start, stop in around.marks] == ["needle", "needle"]


def test_snippet_cuts_a_match_that_is_too_long() -> None:
    around = snippet("x" * 500, [(0, 500)], width=20)
    assert around.text == "x" * 20 + "…"
    assert around.marks == [(0, 20)]


def test_snippet_without_match_is_the_start() -> None:
    assert snippet("abc", []) == snippet("abc", [], width=3)
    assert snippet("", []).text == ""


@given(text=st.text(st.sampled_from(TRICKY), max_size=60), width=st.integers(1, 30), data=st.data())
def test_snippet_is_one_safe_line(text: str, width: int, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, max(0, len(text) - 1)))
    found_spans = [(start, start + 1)] if text else []
    around = snippet(text, found_spans, width)
    assert len(around.text) <= width + 2
    assert not set(around.text) & {"\n", "\r", "\ud800"}
    assert all(0 <= at < stop <= len(around.text) for at, stop in around.marks)
    assert len(around.marks) == len(found_spans)
