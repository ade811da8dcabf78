"""`tau-browse show REF`: one session, every entry in the order of the tree.

JSON: {"session", "entries": [entry], "roots", "forks", "leaf", "path", "context", "diagnostics"};
with --min-signal also "hidden", how many entries have less, and each entry's own.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from tau_browser.cli import places
from tau_browser.cli.ls import findings, row
from tau_browser.cli.output import Failure, Printer, print_json, shown_time
from tau_browser.config import settings, use_rules
from tau_browser.model.calls import ResultNames
from tau_browser.model.columns import Codes
from tau_browser.model.context import config_at, fold_at, states
from tau_browser.model.diagnostic import Diagnostic
from tau_browser.model.families import told_families
from tau_browser.model.label import label_of, speaker_of
from tau_browser.model.memory import memory_of
from tau_browser.model.payload import Record, config_line, text_of
from tau_browser.model.rows import Rows, kept_with_holders
from tau_browser.model.session import Session
from tau_browser.model.signal import severity_of, signal_of
from tau_browser.model.signals import read_signals
from tau_browser.model.state import State
from tau_browser.model.summary import session_name, stamp_text, summary_of
from tau_browser.model.tallies import tallied
from tau_browser.model.text import counted
from tau_browser.model.tree import NOWHERE
from tau_browser.stores.adapters import TAU
from tau_browser.stores.store import Listed
from tau_browser.stores.targets import Target

_LABEL_LENGTH = 200


def run(args: argparse.Namespace, printer: Printer) -> int:
    """Print the session. Raises Failure, ConfigError and StoreError."""
    use_rules(settings())
    target = places.session(args)
    session = load(target)
    place = session.leaf if args.at is None else entry_named(session, args.at)
    rows = _rows(session, args.min_signal)
    if args.json:
        _print_json(target, session, place, rows, args.min_signal is not None)
    else:
        _print(target, session, place, rows, printer)
    return 0


def _rows(session: Session, min_signal: int | None) -> Rows:
    """The entries that are worth enough, and what holds them; all, if nothing is asked."""
    if not min_signal:
        return Rows(session.outline)
    *_, (_, signals) = read_signals(session)
    assert signals is not None  # the last always carries them
    outline = session.outline
    return Rows(outline, kept=kept_with_holders(outline, outline.line[signals.above(min_signal)]))


def load(target: Target) -> Session:
    """The session of a target, read to its end. Raises StoreError."""
    assert target.path is not None
    session = None
    for progress in target.store.open(target.path).load():
        session = progress.session
    assert session is not None  # the last progress carries the whole session
    return session


def entry_named(session: Session, name: str) -> int:
    """The entry with this id, or the only one whose id begins so. Raises Failure."""
    found = session.find(name) or session.find_prefix(name)
    if not found:
        raise Failure(f"no entry {name!r} in the session", code=1)
    if len(found) > 1:
        names = [
            f"{session.entry_id(place)}  line {session.columns.line[place]}" for place in found
        ]
        raise Failure(f"{name!r} names {len(found):,} entries", details=names)
    return found[0]


def _print_json(target: Target, session: Session, place: int, rows: Rows, told: bool) -> None:
    """`told`: whether signals are asked for."""
    summary = summary_of(session)
    *_, (_, tallies) = tallied(session)
    assert target.path is not None
    about = row(Listed(target.store.name, target.path, 0.0, summary), target.ref) | {
        "name": session_name(session) or None,
        "messages": summary.messages,
        "forks": summary.forks,
        "unreadable": summary.unreadable,
        "memory": tallies.memories,
        "families": tallies.families,
        "config": config_at(session, place),
    }
    tree = session.tree
    print_json(
        {
            "session": about,
            "entries": _entries(session, place, rows, told),
            **({"hidden": sum(map(rows.gap, range(len(rows))))} if told else {}),
            "roots": session.ids(tree.roots),
            "forks": session.ids(session.forks),
            "leaf": session.entry_id(session.leaf) if session.leaf != NOWHERE else None,
            "path": session.ids(tree.path(place)),
            "context": session.ids(fold_at(session, place).context),
            "diagnostics": map(_finding, session.diagnostics),
        }
    )


def _finding(finding: Diagnostic) -> dict[str, Any]:
    return {
        "line": finding.line,
        "byte": finding.byte,
        "reason": finding.reason,
        "severity": finding.severity.value,
        **({"source": finding.source} if finding.source else {}),
    }


def _entries(session: Session, place: int, rows: Rows, told: bool) -> Iterator[dict[str, Any]]:
    tree, state = session.tree, states(session, place)
    names = ResultNames(session)
    for line in range(len(rows)):
        if rows.gap(line):
            continue
        at = rows.entry(line)
        record, parent = names.named(at, session.record(at)), int(tree.parent[at])
        yield {
            "id": session.entry_id(at),
            "parent": session.entry_id(parent) if parent != NOWHERE else None,
            "kind": session.kind(at),
            "role": session.role(at) or None,
            "time": stamp_text(record.get("timestamp")) or None,
            "text": text_of(record),
            "depth": int(tree.depth[at]),
            "state": State(int(state[at])).word,
            **(_worth(record) if told else {}),
            **_translated(record),
            "tools": _tools(record),
            "memory": _memory(record),
        }


def _worth(record: Record) -> dict[str, Any]:
    signal = signal_of(record)
    return {
        "severity": severity_of(record),
        "signal": {
            "value": round(signal.value, 4),
            "derived": signal.stored is None,
            "parts": {name: round(part, 4) for name, part in signal.parts.items()},
        },
    }


def _translated(record: Record) -> dict[str, Any]:
    """What an entry tells of the store that it was translated from."""
    return {name: record[name] for name in ("event", "links", "origin") if name in record}


def _tools(record: Record) -> list[dict[str, Any]]:
    return [
        {"name": name, "family": told.value, "rule": told.rule}
        for name, told in told_families(record).items()
    ]


def _memory(record: Record) -> dict[str, Any] | None:
    memory = memory_of(record)
    if memory is None:
        return None
    return {"type": memory.type.value, "rule": memory.rule, "stored": memory.is_stored}


def _print(target: Target, session: Session, place: int, rows: Rows, printer: Printer) -> None:
    summary, config = summary_of(session), config_at(session, place)
    printer.line(summary.title)
    facts = [
        ("id", summary.id),
        ("file" if target.store.name == TAU else "document", target.path or ""),
        ("directory", summary.cwd),
        ("created", shown_time(summary.created)),
        ("modified", shown_time(summary.modified)),
        ("fork of", summary.parent or ""),
        ("config", config_line(config) if config else ""),
    ]
    printer.table([(f"  {name}", value) for name, value in facts if value])
    printer.line()
    state = states(session, place)
    if len(rows):
        printer.table([_row(session, line, rows, place, state) for line in range(len(rows))])
        printer.line()
    for finding in session.diagnostics:
        printer.line(f"{finding.severity.value}: {finding}")
    parts = [counted(len(session), "entry"), counted(summary.forks, "fork")]
    parts += [f"{summary.unreadable:,} unreadable", counted(findings(summary), "finding")]
    printer.line(", ".join(parts))
    *_, (_, tallies) = tallied(session)
    if told := str(tallies):
        printer.line(told)


def _row(session: Session, line: int, rows: Rows, place: int, state: Codes) -> list[str]:
    depth = int(rows.outline.depth[rows.lines[line]])
    if gap := rows.gap(line):
        return ["", "", "", f"{'  ' * depth}… {gap:,} hidden"]
    at = rows.entry(line)
    return _cells(session, at, depth, State(int(state[at])), _mark(session, at, place))


def _mark(session: Session, at: int, place: int) -> str:
    """What is special about an entry, seen from `place`."""
    if at == session.leaf:
        return "  <- leaf"
    return "  <- as of here" if at == place else ""


def _cells(session: Session, place: int, depth: int, state: State, mark: str) -> list[str]:
    record = session.record(place)
    label = label_of(session, place, record)
    if len(label) > _LABEL_LENGTH:
        label = f"{label[: _LABEL_LENGTH - 1]}…"
    said = f"{'  ' * depth}{speaker_of(record)}" + (f": {label}" if label else "")
    return [
        session.entry_id(place),
        shown_time(stamp_text(record.get("timestamp"))),
        "" if state is State.PATH else state.word,
        said + mark,
    ]
