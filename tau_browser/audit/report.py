"""Audits as a page to hand on: Markdown, CSV or HTML.

Whatever was stored is data: nothing of it acts as markup, as a formula of a spreadsheet, or on a
terminal.
"""

from __future__ import annotations

import csv
import html
import io
import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from tau_browser.audit.recall import Judged, Recall, SessionAudit, Setting
from tau_browser.audit.totals import Totals, documents_of, recalled, totals_of
from tau_browser.model.text import safe_line

LEGEND = (
    "cited: its id or title stands in what the model said later · opened: read later · quoted: a "
    "long run of its words, from nowhere else, was said later · overlapping: rare words of it were "
    "said in the answer · unused: the model answered and none of these holds · unknown: it did not "
    "answer with the hit in its context. Shared words are evidence, not proof."
)

_COLUMN_NAMES = """session title entry time tool action query scope method limit outcome error
latency_ms rank document hit usetype score scale verdict evidence findings"""
_COLUMNS = _COLUMN_NAMES.split()
_FORMULA = re.compile(r"[=+\-@\t\r]")
_MARKDOWN = re.compile(r"[\\`*_{}\[\]<>#|~&!]|^(?:[-+=]|\d+(?=[.)]))|(?<=^\d)[.)]")
_MOST_DOCUMENTS = 20
_STYLE = (
    "body{font:14px/1.5 system-ui,sans-serif;margin:2em;max-width:80em}"
    "table{border-collapse:collapse;margin:1em 0}"
    "td,th{border:1px solid #999;padding:.2em .5em;text-align:left;vertical-align:top}"
)


def as_csv(audits: Sequence[SessionAudit]) -> str:
    """One row per hit, and one per recall without any."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for audit in audits:
        for recall in audit.recalls:
            for hit in recall.hits or (None,):
                writer.writerow(map(_cell, _row(audit, recall, hit)))
    return out.getvalue()


def as_markdown(audits: Sequence[SessionAudit]) -> str:
    """Sums, documents, and every recall with its hits."""
    return "\n".join(_page(audits, _Markdown())) + "\n"


def as_html(audits: Sequence[SessionAudit]) -> str:
    """The same as a page of its own, without anything that runs or is loaded."""
    body = "\n".join(_page(audits, _Html()))
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    return (
        "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'>"
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        f"<title>Recall audit</title><style>{_STYLE}</style></head><body>\n{body}\n</body></html>\n"
    )


def settings_text(recall: Recall) -> str:
    """Scope, method and limit in words; a default that the call left out is marked."""
    named = (("scope", recall.scope), ("method", recall.method), ("limit", recall.limit))
    return ", ".join(f"{name} {_shown(value)}" for name, value in named if value.value is not None)


def latency_text(recall: Recall) -> str:
    """How long it took, "≤" where that is the time between two entries."""
    if recall.latency is None:
        return ""
    return f"{'' if recall.measured else '≤'}{recall.latency:.0f} ms"


def evidence_text(hit: Judged) -> str:
    """The reason for a verdict, in words."""
    if not hit.evidence:
        return ""
    first = hit.evidence[0]
    more = f" (+{len(hit.evidence) - 1})" if len(hit.evidence) > 1 else ""
    return f"{' '.join(first.shared)}{more}"


class _Markdown:
    def heading(self, level: int, text: str) -> str:
        return f"\n{'#' * level} {self.text(text)}\n"

    def paragraph(self, text: str) -> str:
        return f"{self.text(text)}\n"

    def table(self, head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
        lines = [head, ["---"] * len(head), *([self.text(cell) for cell in row] for row in rows)]
        return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"

    @staticmethod
    def text(text: str) -> str:
        return _MARKDOWN.sub(lambda found: f"\\{found[0]}", safe_line(text))


class _Html:
    def heading(self, level: int, text: str) -> str:
        return f"<h{level}>{self.text(text)}</h{level}>"

    def paragraph(self, text: str) -> str:
        return f"<p>{self.text(text)}</p>"

    def table(self, head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
        first = "".join(f"<th>{self.text(cell)}</th>" for cell in head)
        rest = "\n".join(
            f"<tr>{''.join(f'<td>{self.text(cell)}</td>' for cell in row)}</tr>" for row in rows
        )
        return f"<table><tr>{first}</tr>\n{rest}</table>"

    @staticmethod
    def text(text: str) -> str:
        return html.escape(safe_line(text))


def _page(audits: Sequence[SessionAudit], markup: _Markdown | _Html) -> Iterator[str]:
    totals = totals_of(audits)
    yield markup.heading(1, "Recall audit")
    yield markup.table(["what", "number"], _totals(totals))
    yield markup.paragraph(LEGEND)
    documents = documents_of(audits)[:_MOST_DOCUMENTS]
    if documents:
        yield markup.heading(2, "Documents recalled most")
        head = ["document", "title", "sessions", "recalled", "used"]
        rows = (
            [use.document, use.title, f"{use.sessions}", f"{use.recalled}", f"{use.used}"]
            for use in documents
        )
        yield markup.table(head, rows)
    for audit in audits:
        if audit.recalls:
            yield markup.heading(2, audit.title or audit.session or audit.path)
            yield markup.paragraph(f"{audit.session} {audit.cwd}".strip())
            for recall in audit.recalls:
                yield from _recall(audit, recall, markup)
            for ghost in audit.ghosts:
                entry = audit.entry_ids.get(ghost.place, "")
                yield markup.paragraph(f"entry {entry} cites doc {ghost.document}: never shown")
    silent = [audit for audit in audits if not recalled(audit)]
    if silent and len(audits) > 1:
        yield markup.heading(2, "Sessions that never recalled")
        rows_of_silent = ([one.session, one.title, one.cwd, one.modified] for one in silent)
        yield markup.table(["session", "title", "directory", "modified"], rows_of_silent)


def _recall(audit: SessionAudit, recall: Recall, markup: _Markdown | _Html) -> Iterator[str]:
    asked = recall.query or recall.document
    yield markup.heading(3, f"{recall.number + 1}. {recall.name}: {asked}")
    where = f"entry {audit.entry_ids.get(recall.place, '')}, {recall.time}, {recall.state}"
    what = [where, settings_text(recall), recall.outcome.value, recall.error]
    yield markup.paragraph("; ".join(part for part in what if part))
    if recall.hits:
        head = ["rank", "document", "title", "score", "verdict", "shared"]
        yield markup.table(head, [_hit_cells(recall, hit) for hit in recall.hits])
    for finding in recall.findings:
        yield markup.paragraph(f"{finding.trouble.value}: {finding.text}")


def _hit_cells(recall: Recall, hit: Judged) -> list[str]:
    score = "" if hit.score is None else f"{hit.score:.3f} {recall.scale}".strip()
    return [
        f"{hit.rank}",
        hit.document,
        hit.title,
        score,
        hit.verdict.value,
        evidence_text(hit),
    ]


def _totals(totals: Totals) -> list[list[str]]:
    hits = totals.hits
    shares = {
        name: f"{getattr(totals, name):,} of {hits:,}"
        for name in ("cited", "opened", "quoted", "overlapping", "unused", "unknown")
    }
    return [
        ["sessions", f"{totals.sessions:,}"],
        ["sessions that never recalled", f"{totals.silent:,}"],
        ["recalls", f"{totals.recalls:,}"],
        ["found nothing", f"{totals.empty:,}"],
        ["failed", f"{totals.failed:,}"],
        ["documents written", f"{totals.writes:,}"],
        *([f"hits {name}", value] for name, value in shares.items()),
        ["tokens of unused hits, about", f"{totals.unused_tokens:,}"],
        ["stale hits", f"{totals.stale:,}"],
        ["hits from the session itself", f"{totals.echoes:,}"],
        ["queries asked again", f"{totals.repeats:,}"],
        ["citations of what was never shown", f"{totals.ghosts:,}"],
        ["reads of files that may be a memory's", f"{totals.weak:,}"],
    ]


def _row(audit: SessionAudit, recall: Recall, hit: Judged | None) -> list[object]:
    row: list[object] = [
        audit.session,
        audit.title,
        audit.entry_ids.get(recall.place, ""),
        recall.time,
        recall.name,
        recall.action.value,
        recall.query,
        _shown(recall.scope),
        _shown(recall.method),
        _shown(recall.limit),
        recall.outcome.value,
        recall.error,
        "" if recall.latency is None else recall.latency,
    ]
    if hit is None:
        row += [""] * 8
    else:
        score = "" if hit.score is None else hit.score
        row += [
            hit.rank,
            hit.document,
            hit.title,
            hit.usetype,
            score,
            recall.scale,
            hit.verdict.value,
            evidence_text(hit),
        ]
    return [*row, "; ".join(finding.text for finding in recall.findings)]


def _shown(setting: Setting) -> str:
    if setting.value is None:
        return ""
    return f"{setting.value} (assumed)" if setting.assumed else f"{setting.value}"


def _cell(value: object) -> object:
    """A value that no spreadsheet takes for a formula."""
    if not isinstance(value, str):
        return value
    text = safe_line(value)
    return f"'{text}" if _FORMULA.match(text) else text


FORMATS: dict[str, Callable[[Sequence[SessionAudit]], str]] = {
    "md": as_markdown,
    "csv": as_csv,
    "html": as_html,
}
