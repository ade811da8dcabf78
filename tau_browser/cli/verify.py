"""`tau-browse verify PATH`: whether what a store holds is what was written.

JSON: {"verdict", "sessions": [{"path", "verdict", "anchor", "checks": [{"name", "verdict",
"reasons", "entry"}], "remarks"}]}
"""

from __future__ import annotations

import argparse
from typing import Any

from tau_browser.cli import places
from tau_browser.cli.output import Failure, Printer, print_json
from tau_browser.stores.store import Listed
from tau_browser.stores.verdict import Report, Verdict, Verifying


def run(args: argparse.Namespace, printer: Printer) -> int:
    """Print the verdicts; exit code 1 if anything is broken. Raises Failure, ConfigError and
    StoreError."""
    target = places.target(args, args.ref)
    store = target.store
    if not isinstance(store, Verifying):
        raise Failure(f"sessions of the store {store.name!r} hold nothing to verify them by")
    if target.path is not None:
        paths = [target.path]
    else:
        paths = [item.path for item in store.scan() if isinstance(item, Listed)]
    if not paths:
        raise Failure(f"no session in {store.title}", code=1)
    if args.anchor and len(paths) > 1:
        raise Failure(f"--anchor is of one session, and {store.title} holds {len(paths):,}")
    reports = [store.verify(path, args.anchor or "") for path in paths]
    worst = max((report.verdict for report in reports), key=lambda verdict: verdict.rank)
    if args.json:
        print_json({"verdict": worst.value, "sessions": map(_as_json, reports)})
    else:
        for report in reports:
            _print(report, printer)
    return 1 if worst is Verdict.BROKEN else 0


def _as_json(report: Report) -> dict[str, Any]:
    return {
        "path": report.path,
        "verdict": report.verdict.value,
        "anchor": report.anchor or None,
        "checks": [
            {
                "name": check.name,
                "verdict": check.verdict.value,
                "reasons": check.reasons,
                "entry": check.where or None,
            }
            for check in report.checks
        ],
        "remarks": report.remarks,
    }


def _print(report: Report, printer: Printer) -> None:
    printer.line(f"{report.path}: {report.verdict.value}")
    for check in report.checks:
        printer.line(f"  {check}")
    for remark in report.remarks:
        printer.line(f"  note: {remark}")
    if report.anchor:
        printer.line(
            f"  anchor: {report.anchor} (keep it elsewhere; --anchor holds it against this)"
        )
