"""The arguments of the verbs for the memories of agents: agmem's, aethergraph's, any."""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from tau_browser.cli.completers import complete_with, nothing, references
from tau_browser.cli.numbers import count, signal_of

VERBS = {
    "promote": "keep entries as documents of a corpus on a JMFTS server",
    "snapshot": "write a corpus with hashes of all its files, to be kept and verified",
    "compact": "write a corpus anew, without what is in it twice",
    "distill": "make a digest of the last turns, or of what one tool or run did",
    "verify": "tell whether what a store holds is what was written",
    "observe": "keep the tool calls of live sessions in an agmem repository",
}


def add(verbs: Mapping[str, argparse.ArgumentParser]) -> None:
    """Give each of the verbs its arguments."""
    _add_verify(verbs["verify"])
    _add_distill(verbs["distill"])
    _add_promote(verbs["promote"])
    _add_corpus(verbs["snapshot"])
    _add_corpus(verbs["compact"])
    _add_observe(verbs["observe"])


def _add_verify(verify: argparse.ArgumentParser) -> None:
    ref = verify.add_argument("ref", metavar="PATH", help="a repository, or a folder of them")
    complete_with(ref, references)
    anchor = verify.add_argument(
        "--anchor", metavar="HASH", help="an anchor of an earlier report, which must still hold"
    )
    complete_with(anchor, nothing)


def _add_distill(distill: argparse.ArgumentParser) -> None:
    ref = distill.add_argument("ref", metavar="REF", help="a session: its path or its id")
    complete_with(ref, references)
    what = distill.add_mutually_exclusive_group()
    turns = what.add_argument(
        "--turns", type=count, metavar="N", help="the last N turns (10, unless told otherwise)"
    )
    tool = what.add_argument("--tool", metavar="NAME", help="what this tool was asked and gave")
    under = distill.add_argument(
        "--under", metavar="ENTRY", help="only what hangs below this entry, such as a run"
    )
    at = distill.add_argument("--at", metavar="ENTRY", help="as of this entry")
    signal = distill.add_argument(
        "--min-signal", type=signal_of, metavar="N", help="leave out entries with less signal"
    )
    most = distill.add_argument(
        "--max-characters",
        dest="most",
        type=count,
        default=20_000,
        metavar="N",
        help="of all lines together; the newest stay (20000)",
    )
    distill.add_argument(
        "--with-digests", action="store_true", help="take digests and compactions as sources, too"
    )
    distill.add_argument(
        "--no-redact", dest="redact", action="store_false", help="do not hide secrets"
    )
    output = distill.add_argument(
        "-o", "--output", metavar="FILE", help="write it to FILE: JSON if that ends so, or Markdown"
    )
    distill.add_argument("--dry-run", action="store_true", help="only tell what would be written")
    into = distill.add_argument(
        "--into", metavar="CORPUS", help="keep it in this corpus on a server (--store jmfts)"
    )
    for argument in (turns, tool, under, at, signal, most, output, into):
        complete_with(argument, nothing)


def _add_observe(observe: argparse.ArgumentParser) -> None:
    ref = observe.add_argument("ref", help="a session, or a folder: all in it, now and later")
    into = observe.add_argument(
        "--into",
        metavar="REPO",
        required=True,
        help="the repository; made where there is none yet",
    )
    for argument in (ref, into):
        complete_with(argument, references)
    observe.add_argument("--once", action="store_true", help="take what is there, and end")
    observe.add_argument("--dry-run", action="store_true", help="only tell what is there to take")
    numbers = (
        ("--every", 1.0, "look again every S seconds"),
        ("--interval", 300.0, "commit after S seconds at the latest"),
    )
    for name, default, does in numbers:
        option = observe.add_argument(
            name, type=_seconds, default=default, metavar="S", help=f"{does} ({default:g})"
        )
        complete_with(option, nothing)
    batch = observe.add_argument(
        "--batch", type=_count, default=50, metavar="N", help="commit N calls at once (50)"
    )
    complete_with(batch, nothing)


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0.05 <= value <= 86_400:
        raise argparse.ArgumentTypeError(f"must be seconds from 0.05 to 86400, not {text!r}")
    return value


def _count(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 100_000:
        raise argparse.ArgumentTypeError(f"must be a whole number from 1, not {text!r}")
    return int(text)


def _add_corpus(corpus: argparse.ArgumentParser) -> None:
    ref = corpus.add_argument("ref", metavar="REF", help="a corpus: its path or its id")
    complete_with(ref, references)
    corpus.add_argument("-o", "--output", metavar="FOLDER", required=True, help="a new folder")
    corpus.add_argument("--dry-run", action="store_true", help="only tell what would be written")


def _add_promote(promote: argparse.ArgumentParser) -> None:
    source = promote.add_argument("source", help="a session of any store: its path or its id")
    complete_with(source, references)
    into = promote.add_argument(
        "--into", metavar="CORPUS", required=True, help="its title, or the number of its document"
    )
    only = promote.add_argument("--only", metavar="ENTRY", action="append", help="this entry")
    kind = promote.add_argument(
        "--kind", action="append", help="entries or events of this kind or role"
    )
    promote.add_argument(
        "--memory",
        choices=("episodic", "semantic", "procedural"),
        action="append",
        help="entries that make memory of this type",
    )
    facet = promote.add_argument(
        "--facet", metavar="NAME:VALUE", action="append", help="events with stage:, tag:, metric:"
    )
    signal = promote.add_argument(
        "--min-signal", type=signal_of, metavar="N", help="entries with at least this signal"
    )
    promote.add_argument("--dry-run", action="store_true", help="only tell what would be added")
    for argument in (into, only, kind, facet, signal):
        complete_with(argument, nothing)
