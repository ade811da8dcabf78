"""`tau-browse enrich [REF...]`: vectors and words for what a JMFTS server searches.

JSON: {"conversations": [{"ref", "title", "plan": {...}, "done", "problems"}], "stopped"}
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from typing import Any

from tau_browser.cli import places
from tau_browser.cli.output import Failure, Printer, print_json
from tau_browser.cli.show import load
from tau_browser.model.summary import summary_of
from tau_browser.model.text import counted
from tau_browser.stores.adapters import JMFTS
from tau_browser.stores.jmfts.enriching import SECONDS, Survey, enriched, surveyed
from tau_browser.stores.jmfts.store import JmftsStore
from tau_browser.stores.store import Listed
from tau_browser.stores.targets import Target, only_session


def run(args: argparse.Namespace, printer: Printer) -> int:
    """Tell what is to be done, and do it. Raises Failure, ConfigError and StoreError."""
    if places.store_name(args) != JMFTS:
        raise Failure("enrich works on a server: give --store jmfts")
    if bool(args.ref) == args.all:
        raise Failure("enrich needs a REF, or --all")
    store = places.server(args)
    reports = []
    failed = stopped = False
    for target in _targets(args, store):
        report = _Report(target, store, args, printer)
        try:
            report.make()
        except KeyboardInterrupt:
            stopped = True
        reports.append(report.as_json())
        failed |= bool(report.problems)
        if stopped:
            break
    if args.json:
        print_json({"conversations": iter(reports), "stopped": stopped})
    elif stopped:
        printer.line("paused: the same command goes on from here")
    return 130 if stopped else 2 if failed else 0


def _targets(args: argparse.Namespace, store: JmftsStore) -> list[Target]:
    if not args.all:
        return [only_session(places.target(args, ref)) for ref in args.ref]
    listed = [item for item in store.scan() if isinstance(item, Listed)]
    return [Target(store, item.path, item.path) for item in listed]


class _Report:
    """One conversation: what is to be done in it, and what was."""

    def __init__(
        self, target: Target, store: JmftsStore, args: argparse.Namespace, printer: Printer
    ) -> None:
        self._target = target
        self._client = store.client
        self._args = args
        self._printer = printer
        self._title = ""
        self._survey = Survey()
        self.done: Counter[str] = Counter()
        self.problems: list[str] = []

    def make(self) -> None:
        """Look, tell, and do it."""
        session = load(self._target)
        self._title = summary_of(session).title
        self._look(session)
        survey = self._survey
        self._tell(
            f"{self._target.path}  {self._title}: {len(survey.embed):,} to embed, "
            f"{len(survey.pieces):,} pieces to embed, {len(survey.stale):,} stale pieces to "
            f"remove, {len(survey.index):,} to index"
            + (f", about {_span(survey.steps * SECONDS)}" if survey.steps else "")
        )
        for reason, count in survey.skipped.items():
            self._tell(f"  {counted(count, 'entry')} left alone: {reason}")
        if self._args.dry_run or not survey.steps:
            return
        begun = time.monotonic()
        for count, step in enumerate(enriched(self._client, survey, self._args.index), 1):
            if step.problem:
                self.problems.append(f"document {step.document}: {step.problem}")
            else:
                self.done[step.did.partition(" ")[0]] += 1
            each = (time.monotonic() - begun) / count
            left = max(0, survey.steps - count) * each
            _progress(f"{count:,} of {survey.steps:,}, {1 / each:.1f}/s, {_span(left)} left")
        _progress("")
        said = ", ".join(f"{count:,} {did}" for did, count in self.done.items())
        self._tell(f"  done: {said or 'nothing'}")
        for problem in self.problems:
            self._tell(f"  not done: {problem}")

    def _look(self, session: Any) -> None:
        looking = surveyed(self._client, session, self._args.index)
        try:
            while True:
                _progress(f"looked at {next(looking):,} entries")
        except StopIteration as end:
            self._survey = end.value
        _progress("")

    def _tell(self, text: str) -> None:
        if not self._args.json:
            self._printer.line(text)

    def as_json(self) -> dict[str, Any]:
        """The report for programs."""
        survey = self._survey
        return {
            "ref": self._target.path,
            "title": self._title,
            "plan": {
                "embed": survey.embed,
                "pieces": survey.pieces,
                "stale": survey.stale,
                "index": survey.index,
                "left_alone": dict(survey.skipped),
            },
            "done": dict(self.done),
            "problems": self.problems,
        }


def _progress(text: str) -> None:
    """Show a person at a terminal how it goes, on one line."""
    if sys.stderr is not None and sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


def _span(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    return f"{minutes} min {seconds} s" if minutes else f"{seconds} s"
