"""Whether a workspace holds what was written: aethergraph keeps hashes of artifacts and ids that
are hashes of parts of events, and nothing else. A snapshot of ours tells more.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from tau_browser.model.text import counted
from tau_browser.stores.aethergraph import manifest
from tau_browser.stores.aethergraph.artifacts import Artifacts, hash_of
from tau_browser.stores.aethergraph.corpora import Corpus
from tau_browser.stores.aethergraph.event_ids import fits
from tau_browser.stores.aethergraph.links import Links
from tau_browser.stores.aethergraph.nodes import Nodes
from tau_browser.stores.aethergraph.parts import Parts
from tau_browser.stores.aethergraph.records import text_in
from tau_browser.stores.verdict import Check, Report, Verdict

_NAMED = 5  # entries or files that a check names
_WEAK = (
    "an event's id is made of its second, its run and its text: a change of what else it says, or "
    "an event that is gone, does not show"
)


def verify_session(path: str, parts: Parts) -> Report:
    """The audit of a session or a run."""
    checks = [_read(parts), _events(parts)]
    hashes = {hash_of(stored.value) for stored in parts.artifacts}
    checks.append(_artifacts("artifacts", parts.files, hashes))
    return Report(path, checks, [_WEAK])


def verify_corpus(path: str, root: Path, corpus: Corpus, anchor: str) -> Report:
    """The audit of a corpus; of a snapshot, against its hashes."""
    uris = (text_in(doc.value, "uri") for doc in corpus.docs)
    hashes = {Path(uri).name.partition(".")[0] for uri in uris if uri}
    checks = [_artifacts("files of documents", Artifacts(root), hashes)]
    remarks = []
    found = manifest.check(root, anchor)
    if found is None:
        remarks.append("no snapshot: nothing tells whether documents were added, changed or lost")
        if anchor:
            checks.append(Check("snapshot", Verdict.BROKEN, ("there is none to hold it against",)))
        return Report(path, checks, remarks)
    return Report(path, [*checks, found[0]], remarks, found[1])


def _read(parts: Parts) -> Check:
    damage = [f"{each.spot}: {each.reason}" for each in parts.damage]
    return _check("files", damage)


def _events(parts: Parts) -> Check:
    links = Links(parts, Nodes())
    odd: list[str] = []
    for event in parts.events:
        event.entry = event.event_id or str(event.spot)
        links.add(event)
        if fits(event, links.sources(event)) is not True:
            odd.append(event.entry)
    name = f"ids of {counted(len(parts.events), 'event')}"
    if not odd:
        return Check(name, Verdict.UNSIGNED)
    reason = (
        f"{counted(len(odd), 'id')} made of what is not stored, or of what was changed: "
        f"{', '.join(odd[:_NAMED])}"
    )
    return Check(name, Verdict.UNKNOWN, (reason,), odd[0])


def _artifacts(name: str, files: Artifacts, hashes: Iterable[str]) -> Check:
    faults = []
    count = 0
    for hash_ in sorted(hashes):
        found = files.check(hash_)
        count += 1
        if not found.is_sound:
            faults.append(f"{hash_[:12]}: {found.verdict}")
    return _check(f"{name}, {count:,}", faults)


def _check(name: str, faults: list[str]) -> Check:
    if not faults:
        return Check(name, Verdict.UNSIGNED)
    more = len(faults) - _NAMED
    named = (*faults[:_NAMED], *([f"and {more:,} more"] if more > 0 else []))
    return Check(name, Verdict.BROKEN, named)
