"""A scan finds every entry whose text holds what is sought, and nothing else."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tau_browser.search import candidates
from tau_browser.search.factors import factor_of
from tau_browser.search.filtering import Filtering, ReadSessions
from tau_browser.search.find import QueryError
from tau_browser.search.folding import fold_case
from tau_browser.search.matching import pattern_for
from tau_browser.search.prefilter import ASCII_SPELLINGS, WORD
from tau_browser.search.query import BadQuery, parse
from tau_browser.search.scan import Hit, scan
from tau_browser.stores.session_file import load_session
from tests.conftest import DATA, HEADER, log_of, message
from tests.search.conftest import Indexed

CASES = [
    pytest.param(path.parent, search, id=f"{path.parent.name[:2]}-{search.get('q', 'long')[:16]!r}")
    for path in sorted((DATA / "bugcases").glob("*/expect.json"))
    for search in json.loads(path.read_bytes()).get("search", [])
    if (path.parent / "sessions").exists() and search.get("mode") != "terms"
]
SESSIONS = sorted(str(path) for path in (DATA / "tau").rglob("*.jsonl"))


@pytest.fixture(params=["ripgrep", "python"])
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """With the rg program, and as if there were none."""
    if request.param == "python":
        monkeypatch.setattr(candidates, "ripgrep", lambda: None)
    elif candidates.ripgrep() is None:
        pytest.skip("there is no rg")
    return str(request.param)


def hits(query: str, *paths: Path | str) -> list[Hit]:
    parsed = parse(query)
    filtering = Filtering(parsed, "tau", ReadSessions().of)
    batches = scan(parsed, [str(path) for path in paths])
    return [hit for batch in batches for hit in batch if filtering.passes(hit)]


def found(query: str, *paths: Path | str) -> list[str]:
    return sorted(str(hit.record.get("id")) for hit in hits(query, *paths))


def quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def naive(query: str, path: Path | str) -> set[tuple[int, int]]:
    """The byte ranges of the entries that hold all the terms, by looking at every text."""
    patterns = [(pattern_for(term), term.negated) for term in parse(query).terms]
    return {
        row
        for row, text in texts(str(path), hash(Path(path).read_bytes()))
        if all(pattern.matches(text) != no for pattern, no in patterns)
    }


@lru_cache(maxsize=200)
def texts(path: str, _contents: int) -> list[tuple[tuple[int, int], str]]:
    """The entries of a session: byte range and text."""
    session = load_session(path)
    return [(session.columns.row(place), session.text(place)) for place in range(len(session))]


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize(("case", "search"), CASES)
def test_stored_example(case: Path, search: dict[str, Any]) -> None:
    times = search.get("q_repeat", [])
    text = times[0] * times[1] if times else search["q"]
    if not text.strip("\u200b \t\n"):
        return
    ids = found(quoted(text), *(case / "sessions").rglob("*.jsonl"))
    if search["hits"] == ["*"]:
        assert ids
    elif search["hits"] is not None:
        assert set(ids) == set(search["hits"])
    if "count" in search:
        assert len(ids) == search["count"]


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize(
    "query",
    [
        '"config"',
        '"resumes at"',
        "/gpt-\\d/",
        "/[A-Za-z]+_[a-z]+/",
        "/^tool/",
        "/e.{3,9}t/",
        "/\\w+\\(/",
        "the -and",
        '"…"',
        '"é"',
        "/\\d{4}/",
        "/(error|Error): \\w+/",
    ],
)
def test_all_sessions_against_a_naive_scan(query: str) -> None:
    for path in SESSIONS:
        assert {(hit.start, hit.stop) for hit in hits(query, path)} == naive(query, path), path


@pytest.mark.usefixtures("engine")
def test_damaged_sessions_against_a_naive_scan() -> None:
    for path in sorted((DATA / "bugcases").rglob("*.jsonl")):
        if path.is_file() and not path.name.startswith("."):
            expected = naive('"e"', path)
            assert {(hit.start, hit.stop) for hit in hits('"e"', path)} == expected, path


@pytest.mark.usefixtures("engine")
def test_placeholders_and_headers_are_no_hits(tmp_path: Path) -> None:
    records = [
        message("a", None, "needle draft", "assistant", status="incomplete"),
        message("b", "a", "needle"),
        message("a", None, "needle whole", "assistant"),
        message("b", "a", "needle"),
        message("c", "b", "needle", "assistant", status="incomplete"),
    ]
    path = tmp_path / "s.jsonl"
    path.write_bytes(log_of(records, HEADER | {"cwd": "/needle"}))
    texts = [hit.record["message"]["content"][0]["text"] for hit in hits('"needle"', path)]
    assert sorted(texts) == ["needle", "needle", "needle whole"]


@pytest.mark.usefixtures("engine")
def test_odd_paths_and_files(tmp_path: Path) -> None:
    log = log_of([message("m", None, "needle")])
    paths = []
    for name in ("a b.jsonl", "-x.jsonl", "new\nline.jsonl", "é:1.jsonl", "no-end.jsonl"):
        paths.append(tmp_path / name)
        paths[-1].write_bytes(log.rstrip(b"\n") if "end" in name else log)
    gone = tmp_path / "gone.jsonl"
    assert len(hits('"needle"', *paths, gone)) == len(paths)


def test_many_files_and_cancelling(tmp_path: Path) -> None:
    log = log_of([message("m", None, "needle")])
    folder = tmp_path / ("x" * 200)
    folder.mkdir()
    paths = [folder / f"{at:04}.jsonl" for at in range(700)]
    for path in paths:
        path.write_bytes(log)
    assert len(hits('"needle"', *paths)) == 700
    some = scan(parse('"needle"'), [str(path) for path in paths], cancelled=lambda: True)
    assert sum(map(len, some)) < 700


def test_an_expression_without_end_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tau_browser.search.find._PATIENCE", 0.01)
    path = tmp_path / "s.jsonl"
    path.write_bytes(log_of([message("m", None, "a" * 64 + "!")]))
    with pytest.raises(QueryError, match="too long"):
        hits(r"/(a|aa)+$/", path)


@pytest.mark.usefixtures("engine")
def test_filters(tmp_path: Path) -> None:
    one, two = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    model = {"type": "model_change", "id": "c", "parentId": None, "model": "opus"}
    first = [
        model,
        message("a", "c", "x"),
        message("b", "a", "x", "assistant"),
        message("d", "a", "x", timestamp="2026-04-01T00:00:00.000Z"),
    ]
    one.write_bytes(log_of(first, HEADER | {"cwd": "/work/one"}))
    two.write_bytes(log_of([message("e", None, "x")], HEADER | {"cwd": "/work/two"}))
    for condition, expected in {
        "role:user": "ade",
        "-role:user": "b",
        "project:/ONE": "abd",
        "-project:/one": "e",
        "branch:active": "ade",
        "branch:abandoned": "b",
        "model:opus": "abd",
        "since:2026-04-01": "d",
        "until:2026-03-31": "abe",
        "role:user role:assistant": "abde",
        "store:tau": "abde",
        "store:jmfts": "",
        "is:error": "",
    }.items():
        assert found(f'"x" {condition}', one, two) == list(expected), condition


# Nothing is missed for the sake of speed

PLAIN = ["needle", "Needle", "NEEDLE", "true", "null", "image", "a.b", "x/y", "1e5", "a-b_c", "v12"]
SPELT_OTHERWISE = ["ﬁle", "fi\u0307le", "ＮＥＥＤＬＥ", "Kelvin", "neeﬄe", "ⓃⒺⒺ", "𝐚𝐛𝐜", "straße"]
STRINGS = st.lists(
    st.sampled_from([*PLAIN, *SPELT_OTHERWISE, " ", "\n", '"', "\\", ": ", "é", "索引"])
    | st.text(max_size=3),
    max_size=4,
).map("".join)
LEAVES = STRINGS | st.integers() | st.floats() | st.booleans() | st.none()
VALUES = st.recursive(
    LEAVES, lambda below: st.dictionaries(STRINGS, below, max_size=2), max_leaves=4
)
EXPRESSIONS = st.lists(
    st.sampled_from(
        [
            *("needle", "Needle", "fi", "file", "a", "x", "1", "-", "_", ":", " ", "s{2}", "k"),
            *(
                r"\d",
                r"\w",
                ".",
                "[a-f]",
                "[^a]",
                r"\b",
                "(nee|fil)",
                "(a|)",
                "e+",
                "e*",
                "l?",
                "ss",
            ),
            *(
                r"\d+",
                r"\w{2,}",
                "^",
                "$",
                r"\n",
                "(?=d)",
                "l?",
                "[A-Z]{3}",
                "true",
                "e.le",
                "(?i:X)",
            ),
        ]
    ),
    min_size=1,
    max_size=4,
).map("".join)


def _log(values: list[Any], escaped: bool) -> bytes:
    records = []
    for at, value in enumerate(values):
        call = {"type": "toolCall", "id": "c", "name": "t", "arguments": value}
        content = [{"type": "text", "text": value}] if isinstance(value, str) else [call]
        records.append(message(f"m{at}", None) | {"message": {"role": "user", "content": content}})
    lines = [HEADER, *records]
    spelled = [json.dumps(line, ensure_ascii=escaped) for line in lines]
    return "".join(f"{line}\n" for line in spelled).encode("utf-8", "surrogatepass")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    base = tmp_path_factory.mktemp("scan")
    yield base
    shutil.rmtree(base)


@given(
    values=st.lists(STRINGS | VALUES, min_size=1, max_size=4),
    escaped=st.booleans(),
    needle=STRINGS,
    cut=st.tuples(st.integers(0, 12), st.integers(1, 6)),
)
def test_texts_are_never_missed(
    folder: Path, values: list[Any], escaped: bool, needle: str, cut: tuple[int, int]
) -> None:
    path = folder / "text.jsonl"
    path.write_bytes(_log(values, escaped))
    first = values[0] if isinstance(values[0], str) else needle
    for text in (needle, first[cut[0] : sum(cut)]):
        query = quoted(text)
        if parse(query).sought and len(parse(query).terms) == 1:
            assert {(hit.start, hit.stop) for hit in hits(query, path)} == naive(query, path), query


@given(values=st.lists(STRINGS | VALUES, min_size=1, max_size=4), expression=EXPRESSIONS)
@example(values=["seventeen 17"], expression=r"\d+")
@example(values=[{"a": 1e22}], expression=r"e\+2")
@example(values=["ﬁle"], expression="file")
def test_expressions_are_never_missed(folder: Path, values: list[Any], expression: str) -> None:
    path = folder / "expression.jsonl"
    path.write_bytes(_log(values, True))
    query = f"/{expression}/"
    try:
        parsed = parse(query, now=datetime.now(UTC))
    except BadQuery:
        return
    if len(parsed.terms) == 1:
        assert {(hit.start, hit.stop) for hit in hits(query, path)} == naive(query, path), query


def test_every_other_spelling_of_ascii_is_known() -> None:
    ranges = re.sub(r"\\x\{(\w+)\}", lambda found: f"\\U{int(found[1], 16):08x}", ASCII_SPELLINGS)
    known = re.compile(ranges)
    assert known.fullmatch("\u0307")
    missed = [
        hex(code)
        for code in range(0x80, 0x110000)
        if not 0xD800 <= code < 0xE000
        and any(WORD.fullmatch(char) for char in fold_case(chr(code)))
        and not known.fullmatch(chr(code))
    ]
    assert missed == []


@pytest.mark.parametrize(
    ("expression", "factor"),
    [
        ("needle", "needle"),
        ("fo+bar", "f(?:o){1,}bar"),
        ("error.*timeout", "timeout"),
        (r"\bneedle\b$", "needle"),
        (r"self\.\w+_error", "self"),  # every tool result has an is_error
        (r"[A-C]{3}-\d{4}", None),
        ("(foo|bar)x", "(?:foo|bar)x"),
        (r"\d{4}", None),
        ("tru.", None),
        ("nul+", None),
        ("x*", None),
        ("(a|)bc", "bc"),
        (r"\p{Lu}abc", None),
        ("[[:alpha:]]abc", None),
        ("(?:abc){e<=1}", None),
        ("(?x) a b c", None),
        ("(", None),
    ],
)
def test_factors(expression: str, factor: str | None) -> None:
    found = factor_of(expression, any_case=False)
    assert found == factor or (expression.startswith("[A-C]") and found is not None)


def test_files_that_are_known_to_be_plain_need_not_be_looked_into(tmp_path: Path) -> None:
    indexed = Indexed(tmp_path)
    indexed.write("plain", [message("a", None, "needle")])
    path = indexed.write("escaped", [message("b", None, "x")])
    path.write_bytes(path.read_bytes().replace(b'"x"', b'"\\u006eeedle"'))
    indexed.update()
    known = indexed.reader.plain_paths()
    assert known == {str(indexed.root / "plain.jsonl")}
    paths = sorted(map(str, indexed.root.iterdir()))
    batches = scan(parse('"needle"'), paths, plain=known)
    assert sorted(str(hit.record["id"]) for hits in batches for hit in hits) == ["a", "b"]
    indexed.append("plain", [message("c", "a", "\u00e9")])
    assert indexed.reader.plain_paths() == set()  # until it is indexed again
