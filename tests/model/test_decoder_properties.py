"""The decoder takes any bytes in pieces of any size, and loses no record that is whole."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

from hypothesis import example, given
from hypothesis import strategies as st

from tau_browser.model.columns import Columns
from tau_browser.model.context import context_messages, fold_at, states
from tau_browser.model.decoder import Decoder, Log
from tau_browser.model.label import label_of, speaker_of
from tau_browser.model.session import session_of
from tau_browser.model.summary import summary_of
from tests.conftest import HEADER, Bytes, log_of, message, read

# Any bytes.

FRAGMENTS = [
    *(b"\n", b"\r\n", b"\x00\x00", b"\xff", b"\xef\xbb\xbf", b"\xff\xfe", b"\x1f\x8b", b"\x0b"),
    *(b"{", b"}", b"[", b"]", b",", b":", b" ", b'"', b"\\", b"{}", b"[]", b"1", b"null", b"NaN"),
    *(b'{"type":"session","id":"s"}', b'{"type":"session","version":9,"id":4}', b'{"type":'),
    *(
        b'{"type":"message","id":"a","parentId":null}',
        b'"id":"b"',
        b'"parentId":"a"',
        b'"message":',
    ),
    b'{"type":"message","id":"b","parentId":"a","message":{"role":"user","content":"hi"}}',
    b'{"type":"message","id":"b","parentId":"a","status":"incomplete","is_error":true}',
    b'{"type":"x","id":"c","parentId":"c","message":{"usage":{"input_tokens":1}}}',
    b'{"type":"compaction","id":"k","parentId":"b","firstKeptId":"a","summary":"s"}',
    b'{"type":"navigate","id":"n","parentId":"k","targetId":null}',
    b'{"id":7,"parent_id":"s"}',
    json.dumps(HEADER).encode(),
    json.dumps({"type": "x", "id": "\ud800", "parentId": "é"}, ensure_ascii=False).encode(
        "utf-8", "surrogatepass"
    ),
]
fragments = st.lists(st.sampled_from(FRAGMENTS) | st.binary(max_size=6), max_size=24)


@st.composite
def mangled_logs(draw: st.DrawFn) -> bytes:
    """A sound log, with stretches of it taken out or written over."""
    data = log_of([message("a", None, "ask"), message("b", "a", "é"), message("a", "b")])
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(0, len(data)))
        stop = start + draw(st.integers(0, 40))
        data = data[:start] + draw(st.sampled_from(FRAGMENTS) | st.just(b"")) + data[stop:]
    return data


any_bytes = fragments.map(b"".join) | mangled_logs()
cuts = st.lists(st.integers(0, 400), max_size=12)

CRLF_THEN_ODD = log_of([message("a", None)]).replace(b"\n", b"\r\n") + b'{"id": "b"}\r\n'
USAGE_THEN_ODD = (
    log_of([])
    + b'{"type":"x","id":"c","parentId":null,"message":{"usage":{"input_tokens":1}}}\n{"id":"b"}\n'
)
GLUED_THEN_BLANK = log_of([]) + b'{"type":"x","id":"a","parentId":null}{"type":"x","id":"b"}\n\n'


@given(any_bytes, cuts)
@example(b"\xef\xbb\xbf" + log_of([message("a", None)]), [1, 2])
@example(b"\xff\xfe{\x00}\x00\n\x00", [1])
@example(b"\n\xef\xbb\xbf", [1])
@example(b"{}\n" + log_of([]), [3])
@example(CRLF_THEN_ODD, [100, 200, 250])
@example(USAGE_THEN_ODD, [len(log_of([]))])
@example(GLUED_THEN_BLANK, [len(log_of([]))])
def test_the_log_is_the_same_for_every_chunking(data: bytes, cuts: list[int]) -> None:
    assert facts_of(log_in(pieces(data, cuts))) == facts_of(log_in([data]))


@given(any_bytes, cuts)
@example(CRLF_THEN_ODD, [])
@example(USAGE_THEN_ODD, [len(log_of([]))])
def test_looking_at_the_log_in_between_changes_nothing(data: bytes, cuts: list[int]) -> None:
    decoder = Decoder()
    for piece in pieces(data, cuts):
        decoder.feed(piece)
        session_of(decoder.log(), Bytes(data))
    assert facts_of(decoder.log()) == facts_of(log_in([data]))


@given(any_bytes, cuts)
@example(GLUED_THEN_BLANK, [len(log_of([]))])
def test_every_entry_stands_on_the_bytes_of_one_object(data: bytes, cuts: list[int]) -> None:
    columns = log_in(pieces(data, cuts)).columns
    ranges = [columns.row(at) for at in range(len(columns))]
    assert all(stop <= start for (_, stop), (start, _) in pairwise(ranges))
    for at, (start, stop) in enumerate(ranges):
        value = json.loads(data[start:stop].decode("utf-8", "surrogateescape"), strict=False)
        assert isinstance(value, dict)
        assert data.count(b"\n", 0, start) + 1 == columns.line[at]


@given(any_bytes, cuts)
def test_any_bytes_can_be_shown(data: bytes, cuts: list[int]) -> None:
    session = session_of(log_in(pieces(data, cuts)), Bytes(data))
    assert session.size == len(data)
    assert sorted(session.tree.order.tolist()) == list(range(len(session)))
    assert summary_of(session).entries == len(session)
    assert len(states(session, session.leaf)) == len(session)
    for place in range(len(session)):
        record = session.record(place)
        row = label_of(session, place, record) + speaker_of(record)
        assert "\n" not in row and "\x1b" not in row
        assert isinstance(session.text(place) + session.stamp(place), str)
        assert place in session.find(session.entry_id(place))
        assert place in fold_at(session, place).context
        assert context_messages(session, place) is not None


# Records, whole and harmed.


class Stretch(NamedTuple):
    """Bytes of a log, and the ids of the whole records in them, in order."""

    data: bytes
    ids: tuple[str, ...]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=6,
)
usages = st.dictionaries(
    st.sampled_from(["input_tokens", "output_tokens", "cache_read_tokens", "cost"]),
    st.integers(0, 2**65) | st.sampled_from([1.0, 1.5, None, True, -3, {}]),
)
messages = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant", "toolResult"])},
    optional={
        "content": json_values,
        "usage": usages | st.none(),
        "stop_reason": st.sampled_from(["stop", "error", "aborted", None, 5]),
        "is_error": st.sampled_from([True, False, None]),
    },
)
fields = st.fixed_dictionaries(
    {"type": st.sampled_from(["message", "navigate", "x:y", "customEntry", ""])},
    optional={
        "parentId": st.sampled_from([None, "e0", "e1", "e2", "gone", "", 1]),
        "timestamp": st.sampled_from(["2026-03-01T10:00:00.000Z", 5, None]),
        "status": st.sampled_from(["incomplete", 1]),
        "customType": st.sampled_from(["config", "turn_error", None]),
        "copiedFrom": st.just("e0"),
        "branchOf": st.just("e1"),
        "is_error": st.booleans(),
        "message": messages | st.none() | st.just("text"),
        "payload": json_values,
        "n": json_values,
    },
)


@st.composite
def damaged_logs(draw: st.DrawFn) -> tuple[bytes, list[str]]:
    """A log with a header, and the ids of all records in it that are whole."""
    numbers = iter(range(10_000))
    stretches = [
        draw(st.sampled_from(KINDS_OF_DAMAGE))(draw, numbers)
        for _ in range(draw(st.integers(0, 8)))
    ]
    data = log_of([]) + b"".join(stretch.data for stretch in stretches)
    if draw(st.booleans()):
        data = data.removesuffix(b"\n")
    return data, [name for stretch in stretches for name in stretch.ids]


def record(draw: st.DrawFn, numbers: Iterator[int]) -> Stretch:
    """One record without its line end. Ids are unique: what repeats is tested elsewhere."""
    name = f"e{next(numbers)}"
    spelling = draw(st.sampled_from([(", ", ": "), (",", ":")]))
    values = {"id": name, "parentId": None, **draw(fields)}
    text = json.dumps(values, ensure_ascii=draw(st.booleans()), separators=spelling)
    return Stretch(text.encode("utf-8", "surrogatepass"), (name,))


def whole(draw: st.DrawFn, numbers: Iterator[int]) -> Stretch:
    data, ids = record(draw, numbers)
    return Stretch(data + draw(st.sampled_from([b"\n", b"\r\n", b" \n", b"\n\n", b"\x00\n"])), ids)


def glued(draw: st.DrawFn, numbers: Iterator[int]) -> Stretch:
    one, two = record(draw, numbers), record(draw, numbers)
    between = draw(st.sampled_from([b"", b" ", b"\x00\x00", b"\r", b"[1]", b"5 "]))
    return Stretch(one.data + between + two.data + b"\n", one.ids + two.ids)


def torn(draw: st.DrawFn, numbers: Iterator[int]) -> Stretch:
    data = record(draw, numbers).data
    return Stretch(data[: draw(st.integers(1, len(data) - 1))] + b"\n", ())


def glued_to_torn(draw: st.DrawFn, numbers: Iterator[int]) -> Stretch:
    data = record(draw, numbers).data
    follows = typed(draw, numbers)
    # a tear inside a string swallows what follows up to its next quote, never all of it
    return Stretch(data[: draw(st.integers(1, len(data) - 1))] + follows.data + b"\n", follows.ids)


def typed(draw: st.DrawFn, numbers: Iterator[int]) -> Stretch:
    """A record as τ writes it: it starts with its type, so that it can be found behind a tear."""
    name = f"e{next(numbers)}"
    text = draw(st.text(alphabet="ab {}\\\"'é", max_size=8))
    return Stretch(json.dumps(message(name, None, text)).encode(), (name,))


def no_entry(draw: st.DrawFn, numbers: Iterator[int]) -> Stretch:
    scraps = [b"[1, 2]", b"42", b"null", b'"text"', b"oops", b"\xff\xfe", b"\x00" * 9, b"\x0b", b""]
    return Stretch(draw(st.sampled_from(scraps)) + b"\n", ())


def spelled_oddly(draw: st.DrawFn, numbers: Iterator[int]) -> Stretch:
    name = f"e{next(numbers)}"
    odd = draw(
        st.sampled_from(
            [
                *(b"NaN", b"-Infinity", b"1e999", b"9" * 5_000, b'"\\udcb2 \\ud83d"'),
                *(b'"caf\xe9"', b'"\x1b[31m"', b'"a\x00b"', b'"tab\there"'),
                *(b"[" * 100_000 + b"]" * 100_000, b'{"a": 1, "a": 2}'),
            ]
        )
    )
    start = f'{{"type": "message", "id": "{name}", "parentId": null, "x": '.encode()
    return Stretch(start + odd + b"}\n", (name,))


KINDS_OF_DAMAGE = [whole, whole, glued, torn, glued_to_torn, no_entry, spelled_oddly]


@given(damaged_logs(), cuts)
def test_every_whole_record_is_in_the_tree_once_and_nothing_else_is(
    log: tuple[bytes, list[str]], cuts: list[int]
) -> None:
    data, ids = log
    session = read(*pieces(data, cuts))
    assert Counter(session.ids(session.tree.order)) == Counter(ids)
    assert session.ids(range(len(session))) == ids


@given(damaged_logs())
def test_every_line_that_is_not_one_record_is_spoken_of(log: tuple[bytes, list[str]]) -> None:
    session = read(log[0])
    spoken_of = {finding.line for finding in session.diagnostics}
    entries = Counter(session.columns.line.tolist())
    for number, line in enumerate(log[0].split(b"\n")[1:], 2):
        if line.strip() and (entries[number] != 1 or not is_object(line)):
            assert number in spoken_of


@given(damaged_logs(), cuts)
def test_stretches_and_single_lines_read_alike(
    log: tuple[bytes, list[str]], cuts: list[int]
) -> None:
    assert facts_of(log_in(pieces(log[0], cuts))) == facts_of(log_line_by_line(log[0]))


@given(st.lists(fields, max_size=6), st.sampled_from([b"\n", b"\r\n"]))
def test_the_fast_reading_of_a_sound_log_agrees_with_the_slow_one(
    records: list[dict[str, Any]], line_end: bytes
) -> None:
    lines = [json.dumps({"id": f"e{at}", **values}) for at, values in enumerate(records)]
    data = log_of([]) + line_end.join([line.encode() for line in lines])
    for end in (b"", line_end):
        assert facts_of(log_in([log_of([]), data[len(log_of([])) :] + end])) == facts_of(
            log_line_by_line(data + end)
        )


def test_only_the_header_of_a_sound_log_is_read_line_by_line() -> None:
    decoder = Watched()
    decoder.feed(log_of([message(f"e{i}", None, "é") for i in range(9)]))
    assert decoder.read_slowly == [log_of([])]
    assert len(decoder.log().columns) == 9


# Helpers.


def pieces(data: bytes, cuts: list[int]) -> list[bytes]:
    """The data cut at these places, in order; places beyond its end count from its start again."""
    places = sorted({cut % (len(data) + 1) for cut in cuts} | {0})
    return [data[start:end] for start, end in zip(places, [*places[1:], len(data)], strict=True)]


def log_in(parts: list[bytes]) -> Log:
    decoder = Decoder()
    for part in parts:
        decoder.feed(part)
    return decoder.log()


class LineByLine(Decoder):
    """A decoder that reads every line as it reads the odd ones."""

    def _fast(self, lines: bytes) -> None:
        return None


class Watched(Decoder):
    """A decoder that remembers what it had to read line by line."""

    def __init__(self) -> None:
        super().__init__()
        self.read_slowly: list[bytes] = []

    def _slow(self, lines: bytes) -> Columns:
        self.read_slowly.append(lines)
        return super()._slow(lines)


def log_line_by_line(data: bytes) -> Log:
    decoder = LineByLine()
    decoder.feed(data)
    return decoder.log()


def facts_of(log: Log) -> dict[str, Any]:
    """All that a log says, without the codes and indexes that depend on what was read when."""
    columns = log.columns
    kinds, roles = list(log.kinds), list(log.roles)
    return {
        "header": repr(log.header),
        "size": log.size,
        "diagnostics": log.diagnostics,
        "ranges": [columns.row(at) for at in range(len(columns))],
        "lines": columns.line.tolist(),
        "keys": columns.key.tolist(),
        "parents": columns.parent.tolist(),
        "kinds": [kinds[code] for code in columns.kind],
        "roles": [roles[code] for code in columns.role],
        "flags": columns.flags.tolist(),
        "usage": [log.usage[at] if at >= 0 else None for at in columns.usage],
        "usages": len(log.usage),
    }


def is_object(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line, parse_int=str, strict=False), dict)
    except (ValueError, RecursionError):
        return False
