"""What can be told to be missing from what agmem stored: cut, overwritten, counted twice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tau_browser.model.text import counted
from tau_browser.stores.agmem.records import (
    FILE_LIMIT,
    SESSION_LIMIT,
    SHORTEST,
    Commit,
    Observation,
)

_LISTED = 10  # observations that the message of a commit names
_BODY = "Captured observations:\n"


def of_observation(observation: Observation, *, has_whole: bool = False) -> Iterator[str]:
    """What is wrong with one observation."""
    if observation.is_cut and not has_whole:
        at_session = observation.result is not None and len(observation.result) == SESSION_LIMIT
        limit = SESSION_LIMIT if at_session else FILE_LIMIT
        yield f"its result was cut at {limit:,} characters when it was stored: the rest is nowhere"


def of_commit(
    commit: Commit, found: Sequence[Observation], gone: int, emptied: int = 0
) -> Iterator[str]:
    """What is wrong with a commit. found: the observations that it added · gone: files that its
    parent has and it has not · emptied: files that a merge left empty."""
    count = commit.counted
    if count is not None and count != len(found):
        yield from _miscounted(commit, count, len(found))
    if gone and commit.parents:
        yield (
            f"{counted(gone, 'file')} of its parent not in it: agmem commits only what is staged, "
            "and what is not staged is missing from the history that follows"
        )
    if emptied:
        yield (
            f"{counted(emptied, 'file')} empty after the merge: agmem brings back so what one side "
            "had deleted"
        )


def of_daemon() -> str:
    """What holds of everything that agmem's daemon captured."""
    return (
        f"agmem's daemon drops results of 1 to {SHORTEST - 1} characters, short errors among them: "
        "how many there were cannot be told"
    )


def _miscounted(commit: Commit, count: int, found: int) -> Iterator[str]:
    distinct = count // _repeats(commit.message, count)
    if distinct < count:
        yield (
            f"it counts {count:,} observations, but crash recovery wrote each of {distinct:,} down "
            f"{count // distinct:,} times"
        )
    if found < distinct:
        yield (
            f"{counted(distinct, 'observation')} captured, {found:,} here: "
            f"{distinct - found:,} overwritten by a later call of the same tool in the same second"
        )
    elif found > distinct:
        yield f"it counts {counted(distinct, 'observation')} and holds {found:,}"


def _repeats(message: str, count: int) -> int:
    """How many times the message lists the same observations in the same order; 1 where it is not
    long enough to tell, or where one line alone repeats: those may be different calls."""
    lines = message.partition(_BODY)[2].split("\n")[:_LISTED]
    lines = [line for line in lines if line.startswith("- ")]
    for length in range(2, len(lines) // 2 + 1):
        if count % length == 0 and all(line == lines[at % length] for at, line in enumerate(lines)):
            return count // length
    return 1
