"""What it costs to look through the files themselves, against bare ripgrep on the same files."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from pathlib import Path

from tau_browser.search.index.reader import Reader
from tau_browser.search.query import parse
from tau_browser.search.ripgrep import ripgrep
from tau_browser.search.scan import scan
from tests.benchmarks.measuring import in_turns, wall
from tests.benchmarks.table import Figure

_SAMPLE = 20_000_000  # characters


def figures(store: Path, reader: Reader) -> list[Figure]:
    """By the clock, as ripgrep works on all cores. None where there is no ripgrep."""
    paths = [str(path) for path in sorted(store.rglob("*.jsonl"))]
    plain = reader.plain_paths()
    program = ripgrep()
    if program is None:
        return []
    found = []
    for name, pattern, is_regex in _patterns(paths):
        query = f"/{pattern}/" if is_regex else f'"{pattern}"'
        command = [program, "--ignore-case", "--text", "--no-ignore", pattern, str(store)]
        ours, theirs = in_turns(
            [lambda q=query: [len(hits) for hits in scan(parse(q), paths, plain=plain)]],
            [lambda c=command: subprocess.run(c, stdout=subprocess.DEVNULL, check=False)],
            taken=wall,
        )
        found.append(Figure(f"a scan for {name} / bare ripgrep", ours[0] / theirs[0], 1.2))
    return found


def _patterns(paths: list[str]) -> list[tuple[str, str, bool]]:
    """What is sought: a name for it, the pattern, whether it is an expression."""
    text = "".join(Path(path).read_text() for path in paths[: max(1, len(paths) // 50)])
    words = Counter(re.findall(r"\b[a-z]{6,}\b", text[:_SAMPLE])).most_common()
    counted = [word for word, _ in words]
    return [
        ("what is nowhere", "zzyzx", False),
        ("a rare word", counted[len(counted) // 2], False),
        ("a frequent word", counted[60], False),
        ("an expression that matches little", "[b-d]{3}zz[a-f]", True),
        ("an expression that matches much", r"self\.\w+_[a-e]", True),
    ]
