"""An index survives its writer: killed, out of space, or two at once; and it survives damage."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tau_browser.search.index.folder import Files, NoIndex
from tau_browser.search.index.reader import Reader
from tests.conftest import message
from tests.search.conftest import Indexed

ENTRIES = 20
SESSIONS = 6

# Indexes a store and says so after each commit; small commits, so that there are many.
WRITER = """
import resource, signal, sys
from pathlib import Path
from tau_browser.search.index import entries, writer
from tau_browser.search.index.update import update
from tau_browser.stores.tau_file import TauFileStore

root, folder, limit = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
entries._SLICE = writer._COMMIT_DOCUMENTS = 10
if limit:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
commit = writer.Writer.commit

def said(self):
    commit(self)
    print("committed", flush=True)

writer.Writer.commit = said
print(update(TauFileStore([root]), folder).problem, flush=True)
"""


def start(indexed: Indexed, limit: int = 0) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(indexed.root), str(indexed.folder), str(limit)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    )


def fill(indexed: Indexed, first: int = 0, count: int = SESSIONS) -> None:
    for number in range(first, first + count):
        indexed.write(
            f"s{number}",
            [message(f"m{at}", None, f"apple word{number}x{at}") for at in range(ENTRIES)],
        )


def is_whole(indexed: Indexed, sessions: int = SESSIONS) -> bool:
    """Whether every entry is found, by a word of its own and among all; and nothing else is."""
    some = [(0, 0), (sessions - 1, ENTRIES - 1), (sessions // 2, 7)]
    found = [indexed.found(f"word{number}x{at}") for number, at in some]
    expected = [[f"s{number}/m{at}"] for number, at in some]
    count = sessions * ENTRIES
    reader = indexed.reader
    return found == expected and indexed.matches("apple").total == reader.count == count


@pytest.mark.parametrize("commits", [1, 2, 7])
def test_a_killed_writer_leaves_what_it_committed(indexed: Indexed, commits: int) -> None:
    fill(indexed)
    with start(indexed) as process:
        assert process.stdout is not None
        for _ in range(commits):
            assert process.stdout.readline() == "committed\n"
        process.kill()
    if commits > 1:  # the first makes the empty index
        assert indexed.matches("apple").total >= 10
    report = indexed.update()
    assert not report.rebuilt and not report.problem
    assert is_whole(indexed)


def test_killing_it_again_and_again_loses_nothing(indexed: Indexed) -> None:
    rng = random.Random(3)
    for number in range(SESSIONS):
        fill(indexed, number, 1)
        with start(indexed) as process:
            assert process.stdout is not None
            for _ in range(rng.randint(1, 6)):
                process.stdout.readline()
            process.send_signal(signal.SIGKILL)
    report = indexed.update()
    assert not report.rebuilt
    assert is_whole(indexed)


def test_a_commit_that_reached_one_part_only_is_mended(
    indexed: Indexed, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(indexed, 0, 2)
    indexed.update()
    fill(indexed, 1, 2)  # one new session, and one as it was
    (indexed.root / "s0.jsonl").unlink()

    def dies(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("tau_browser.search.index.catalog.Catalog.set_meta", dies)
        with pytest.raises(KeyboardInterrupt):
            indexed.update()
    assert Files(indexed.folder).journal.exists()
    fill(indexed, 0, 1)  # back again, as it was
    report = indexed.update()
    assert not report.rebuilt and not Files(indexed.folder).journal.exists()
    assert is_whole(indexed, 3)


def test_two_processes_do_not_write_at_once(indexed: Indexed) -> None:
    fill(indexed)
    processes = [start(indexed) for _ in range(3)]
    outputs = [process.communicate()[0] for process in processes]
    done = [process.returncode == 0 for process in processes]
    assert any(done)
    assert all(ok or "committed" not in output for ok, output in zip(done, outputs, strict=True))
    indexed.update()
    assert is_whole(indexed)


def test_readers_are_not_blocked_by_a_writer(indexed: Indexed) -> None:
    fill(indexed, 0, 1)
    indexed.update()
    fill(indexed)
    with start(indexed) as process:
        assert process.stdout is not None
        seen = []
        for line in process.stdout:
            if line == "committed\n":
                seen.append(indexed.matches("apple").total)
    assert seen[0] >= ENTRIES and seen == sorted(seen)
    assert is_whole(indexed)


def test_a_full_disk_leaves_the_last_good_index(indexed: Indexed) -> None:
    fill(indexed, 0, 2)
    indexed.update()
    size = max(path.stat().st_size for path in indexed.folder.rglob("*") if path.is_file())
    for number in range(2, 8):
        words = " ".join(f"w{number}a{at}" for at in range(3000))
        indexed.write(f"s{number}", [message("m", None, words)])
    with start(indexed, limit=size + 2000) as process:
        output, _ = process.communicate()
    assert process.returncode == 0 and "the index cannot be written" in output
    assert indexed.matches("apple").total == 2 * ENTRIES
    assert not indexed.update().rebuilt
    assert indexed.found("w7a2999") == ["s7/m"]


def test_a_folder_that_cannot_be_made_is_said(indexed: Indexed, tmp_path: Path) -> None:
    (tmp_path / "index").write_text("in the way")
    report = indexed.update()
    assert "the index cannot be written" in report.problem and report.added == 0


def spoiled(folder: Path) -> Iterator[tuple[str, Path, bytes]]:
    """Ways to damage an index: (what, which file, what is in it then)."""
    catalog = folder / "catalog.db"
    yield "catalog of zeros", catalog, bytes(catalog.stat().st_size)
    yield "empty catalog", catalog, b""
    yield "half a catalog", catalog, catalog.read_bytes()[: catalog.stat().st_size // 2]
    for path in sorted((folder / "postings").iterdir()):
        if path.suffix in (".term", ".idx", ".fast", ".pos", ".store") or path.name == "meta.json":
            data = path.read_bytes()
            yield f"half of {path.suffix or path.name}", path, data[: len(data) // 2]
            yield f"no {path.suffix or path.name}", path, b""


def test_a_damaged_index_is_made_anew_and_said(tmp_path: Path) -> None:
    whole = Indexed(tmp_path / "whole")
    fill(whole, 0, 2)
    whole.update()
    for number, (what, path, data) in enumerate(spoiled(whole.folder)):
        indexed = Indexed(tmp_path / str(number))
        indexed.root = whole.root
        _copy(whole.folder, indexed.folder)
        for journal in ("catalog.db-wal", "catalog.db-shm"):
            (indexed.folder / journal).unlink(missing_ok=True)
        (indexed.folder / path.relative_to(whole.folder)).write_bytes(data)
        fill(whole, 0, 2)  # the same bytes at another time: they are looked at again
        try:
            indexed.matches("apple word1x1")
        except NoIndex as error:
            assert str(error), what
        report = indexed.update()
        assert report.rebuilt, what
        assert not report.problem, what
        assert is_whole(indexed, 2), what


def test_damage_that_only_a_reader_met_is_mended_by_the_next_writer(indexed: Indexed) -> None:
    fill(indexed, 0, 2)
    indexed.update()
    Files(indexed.folder).mark_damaged("a page made no sense")
    assert "a page made no sense" in indexed.update().rebuilt
    assert is_whole(indexed, 2)


def test_no_index_is_no_index(tmp_path: Path) -> None:
    with pytest.raises(NoIndex, match="nothing is indexed"):
        Reader(tmp_path)


def _copy(source: Path, target: Path) -> None:
    for path in source.rglob("*"):
        if path.is_file():
            copy = target / path.relative_to(source)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(path.read_bytes())
