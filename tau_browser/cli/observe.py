"""`tau-browse observe REF --into REPO`: keep the tool calls of live sessions in a repository of
agmem's, until Ctrl-C.

JSON, at the end: {"repository", "session", "sessions", "captured", "known", "recovered",
"redacted", "waiting", "commits", "signed", "unread"}; with --dry-run {"plan"} as in changing.py
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any

from tau_browser.actions.observe.capture import Capture
from tau_browser.actions.observe.follow import Observing, Pace
from tau_browser.actions.observe.preview import plan_capture
from tau_browser.actions.observe.signing import UNSIGNED, private_key
from tau_browser.actions.plan import described
from tau_browser.cli import places
from tau_browser.cli.changing import print_plan
from tau_browser.cli.output import Printer, print_json
from tau_browser.config import settings, use_rules
from tau_browser.model.text import counted, safe_line

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def run(args: argparse.Namespace, printer: Printer) -> int:
    """Capture until told to stop. Raises Failure, ConfigError and StoreError."""
    use_rules(settings())
    target = places.target(args, args.ref)
    key = private_key(os.environ)
    capture = Capture(Path(args.into).expanduser().absolute(), key)
    if args.dry_run:
        plan = plan_capture(target.store, target.path, capture)
        if args.json:
            print_json({"plan": described(plan)})
        else:
            print_plan(plan, printer)
        return 0
    stop = threading.Event()
    before = {number: signal.signal(number, lambda *_: stop.set()) for number in _SIGNALS}
    pace = Pace(args.every, args.batch, args.interval)

    def tell(sentence: str) -> None:
        print(safe_line(sentence), file=sys.stderr, flush=True)

    try:
        with capture:
            observing = Observing(target.store, target.path, capture, pace, tell)
            if capture.lacks_key:
                tell(UNSIGNED)
            if not args.once:
                tell(f"capturing into {args.into}; Ctrl-C ends the session")
            observing.run(stop, once=args.once)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    report = _report(args.into, observing, signed=key is not None)
    if args.json:
        print_json(report)
    else:
        _print(report, printer)
    return 0


def _report(into: str, observing: Observing, *, signed: bool) -> dict[str, Any]:
    capture = observing.capture
    return {
        "repository": into,
        "session": capture.session_id,
        "sessions": observing.sessions,
        "captured": capture.counts.captured,
        "known": capture.counts.known,
        "recovered": capture.counts.recovered,
        "redacted": observing.redaction.count,
        "waiting": observing.waiting,
        "commits": capture.counts.commits,
        "signed": signed,
        "unread": observing.unread,
    }


def _print(report: dict[str, Any], printer: Printer) -> None:
    said = [
        f"{counted(report['captured'], 'call')} captured",
        f"{counted(report['sessions'], 'session')} read",
        f"{report['known']:,} known already",
        counted(len(report["commits"]), "signed commit" if report["signed"] else "commit"),
    ]
    if report["recovered"]:
        said.append(f"{report['recovered']:,} recovered from the crash buffer")
    if report["redacted"]:
        said.append(f"{counted(report['redacted'], 'secret')} hidden")
    if report["waiting"]:
        said.append(f"{report['waiting']:,} without a result yet: captured when it is there")
    printer.line(", ".join(said))
    for path, reason in report["unread"].items():
        printer.line(f"not read: {path}: {reason}")
