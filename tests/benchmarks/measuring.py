"""How times are taken: the CPU seconds of this process, ours and a peer's in turns."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

_ROUNDS = 7

Run = Callable[[], object]


def cpu(run: Run) -> float:
    """CPU seconds of all threads."""
    start = time.process_time()
    run()
    return time.process_time() - start


def wall(run: Run) -> float:
    """Seconds by the clock."""
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def in_turns(
    ours: Sequence[Run], others: Sequence[Run], taken: Callable[[Run], float] = cpu
) -> tuple[list[float], list[float]]:
    """The least of each over several rounds."""
    least = [[float("inf")] * len(ours), [float("inf")] * len(others)]
    for _ in range(_ROUNDS):
        for times, runs in zip(least, (ours, others), strict=True):
            for at, run in enumerate(runs):
                times[at] = min(times[at], taken(run))
    return least[0], least[1]


def late(times: Sequence[float]) -> float:
    """The 95th percentile."""
    return sorted(times)[int(len(times) * 0.95)]
