"""What a store says that it can, it does: what is made opens again in it, the source stays as it
was, and a change is taken back. What it does not say is refused, by the verb, with a sentence."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tau_browser.model.context import fold_at
from tau_browser.model.session import Session
from tau_browser.stores.store import Capability
from tests.cli.conftest import Run, home, run
from tests.stores.contract import Made, listed, make, opened, read, state_of
from tests.stores.logs.writing import pi_header, pi_message, write_lines
from tests.stores.samples import SAMPLES, Sample

__all__ = ["home", "run"]

LONG_AGO = 1_700_000_000
VERBS = {
    Capability.FORK: ["fork", "{ref}"],
    Capability.PRUNE: ["prune", "{ref}", "{entry}"],
    Capability.PRUNE_IN_PLACE: ["prune", "{ref}", "{entry}", "--in-place", "--confirm", "1"],
    Capability.FOLD: ["prune", "{ref}", "{entry}", "--fold"],
    Capability.RENAME: ["rename", "{ref}", "another name"],
    Capability.IMPORT: ["import", "{source}", "--session-dir", "{folder}", "--store", "{name}"],
    Capability.ENRICH: ["enrich", "{ref}"],
}


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A session of another program's, to be imported."""
    talk = [pi_message("a", None, "brought along"), pi_message("b", "a", role="assistant")]
    return write_lines(tmp_path / "elsewhere" / "p9.jsonl", [pi_header("p9"), *talk])


def pairs(*, declared: bool) -> list[pytest.param]:  # type: ignore[valid-type]
    """Each store with each change that it declares, or with each that it does not."""
    return [
        pytest.param(sample, capability, id=f"{sample.name}-{capability.value}".replace(" ", "-"))
        for sample in SAMPLES
        for capability in Capability
        if (capability in sample.adapter([], None).capabilities) is declared
    ]


def asked(made: Made, capability: Capability, source: Path) -> list[str]:
    """The command that asks a store for a change."""
    words = {
        "ref": listed(made.store)[made.sample.follows].path,
        "entry": made.sample.prunable or read(opened(made, made.sample.follows)).entry_id(0),
        "folder": str(made.folder),
        "name": made.sample.name,
        "source": str(source),
    }
    return [word.format(**words) for word in VERBS[capability]]


def settled(made: Made) -> dict[str, tuple[int, bytes]]:
    """The files of a sample, which nobody is writing to."""
    for path in made.folder.rglob("*"):
        os.utime(path, (LONG_AGO, LONG_AGO))
    return state_of(made.folder)


@pytest.mark.parametrize(("sample", "capability"), pairs(declared=True))
def test_what_is_declared_is_done(
    sample: Sample, capability: Capability, tmp_path: Path, run: Run, source: Path
) -> None:
    made = make(sample, tmp_path)
    original = read(opened(made, sample.follows))
    before = settled(made)
    done = run(*asked(made, capability, source), "--json").json

    plan = done["plan"]
    assert plan["refusals"] == [] and done["change"]
    result = read(made.store.open(plan["target"]))
    assert not result.findings
    assert plan["session"] in listed(made.store)
    assert (len(result), result.id) == (plan["after"]["entries"], plan["session"])
    HOLDS[capability](original, result, sample)
    if plan["way"] == "new":
        kept = state_of(made.folder)
        assert all(kept[path] == state for path, state in before.items() if Path(path).is_file())

    assert run("undo", done["change"]).code == 0
    files = {path for path in before if Path(path).is_file()}
    after = state_of(made.folder)
    assert {path for path in after if Path(path).is_file()} == files
    assert all(after[path] == before[path] for path in files)


@pytest.mark.parametrize(("sample", "capability"), pairs(declared=False))
def test_what_is_not_declared_is_refused(
    sample: Sample, capability: Capability, tmp_path: Path, run: Run, source: Path
) -> None:
    made = make(sample, tmp_path)
    before = settled(made)
    refused = run(*asked(made, capability, source))
    assert (refused.code, refused.out) == (2, "")
    assert refused.err.startswith(f"tau-browse: error: {capability.value}")
    if capability is not Capability.ENRICH:  # which is asked of a server alone
        assert f"{made.folder}" in refused.err and f"(store {sample.name}) " in refused.err
    assert refused.err.count("\n") == 1
    assert state_of(made.folder) == before


def texts(session: Session) -> list[str]:
    """What is said, in the order of the tree."""
    said = session.kinds.where(session.columns.kind, "message")
    return [session.text(place) for place in session.tree.order.tolist() if said[place]]


def _forked(original: Session, result: Session, sample: Sample) -> None:
    path = [original.text(int(place)) for place in original.tree.path(original.leaf)]
    assert [text for text in texts(result) if text in path] == path


def _pruned(original: Session, result: Session, sample: Sample) -> None:
    (gone,) = original.find(sample.prunable)
    left = texts(original)
    left.remove(original.text(gone))
    assert texts(result) == left


def _folded(original: Session, result: Session, sample: Sample) -> None:
    assert texts(result) == texts(original)
    context = fold_at(result, result.leaf).context
    (begins,) = result.find(sample.prunable)
    assert begins in context and len(context) < len(result)


def _renamed(original: Session, result: Session, sample: Sample) -> None:
    assert texts(result) == texts(original)
    name = result.record(result.places_of_kind("session_info")[-1]).get("name")
    assert name == "another name"


def _imported(original: Session, result: Session, sample: Sample) -> None:
    assert texts(result) == ["brought along", "words"]


HOLDS = {
    Capability.FORK: _forked,
    Capability.PRUNE: _pruned,
    Capability.PRUNE_IN_PLACE: _pruned,
    Capability.FOLD: _folded,
    Capability.RENAME: _renamed,
    Capability.IMPORT: _imported,
}
