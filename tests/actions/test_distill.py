"""Digests: exact sources, oldest first, the newest kept, and all that is left out counted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tau_browser.actions.distill.digest import Digest, DigestRequest, digest_of
from tau_browser.actions.distill.writing import coverage_words, markdown, plan_distill, told
from tau_browser.actions.plan import Refused
from tau_browser.model.session import Session
from tau_browser.stores.aethergraph.store import AethergraphStore
from tests.conftest import DATA, load, log_of, message, read

ROOT = DATA / "aethergraph" / "a1-root"
RUNS = sorted(path.name for path in (ROOT / "memory/mem").iterdir())


def run(name: str) -> Session:
    *_, last = AethergraphStore([str(ROOT)]).open(f"{ROOT}#run:{name}").load()
    assert last.session is not None
    return last.session


def ids(digest: Digest) -> list[str]:
    return [source.entry for source in digest.sources]


def talk(*texts: str, **fields: Any) -> Session:
    """A straight conversation: user and assistant by turns."""
    roles = ("user", "assistant")
    lines = [
        message(f"m{at}", f"m{at - 1}" if at else None, text, role=roles[at % 2], **fields)
        for at, text in enumerate(texts)
    ]
    return read(log_of(lines))


@pytest.mark.parametrize("name", RUNS)
def test_rolling_is_what_the_program_itself_made_of_the_run(name: str) -> None:
    (path,) = (ROOT / "memory/mem" / name / "summaries/rolling").iterdir()
    own = json.loads(path.read_bytes())
    digest = digest_of(run(name), DigestRequest(turns=2))
    assert ids(digest) == own["sources"]
    assert digest.text == own["text"]
    assert digest.coverage.digests == 2  # of the run, and of a tool: no sources of another


@pytest.mark.parametrize("name", RUNS)
def test_an_episode_holds_what_the_program_itself_found_of_the_tool(name: str) -> None:
    (path,) = (ROOT / "memory/mem" / name / "episodes/tool.analyze").iterdir()
    own = json.loads(path.read_bytes())
    digest = digest_of(run(name), DigestRequest(tool="tool.analyze"))
    assert own["sources"] == [ids(digest)[-1]]  # it does not know which call was answered
    assert {name: each["last"] for name, each in digest.metrics.items()} == own["metrics"]


def test_an_episode_of_a_run_holds_what_hangs_below_it() -> None:
    session = run("run-20260303-2")
    (node,) = session.find("node:run-20260303-2:fetch")
    digest = digest_of(session, DigestRequest(under=node))
    assert ids(digest) == [
        "c74f01f5b632cbcef226f015",
        "0a9ee25d61317a42478ed1e7",
        "8e372101c393bace83b496ee",
    ]
    assert digest.sources[0].line.startswith("[call] ")
    assert "(failed)" in digest.sources[1].line


def test_rolling_is_of_the_path_to_the_leaf() -> None:
    session = load(DATA / "tau" / "02-forked-tree.jsonl")
    path = set(session.ids(session.tree.path(session.leaf)))
    assert set(ids(digest_of(session, DigestRequest(turns=100)))) <= path


def test_compactions_are_no_sources_unless_asked() -> None:
    session = load(DATA / "tau" / "03-compaction.jsonl")
    digest = digest_of(session, DigestRequest(turns=100))
    kinds = {session.kind(session.find(name)[0]) for name in ids(digest)}
    assert kinds == {"message"} and digest.coverage.digests > 0
    wider = digest_of(session, DigestRequest(turns=100, with_digests=True))
    assert len(ids(wider)) == len(ids(digest)) + digest.coverage.digests


def test_as_of_an_entry() -> None:
    session = talk("one", "two", "three", "four")
    assert ids(digest_of(session, DigestRequest(turns=1, at=1))) == ["m0", "m1"]
    assert ids(digest_of(session, DigestRequest(turns=1))) == ["m2", "m3"]


@given(st.lists(st.sampled_from(["", "a", "b" * 50, "c" * 3000]), max_size=12), st.data())
def test_is_the_newest_that_fits_in_order_and_nothing_is_uncounted(
    texts: list[str], data: st.DataObject
) -> None:
    session = talk(*texts)
    most = data.draw(st.integers(1, 9000))
    gate = data.draw(st.sampled_from([0, 35, 40, 75]))
    digest = digest_of(session, DigestRequest(turns=100, most=most, min_signal=gate))
    coverage = digest.coverage
    assert ids(digest) == sorted(ids(digest), key=lambda name: int(name[1:]))
    left = coverage.below_signal + coverage.silent + coverage.capped + coverage.digests
    assert coverage.used + left == coverage.considered
    assert sum(len(source.line) + 1 for source in digest.sources) <= most
    all_of_it = digest_of(session, DigestRequest(turns=100, most=10**6, min_signal=gate))
    assert ids(digest) == ids(all_of_it)[len(ids(all_of_it)) - len(ids(digest)) :]
    if coverage.capped:  # one more would not have fitted
        longer = all_of_it.sources[-coverage.used - 1 :]
        assert sum(len(source.line) + 1 for source in longer) > most


def test_what_is_cut_of_an_entry_is_said() -> None:
    (source,) = digest_of(talk("x" * 2100), DigestRequest(turns=1)).sources
    assert source.cut == 100 and source.line.endswith("… (100 characters more)")


def test_is_called_the_same_as_long_as_it_is_the_same() -> None:
    one, other = talk("one", "two"), talk("one", "2")
    request = DigestRequest(turns=5)
    assert digest_of(one, request).id == digest_of(talk("one", "two"), request).id
    assert digest_of(one, request).id != digest_of(other, request).id


def test_secrets_are_hidden_unless_asked() -> None:
    secret = "AKIAIOSFODNN7EXAMPLE"
    digest = digest_of(talk(f"the key is {secret}"), DigestRequest(turns=1))
    for text in (markdown(digest), json.dumps(told(digest))):
        assert secret not in text
    assert told(digest)["secrets_hidden"] == 1
    assert secret in markdown(digest, redact=False)


def test_a_digest_breaks_out_of_no_fence() -> None:
    text = markdown(digest_of(talk("a ``` fence\n# heading"), DigestRequest(turns=1)))
    assert "\n````text\n" in text
    assert "\n# heading" not in text


def test_a_file_that_is_there_is_not_written_over(tmp_path: Path) -> None:
    digest = digest_of(talk("one"), DigestRequest(turns=1))
    target = tmp_path / "digest.json"
    plan = plan_distill(digest, str(target))
    assert not plan.refusals
    assert json.loads(b"".join(plan.content.pieces()))["sources"][0]["entry"] == "m0"
    target.touch()
    assert "is there already" in plan_distill(digest, str(target)).refusals[0].reason


def test_nothing_to_distill_is_said_with_the_reason() -> None:
    digest = digest_of(talk("one"), DigestRequest(turns=1, min_signal=99))
    assert coverage_words(digest) == "0 of 1 entry; left out: 1 below the signal"
    with pytest.raises(Refused, match="1 below the signal"):
        plan_distill(digest, "x.md")
