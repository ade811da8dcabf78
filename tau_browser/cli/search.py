"""`tau-browse search QUERY`: the entries of all sessions that match, the best first.

JSON: {"query", "parsed", "method", "hits": [hit], "total", "similar", "reranked", "coverage",
"remarks"}
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from tau_browser import config
from tau_browser.cli import places
from tau_browser.cli.output import Failure, Printer, print_json, shown_time
from tau_browser.model.families import family_of
from tau_browser.model.text import counted
from tau_browser.search import fusion
from tau_browser.search.answers import is_as_typed, query_as_typed
from tau_browser.search.engines import engine_for
from tau_browser.search.find import QueryError
from tau_browser.search.fusion import Part
from tau_browser.search.index.folder import IndexBusy, NoIndex
from tau_browser.search.index.update import Progress
from tau_browser.search.manner import SERVER
from tau_browser.search.query import BadQuery, Query, parse
from tau_browser.search.results import Asking, Coverage, Hit, Method, Reach, Results
from tau_browser.search.saved import Saved, SavedError, SavedSearches
from tau_browser.stores.adapters import JMFTS
from tau_browser.stores.store import Store

if TYPE_CHECKING:
    from tau_browser.search.engines import AnyEngine

E = TypeVar("E", bound="AnyEngine")
_LIMIT = 20
_EXPLAINED = 10  # hits of which it is asked what late interaction matched, a request each
_PATIENCE = 5.0
"""Seconds in which new sessions are indexed before the answer; what is left then is scanned."""
_LEFT = "`tau-browse index` indexes what is left"


def run(args: argparse.Namespace, printer: Printer) -> int:
    """Bring the index up to date, then print the hits. Raises Failure, ConfigError, StoreError."""
    config.use_rules(config.settings())
    search = _search(args)
    store = places.store(args)
    store, paths = _within(args, store)
    query = parsed(search.query, search.method)
    limit, reach = args.limit or _LIMIT, _reach(args, store)
    asking = Asking(query, search.method, limit, paths, search.weights, search.fused_by, reach)
    if args.save is not None:
        _save(args.save, search)
    with opened(engine_for(store, config.cache_folder())) as engine:
        by_meaning = asking.method in (Method.HYBRID, Method.VECTOR)
        remarks = refresh(engine, embedding=by_meaning, patience=_PATIENCE)
        try:
            results = engine.placed(engine.reranked(_answer(engine, asking)))
            explained = [engine.explained(hit, query) for hit in results.hits[:_EXPLAINED]]
            results = replace(results, hits=[*explained, *results.hits[_EXPLAINED:]])
        except NoIndex as error:
            raise Failure(str(error)) from error
        except QueryError as error:
            raise Failure(f"{search.query}: {error}") from error
    if args.json:
        print_json(_as_json(results, remarks))
    else:
        _print(results, remarks, printer)
    return 0 if results.hits else 1


def _within(args: argparse.Namespace, store: Store) -> tuple[Store, list[str] | None]:
    """Where to look: a store, and the paths of sessions in it, or None for all. Raises Failure and
    StoreError."""
    if not args.within:
        return store, None
    if len(args.within) > 1 and store.name != JMFTS:
        raise Failure("--in may be given again on a server only; name one session, or a folder")
    targets = [places.target(args, ref) for ref in args.within]
    if len(targets) > 1 and any(target.store.name != JMFTS for target in targets):
        raise Failure("--in: a file or a folder is searched by itself; leave the others out")
    paths = [target.path for target in targets if target.path is not None]
    return targets[0].store, paths or None


def _reach(args: argparse.Namespace, store: Store) -> Reach:
    """How far from there. Raises Failure."""
    if not (args.branch or args.everything):
        return Reach.BELOW
    option = "--branch" if args.branch else "--everything"
    if store.name != JMFTS:
        raise Failure(f"{option} is of servers; leave it out, or name one with --store jmfts")
    if args.branch and not args.within:
        raise Failure("--branch is that of an entry; name its document with --in")
    if args.everything and args.within:
        raise Failure("--everything is all of the server; leave out --in")
    return Reach.BRANCH if args.branch else Reach.ALL


def _search(args: argparse.Namespace) -> Saved:
    """What is asked, be it saved or typed; options that are given count. Raises Failure."""
    if (args.query is None) == (args.saved is None):
        raise Failure("search needs a query, or --saved NAME instead")
    try:
        search = Saved(args.query) if args.saved is None else _searches().get(args.saved)
    except SavedError as error:
        raise Failure(str(error)) from error
    named = SERVER.presets.get(args.weights) if isinstance(args.weights, str) else None
    weights = named.weights if named else args.weights or {}
    fused_by = named.fused_by if named else search.fused_by
    return Saved(
        search.query,
        Method(args.method) if args.method else search.method,
        search.weights | dict(weights),
        fusion.Method(args.fusion) if args.fusion else fused_by,
    )


def _save(name: str, search: Saved) -> None:
    try:
        _searches().save(name, search)
    except SavedError as error:
        raise Failure(str(error)) from error


def _searches() -> SavedSearches:
    return SavedSearches(config.state_folder())


def _answer(engine: AnyEngine, asking: Asking) -> Results:
    """By the index, and by a scan of what it lacks. Raises NoIndex and QueryError."""
    try:
        results = engine.answer(asking)
    except NoIndex:
        if asking.method is Method.VECTOR:
            raise
        return engine.scan(asking)
    return engine.completed(results)


def parsed(text: str, method: Method) -> Query:
    """A query. Raises Failure, with the place where it is wrong."""
    try:
        query = query_as_typed(text, method) if is_as_typed(method) else parse(text)
    except BadQuery as error:
        details = [text, " " * error.start + "^" * max(1, error.stop - error.start)]
        raise Failure(str(error), details=details) from error
    if query.is_blank:
        raise Failure("the query is blank")
    return query


@contextmanager
def opened(engine: E) -> Iterator[E]:
    """An engine that lets go of its files afterwards."""
    try:
        yield engine
    finally:
        engine.close()


def refresh(engine: AnyEngine, *, embedding: bool, patience: float = math.inf) -> list[str]:
    """Index and embed what is new, for at most so many seconds; returns what the person should
    know of it."""
    end = time.monotonic() + patience

    def is_late() -> bool:
        return time.monotonic() >= end

    try:
        report = engine.update(tell_progress(), is_late)
        remarks = [f"the index was made anew: {report.rebuilt}"] if report.rebuilt else []
        remarks += [report.problem] if report.problem else []
        if embedding and not report.cancelled:
            for _ in engine.embed(is_late):
                pass
    except (IndexBusy, NoIndex) as error:
        return [str(error)]
    return [*remarks, *[_LEFT] * (embedding and is_late())]


def tell_progress() -> Callable[[Progress], None]:
    """What tells a person at a terminal how far indexing has come."""
    if sys.stderr is None or not sys.stderr.isatty():
        return lambda _: None

    def tell(progress: Progress) -> None:
        if progress.bytes:
            share = progress.bytes_done / progress.bytes
            end = "\n" if progress.files_done == progress.files else ""
            print(f"\rindexing {share:.0%}", end=end, file=sys.stderr, flush=True)

    return tell


def _as_json(results: Results, remarks: list[str]) -> dict[str, Any]:
    return {
        "query": results.query.text,
        "parsed": {
            "terms": [
                {"kind": term.kind.value, "text": term.text, "negated": term.negated}
                for term in results.query.terms
            ],
            "filters": [
                {"name": each.name, "value": each.value, "negated": each.negated}
                for each in results.query.filters
            ],
        },
        "method": results.method.value,
        "hits": map(_hit, results.hits),
        "total": results.total,
        "similar": results.similar,
        "reranked": results.reranked,
        "coverage": _coverage(results.coverage),
        "remarks": [*results.missing, *results.remarks, *remarks],
    }


def _hit(hit: Hit) -> dict[str, Any]:
    return {
        "store": hit.store,
        "session": hit.standing.session,
        "path": hit.standing.path,
        "entry": hit.entry,
        "state": hit.state_word or None,
        "subagent": hit.is_subagent,
        "turn": {"entry": hit.turn.entry, "text": hit.turn.text} if hit.turn else None,
        "time": hit.time or None,
        "rank": hit.rank,
        "score": hit.score,
        "rankers": {part.ranker: _part(hit, part) for part in hit.parts},
        "spans": hit.spans,
        "terms": hit.terms,
        "snippet": hit.snippet.text,
        "tools": [{"name": tool, "family": family_of(tool)} for tool in hit.tools],
        "also_in": [{"session": one.session, "path": one.path} for one in hit.also_in],
        "likely": [
            {
                "word": each.word,
                "sought": each.sought,
                "nearness": each.nearness,
                "spans": each.spans,
            }
            for each in hit.likely
        ],
        "document": hit.document,
    }


def _part(hit: Hit, part: Part) -> dict[str, Any]:
    if hit.is_by_time:
        return {"rank": part.rank, "time": hit.time or None}
    return {
        "rank": part.rank,
        "score": part.raw,
        "normalised": part.norm,
        "weight": part.weight,
        "contribution": part.contribution,
    }


def _coverage(coverage: Coverage) -> dict[str, Any]:
    return {
        "sessions": coverage.sessions,
        "entries": coverage.entries,
        "indexed": coverage.indexed,
        "embedded": coverage.embedded,
        "scanned": coverage.scanned,
        "unindexed": coverage.unindexed,
        "what": coverage.what,
        "skipped": [{"path": path, "reason": reason} for path, reason in coverage.skipped],
    }


def _print(results: Results, remarks: list[str], printer: Printer) -> None:
    for hit in results.hits:
        ranks = " ".join(f"{part.ranker} {part.rank}" for part in hit.parts) or "by a scan"
        copies = f", {counted(len(hit.also_in), 'copy')}" if hit.also_in else ""
        state = "" if hit.state_word in ("", "path") else f", {hit.state_word}"
        state += ", sub-agent" if hit.is_subagent else ""
        name = os.path.basename(hit.standing.path) or "in no session"
        session = hit.standing.session[:8] or name
        printer.line(
            f"{hit.rank}. {session} {hit.entry}  {shown_time(hit.time)}  {hit.speaker}{state}"
            f"  ({ranks}{copies})"
        )
        marks = [(start + 4, stop + 4) for start, stop in hit.snippet.marks]
        printer.line(f"    {hit.snippet.text}", marks)
        if hit.turn:
            printer.line(f"    in the turn: {hit.turn.text}")
        for each in hit.likely:
            near = f"{each.word} for {each.sought}, {each.nearness:.2f}"
            printer.line(f"    probably by late interaction: {near}")
    coverage = results.coverage
    parts = [f"{results.total:,} found", f"{results.similar:,} similar"]
    parts.append(f"{len(results.hits):,} shown")
    parts += ["re-ranked"] * results.reranked
    indexed = coverage.indexed - (coverage.unindexed or 0)
    parts += [counted(coverage.sessions, "session"), f"{counted(indexed, coverage.what)} indexed"]
    parts.append(f"{coverage.embedded:,} of {coverage.indexed:,} embedded")
    if coverage.skipped:
        parts.append(f"{counted(len(coverage.skipped), 'session')} not readable")
    if coverage.unindexed is None:
        parts.append("cannot tell how many the index of words lacks")
    elif coverage.unindexed:
        parts.append(f"{coverage.unindexed:,} not in the index of words, or without text")
    printer.line(", ".join(parts))
    for remark in (*results.missing, *results.remarks, *remarks):
        printer.line(remark)
