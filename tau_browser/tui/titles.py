"""What the bars say of the session that is open and of the entry under the cursor."""

from __future__ import annotations

import numpy as np

from tau_browser.model.calls import ResultNames
from tau_browser.model.columns import Flag, Places
from tau_browser.model.context import fold_at, legacy_cursor
from tau_browser.model.label import speaker_of
from tau_browser.model.session import Session
from tau_browser.model.signals import Signals
from tau_browser.model.summary import stamp_text
from tau_browser.model.text import counted, first_line, safe_line
from tau_browser.model.tree import NOWHERE
from tau_browser.tui.tree_view import TreeView

_CELLS = 10  # of the slider


def tree_title(tree: TreeView, name: str, *remarks: str) -> str:
    """The title of the tree: the session, or the entry whose model view is shown."""
    session = tree.session
    if session is None:
        return "Tree"
    if (at := tree.model_view_at) is not None:
        seen, path = len(fold_at(session, at).context), int(session.tree.depth[at])
        return f"Model view at {safe_line(session.entry_id(at))} · {seen:,} of {path:,} entries"
    entries = counted(len(session), "entry")
    kept = f"only hits of {entries}" if tree.filtered else entries
    parts = [safe_line(name), *filter(None, remarks), kept]
    if tree.threshold and tree.signals is not None:
        parts.insert(0, _slider(tree, tree.signals))
    if forks := len(session.forks):
        parts.append(counted(forks, "fork"))
    if findings := len(session.findings):
        parts.append(f"{tree.glyphs.warning} {counted(findings, 'finding')} (!)")
    return " · ".join(parts)


def entry_title(tree: TreeView) -> str:
    """The title of the entry pane: who speaks, and the entry's id."""
    entry, session = tree.entry, tree.session
    if entry is None or session is None:
        return "Entry"
    record = ResultNames(session).named(entry, session.record(entry))
    return f"{speaker_of(record)} {safe_line(session.entry_id(entry))}"


def status(tree: TreeView) -> str:
    """All about where the cursor is, what matters most first."""
    session, entry = tree.session, tree.entry
    if tree.gap and tree.threshold:
        return f"{counted(tree.gap, 'entry')} with less signal hidden here · Enter shows, Esc all"
    if tree.gap:
        return f"{counted(tree.gap, 'entry')} without a hit hidden here · Enter shows, F shows all"
    if session is None or entry is None:
        return ""
    words = [f"{tree.cursor + 1:,}/{tree.row_count():,}"]
    if tree.pattern is not None:
        words.append(_hit_position(tree.hits, entry))
    if likely := tree.likely.get(entry):
        told = safe_line(", ".join(it.told for it in likely))
        words.append(f"{tree.glyphs.near} {told}, by late interaction")
    if tree.marked:
        words.append(f"{len(tree.marked)} marked")
    words.append(tree.state_word(entry))
    if entry == session.leaf:
        words.append(f"the leaf: {session.format.program} reopens here")
        words += _legacy_position(session)
    turn = int(session.outline.turn[entry])
    if turn not in (NOWHERE, entry):
        words.append(f"in the turn of {safe_line(session.entry_id(turn))}")
    words.append(safe_line(stamp_text(session.record(entry).get("timestamp"))))
    if session.has(entry, Flag.COPIED):
        words.append("copied")
    if remark := tree.remarks.get(entry):
        covers = f" ({remark.covers})" if remark.covers else ""
        words.append(f"{tree.glyphs.recall} {safe_line(remark.text)}{covers}")
    if label := tree.labels.get(session.entry_id(entry)):
        words.append(f"{tree.glyphs.label} {first_line(label.note or label.text)}")
    return " · ".join(word for word in words if word)


def _slider(tree: TreeView, signals: Signals) -> str:
    """Where the threshold stands, and how much it hides."""
    filled = tree.threshold * _CELLS // 100
    bar = tree.glyphs.thumb * filled + tree.glyphs.rule * (_CELLS - filled)
    kind = "derived signal" if signals.is_derived else "signal"
    return f"{kind} {bar} {tree.threshold / 100:.2f} and more, {tree.worthless:,} hidden"


def _hit_position(hits: Places, entry: int) -> str:
    at = int(np.searchsorted(hits, entry))
    on_hit = at < len(hits) and hits[at] == entry
    return f"hit {at + 1:,} of {len(hits):,}" if on_hit else counted(len(hits), "hit")


def _legacy_position(session: Session) -> list[str]:
    """Where 0.9 would have reopened, for logs that end with a move (tau-format 2.4)."""
    cursor = legacy_cursor(session)
    if cursor is None:
        return []
    if cursor[1] is None:
        return ["τ 0.9 reopened before the first entry"]
    lost = "" if session.find(cursor[1]) else ", which is not in the session"
    return [f"τ 0.9 reopened at {safe_line(cursor[1])}{lost}"]
