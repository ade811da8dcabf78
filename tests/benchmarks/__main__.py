"""Prints the figures that the README shows: each a ratio against a peer or a limit."""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from pathlib import Path
from typing import NoReturn

from tests.benchmarks import (
    event_memory,
    formats,
    memory_repository,
    reading,
    recalls,
    screen,
    searching,
    starting,
)
from tests.benchmarks.sessions import chain, fan, forked, write_session
from tests.benchmarks.table import Figure, print_table


def main() -> None:
    """Measure, print a table, and exit with 1 if a limit is passed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entries", type=int, default=1_000_000)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "tau-bench")
    parser.add_argument(
        "--search", type=int, metavar="N", help="measure the search instead, over N entries"
    )
    parser.add_argument(
        "--recalls", type=int, metavar="N", help="measure the recall audit instead, over N entries"
    )
    parser.add_argument(
        "--jmfts", type=int, metavar="N", help="measure a JMFTS server instead, with N sessions"
    )
    arguments = parser.parse_args()
    folder, entries = arguments.folder, arguments.entries

    if arguments.search:
        show(searching.figures(folder, arguments.search))
    if arguments.recalls:
        show(recalls.figures(folder, arguments.recalls))
    if arguments.jmfts:
        from tests.benchmarks import server  # its environment takes minutes to make

        show(server.figures(folder, arguments.jmfts))
    large = write_session(folder / f"forked-{entries}.jsonl", entries, forked())
    small = write_session(folder / "forked-1000.jsonl", 1000, forked())
    deep = write_session(folder / "deep-50000.jsonl", 50_000, chain)
    wide = write_session(folder / "wide-20000.jsonl", 20_000, fan)

    figures: list[Figure] = [
        *reading.figures(large, entries),
        *reading.shape_figures({"50,000 deep": deep, "20,000 wide": wide}),
        *formats.figures(folder, min(entries, 200_000)),
        *event_memory.figures(min(entries, 200_000)),
        *memory_repository.figures(min(entries, 200_000)),
        *asyncio.run(screen.figures(small, large)),
        *starting.figures(folder),
    ]
    show(figures)


def show(figures: list[Figure]) -> NoReturn:
    """Print a table, and end with 1 if a limit is passed."""
    print_table(figures)
    raise SystemExit(any(figure.missed for figure in figures))


main()
