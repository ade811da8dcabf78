"""`tau-browse search QUERY`: the entries of all sessions that match, the best first.

JSON: {"query", "parsed", "method", "hits": [hit], "total", "similar", "coverage", "remarks"}
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tau_browser import config
from tau_browser.cli import places
from tau_browser.cli.output import Failure, Printer, print_json, shown_time
from tau_browser.model.text import counted
from tau_browser.search import fusion
from tau_browser.search.engine import Engine
from tau_browser.search.find import QueryError
from tau_browser.search.fusion import DEFAULT_WEIGHTS
from tau_browser.search.index.folder import IndexBusy, NoIndex
from tau_browser.search.index.update import Progress
from tau_browser.search.query import BadQuery, Query, parse
from tau_browser.search.results import Coverage, Hit, Method, Results

_LIMIT = 20
_AS_TYPED = (Method.SUBSTRING, Method.REGEX)


def run(args: argparse.Namespace, printer: Printer) -> int:
    """Bring the index up to date, then print the hits. Raises Failure, ConfigError, StoreError."""
    method = Method(args.method)
    query = Query(args.query) if method in _AS_TYPED else parsed(args.query)
    store = places.store(args)
    paths = None
    if args.within is not None:
        target = places.target(args, args.within)
        store, paths = target.store, None if target.path is None else [target.path]
    with opened(Engine(store, config.cache_folder())) as engine:
        remarks = refresh(engine, embedding=method in (Method.HYBRID, Method.VECTOR))
        try:
            weights = DEFAULT_WEIGHTS | (args.weights or {})
            fused_by = fusion.Method(args.fusion)
            limit = args.limit or _LIMIT
            results = engine.search(
                query, method, limit=limit, paths=paths, weights=weights, fused_by=fused_by
            )
            if method is Method.HYBRID:
                results = engine.rerank(results, weights=weights, fused_by=fused_by)
        except NoIndex as error:
            raise Failure(str(error)) from error
        except QueryError as error:
            raise Failure(f"{args.query}: {error}") from error
    if args.json:
        print_json(_as_json(results, remarks))
    else:
        _print(results, remarks, printer)
    return 0 if results.hits else 1


def parsed(text: str) -> Query:
    """A query. Raises Failure, with the place where it is wrong."""
    try:
        query = parse(text)
    except BadQuery as error:
        details = [text, " " * error.start + "^" * max(1, error.stop - error.start)]
        raise Failure(str(error), details=details) from error
    if query.is_blank:
        raise Failure("the query is blank")
    return query


@contextmanager
def opened(engine: Engine) -> Iterator[Engine]:
    """An engine that lets go of its files afterwards."""
    try:
        yield engine
    finally:
        engine.close()


def refresh(engine: Engine, *, embedding: bool) -> list[str]:
    """Index and embed what is new; returns what the person should know of it."""
    try:
        report = engine.update(tell_progress())
        remarks = [f"the index was made anew: {report.rebuilt}"] if report.rebuilt else []
        remarks += [report.problem] if report.problem else []
        if embedding:
            for _ in engine.embed():
                pass
    except IndexBusy as error:
        return [f"{error}: what it has not reached yet is not found"]
    except NoIndex as error:
        return [str(error)]
    return remarks


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
        "coverage": _coverage(results.coverage),
        "remarks": [*results.remarks, *remarks],
    }


def _hit(hit: Hit) -> dict[str, Any]:
    return {
        "store": "tau",
        "session": hit.standing.session,
        "path": hit.standing.path,
        "entry": hit.entry,
        "state": hit.state.word,
        "time": hit.time or None,
        "rank": hit.rank,
        "score": hit.score,
        "rankers": {
            part.ranker: {
                "rank": part.rank,
                "score": part.raw,
                "normalised": part.norm,
                "weight": part.weight,
                "contribution": part.contribution,
            }
            for part in hit.parts
        },
        "spans": hit.spans,
        "snippet": hit.snippet.text,
        "also_in": [{"session": one.session, "path": one.path} for one in hit.also_in],
    }


def _coverage(coverage: Coverage) -> dict[str, Any]:
    return {
        "sessions": coverage.sessions,
        "entries": coverage.entries,
        "indexed": coverage.indexed,
        "embedded": coverage.embedded,
        "skipped": [{"path": path, "reason": reason} for path, reason in coverage.skipped],
    }


def _print(results: Results, remarks: list[str], printer: Printer) -> None:
    for hit in results.hits:
        ranks = " ".join(f"{part.ranker} {part.rank}" for part in hit.parts)
        copies = f", {counted(len(hit.also_in), 'copy')}" if hit.also_in else ""
        state = "" if hit.state.word == "path" else f", {hit.state.word}"
        name = os.path.basename(hit.standing.path) if not hit.standing.session else ""
        session = hit.standing.session[:8] or name
        printer.line(
            f"{hit.rank}. {session} {hit.entry}  {shown_time(hit.time)}  {hit.speaker}{state}"
            f"  ({ranks}{copies})"
        )
        marks = [(start + 4, stop + 4) for start, stop in hit.snippet.marks]
        printer.line(f"    {hit.snippet.text}", marks)
    coverage = results.coverage
    parts = [f"{results.total:,} found", f"{results.similar:,} similar"]
    parts.append(f"{len(results.hits):,} shown")
    parts += [counted(coverage.sessions, "session"), f"{coverage.indexed:,} entries indexed"]
    parts.append(f"{coverage.embedded:,} of {coverage.indexed:,} embedded")
    if coverage.skipped:
        parts.append(f"{counted(len(coverage.skipped), 'session')} not readable")
    printer.line(", ".join(parts))
    for remark in (*results.remarks, *remarks):
        printer.line(remark)
