"""The command line: which verbs there are, what each takes, and what --help says.

Imports nothing heavy: this is read at every start, and by a shell at every Tab.
"""

from __future__ import annotations

import argparse
from typing import Any, NoReturn

from tau_browser import __version__
from tau_browser.cli import change_arguments, memory_arguments
from tau_browser.cli.completers import complete_with, nothing, references
from tau_browser.cli.numbers import NUMBER, count, signal_of
from tau_browser.cli.output import Failure

PROG = "tau-browse"
APP = ""
"""Stands where a verb would, if there is none: the app opens."""

_VERBS = {
    "ls": "list sessions",
    "show": "print a session as a tree of entries",
    "find": "find text inside a session",
    "search": "search all sessions",
    "saved": "list the searches that were saved, and the last queries",
    "recalls": "list what the agent recalled from its memory, and whether it used it",
    "index": "bring the index of `search` up to date, or tell what it holds",
    **change_arguments.VERBS,
    **memory_arguments.VERBS,
    "doctor": "report what is set up, and what is wrong with it",
    "completion": "print a completion script for a shell",
}
_QUERY = (
    'words, "a phrase", /an expression/, -not, and filters: role: kind: tool: project: since: '
    "until: model: branch: memory: is:error is:recall has:image signal: severity: stage: tag: "
    "metric: event:"
)
_SHELLS = ("bash", "zsh", "fish")
# Options before a verb that take a value, which is no verb.
_VALUED = ("--session-dir", "--store", "--url", "--token-file")
_RANKERS = ("bm25", "static", "neural", "fulltext", "vector", "maxsim")
_USAGE = f"{PROG} [options] [PATH|REF]\n       {PROG} VERB [options] ..."
_ABOUT = "Look into the memory of coding agents. Without a verb, the app opens."
_EPILOG = f"""\
PATH is a session file or a folder of them. REF is a PATH, a session id, or the beginning of one.
A word that is a verb is the verb: `{PROG} ./ls` opens a file called ls. After `--` nothing is an
option or a verb. `{PROG} VERB --help` tells more.

What PATH holds is told from the files themselves; --store NAME says it, or opens what NAME's
program keeps where it usually does. `{PROG} doctor` names the kinds and what there is of each.

Without either, sessions are looked for in τ's home ($TAU_HOME, or ~/.tau), in the folder of
`tau --mode rpc`, and in .tau/sessions of this directory. Where the app finds none, it opens a
small demo and says so.

With --store jmfts they are those of a server: --url and --token-file name it, else session_store
in τ's config.json, else $JMFTS_API_URL and $JMFTS_API_TOKEN. REF may be a document's number, too.

Exit codes: 0 found, 1 nothing found, 2 error.
"""


class _Parser(argparse.ArgumentParser):
    def __init__(self, **options: Any) -> None:
        style = argparse.RawDescriptionHelpFormatter
        super().__init__(formatter_class=style, allow_abbrev=False, **options)

    def error(self, message: str) -> NoReturn:
        raise Failure(f"{message}; `{self.prog} --help` tells more")


def parse(argv: list[str]) -> tuple[str, argparse.Namespace]:
    """The verb, or APP, and what was given to it. Raises Failure; SystemExit after --help."""
    parser, verbs = _parser()
    at = _first_word(argv)
    if at is not None and argv[at] in verbs:
        return argv[at], verbs[argv[at]].parse_args([*argv[:at], *argv[at + 1 :]])
    app = _Parser(prog=PROG, parents=[_common(), _version()])
    app.add_argument("target", nargs="?")
    app.format_help = parser.format_help  # type: ignore[method-assign]
    return APP, app.parse_args(argv)


def complete() -> None:
    """Answer a shell that asks what may stand at its cursor, and end the process."""
    from tau_browser.cli.completion import answer

    answer(_parser()[0])


def _parser() -> tuple[_Parser, dict[str, _Parser]]:
    """The parser that explains and completes the command, and those of the verbs."""
    parser = _Parser(
        prog=PROG,
        usage=_USAGE,
        description=_ABOUT,
        epilog=_EPILOG,
        parents=[_common(), _version()],
    )
    choices = parser.add_subparsers(title="verbs", metavar="VERB", prog=PROG)
    complete_with(choices, references)
    verbs: dict[str, _Parser] = {}
    for verb, does in _VERBS.items():
        about = f"{does[0].upper()}{does[1:]}."
        verbs[verb] = choices.add_parser(verb, help=does, description=about, parents=[_common()])
        if verb != "completion":
            verbs[verb].add_argument("--json", action="store_true", help="print JSON")
    _add_ls(verbs["ls"])
    _add_show(verbs["show"])
    _add_find(verbs["find"])
    _add_search(verbs["search"])
    _add_saved(verbs["saved"])
    _add_recalls(verbs["recalls"])
    _add_index(verbs["index"])
    change_arguments.add(verbs)
    memory_arguments.add(verbs)
    verbs["completion"].add_argument("shell", choices=_SHELLS)
    return parser, verbs


def _common() -> _Parser:
    common = _Parser(add_help=False)
    where = common.add_mutually_exclusive_group()
    where.add_argument("--session-dir", metavar="DIR", help="look for sessions in DIR only")
    where.add_argument("--demo", action="store_true", help="use the demo sessions")
    store = common.add_argument(
        "--store", metavar="NAME", help="the kind of store, where it is not to be told from PATH"
    )
    complete_with(store, _stores)
    url = common.add_argument("--url", help="of the JMFTS server")
    complete_with(url, nothing)
    common.add_argument("--token-file", metavar="FILE", help="holds the server's token")
    common.add_argument("--ascii", action="store_true", help="draw and print with ASCII only")
    return common


def _version() -> _Parser:
    version = _Parser(add_help=False)
    version.add_argument("--version", action="version", version=f"{PROG} {__version__}")
    return version


def _add_ls(ls: _Parser) -> None:
    path = ls.add_argument("path", nargs="?", help="a folder or a file to list instead")
    complete_with(path, references)
    ls.add_argument(
        "--memory",
        action="store_true",
        help="count the entries of each type of memory, which reads all sessions to their ends",
    )


def _add_show(show: _Parser) -> None:
    _add_reference(show)
    entry = show.add_argument(
        "--at", metavar="ENTRY", help="the path, the context and the states as of this entry"
    )
    complete_with(entry, nothing)
    signal = show.add_argument(
        "--min-signal",
        type=signal_of,
        metavar="N",
        help="leave out entries with less signal: severity, text and numbers, from 0 to 1",
    )
    complete_with(signal, nothing)


def _add_find(find: _Parser) -> None:
    _add_reference(find)
    query = find.add_argument(
        "query",
        help="what to find; an upper-case letter in it makes case matter; "
        "put -- before one that begins with -",
    )
    complete_with(query, nothing)
    find.add_argument("--regex", action="store_true", help="the query is a regular expression")
    limit = find.add_argument("--limit", type=count, metavar="N", help="print N hits at most")
    complete_with(limit, nothing)


def _add_search(search: _Parser) -> None:
    query = search.add_argument("query", nargs="?", help=_QUERY)
    complete_with(query, nothing)
    named = search.add_mutually_exclusive_group()
    saved = named.add_argument("--saved", metavar="NAME", help="the query that was saved as NAME")
    complete_with(saved, _saved)
    save = named.add_argument("--save", metavar="NAME", help="save the query as NAME, too")
    complete_with(save, _saved)
    within = search.add_argument(
        "--in",
        dest="within",
        metavar="REF",
        action="append",
        help="search REF only. On a server, it may be given again, and the number of an entry's "
        "document stands for what hangs below it",
    )
    complete_with(within, references)
    reach = search.add_mutually_exclusive_group()
    reach.add_argument(
        "--branch", action="store_true", help="on a server: with --in ENTRY, what stands above, too"
    )
    reach.add_argument(
        "--everything",
        action="store_true",
        help="on a server: also documents that belong to no session",
    )
    search.add_argument(
        "--method",
        choices=("hybrid", "bm25", "vector", "substring", "regex", "fulltext", "maxsim"),
        help="how to look, by default hybrid; substring and regex take the query as it is, in "
        "files only; fulltext and maxsim are of servers",
    )
    weights = search.add_argument(
        "--weights",
        type=_weights,
        metavar="RANKER=W,...",
        help="what each ranker counts; default: bm25=1,static=0.4,neural=1, and on a server "
        "bm25=1,fulltext=0.4,vector=1,maxsim=0.6; `server` is the server's own mixture, "
        "vector=0.86,bm25=0.14 by ranks",
    )
    complete_with(weights, nothing)
    search.add_argument(
        "--fusion",
        choices=("convex", "rrf"),
        help="sum of scores (convex, the default), or of ranks",
    )
    limit = search.add_argument("--limit", type=count, metavar="N", help="print N hits at most")
    complete_with(limit, nothing)


def _add_saved(saved: _Parser) -> None:
    delete = saved.add_argument("--delete", metavar="NAME", help="keep NAME no longer")
    complete_with(delete, _saved)


def _add_recalls(recalls: _Parser) -> None:
    ref = recalls.add_argument("ref", nargs="?", help="a session or a folder; default: all")
    complete_with(ref, references)
    recalls.add_argument(
        "--format", choices=("md", "csv", "html"), help="print a report to hand on"
    )
    recalls.add_argument(
        "--replay", action="store_true", help="ask the JMFTS server the same again, now"
    )
    recalls.add_argument(
        "--live", action="store_true", help="look each hit's document up on the JMFTS server, now"
    )


def _add_index(index: _Parser) -> None:
    what = index.add_mutually_exclusive_group()
    what.add_argument("--status", action="store_true", help="change nothing, tell what there is")
    what.add_argument("--rebuild", action="store_true", help="make it anew")


def _add_reference(parser: _Parser) -> None:
    ref = parser.add_argument("ref", help="a path, a session id, or the beginning of one")
    complete_with(ref, references)


def _stores(**_: Any) -> list[str]:
    from tau_browser.stores.adapters import names

    return names()


def _saved(**asked: Any) -> Any:
    from tau_browser.cli.completion import saved

    return saved(**asked)


def _weights(text: str) -> dict[str, float] | str:
    """What rankers count, or the name of a mixture."""
    if text == "server":
        return text
    weights = {}
    for part in text.split(","):
        ranker, _, weight = part.partition("=")
        if ranker not in _RANKERS or not NUMBER.fullmatch(weight):
            raise argparse.ArgumentTypeError(
                f"must be like bm25=1,static=0.4,neural=1, not {text!r}"
            )
        weights[ranker] = float(weight)
    return weights


def _first_word(argv: list[str]) -> int | None:
    """Where the first argument is that is no option, nor the value of one; None after `--`."""
    is_value = False
    for at, word in enumerate(argv):
        if word == "--":
            return None
        if not is_value and not word.startswith("-"):
            return at
        is_value = word in _VALUED
    return None
