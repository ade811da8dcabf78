"""How soon a new line is found, and how soon a process that has just been started answers."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from statistics import median

from tau_browser.search.index.reader import Reader
from tau_browser.search.index.recent import Recent
from tau_browser.search.lexical import search
from tau_browser.search.query import parse
from tau_browser.stores.session_file import SessionFile
from tests.benchmarks.measuring import wall
from tests.benchmarks.table import Figure

_ROUNDS = 9
_ANSWER = """
import sys
from pathlib import Path
from statistics import median
from tau_browser.search.engine import Engine
from tau_browser.search.query import parse
from tau_browser.stores.targets import store_over
engine = Engine(store_over([sys.argv[1]], None), Path(sys.argv[2]))
assert engine.search(parse("how can this be made faster"), limit=50).hits
"""


def figures(store: Path, cache: Path, reader: Reader) -> list[Figure]:
    """Milliseconds from a line to its being found; seconds to the first whole answer."""
    command = [sys.executable, "-c", _ANSWER, str(store), str(cache)]
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    cold = [
        wall(lambda: subprocess.run(command, check=True, env=environment)) for _ in range(_ROUNDS)
    ]
    return [
        Figure(
            "until a new line of a followed session is found, median",
            median(_new_lines(store, reader)) * 1000,
            100,
            "ms",
        ),
        Figure("until a process that was just started has answered", min(cold), 1, "s"),
    ]


def _new_lines(store: Path, reader: Reader) -> list[float]:
    path = store.parent / "followed.jsonl"
    shutil.copy(next(store.rglob("*.jsonl")), path)
    file = SessionFile(str(path))
    *_, last = file.load()
    assert last.session is not None
    recent = Recent(reader)
    recent.follow(str(path), last.session)
    taken = []
    for number in range(_ROUNDS):
        message = {"role": "user", "content": f"sighting{number}"}
        record = {"type": "message", "id": f"n{number}", "parentId": None, "message": message}
        with path.open("a") as out:
            out.write(json.dumps(record) + "\n")

        def follow_and_find(word: str = f"sighting{number}") -> None:
            recent.follow(str(path), file.follow())
            assert search(reader, parse(word), limit=1, recent=recent).total == 1

        taken.append(wall(follow_and_find))
    file.close()
    path.unlink()
    return taken
