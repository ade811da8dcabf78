"""A digest as a file: as Markdown for a person, as JSON for a program; secrets are hidden."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from tau_browser.actions.distill.digest import Digest
from tau_browser.actions.plan import Bytes, Item, Plan, Refusal, Refused, Verb, Way
from tau_browser.actions.redaction.findings import Redactor, findings_in
from tau_browser.model.text import counted, safe_line


def told(digest: Digest, *, redact: bool = True) -> dict[str, Any]:
    """A digest as JSON tells it; where secrets are hidden, with how many those are."""
    start, stop = digest.window
    found = {
        "kind": digest.kind,
        "id": digest.id,
        "session": digest.session,
        "asked": digest.asked,
        "window": {"from": start or None, "to": stop or None},
        "text": digest.text,
        "sources": [asdict(source) for source in digest.sources],
        "coverage": asdict(digest.coverage),
        "metrics": digest.metrics,
    }
    if not redact:
        return found
    secrets = findings_in([(digest.id, {"text": digest.text})])
    hidden: dict[str, Any] = Redactor(secrets).record(found)
    return hidden | {"secrets_hidden": len(secrets)}


def asked_words(digest: Digest) -> str:
    """What was asked for."""
    names = {"most": "characters", "with_digests": "with digests", "min_signal": "signal from"}
    asked = digest.asked.items()
    return safe_line(", ".join(f"{names.get(name, name)} {value}" for name, value in asked))


def coverage_words(digest: Digest) -> str:
    """What the digest covers, and what it leaves out."""
    coverage = digest.coverage
    left = {
        "below the signal": coverage.below_signal,
        "already a digest": coverage.digests,
        "saying nothing": coverage.silent,
        "older than what fits": coverage.capped,
    }
    parts = [f"{count:,} {why}" for why, count in left.items() if count]
    used = f"{coverage.used:,} of {counted(coverage.considered, 'entry')}"
    return f"{used}{'; left out: ' + ', '.join(parts) if parts else ''}"


def why_empty(digest: Digest) -> str:
    """Why there is nothing in a digest, and what else there may be."""
    said = f"nothing to distill: {coverage_words(digest)}"
    if digest.kind == "rolling" and not digest.coverage.considered:
        return f"{said}: nobody speaks here; a tool, or what hangs below an entry, can be distilled"
    return said


def markdown(digest: Digest, *, redact: bool = True) -> str:
    """A digest for a person."""
    found = told(digest, redact=redact)
    start, stop = digest.window
    lines = [
        f"# {digest.kind.capitalize()} digest of {safe_line(digest.session)}",
        "",
        f"- digest: `{digest.id}` ({asked_words(digest)})",
        f"- window: {safe_line(start) or 'unknown'} to {safe_line(stop) or 'unknown'}",
        f"- coverage: {coverage_words(digest)}",
    ]
    lines += [
        f"- {safe_line(name)}: last {each['last']:g}, sum {each['sum']:g}, of {each['count']:g}"
        for name, each in digest.metrics.items()
    ]
    fence = "`" * 3
    while fence in found["text"]:
        fence += "`"
    lines += ["", f"{fence}text", found["text"], fence, "", "## Sources, oldest first", ""]
    lines += [f"- `{safe_line(each.entry)}` {safe_line(each.time)}" for each in digest.sources]
    return "\n".join(lines) + "\n"


def plan_distill(digest: Digest, output: str = "", *, redact: bool = True) -> Plan:
    """The plan of a digest's file, in the form that the end of its name tells. output: "": named
    after the digest.

    Raises Refused where there is nothing to distill.
    """
    if not digest.sources:
        raise Refused(why_empty(digest))
    target = os.path.abspath(output or f"digest-{digest.id[:12]}.md")
    found = told(digest, redact=redact)
    if target.endswith(".json"):
        text = json.dumps(found, indent=1) + "\n"
    else:
        text = markdown(digest, redact=redact)
    taken = os.path.lexists(target)
    refusals = [Refusal(f"{target} is there already: give another name")] if taken else []
    return Plan(
        verb=Verb.DISTILL,
        store="tau",
        about=f"{digest.kind} digest of {safe_line(digest.session)}: {asked_words(digest)}",
        read=None,  # what is distilled is what was read
        way=Way.NEW,
        target=target,
        content=Bytes(text.encode("utf-8", "replace")),
        adding=tuple(Item(each["entry"], safe_line(each["line"])) for each in found["sources"]),
        refusals=tuple(refusals),
        remarks=(f"covers {coverage_words(digest)}", *_secrets(found)),
    )


def _secrets(found: dict[str, Any]) -> Iterator[str]:
    """What to know of the secrets in a digest that is told."""
    if "secrets_hidden" not in found:
        yield "secrets, if there are any, are written as they are"
    elif count := found["secrets_hidden"]:
        yield f"{counted(count, 'secret')} hidden; no scanner finds all: look it over"
