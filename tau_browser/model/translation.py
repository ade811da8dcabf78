"""What a store that translates its sessions says in their headers, beyond what τ says in its own.

nested: each entry stands indented under its parent, as in a folder, and none is the leaf ·
findings: what is wrong with what the lines were made from, each with the line that speaks of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tau_browser.model.diagnostic import Diagnostic, Severity
from tau_browser.model.payload import Record

_SEVERITIES = {severity.value: severity for severity in Severity}


def is_nested(header: Record | None) -> bool:
    """Whether a session is laid out as its hierarchy, not as a conversation."""
    return header is not None and header.get("nested") is True


def told_findings(header: Record | None) -> list[Diagnostic]:
    """The findings that a header tells; what is not in their form is left to its reader."""
    told = header.get("findings") if header is not None else None
    read = map(_finding, told) if isinstance(told, list) else ()
    return [finding for finding in read if finding is not None]


def findings_for_header(findings: Iterable[Diagnostic]) -> list[Record]:
    """Findings as a header tells them."""
    return [
        {
            "line": finding.line,
            "reason": finding.reason,
            "severity": finding.severity.value,
            "source": finding.source,
        }
        for finding in findings
    ]


def _finding(told: Any) -> Diagnostic | None:
    match told:
        case {"line": int() | None as line, "reason": str(reason), "source": str(source)}:
            severity = _SEVERITIES.get(str(told.get("severity")), Severity.NOTE)
            return Diagnostic(line, None, reason, severity, source)
    return None
