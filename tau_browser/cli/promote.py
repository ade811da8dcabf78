"""`tau-browse promote SOURCE --into CORPUS`: entries as documents of a corpus on a server.

JSON: {"corpus", "document", "new": [{"identity", "title", "labels", "body", "source"}], "there",
"silent", "refused": [{"entry", "reason"}], "change"}
"""

from __future__ import annotations

import argparse
import os
from dataclasses import asdict
from typing import Any

from tau_browser import config
from tau_browser.actions.journal import Change
from tau_browser.actions.promote.choosing import Candidate, PromoteRequest, candidates
from tau_browser.actions.promote.server import Promotion, plan_promotion, promote
from tau_browser.cli import places
from tau_browser.cli.changing import entries_named, journal, print_plan
from tau_browser.cli.output import Failure, Printer, print_json
from tau_browser.cli.progress import watched
from tau_browser.cli.show import load
from tau_browser.model.memory import MemoryType
from tau_browser.stores.adapters import JMFTS, TAU, adapter
from tau_browser.stores.targets import Target, only_session, target_of


def run(args: argparse.Namespace, printer: Printer) -> int:
    """Show what would be promoted, and do it. Raises Failure, ConfigError and StoreError."""
    if places.store_name(args) != JMFTS:
        raise Failure("promote works on a server: give --store jmfts")
    config.use_rules(config.settings())
    target = source(args.source)
    session = load(target)
    assert target.path is not None
    request = PromoteRequest(
        only=entries_named(session, args.only or []),
        kinds=frozenset(args.kind or ()),
        memories=frozenset(map(MemoryType, args.memory or ())),
        facets=frozenset(facet.casefold() for facet in args.facet or ()),
        min_signal=args.min_signal or 0,
    )
    if request.is_blank:
        raise Failure("promote what? Give --only, --kind, --memory, --facet or --min-signal")
    found, silent = candidates(
        session, request, store=target.store.name, path=os.path.abspath(target.path)
    )
    return keep(args, found, silent, printer)


def keep(args: argparse.Namespace, found: list[Candidate], silent: int, printer: Printer) -> int:
    """Promote what was found into the corpus of `args.into`; returns the exit code."""
    store = places.server(args)
    promotion = plan_promotion(store, args.into, found, silent)
    if not args.json:
        print_plan(promotion.plan, printer)
    change = None
    if promotion.new and not args.dry_run:
        with watched() as tell:
            change = promote(store, promotion, journal(), tell)
    if args.json:
        print_json(_as_json(promotion, change))
    elif change is not None:
        printer.line()
        printer.line(f"done: document {change.path}; `tau-browse undo {change.id}` takes it back")
    return 0 if promotion.new or promotion.there else 1


def _as_json(promotion: Promotion, change: Change | None) -> dict[str, Any]:
    return {
        "corpus": promotion.corpus,
        "document": int(change.path) if change else promotion.document,
        "new": [asdict(candidate) for candidate in promotion.new],
        "there": promotion.there,
        "silent": promotion.silent,
        "refused": [
            {"entry": each.source.get("entry"), "reason": why} for each, why in promotion.refused
        ],
        "change": change.id if change else None,
    }


def source(word: str) -> Target:
    """The session to promote from: at any place, or one of τ's own by its id."""
    usual = [str(root.path) for root in places.usual_roots(TAU)]
    own = adapter(TAU)(usual, config.cache_folder())
    return only_session(target_of(word, own, config.cache_folder()))
