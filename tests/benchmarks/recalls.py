"""What it costs to audit a store: against reading the lines of its tool calls, once."""

from __future__ import annotations

import itertools
import json
import os
import random
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import numpy as np

from tau_browser.audit.store_audit import whole_audit
from tau_browser.audit.totals import totals_of
from tau_browser.model.heads import decode_record
from tau_browser.model.payload import blocks_of
from tau_browser.model.session import records_at
from tau_browser.stores.session_file import load_session
from tau_browser.stores.targets import store_over
from tests.benchmarks.table import Figure
from tests.eval import corpus

_IN_A_SESSION = 1000
_RECALLS = 5  # for every session there is
_HITS = 5  # of a recall
_HIT_WORDS = 120
_USED = 4  # of so many recalls, one is cited and one quoted
_ROUNDS = 3
_USAGE = {
    "input_tokens": 1200,
    "output_tokens": 240,
    "cache_read_tokens": 8000,
    "cache_write_tokens": 0,
    "cache_reported": True,
    "total_tokens": 9440,
    "reasoning_tokens": None,
    "cost": {},
    "extra": {},
}


def figures(folder: Path, entries: int) -> list[Figure]:
    """A first audit, and a second one, against reading what a recall must stand in: with the
    recalls in a tenth of the sessions, and with as many in each."""
    return [
        figure
        for name, share in (("a tenth", 10), ("all", 1))
        for figure in _figures(folder / f"recalls-{entries}-{share}", entries, name, share)
    ]


def _figures(folder: Path, entries: int, name: str, share: int) -> list[Figure]:
    if not folder.is_dir():
        _write_sessions(folder, entries // _IN_A_SESSION, share)
    store = store_over([str(folder)], None)
    cache = folder.with_suffix(".cache")

    def first() -> None:
        shutil.rmtree(cache, ignore_errors=True)
        whole_audit(store, cache)

    paths = sorted(folder.rglob("*.jsonl"))
    bare, reading, auditing, again = (
        min(_cpu(run) for _ in range(_ROUNDS))
        for run in (
            lambda: _decode_calls(paths),
            lambda: _read_calls(paths),
            first,
            lambda: whole_audit(store, cache),
        )
    )
    count = totals_of(whole_audit(store, cache).audits).recalls
    label = f"{len(paths):,} sessions, {entries:,} entries, {count:,} recalls in {name} of them"
    return [
        Figure(f"an audit of {label} / reading the entries of tool calls", auditing / reading, 1.3),
        Figure("the same / a bare decode of their lines", auditing / bare, 1.3),
        Figure("the same audit opened again / reading them", again / reading, 0.1),
    ]


def _read_calls(paths: list[Path]) -> int:
    """Open the sessions and read the entries that hold a tool call or its result."""
    count = 0
    for path in paths:
        session = load_session(str(path))
        columns = session.columns
        places = np.flatnonzero(session.roles.where(columns.role, "assistant", "toolResult"))
        raws = records_at(session.source, columns, places.astype(np.int32))
        for raw in raws:
            if b'"toolCall"' in raw or b'"toolResult"' in raw:
                count += len(blocks_of(decode_record(raw)))
    return count


def _decode_calls(paths: list[Path]) -> int:
    """Decode the lines that hold a tool call or its result, without knowing where they stand."""
    decode = msgspec.json.Decoder().decode
    count = 0
    for path in paths:
        with path.open("rb") as file:
            for line in file:
                if b'"toolCall"' in line or b'"toolResult"' in line:
                    decode(line)
                    count += 1
    return count


def _cpu(run: Callable[[], object]) -> float:
    """CPU seconds, those of child processes too."""
    before = sum(os.times()[:4])
    start = time.process_time()
    run()
    own = time.process_time() - start
    return max(own, sum(os.times()[:4]) - before)


def _write_sessions(folder: Path, sessions: int, share: int) -> None:
    """Sessions of which one in `share` recalls, `share` times as often as there are recalls for
    each."""
    texts = (entry.text for entry in corpus.filler(sessions * _IN_A_SESSION))
    partial = folder.with_suffix(".partial")
    shutil.rmtree(partial, ignore_errors=True)
    for number in range(sessions):
        path = partial / f"--home-sam-p{number % 20}--" / f"{number:05}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        some = list(itertools.islice(texts, _IN_A_SESSION))
        recalls = 0 if number % share else _RECALLS * share
        path.write_text("".join(_lines(number, some, recalls)), encoding="ascii")
    partial.rename(folder)


def _lines(session: int, texts: list[str], recalls: int) -> Iterator[str]:
    """A session as τ writes it: a user, then calls with their results, then an answer, again and
    again, with searches of the memory spread over it."""
    header = {"type": "session", "version": 1, "id": f"{session:032x}", "cwd": f"/p{session % 20}"}
    yield json.dumps(header | {"timestamp": "2026-11-01T00:00:00.000Z", "parent": None}) + "\n"
    rng = random.Random(session)
    words = [word for text in texts for word in text.split() if word.isascii() and word.isalpha()]
    every = _IN_A_SESSION // recalls // 10 * 10 if recalls else 0
    above, call, name, use = None, "", "", ""
    for number, text in enumerate(texts):
        step = number % 10
        if step == 0:
            message: dict[str, object] = {"role": "user", "content": [_text(text)]}
        elif step % 2:
            call = f"call_{number:06}" if step < 9 else ""
            is_recall = bool(every) and number % every == 1 and number // every < recalls
            name = "jmfts_search" if is_recall else "bash"
            message = _assistant(f"{use} {text}".strip(), call, name)
            use = ""
        elif name == "jmfts_search":
            message, use = _hits(text, call, rng, words)
        else:
            details = {"exit_code": 0, "truncated": False, "bytes_written": len(text)}
            message = _result("\n".join([text] * 3), call, name, details)
        record = {
            "type": "message",
            "id": f"{session * _IN_A_SESSION + number:08x}",
            "parentId": above,
            "timestamp": f"2026-11-{1 + session % 28:02}T00:{number // 60 % 60:02}:00.000Z",
            "message": message,
        }
        yield json.dumps(record) + "\n"
        if rng.random() < 0.98 or above is None or name == "jmfts_search":
            above = record["id"]


def _assistant(text: str, call: str, name: str) -> dict[str, object]:
    content: list[dict[str, object]] = [_text(text)]
    if call:
        query = {"query": text[:60], "scope": "all"}
        arguments = query if name == "jmfts_search" else {"command": f"grep -rn {text[:80]!r} src"}
        content.append({"type": "toolCall", "id": call, "name": name, "arguments": arguments})
    return {
        "role": "assistant",
        "content": content,
        "api": "messages",
        "provider": "heron",
        "model": "heron-2",
        "response_id": "resp_0001",
        "usage": _USAGE,
        "stop_reason": "toolUse" if call else "stop",
        "error_message": None,
        "reasoning_level": None,
    }


def _hits(
    text: str, call: str, rng: random.Random, words: list[str]
) -> tuple[dict[str, object], str]:
    """The result of a search, and what the model then says of it."""
    ids = [rng.randint(1, 9999) for _ in range(_HITS)]
    shown = [" ".join(rng.choices(words, k=_HIT_WORDS))[:900] for _ in ids]
    blocks = [
        f"[doc {each}] Note {each} (usetype=note, score=0.016)\n{said}"
        for each, said in zip(ids, shown, strict=True)
    ]
    details = {"query": text[:60], "scope": "all", "parent_id": None, "hits": _HITS}
    cited, quoted = f"As [doc {ids[0]}] has it.", " ".join(shown[0].split()[:20])
    use = {0: cited, 1: quoted}.get(rng.randrange(_USED), "")
    return _result("\n\n".join(blocks), call, "jmfts_search", details), use


def _result(text: str, call: str, name: str, details: dict[str, object]) -> dict[str, object]:
    return {
        "role": "toolResult",
        "tool_call_id": call,
        "tool_name": name,
        "content": [_text(text)],
        "details": details,
        "is_error": False,
    }


def _text(text: str) -> dict[str, object]:
    return {"type": "text", "text": text}
