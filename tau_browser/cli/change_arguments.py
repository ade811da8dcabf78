"""The arguments of the verbs that change something."""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from tau_browser.cli.completers import complete_with, nothing, references

FORMATS = ("html", "md", "json", "jsonl")

VERBS = {
    "fork": "make a new session out of one: all of it, a path, or some turns",
    "prune": "leave out subtrees: in a copy, in place, or by a fold",
    "rename": "give a session a name",
    "label": "write a label or a note on an entry, or list them",
    "export": "write a session, or a part of it, as a file to send or to read",
    "import": "make a session of a file of any readable format",
    "enrich": "give a JMFTS server what it searches by: vectors, pieces, words",
    "undo": "take a change back, or list all changes",
}


def add(verbs: Mapping[str, argparse.ArgumentParser]) -> None:
    """Give each of the verbs its arguments."""
    _add_fork(verbs["fork"])
    _add_prune(verbs["prune"])
    _add_rename(verbs["rename"])
    _add_label(verbs["label"])
    _add_export(verbs["export"])
    _add_import(verbs["import"])
    _add_enrich(verbs["enrich"])
    _add_undo(verbs["undo"])


def _add_fork(fork: argparse.ArgumentParser) -> None:
    _add_reference(fork)
    what = fork.add_mutually_exclusive_group()
    at = what.add_argument("--at", metavar="ENTRY", help="only the path to this entry")
    only = what.add_argument(
        "--only",
        metavar="ENTRY",
        action="append",
        help="only this turn or entry, and what it needs; may be given several times",
    )
    cwd = fork.add_argument("--cwd", metavar="DIR", help="the directory that it goes on in")
    name = fork.add_argument("--name", metavar="NAME", help="its name")
    for argument in (at, only, name):
        complete_with(argument, nothing)
    complete_with(cwd, references)
    _add_remedies(fork)
    _add_dry_run(fork)


def _add_prune(prune: argparse.ArgumentParser) -> None:
    _add_reference(prune)
    entry = prune.add_argument("entry", nargs="+", help="what goes: it and all below it")
    how = prune.add_mutually_exclusive_group()
    how.add_argument("--in-place", action="store_true", help="in the session itself, not in a copy")
    how.add_argument(
        "--fold",
        action="store_true",
        help="take nothing out: the model's context begins at ENTRY (an elide)",
    )
    confirm = prune.add_argument(
        "--confirm", metavar="N", help="with --in-place: how many entries go"
    )
    for argument in (entry, confirm):
        complete_with(argument, nothing)
    _add_remedies(prune)
    _add_dry_run(prune)


def _add_rename(rename: argparse.ArgumentParser) -> None:
    _add_reference(rename)
    complete_with(rename.add_argument("name", help="the new name"), nothing)
    _add_dry_run(rename)


def _add_label(label: argparse.ArgumentParser) -> None:
    _add_reference(label)
    entry = label.add_argument("entry", nargs="?", help="the entry; without it, all are listed")
    text = label.add_argument("label", nargs="?", help='the label; "" wipes it')
    note = label.add_argument("--note", metavar="NOTE", help='a note of any length; "" wipes it')
    for argument in (entry, text, note):
        complete_with(argument, nothing)
    _add_dry_run(label)


def _add_export(export: argparse.ArgumentParser) -> None:
    _add_reference(export)
    what = export.add_mutually_exclusive_group()
    at = what.add_argument("--at", metavar="ENTRY", help="only the path to this entry")
    subtree = what.add_argument(
        "--subtree", metavar="ENTRY", help="only this entry and all below it"
    )
    only = what.add_argument(
        "--only", metavar="ENTRY", action="append", help="only this; may be given several times"
    )
    for argument in (at, subtree, only):
        complete_with(argument, nothing)
    export.add_argument("--format", choices=FORMATS, help="default: as FILE ends, or else html")
    export.add_argument(
        "--redact",
        action=argparse.BooleanOptionalAction,
        help="hide secrets; default: in html and md",
    )
    show = export.add_argument(
        "--show", metavar="N", action="append", help="leave secret N of the plan as it is"
    )
    complete_with(show, nothing)
    export.add_argument("-o", "--output", metavar="FILE", help="where to; - prints it")
    _add_dry_run(export)


def _add_import(parser: argparse.ArgumentParser) -> None:
    source = parser.add_argument("source", help="a session's file, its id, or the beginning of one")
    cwd = parser.add_argument("--cwd", metavar="DIR", help="the directory that it goes on in")
    for argument in (source, cwd):
        complete_with(argument, references)
    _add_dry_run(parser)


def _add_enrich(enrich: argparse.ArgumentParser) -> None:
    ref = enrich.add_argument("ref", nargs="*", help="conversations, by id or document")
    complete_with(ref, references)
    enrich.add_argument("--all", action="store_true", help="all conversations of the server")
    index = enrich.add_argument("--index", metavar="NAME", help="a BM25 index to hold them, too")
    complete_with(index, nothing)
    _add_dry_run(enrich)


def _add_undo(undo: argparse.ArgumentParser) -> None:
    change = undo.add_argument(
        "id", nargs="?", help="the change; the last one that stands, if none"
    )
    complete_with(change, nothing)
    undo.add_argument("--list", action="store_true", help="list all changes")
    _add_dry_run(undo)


def _add_remedies(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--pairs", action="store_true", help="take the other half of a tool call along"
    )
    parser.add_argument(
        "--force", action="store_true", help="copy a session although it is being written"
    )


def _add_dry_run(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dry-run", action="store_true", help="only tell what would be done")


def _add_reference(parser: argparse.ArgumentParser) -> None:
    ref = parser.add_argument("ref", help="a path, a session id, or the beginning of one")
    complete_with(ref, references)
