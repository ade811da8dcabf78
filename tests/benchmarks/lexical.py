"""What it costs to index a store and to search it, against bare tantivy and bare ripgrep."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median

import msgspec
import tantivy

from tau_browser.search.candidates import ripgrep
from tau_browser.search.documents import Part, document_of
from tau_browser.search.highlight import Highlighter
from tau_browser.search.index.folder import Files
from tau_browser.search.index.postings import EXTRA, STEM, open_postings, written
from tau_browser.search.index.reader import Reader
from tau_browser.search.index.recent import Recent
from tau_browser.search.index.update import update
from tau_browser.search.lexical import search
from tau_browser.search.query import parse
from tau_browser.search.scan import scan
from tau_browser.search.texts import Texts
from tau_browser.stores.session_file import SessionFile
from tau_browser.stores.tau_file import TauFileStore
from tests.benchmarks.table import Figure

_SESSION = 250  # entries
_ROUNDS = 3
_QUERIES = 40
_SHOWN = 50  # hits
_FIELDS = [*Part, STEM, EXTRA]


def figures(folder: Path, entries: int) -> list[Figure]:
    """Build, queries by class, scans, the first sight of a new line, a cold start."""
    store = folder / f"store-{entries}"
    if not store.exists():
        write_store(store, entries)
    index = folder / f"index-{entries}"
    shutil.rmtree(index, ignore_errors=True)
    source = sum(path.stat().st_size for path in store.rglob("*.jsonl"))

    built = _cpu(lambda: update(TauFileStore([str(store)]), index))
    bare = _cpu(lambda: _bare_build(store, folder / "bare"))
    size = Files(index).size()
    found = [
        Figure(f"CPU to index an entry, of {entries:,}", built / entries * 1000, 1 / 1.5, "ms"),
        Figure("the same / bare tantivy: decoding, and the same fields", built / bare, 1 / 0.6),
        Figure("bytes of the index without vectors / bytes of the sessions", size / source, 0.6),
    ]
    reader = Reader(index)
    found += _query_figures(reader, index)
    found += _scan_figures(store)
    seen = _new_line(store, reader)
    found.append(
        Figure("until a new line of a followed session is found, at most", seen, 100, "ms")
    )
    found.append(Figure("until a cold process has answered", _cold(index), 1, "s"))
    return found


def write_store(folder: Path, entries: int) -> None:
    """Write sessions of words, identifiers, code and logs, by chance but the same every time."""
    partial = folder.with_suffix(".partial")
    shutil.rmtree(partial, ignore_errors=True)
    rng = random.Random(5)
    words = _vocabulary(rng)
    for number in range(entries // _SESSION):
        path = partial / f"--work-{number % 40}--" / f"{number:06}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", encoding="ascii") as file:
            for record in _session(rng, words, number):
                file.write(json.dumps(record) + "\n")
    partial.rename(folder)


def _vocabulary(rng: random.Random) -> list[str]:
    letters = "etaoinshrdlucmfwypvbgkjqxz"
    lengths = rng.choices(range(3, 12), [9, 10, 9, 8, 7, 5, 4, 3, 2], k=40_000)
    words = ["".join(rng.choices(letters, range(26, 0, -1), k=length)) for length in lengths]
    parts = rng.choices(words, k=30_000)
    camel = [one + two.title() for one, two in zip(parts[::3], parts[1::3], strict=True)]
    snake = [f"{one}_{two}" for one, two in zip(parts[1::3], parts[2::3], strict=True)]
    return words + camel + snake


def _session(rng: random.Random, words: list[str], number: int) -> Iterator[object]:
    weights = [1 / rank for rank in range(1, len(words) + 1)]
    pool = iter(rng.choices(words, weights, k=_SESSION * 150))
    header = {"type": "session", "version": 1, "id": f"{number:032x}"}
    yield header | {"timestamp": _stamp(0), "cwd": f"/work/{number % 40}", "parent": None}
    parent = None
    for at in range(_SESSION):
        entry_id = f"{number * _SESSION + at:08x}"
        length = min(140, int(rng.lognormvariate(3.6, 1)) + 2)
        text = " ".join(next(pool, "end") for _ in range(length))
        role = rng.choices(("user", "assistant", "toolResult", "call"), (6, 23, 36, 35))[0]
        content: dict[str, object] = {"type": "text", "text": text}
        message: dict[str, object] = {"role": role, "content": [content]}
        if role == "call":
            command = {"command": text[:200], "path": f"/work/{text.split()[0]}.py"}
            content = {"type": "toolCall", "id": f"c{at}", "name": "bash", "arguments": command}
            message = {"role": "assistant", "content": [content], "model": "opus"}
        elif role == "toolResult":
            message |= {"tool_call_id": f"c{at - 1}", "tool_name": "bash", "is_error": False}
        envelope = {"type": "message", "id": entry_id, "parentId": parent, "timestamp": _stamp(at)}
        yield envelope | {"message": message}
        parent = entry_id if rng.random() > 0.02 else parent


def _stamp(at: int) -> str:
    return f"2026-11-01T10:{at // 60 % 60:02}:{at % 60:02}.000Z"


def _cpu(run: Callable[[], object]) -> float:
    """CPU seconds of all threads."""
    start = time.process_time()
    run()
    return time.process_time() - start


def _bare_build(store: Path, folder: Path) -> None:
    """The same documents in tantivy alone: no catalog, no tree, no freshness."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    writer = open_postings(str(folder)).writer(64 << 20, 1)
    decode = msgspec.json.Decoder().decode
    number = 0
    for path in sorted(store.rglob("*.jsonl")):
        with path.open("rb") as file:
            next(file)
            for line in file:
                number += 1
                writer.add_document(written(number, [1], document_of(decode(line), is_error=False)))
    writer.commit()
    writer.wait_merging_threads()


def _query_figures(reader: Reader, index: Path) -> list[Figure]:
    postings = open_postings(str(index / "postings"))
    found = []
    for kind, queries in _queries(reader).items():
        ours, bare = _alternate(
            [lambda q=q: search(reader, parse(q), limit=_SHOWN) for q in queries],
            [lambda q=q: _bare_search(reader, postings, q) for q in queries],
        )
        ratio = median(ours) / median(bare)
        found.append(Figure(f"a query of {kind} / bare tantivy, median", ratio, 1.5))
        late = _late(ours) / _late(bare)
        found.append(Figure(f"a query of {kind} / bare tantivy, 95th percentile", late, 3))
        shown = _late([_timed(lambda q=q: _show(reader, q)) for q in queries]) * 1000
        what = f"the same with {_SHOWN} highlighted texts, 95th percentile"
        found.append(Figure(what, shown, 60, "ms"))
    return found


def _late(times: Sequence[float]) -> float:
    return sorted(times)[int(len(times) * 0.95)]


def _queries(reader: Reader) -> dict[str, list[str]]:
    """Queries by class, out of what is there."""
    rng = random.Random(1)
    texts = Texts(reader)
    sample = [texts.text(rng.randrange(1, reader.count)).split() for _ in range(400)]
    long = [words for words in sample if len(words) >= 8]
    plain = [word for words in long for word in words if re.fullmatch("[a-z]{4,}", word)]
    names = [word for words in long for word in words if re.fullmatch("[a-z]+[A-Z_][a-z]+", word)]
    pairs = [words[at : at + 2] for words in long for at in range(0, 7, 3)]
    pairs = [(one, two) for one, two in pairs if one.isalpha() and two.isalpha()]
    return {
        "one word": rng.sample(plain, _QUERIES),
        "a sentence": [" ".join(words[:8]) for words in rng.sample(long, _QUERIES)],
        "an identifier": rng.choices(names, k=_QUERIES),
        "a phrase": [f'"{one} {two}"' for one, two in rng.sample(pairs, _QUERIES)],
        "a word with a filter": [f"role:user {word}" for word in rng.sample(plain, _QUERIES)],
    }


def _bare_search(reader: Reader, postings: tantivy.Index, query: str) -> object:
    words = query.removeprefix("role:user ")
    plain = re.sub(r'[^\w" ]', " ", words)  # the library's own language has other operators
    parsed = postings.parse_query(plain, [str(field) for field in _FIELDS])
    if words != query:
        role = tantivy.Query.term_query(postings.schema, "role", "user")
        both = [(tantivy.Occur.Must, parsed), (tantivy.Occur.Must, role)]
        parsed = tantivy.Query.boolean_query(both)
    return reader.searcher.search(parsed, _SHOWN)


def _show(reader: Reader, query: str) -> None:
    """What a screen does: search, then the first texts with their marks."""
    parsed = parse(query)
    matches = search(reader, parsed, limit=_SHOWN)
    highlighter, texts = Highlighter(parsed, matches.widened), Texts(reader)
    for key, _ in matches.hits:
        highlighter.marks(texts.text(key))
    texts.close()


def _scan_figures(store: Path) -> list[Figure]:
    paths = [str(path) for path in sorted(store.rglob("*.jsonl"))]
    program = ripgrep()
    if program is None:
        return []
    found = []
    for name, query, bare in (
        ("a substring that is rare", '"zzyzx"', "zzyzx"),
        ("an expression", "/[b-d]{3}zz[a-f]/", "[b-d]{3}zz[a-f]"),
    ):
        command = [program, "--ignore-case", "--text", "--no-ignore", "--count", bare, str(store)]
        ours, theirs = _alternate(
            [lambda q=query: [len(hits) for hits in scan(parse(q), paths)]],
            [lambda c=command: subprocess.run(c, stdout=subprocess.DEVNULL, check=False)],
        )
        found.append(Figure(f"a scan for {name} / bare ripgrep", min(ours) / min(theirs), 1.2))
    return found


def _new_line(store: Path, reader: Reader) -> float:
    """Milliseconds from a line being written to its being found."""
    path = store.parent / "followed.jsonl"
    shutil.copy(next(store.rglob("*.jsonl")), path)
    file = SessionFile(str(path))
    *_, last = file.load()
    assert last.session is not None
    recent = Recent(reader)
    recent.follow(str(path), last.session)
    taken = []
    for number in range(_ROUNDS * 3):
        record = {"type": "message", "id": f"n{number}", "parentId": None}
        record |= {"message": {"role": "user", "content": f"sighting{number}"}}  # type: ignore[dict-item]
        with path.open("a") as out:
            out.write(json.dumps(record) + "\n")
        start = time.perf_counter()
        recent.follow(str(path), file.follow())
        matches = search(reader, parse(f"sighting{number}"), limit=1, recent=recent)
        taken.append((time.perf_counter() - start) * 1000)
        assert matches.total == 1
    file.close()
    path.unlink()
    return max(taken)


def _cold(index: Path) -> float:
    code = f"""
from pathlib import Path
from tau_browser.search.index.reader import Reader
from tau_browser.search.lexical import search
from tau_browser.search.query import parse
search(Reader(Path({str(index)!r})), parse("work end"), limit=50)
"""
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    return min(
        _timed(lambda: subprocess.run([sys.executable, "-c", code], check=True, env=environment))
        for _ in range(_ROUNDS)
    )


def _alternate(
    ours: Sequence[Callable[[], object]], bare: Sequence[Callable[[], object]]
) -> tuple[list[float], list[float]]:
    """The least seconds of each over several rounds, ours and the others in turns."""
    least = [[float("inf")] * len(ours), [float("inf")] * len(bare)]
    for _ in range(_ROUNDS):
        for times, runs in zip(least, (ours, bare), strict=True):
            for at, run in enumerate(runs):
                times[at] = min(times[at], _timed(run))
    return least[0], least[1]


def _timed(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start
