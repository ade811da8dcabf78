"""What a script sees: every view as a verb, for people and, with --json, for programs.

Nothing heavy is imported before it is known to be needed: --help costs an interpreter and little
more, and only the app imports Textual.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from importlib import import_module
from typing import Any, NoReturn

from tau_browser import __version__
from tau_browser.cli.output import Failure, Printer

PROG = "tau-browse"
VERBS = {
    "ls": "list sessions",
    "show": "print a session as a tree of entries",
    "find": "find text inside a session",
    "doctor": "report what is set up, and what is wrong with it",
    "completion": "print a completion script for a shell",
}
SHELLS = ("bash", "zsh", "fish")
_USAGE = f"{PROG} [options] [PATH|REF]\n       {PROG} VERB [options] ..."
_ABOUT = "Look into the memory of coding agents. Without a verb, the app opens."
_EPILOG = f"""\
PATH is a session file or a folder of them. REF is a PATH, a session id, or the beginning of one.
A word that is a verb is the verb: `{PROG} ./ls` opens a file called ls. After `--` nothing is an
option or a verb. `{PROG} VERB --help` tells more.

Sessions are looked for in τ's home ($TAU_HOME, or ~/.tau), in the folder of `tau --mode rpc`, and
in .tau/sessions of this directory. Where the app finds none, it opens a small demo and says so.

Exit codes: 0 found, 1 nothing found, 2 error.
"""


def main(argv: list[str] | None = None) -> int:
    """Run the command; returns its exit code and never raises."""
    _write_utf8()
    try:
        code = _run(sys.argv[1:] if argv is None else argv)
        if sys.stdout is not None:
            sys.stdout.flush()
    except Failure as failure:
        return _complain(failure)
    except BrokenPipeError:  # whoever reads has seen enough, as with `| head`
        _drop_output()
        return 141
    except OSError as error:
        _drop_output()
        what = f"{error.filename}: " if error.filename else ""
        return _complain(Failure(f"{what}{error.strerror or error}"))
    except KeyboardInterrupt:
        return 130
    except SystemExit as stopped:  # argparse after --help and --version
        return stopped.code if isinstance(stopped.code, int) else 0
    return code


class _Parser(argparse.ArgumentParser):
    def __init__(self, **options: Any) -> None:
        style = argparse.RawDescriptionHelpFormatter
        super().__init__(formatter_class=style, allow_abbrev=False, **options)

    def error(self, message: str) -> NoReturn:
        raise Failure(f"{message}; `{self.prog} --help` tells more")


def _run(argv: list[str]) -> int:
    parser, verbs, app = _parsers()
    if "_ARGCOMPLETE" in os.environ:
        from tau_browser.cli.completion import complete

        complete(parser)
    at = _first_word(argv)
    if at is None or argv[at] not in verbs:
        return _carry_out("app", app.parse_args(argv))
    return _carry_out(argv[at], verbs[argv[at]].parse_args([*argv[:at], *argv[at + 1 :]]))


def _carry_out(verb: str, args: argparse.Namespace) -> int:
    printer = Printer.for_stdout(ascii_only=args.ascii)
    if verb == "completion":
        from tau_browser.cli.completion import script

        print(script(PROG, args.shell), end="")
        return 0
    from tau_browser.config import ConfigError
    from tau_browser.stores.store import StoreError
    from tau_browser.stores.targets import AmbiguousReference, NoSession

    try:
        if verb == "app":
            return _open_app(args)
        code: int = import_module(f"tau_browser.cli.{verb}").run(args, printer)
        return code
    except NoSession as error:
        raise Failure(str(error), code=1) from error
    except AmbiguousReference as error:
        candidates = [(listed.path, listed.summary) for listed in error.candidates]
        more = error.count - len(candidates)
        raise Failure(
            f"{error}: name one by its path or by more of its id",
            details=[
                *(f"{path}  {found.title if found else ''}".rstrip() for path, found in candidates),
                *([f"and {more:,} more"] if more else []),
            ],
        ) from error
    except (ConfigError, StoreError) as error:
        raise Failure(str(error)) from error


def _open_app(args: argparse.Namespace) -> int:
    from tau_browser.cli.places import app_target

    target = app_target(args)
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise Failure(f"the app needs a terminal; `{PROG} ls` and `{PROG} show` print")
    from tau_browser.tui.app import run

    return run(target, ascii_only=args.ascii)


def _parsers() -> tuple[_Parser, dict[str, _Parser], _Parser]:
    """The parser that explains the command, those of the verbs, and that of the app."""
    common = _Parser(add_help=False)
    where = common.add_mutually_exclusive_group()
    where.add_argument("--session-dir", metavar="DIR", help="look for sessions in DIR only")
    where.add_argument("--demo", action="store_true", help="use the demo sessions")
    common.add_argument("--ascii", action="store_true", help="draw and print with ASCII only")
    machine = _Parser(add_help=False)
    machine.add_argument("--json", action="store_true", help="print JSON, for programs")

    parser = _Parser(prog=PROG, usage=_USAGE, description=_ABOUT, epilog=_EPILOG, parents=[common])
    parser.add_argument("--version", action="version", version=f"{PROG} {__version__}")
    choices = parser.add_subparsers(title="verbs", metavar="VERB", prog=PROG)
    verbs: dict[str, _Parser] = {
        verb: choices.add_parser(
            verb,
            help=does,
            description=f"{does[0].upper()}{does[1:]}.",
            parents=[common, machine] if verb != "completion" else [common],
        )
        for verb, does in VERBS.items()
    }
    _add_reference(verbs["ls"], "path", nargs="?", help="a folder or file to list instead")
    _add_reference(verbs["show"], "ref", help="a path, a session id, or the beginning of one")
    verbs["show"].add_argument(
        "--at", metavar="ENTRY", help="the path, the context and the states as of this entry"
    )
    _add_reference(verbs["find"], "ref", help="a path, a session id, or the beginning of one")
    verbs["find"].add_argument(
        "query",
        help="what to find; case matters if it has an upper-case letter; after -- if it begins so",
    )
    verbs["find"].add_argument(
        "--regex", action="store_true", help="the query is a regular expression"
    )
    verbs["find"].add_argument("--limit", type=_count, metavar="N", help="print N hits at most")
    verbs["completion"].add_argument("shell", choices=SHELLS)
    _add_reference(choices)

    app = _Parser(prog=PROG, usage=_USAGE, parents=[common])
    app.add_argument("--version", action="version", version=f"{PROG} {__version__}")
    app.add_argument("target", nargs="?")
    app.format_help = parser.format_help  # type: ignore[method-assign]
    return parser, verbs, app


def _add_reference(parser: Any, *names: str, **options: Any) -> None:
    """An argument that names a session; shells complete it from what there is."""
    action = parser.add_argument(*names, **options) if names else parser
    action.completer = _complete_reference


def _complete_reference(**given: Any) -> Any:
    from tau_browser.cli.completion import references

    return references(**given)


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number from 1, not {text!r}")
    return int(text)


def _first_word(argv: list[str]) -> int | None:
    """Where the first argument is that is no option, nor the value of one; None after `--`."""
    is_value = False
    for at, word in enumerate(argv):
        if word == "--":
            return None
        if not is_value and not word.startswith("-"):
            return at
        is_value = word == "--session-dir"
    return None


def _write_utf8() -> None:
    """UTF-8 whatever the locale says; what cannot be written is escaped, never raised."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def _drop_output() -> None:
    """Let what is still buffered go nowhere, so that the interpreter ends in peace."""
    with contextlib.suppress(OSError, AttributeError):  # it is no file, or there is none
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _complain(failure: Failure) -> int:
    """Tell what went wrong, on stderr; returns the exit code."""
    from tau_browser.model.text import safe_line

    kind = "error: " if failure.code == 2 else ""
    with contextlib.suppress(OSError):  # nobody listens
        for line in (f"{PROG}: {kind}{failure}", *(f"  {line}" for line in failure.details)):
            print(safe_line(line), file=sys.stderr)
    return failure.code
