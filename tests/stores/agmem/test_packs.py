"""Packs, those that agmem itself cannot read among them."""

from __future__ import annotations

import hashlib
import subprocess
import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tau_browser.stores.agmem.objects import Objects
from tau_browser.stores.agmem.packs import Damaged, Pack, apply_delta
from tau_browser.stores.store import StoreError
from tests.environments import AGMEM, environment
from tests.stores.agmem.conftest import Read, drawn
from tests.stores.agmem.made import commit, start

_PACK = """
import sys
from pathlib import Path
from memvcs.core.objects import ObjectStore
from memvcs.core.pack import list_loose_objects, write_pack, write_pack_with_delta
folder = Path(sys.argv[1])
store = ObjectStore(folder)
kinds = {id: kind for kind in ("blob", "tree", "commit") for id in store.list_objects(kind)}
(write_pack_with_delta if sys.argv[2] == "delta" else write_pack)(folder, store, kinds)
for id, kind in kinds.items():
    store.delete(id, kind)
"""


def contents(folder: Path) -> dict[str, bytes]:
    objects = Objects(str(folder))
    found = {}
    for kind in ("blob", "tree", "commit"):
        for object_id in objects.ids(kind):
            read = objects.read(object_id, kind)
            assert not read.harm
            found[object_id] = read.content
    return found


@pytest.fixture
def loose(tmp_path: Path) -> Path:
    """The objects of a repository with similar files, which agmem packs as deltas."""
    repo = start(tmp_path / "repo")
    text = "\n".join(f"line {at} of a long memory" for at in range(60))
    for at in range(4):
        commit(repo, {f"semantic/{n}.md": f"{text}\nand {n} at {at}" for n in range(at + 1)})
    return repo / ".mem" / "objects"


@pytest.mark.slow
@pytest.mark.parametrize("way", ["plain", "delta"])
def test_reads_what_agmem_packs(loose: Path, way: str) -> None:
    before = contents(loose)
    subprocess.run([environment(*AGMEM), "-c", _PACK, loose, way], check=True)
    assert not list(loose.glob("blob/*/*"))
    assert contents(loose) == before
    (pack,) = Objects(str(loose)).packs
    assert any(item.base for item in pack.items.values()) == (way == "delta")
    (index,) = loose.glob("pack/*.idx")
    index.unlink()
    assert contents(loose) == before  # without its index, too


def test_reads_what_repack_left(agmem: Path, read_repo: Read) -> None:
    lines = drawn(read_repo(agmem / "bugs" / "b16-repack"))
    assert [line.strip() for line in lines if ".md" in line] == [
        f"file: semantic/{at}.md" for at in range(6)
    ]


def pack_of(folder: Path, *items: bytes) -> Path:
    path = folder / "pack" / "pack-x.pack"
    path.parent.mkdir(parents=True)
    body = b"PACK" + (2).to_bytes(4) + len(items).to_bytes(4) + b"".join(items)
    path.write_bytes(body + hashlib.sha256(body).digest())
    return path


def item(kind: int, data: bytes, base: bytes = b"") -> bytes:
    packed = zlib.compress(data)
    return bytes([kind]) + len(packed).to_bytes(4) + base + packed


def test_a_delta_without_its_base_is_told_and_spares_the_rest(tmp_path: Path) -> None:
    path = pack_of(tmp_path, item(5, b"\x02", b"\x07" * 16), item(1, b"blob 1\0x"))
    pack = Pack(str(path))
    assert list(pack.items) == [hashlib.sha256(b"blob 1\0x").hexdigest()]
    assert any("is lost: a delta upon 07070707" in note for note in pack.notes)


def test_what_is_no_pack_is_told(tmp_path: Path) -> None:
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "a.pack").write_bytes(b"nothing")
    objects = Objects(str(tmp_path))
    assert list(objects.ids("blob")) == []
    assert [reason for _, reason in objects.problems] == ["not a pack"]


@given(st.binary(max_size=200), st.integers(0, 400), st.binary(max_size=40))
def test_no_damage_raises_anything_but_its_name(
    tmp_path_factory: pytest.TempPathFactory, noise: bytes, at: int, index: bytes
) -> None:
    path = pack_of(tmp_path_factory.mktemp("p"), item(1, b"blob 1\0x"), item(2, b"tree 0\0"))
    data = bytearray(path.read_bytes())
    data[at : at + len(noise)] = noise
    path.write_bytes(data)
    path.with_suffix(".idx").write_bytes(b"agidx" + index)
    try:
        pack = Pack(str(path))
    except StoreError:
        return
    for object_id in pack.items:
        try:
            pack.read(object_id)
        except Damaged:
            continue


@given(st.binary(max_size=60), st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60))))
def test_deltas_copy_and_insert(base: bytes, copies: list[tuple[int, int]]) -> None:
    delta, expected = b"", b""
    for offset, length in copies:
        offset, length = min(offset, len(base)), min(length, max(0, len(base) - offset))
        delta += b"\0" + offset.to_bytes(4) + length.to_bytes(4)
        delta += b"\1" + (2).to_bytes(4) + b"ab"
        expected += base[offset : offset + length] + b"ab"
    assert apply_delta(base, delta + b"\2") == expected
