"""What a script sees: every view as a verb, for people and, with --json, for programs.

Nothing heavy is imported before it is known to be needed: --help costs an interpreter and little
more, and only the app imports Textual.
"""

from __future__ import annotations

import contextlib
import os
import sys
from argparse import Namespace
from importlib import import_module
from typing import TYPE_CHECKING

from tau_browser.cli.arguments import APP, PROG, complete, parse
from tau_browser.cli.output import Failure, Printer, is_terminal

if TYPE_CHECKING:
    from tau_browser.stores.targets import AmbiguousReference


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


def _run(argv: list[str]) -> int:
    if "_ARGCOMPLETE" in os.environ:
        complete()
    verb, args = parse(argv)
    if verb == "completion":
        from tau_browser.cli.completion import script

        print(script(PROG, args.shell), end="")
        return 0
    return _carry_out(verb, args)


def _carry_out(verb: str, args: Namespace) -> int:
    """Run a verb; what stores and settings complain of becomes a failure of the command."""
    from tau_browser.config import ConfigError
    from tau_browser.stores.store import StoreError
    from tau_browser.stores.targets import AmbiguousReference, NoSession

    try:
        if verb == APP:
            return _open_app(args)
        printer = Printer.for_stdout(ascii_only=args.ascii)
        code: int = import_module(f"tau_browser.cli.{verb}").run(args, printer)
        return code
    except NoSession as error:
        raise Failure(str(error), code=1) from error
    except AmbiguousReference as error:
        raise Failure(
            f"{error}: name one by its path or by more of its id", details=_candidates(error)
        ) from error
    except (ConfigError, StoreError) as error:
        raise Failure(str(error)) from error


def _open_app(args: Namespace) -> int:
    from tau_browser.cli.places import app_target

    target = app_target(args)
    if not is_terminal():
        raise Failure(f"the app needs a terminal; `{PROG} ls` and `{PROG} show` print")
    from tau_browser.tui.app import run

    return run(target, ascii_only=args.ascii)


def _candidates(error: AmbiguousReference) -> list[str]:
    """Path and title of each session that could be meant."""
    lines = [
        f"{listed.path}  {listed.summary.title if listed.summary else ''}".rstrip()
        for listed in error.candidates
    ]
    more = error.count - len(lines)
    return [*lines, f"and {more:,} more"] if more else lines


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
