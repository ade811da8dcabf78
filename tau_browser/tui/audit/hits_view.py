"""The hits of a recall, each with its verdict; above them what was asked, below what is odd."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from tau_browser.audit.live import Live, Whose, server_documents
from tau_browser.audit.memory import Now
from tau_browser.audit.recall import Judged, Recall, Verdict
from tau_browser.audit.report import latency_text, settings_text
from tau_browser.model.text import counted, safe_line
from tau_browser.tui.glyphs import Glyphs
from tau_browser.tui.rows_view import Piece, RowsView

_STYLES = {
    Verdict.CITED: "accent strong",
    Verdict.OPENED: "accent strong",
    Verdict.QUOTED: "accent strong",
    Verdict.OVERLAPPING: "accent",
    Verdict.UNUSED: "dim",
    Verdict.UNKNOWN: "warning",
}


@dataclass(frozen=True, slots=True)
class _Line:
    """A hit, or a text about the recall."""

    text: str
    style: str = ""
    hit: Judged | None = None


class HitsView(RowsView):
    """What a recall brought."""

    def __init__(self, glyphs: Glyphs) -> None:
        super().__init__(id="hits", glyphs=glyphs)
        self.recall: Recall | None = None
        self.lives: Mapping[int, Live] = {}
        self._shown: tuple[int, str, int] | None = None
        self._lines: list[_Line] = []

    @property
    def selected(self) -> Judged | None:
        """The hit under the cursor."""
        return self._lines[self.cursor].hit if self._lines else None

    def show(self, recall: Recall | None, lives: Mapping[int, Live], no_memory: str) -> None:
        """Show a recall; of the one that is shown already, the cursor stays on its hit.

        lives: the documents of its hits today, by rank · no_memory: why they cannot be looked up.
        """
        kept, before = self.cursor, self._shown
        self.recall, self.lives = recall, lives
        self._shown = (recall.number, recall.call_id, recall.result) if recall else None
        self._lines = [] if recall is None else _lines_of(recall, lives, no_memory)
        self.rows_changed()
        first = next((at for at, line in enumerate(self._lines) if line.hit), 0)
        self.move_to(kept if self._shown == before else first)

    def row_count(self) -> int:
        return len(self._lines)

    def draw(self, row: int, width: int) -> tuple[list[Piece], list[Piece]]:
        line = self._lines[row]
        hit = line.hit
        if hit is None:
            return [(safe_line(line.text), line.style)], []
        style = _STYLES[hit.verdict]
        document = f"doc {hit.document} " if hit.document else ""
        score = f"{hit.score:>7.3f}  " if hit.score is not None else ""
        left: list[Piece] = [
            (f"{hit.rank:>3} ", "dim"),
            (f"{self.glyphs.verdicts[hit.verdict.value]} {hit.verdict.value:<11} ", style),
            (score, "dim"),
            (safe_line(document), "dim"),
            (safe_line(hit.title) or "(no title)", "" if hit.title else "dim"),
        ]
        said = _remarks(hit) | _remarks_now(self.lives.get(hit.rank))
        remarks = [word for word, holds in said.items() if holds]
        return left, [(f" {word}", "warning") for word in remarks]


def _remarks(hit: Judged) -> dict[str, bool]:
    return {
        "cut": hit.truncated,
        f"before {hit.returned_before}x": bool(hit.returned_before),
        "in context": hit.in_context is not None and hit.in_context >= 0,
        "own": hit.echo is not None,
        f"older than {hit.superseded_by}": bool(hit.superseded_by),
        "gone": hit.gone,
    }


def _remarks_now(live: Live | None) -> dict[str, bool]:
    """What became of its document, in words that a row has room for."""
    if live is None:
        return {}
    return {
        "other session": live.whose is Whose.OTHER,
        "foreign": live.whose is Whose.NOBODY,
        "changed": live.now is Now.CHANGED,
        "deleted": live.now is Now.DELETED,
        "now?": live.now is Now.UNKNOWN,
    }


def _now(recall: Recall, lives: Mapping[int, Live], no_memory: str) -> str:
    """What became of the documents altogether; "" where there are none to look up."""
    wanted = server_documents([recall])
    if not wanted:
        return ""
    if no_memory:
        return f"now: cannot tell: {no_memory}"
    if not lives:
        return "now: being looked up"
    counts = Counter(live.now.value for live in lives.values())
    said = ", ".join(f"{count} {word}" for word, count in counts.items())
    reason = next((live.reason for live in lives.values() if live.reason), "")
    return " · ".join(filter(None, [f"now: {said}", reason]))


def _lines_of(recall: Recall, lives: Mapping[int, Live], no_memory: str) -> list[_Line]:
    lines = [_Line(recall.query or recall.document, "strong")]
    scores = f"scores {recall.scale}" if recall.scale else ""
    facts = [settings_text(recall), scores, latency_text(recall), recall.state]
    lines.append(_Line(" · ".join(fact for fact in facts if fact), "dim"))
    counts = [f"recorded {recall.recorded}"] if recall.recorded is not None else []
    counts.append(f"shown {len(recall.hits)}")
    if recall.context is not None:
        seen = counted(recall.context.entries, "entry")
        fold = ", folded before" if recall.context.anchor >= 0 else ""
        counts.append(f"the model saw {seen}, ≈{recall.context.tokens:,} tokens{fold}")
    lines.append(_Line(" · ".join(counts), "dim"))
    if now := _now(recall, lives, no_memory):
        lines.append(_Line(now, "dim"))
    if recall.error:
        lines.append(_Line(recall.error, "error"))
    elif not recall.hits:
        lines.append(_Line(recall.outcome.value, "warning"))
    lines += [_Line("", "", hit) for hit in recall.hits]
    lines += [_Line(f"{one.trouble.value}: {one.text}", "warning") for one in recall.findings]
    return lines
