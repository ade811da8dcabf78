"""`tau-browse distill REF`: a digest of the last turns, or of what one tool or run did.

JSON: {"kind", "id", "session", "asked", "window", "text", "sources": [{"entry", "time", "line",
"cut", "event"}], "coverage", "metrics", "secrets_hidden"}; with --output as in changing.py, with
--into as in promote.py.
"""

from __future__ import annotations

import argparse
import os

from tau_browser.actions.distill.digest import Digest, DigestRequest, digest_of
from tau_browser.actions.distill.writing import coverage_words, plan_distill, told, why_empty
from tau_browser.actions.file_writer import FileWriter
from tau_browser.cli import places
from tau_browser.cli.changing import carry_out
from tau_browser.cli.output import Failure, Printer, print_json
from tau_browser.cli.show import entry_named, load
from tau_browser.model.session import Session
from tau_browser.stores.adapters import JMFTS

_TURNS = 10


def run(args: argparse.Namespace, printer: Printer) -> int:
    """Print the digest, or write it. Raises Failure, ConfigError and StoreError."""
    if args.into is not None:
        return _keep(args, printer)
    session = load(places.session(args))
    digest = digest_of(session, _request(args, session))
    if args.output is not None:
        plan = plan_distill(digest, args.output, redact=args.redact)
        return carry_out(plan, FileWriter(""), args, printer)
    if args.json:
        print_json(told(digest, redact=args.redact))
    else:
        _print(digest, args.redact, printer)
    if not digest.sources:
        raise Failure(why_empty(digest), code=1)
    return 0


def _keep(args: argparse.Namespace, printer: Printer) -> int:
    """Keep the digest as a document of a corpus on a server."""
    from tau_browser.actions.promote.choosing import candidate_of
    from tau_browser.cli.promote import keep, source

    if places.store_name(args) != JMFTS:
        raise Failure("--into is a corpus on a server: give --store jmfts, and REF by its path")
    target = source(args.ref)
    session = load(target)
    assert target.path is not None
    digest = digest_of(session, _request(args, session))
    if not digest.sources:
        raise Failure(why_empty(digest), code=1)
    path = os.path.abspath(target.path)
    found = candidate_of(digest, store=target.store.name, path=path)
    return keep(args, [found], 0, printer)


def _request(args: argparse.Namespace, session: Session) -> DigestRequest:
    is_episode = args.tool is not None or (args.under is not None and args.turns is None)
    return DigestRequest(
        turns=None if is_episode else args.turns or _TURNS,
        tool=args.tool,
        under=entry_named(session, args.under) if args.under is not None else None,
        at=entry_named(session, args.at) if args.at is not None else None,
        min_signal=args.min_signal or 0,
        most=args.most,
        with_digests=args.with_digests,
    )


def _print(digest: Digest, redact: bool, printer: Printer) -> None:
    for line in str(told(digest, redact=redact)["text"]).splitlines():
        printer.line(line)
    printer.line()
    start, stop = digest.window
    printer.line(f"{digest.kind} digest {digest.id}, {start or 'unknown'} to {stop or 'unknown'}")
    printer.line(f"covers {coverage_words(digest)}")
