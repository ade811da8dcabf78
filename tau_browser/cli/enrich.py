"""`tau-browse enrich [REF...]`: vectors and words for what a JMFTS server searches.

JSON: {"conversations": [{"ref", "title", "plan": {"embed", "vectors", "pieces", "stale", "index",
"into", "left_alone", "flaws"}, "done", "problems"}], "stopped"}
"""

from __future__ import annotations

import argparse
from typing import Any

from tau_browser.actions.progress import Stopped, Tell
from tau_browser.actions.server_enrich import (
    Enriched,
    Enrichment,
    enrich,
    lines_of,
    lines_of_report,
    plan_enrich,
)
from tau_browser.actions.wording import PLAIN_SIGNS, Signs
from tau_browser.cli import places
from tau_browser.cli.output import Failure, Printer, print_json
from tau_browser.cli.progress import STOPPED, watched
from tau_browser.stores.adapters import JMFTS
from tau_browser.stores.jmfts.enriching import NO_MODEL
from tau_browser.stores.jmfts.store import JmftsStore
from tau_browser.stores.store import Listed
from tau_browser.stores.targets import only_session


def run(args: argparse.Namespace, printer: Printer) -> int:
    """Tell what is to be done, and do it. Raises Failure, ConfigError and StoreError."""
    if places.store_name(args) != JMFTS:
        raise Failure("enrich works on a server: give --store jmfts")
    if bool(args.ref) == args.all:
        raise Failure("enrich needs a REF, or --all")
    store = places.server(args)
    reports = []
    failed = stopped = False
    with watched("stopping after this document") as tell:
        for path in _paths(args, store):
            try:
                plan = plan_enrich(store, path, args.index, tell)
            except Stopped:
                stopped = True
                break
            report = _carry_out(store, plan, args, printer, tell)
            reports.append(_as_json(plan, report))
            lacking = args.index is None and NO_MODEL in plan.survey.skipped
            failed |= bool(report.problems or plan.flaws) or lacking
            if stopped := report.stopped:
                break
    if args.json:
        print_json({"conversations": iter(reports), "stopped": stopped})
    elif stopped:
        printer.line("the same command goes on from here")
    return STOPPED if stopped else 2 if failed else 0


def _paths(args: argparse.Namespace, store: JmftsStore) -> list[str]:
    if not args.all:
        return [str(only_session(places.target(args, ref)).path) for ref in args.ref]
    return [item.path for item in store.scan() if isinstance(item, Listed)]


def _carry_out(
    store: JmftsStore, plan: Enrichment, args: argparse.Namespace, printer: Printer, tell: Tell
) -> Enriched:
    """Tell what is to be done in one conversation, do it, and tell what was done."""
    signs = PLAIN_SIGNS if printer.ascii_only else Signs()
    if not args.json:
        printer.line(plan.about)
        for line in lines_of(plan, signs):
            printer.line(f"  {line.text}")
    if args.dry_run or not plan.steps:
        return Enriched(plan.steps)
    report = enrich(store, plan, tell)
    if not args.json:
        for line in lines_of_report(report, signs):
            printer.line(f"  {line.text}")
    return report


def _as_json(plan: Enrichment, report: Enriched) -> dict[str, Any]:
    """The report for programs."""
    survey = plan.survey
    return {
        "ref": plan.path,
        "title": plan.title,
        "plan": {
            "embed": survey.embed,
            "vectors": survey.vectors,
            "pieces": survey.pieces,
            "stale": survey.stale,
            "index": survey.index,
            "into": survey.into,
            "left_alone": dict(survey.skipped),
            "flaws": list(plan.flaws),
        },
        "done": dict(report.done),
        "problems": report.problems,
    }
