"""`tau-browse doctor`: what is set up, and what is wrong with it. Reads, never mends.

JSON: {"version", "python", "packages", "home", "store", "server", "roots", "stores", "folders",
"settings", "prices", "catalog", "terminal", "problems"}; "server" is null where none is used.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import sys
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from typing import Any, TypeVar

from tau_browser import __version__, config
from tau_browser.cli import places
from tau_browser.cli.output import Failure, Printer, is_terminal, print_json
from tau_browser.model.text import counted
from tau_browser.stores.adapters import JMFTS, TAU, adapter, names
from tau_browser.stores.store import Listed, StoreError, Unreadable
from tau_browser.stores.targets import store_over
from tau_browser.stores.tau_file import TauFileStore

_PACKAGES = ("textual", "rich", "msgspec", "numpy", "httpx", "rich-pixels")
_OPTIONAL = {"rich-pixels": "draws images where the terminal can"}
_SHOWN = 5  # things that are wrong with a store
_TERMINAL = ("TERM", "COLORTERM", "NO_COLOR", "TMUX", "SSH_TTY", "LANG", "LC_ALL")

Found = TypeVar("Found")


def run(args: argparse.Namespace, printer: Printer) -> int:
    """Print the report; exit code 2 if there is a problem."""
    report = report_on(args)
    if args.json:
        print_json(report)
    else:
        _print(report, printer)
    return 2 if report["problems"] else 0


def report_on(args: argparse.Namespace) -> dict[str, Any]:
    """The report. What cannot be told is null, and a problem says why."""
    problems: list[str] = []

    def told(ask: Callable[[], Found]) -> Found | None:
        try:
            return ask()
        except (config.ConfigError, Failure, StoreError, OSError) as error:
            if str(error) not in problems:
                problems.append(str(error))
            return None

    home = told(lambda: config.tau_home(os.environ))
    roots = told(lambda: places.roots(args)) or []
    store = told(lambda: places.store_name(args))
    server = told(lambda: _server(args, told)) if store == JMFTS else None
    for left in (server or {}).get("unfinished") or ():
        problems.append(
            f"document {left}: a copy that was cut off, which nobody takes for a conversation; "
            "`tau-browse undo --list` names the change that removes it"
        )
    settings = told(config.settings)
    prices = told(lambda: config.prices(os.environ))
    folders = {
        "config": config.config_folder(),
        "state": config.state_folder(),
        "cache": config.cache_folder(),
    }
    return {
        "version": __version__,
        "python": f"{platform.python_version()} at {sys.executable}",
        "packages": {name: _version_of(name) for name in _PACKAGES},
        "home": {"path": str(home.path), "origin": home.origin} if home else None,
        "store": store,
        "server": server,
        "roots": [_root(root, problems) for root in roots],
        "stores": [_store(name, problems) for name in names() if name not in (TAU, JMFTS)],
        "folders": {name: str(path) for name, path in folders.items()},
        "settings": _settings(settings),
        "prices": None if prices is None else len(prices),
        "catalog": _catalog([str(root.path) for root in roots]),
        "terminal": _terminal(),
        "problems": problems,
    }


def _root(root: config.Root, problems: list[str]) -> dict[str, Any]:
    found = list(store_over([str(root.path)], None).scan())
    sessions = sum(isinstance(item, Listed) for item in found)
    unlisted = [item for item in found if not isinstance(item, Listed)]
    problems += [f"{item.path}: {item.reason}" for item in unlisted if item.path == str(root.path)]
    return {
        "path": str(root.path),
        "origin": root.origin,
        "exists": os.path.isdir(root.path),
        "sessions": sessions,
        "unreadable": len(unlisted),
    }


def _store(name: str, problems: list[str]) -> dict[str, Any]:
    """What there is of another program's sessions in its usual places."""
    report: dict[str, Any] = {"name": name, "places": [], "sessions": 0, "unreadable": []}
    try:
        kind = adapter(name)
        places = kind.places(os.environ)
        roots = [place.path for place in places if os.path.exists(place.path)]
        report["places"] = [
            {"path": place.path, "origin": place.origin, "exists": place.path in roots}
            for place in places
        ]
        found = list(kind(roots, None).scan()) if roots else []
    except (StoreError, OSError) as error:
        problems.append(str(error))
        return report
    report["sessions"] = sum(isinstance(item, Listed) for item in found)
    report["unreadable"] = [
        {"path": item.path, "reason": item.reason} for item in found if isinstance(item, Unreadable)
    ]
    return report


def _server(args: argparse.Namespace, told: Callable[..., Any]) -> dict[str, Any]:
    """The JMFTS server: what told its URL and its token, and what it is, null where it does not
    say. Raises ConfigError."""
    to = places.connection(args)
    about = told(lambda: places.server(args).about())
    conversations = told(lambda: len(list(places.server(args).scan()))) if about else None
    return {
        "url": to.url,
        "url_origin": to.url_origin,
        "token_origin": to.token_origin,
        "parent": to.parent,
        "version": about and about.version,
        "unfinished": told(lambda: places.server(args).unfinished()) if about else None,
        "conversations": conversations,
        "documents": about and about.corpus.documents,
        "embedded": about and about.corpus.documents_with_vectors,
        "indexes": about and about.corpus.bm25_indexes,
        "can_embed": about and about.embedding.can_embed,
    }


def _settings(settings: config.Settings | None) -> dict[str, Any] | None:
    if settings is None:
        return None
    return {"path": str(settings.path), "exists": os.path.isfile(settings.path)}


def _catalog(roots: list[str]) -> dict[str, Any]:
    path = TauFileStore(roots, config.cache_folder()).catalog_path
    assert path is not None
    size = os.path.getsize(path) if os.path.isfile(path) else None
    return {"path": str(path), "bytes": size}


def _terminal() -> dict[str, Any]:
    columns, lines = shutil.get_terminal_size()
    return {
        "is_terminal": is_terminal(),
        "columns": columns,
        "lines": lines,
        "variables": {name: os.environ[name] for name in _TERMINAL if name in os.environ},
    }


def _version_of(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _print(report: dict[str, Any], printer: Printer) -> None:
    rows = [("tau-browse", report["version"]), ("Python", report["python"])]
    for name, found in report["packages"].items():
        use = f" (optional: {_OPTIONAL[name]})" if name in _OPTIONAL else ""
        rows.append((name, found or f"not installed{use}"))
    home = report["home"]
    rows.append(("τ's home", f"{home['path']} ({home['origin']})" if home else "unknown"))
    rows.append(("store", report["store"] or "unknown"))
    rows += _server_rows(report["server"]) if report["server"] else []
    rows += [("sessions in", _root_line(root)) for root in report["roots"]]
    rows += [row for store in report["stores"] for row in _store_rows(store)]
    rows += [(f"{name} folder", path) for name, path in report["folders"].items()]
    settings = report["settings"]
    if settings is None:
        rows.append(("settings", "unusable"))
    else:
        rows.append(("settings", settings["path"] if settings["exists"] else "none, the defaults"))
    prices = report["prices"]
    rows.append(("prices", "unknown" if prices is None else f"of {prices:,} models"))
    catalog = report["catalog"]
    kept = "not yet written" if catalog["bytes"] is None else f"{catalog['bytes']:,} bytes"
    rows.append(("catalog", f"{catalog['path']} ({kept})"))
    terminal = report["terminal"]
    size = f"{terminal['columns']} x {terminal['lines']}"
    rows.append(("terminal", size if terminal["is_terminal"] else "none: not connected to one"))
    rows += [(f"  {name}", value) for name, value in terminal["variables"].items()]
    printer.table(rows)
    printer.line()
    for problem in report["problems"]:
        printer.line(f"problem: {problem}")
    if not report["problems"]:
        printer.line("no problems")


def _store_rows(store: dict[str, Any]) -> list[tuple[str, str]]:
    """A row for a store that is on this machine, and one for each thing in it that is wrong."""
    there = [place for place in store["places"] if place["exists"]]
    if not there:
        return []
    where = ", ".join(f"{place['path']} ({place['origin']})" for place in there)
    rows = [(f"--store {store['name']}", f"{where}: {counted(store['sessions'], 'session')}")]
    shown = store["unreadable"][:_SHOWN]
    rows += [("  unreadable", f"{item['path']}: {item['reason']}") for item in shown]
    if more := len(store["unreadable"]) - len(shown):
        rows.append(("  unreadable", f"and {more:,} more"))
    return rows


def _server_rows(server: dict[str, Any]) -> list[tuple[str, str]]:
    rows = [
        ("server", f"{server['url']} (from {server['url_origin']})"),
        ("  token", f"from {server['token_origin']}"),
    ]
    if server["parent"] is not None:
        rows.append(("  new ones below", f"document {server['parent']}"))
    if server["version"] is not None:
        kept = f"{server['documents']:,} documents, {server['embedded']:,} of them with vectors"
        makes = "makes vectors" if server["can_embed"] else "makes no vectors"
        holds = "" if server["conversations"] is None else f"{server['conversations']:,} "
        rows += [
            ("  version", f"{server['version']}, {makes}"),
            ("  holds", f"{holds}conversations, {kept}"),
            ("  indexes", ", ".join(server["indexes"])),
        ]
    return rows


def _root_line(root: dict[str, Any]) -> str:
    if not root["exists"]:
        return f"{root['path']} ({root['origin']}): no such folder"
    sessions = counted(root["sessions"], "session")
    unreadable = f", {root['unreadable']:,} unreadable" if root["unreadable"] else ""
    return f"{root['path']} ({root['origin']}): {sessions}{unreadable}"
