"""The signs in the rows. Each goes with a word; in ASCII mode each has a plain spelling."""

from __future__ import annotations

from dataclasses import dataclass, field

from tau_browser.model.state import State


@dataclass(frozen=True)
class Glyphs:
    """One set of signs, each one cell wide."""

    folded: str = "▸"
    unfolded: str = "▾"
    branch: str = "┣"
    leaf: str = "◀"
    mark: str = "✓"
    hit: str = "•"
    warning: str = "▲"
    more: str = "…"
    thumb: str = "█"
    track: str = "│"
    guide: str = "│ "
    rule: str = "─"
    label: str = "⚑"
    recall: str = "↺"
    near: str = "≈"
    verdicts: dict[str, str] = field(
        default_factory=lambda: {
            "cited": "●",
            "opened": "◉",
            "quoted": "❞",
            "overlapping": "≈",
            "unused": "○",
            "unknown": "?",
        }
    )
    states: dict[int, str] = field(
        default_factory=lambda: {
            State.PATH: "┃",
            State.ABANDONED: "╎",
            State.FOLDED: "┊",
            State.DETACHED: "✕",
            State.INCOMPLETE: "~",
            State.SUBAGENT: "┆",
        }
    )
    speakers: dict[str, str] = field(
        default_factory=lambda: {
            "user": "❯",
            "assistant": "◆",
            "system": "§",
            "tool": "↳",
            "compaction": "≡",
            "elide": "≡",
            "branch_summary": "↷",
            "config": "∷",
            "session_info": "¶",
            "navigate": "→",
            "error": "✗",
            "other": "·",
        }
    )


UNICODE = Glyphs()
ASCII = Glyphs(
    folded="+",
    unfolded="-",
    branch="Y",
    leaf="<",
    mark="x",
    hit="*",
    warning="!",
    more=".",
    thumb="#",
    track="|",
    guide="| ",
    rule="-",
    label="@",
    recall="@",
    near="~",
    verdicts={
        "cited": "C",
        "opened": "O",
        "quoted": "Q",
        "overlapping": "~",
        "unused": "-",
        "unknown": "?",
    },
    states={
        State.PATH: "|",
        State.ABANDONED: ":",
        State.FOLDED: "'",
        State.DETACHED: "X",
        State.INCOMPLETE: "~",
        State.SUBAGENT: ".",
    },
    speakers={
        "user": ">",
        "assistant": "*",
        "system": "$",
        "tool": "`",
        "compaction": "=",
        "elide": "=",
        "branch_summary": "^",
        "config": "%",
        "session_info": "#",
        "navigate": "@",
        "error": "!",
        "other": ".",
    },
)
