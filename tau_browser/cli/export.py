"""`tau-browse export REF`: a session, or a part of it, as a file.

JSON: as in changing.py, with "secrets": [{"number", "kind", "placeholder", "count", "entry",
"hidden"}]
"""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import replace

from tau_browser.actions.export.plan import Exporting, plan_export
from tau_browser.actions.export.request import ExportRequest, Format
from tau_browser.actions.file_writer import FileWriter
from tau_browser.cli import places
from tau_browser.cli.changing import carry_out, entries_named
from tau_browser.cli.output import Failure, Printer
from tau_browser.cli.show import load
from tau_browser.model.session import Session
from tau_browser.model.text import counted


def run(args: argparse.Namespace, printer: Printer) -> int:
    """Export the session. Raises Failure, ConfigError and StoreError."""
    session = load(places.session(args))
    request = _request(args, session)
    exporting = plan_export(session, request)
    if args.show:
        shown = frozenset(_secret(number, exporting) for number in args.show)
        request = replace(request, shown=shown)
        exporting = plan_export(session, request)
    if args.output == "-":
        return _print(exporting)
    secrets = [
        {
            "number": at,
            "kind": finding.kind,
            "placeholder": finding.placeholder,
            "count": finding.count,
            "entry": finding.entry,
            "hidden": request.redacts and finding.secret not in request.shown,
        }
        for at, finding in enumerate(exporting.findings, 1)
    ]
    if not args.json:
        _list_secrets(exporting, request, printer)
    return carry_out(exporting.plan, FileWriter(""), args, printer, secrets=secrets)


def _request(args: argparse.Namespace, session: Session) -> ExportRequest:
    ending = os.path.splitext(args.output or "")[1].removeprefix(".")
    known = {form.value for form in Format}
    form = Format(args.format or (ending if ending in known else "html"))
    at = entries_named(session, [args.at] if args.at is not None else [])
    subtree = entries_named(session, [args.subtree] if args.subtree is not None else [])
    return ExportRequest(
        form,
        output="" if args.output == "-" else args.output or "",
        at=at[0] if at else None,
        subtree=subtree[0] if subtree else None,
        only=entries_named(session, args.only or []),
        redact=args.redact,
    )


def _secret(number: str, exporting: Exporting) -> str:
    count = len(exporting.findings)
    if not number.isdecimal() or not 1 <= int(number) <= count:
        raise Failure(f"--show {number}: there are {counted(count, 'secret')}, numbered from 1")
    return exporting.findings[int(number) - 1].secret


def _list_secrets(exporting: Exporting, request: ExportRequest, printer: Printer) -> None:
    if exporting.findings:
        printer.table(
            [
                (
                    str(at),
                    finding.placeholder if _hides(request, finding.secret) else "shown",
                    f"{finding.count:,} x",
                    f"in {finding.entry}",
                    finding.hint,
                )
                for at, finding in enumerate(exporting.findings, 1)
            ],
            right=[0, 2],
        )
        printer.line()


def _hides(request: ExportRequest, secret: str) -> bool:
    return request.redacts and secret not in request.shown


def _print(exporting: Exporting) -> int:
    """The export itself on standard output; what is to be known about it on the other."""
    for remark in exporting.plan.remarks:
        print(f"tau-browse: {remark}", file=sys.stderr)
    sys.stdout.flush()
    for piece in exporting.plan.content.pieces():
        sys.stdout.buffer.write(piece)
    sys.stdout.buffer.flush()
    return 0
