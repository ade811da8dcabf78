"""`tau-browse doctor`: what is set up, and what is wrong with it. Reads, never mends.

JSON: {"version", "python", "packages", "home", "store", "server", "unused_server", "roots",
"stores", "folders", "settings", "prices", "catalog", "terminal", "problems"}; "server" is null
where none is used, "unused_server" where none is set up besides: it is named, and not asked.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, TypeVar

from tau_browser import __version__, config
from tau_browser.actions.journal import Journal
from tau_browser.cli import places
from tau_browser.cli.output import Failure, Printer, is_terminal, print_json
from tau_browser.model.text import counted
from tau_browser.stores.adapters import JMFTS, TAU, adapter, names
from tau_browser.stores.store import Listed, Store, StoreError, Unreadable
from tau_browser.stores.targets import store_over
from tau_browser.stores.tau_file import TauFileStore

_PACKAGES = ("textual", "rich", "msgspec", "numpy", "httpx", "rich-pixels")
_OPTIONAL = {"rich-pixels": "draws images where the terminal can"}
_SHOWN = 5  # things that are wrong with a store
_SECONDS = 5.0  # for how long sessions are looked into that no list knows yet
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
    until = time.monotonic() + _SECONDS

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
    problems += map(_cut_off, (server or {}).get("unfinished") or ())
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
        "unused_server": None if store == JMFTS else _unused_server(),
        "roots": _roots(roots, until, problems),
        "stores": [_store(name, until, problems) for name in names() if name not in (TAU, JMFTS)],
        "folders": {name: str(path) for name, path in folders.items()},
        "settings": _settings(settings),
        "prices": None if prices is None else len(prices),
        "catalog": _catalog([str(root.path) for root in roots]),
        "terminal": _terminal(),
        "problems": problems,
    }


def _cut_off(left: dict[str, Any]) -> str:
    """What to do about something that was cut off while it was made."""
    where = "" if left["here"] else ", on the machine that made it,"
    does = "moves what is left to where it was" if left["is_whole"] else "removes it"
    return (
        f"document {left['document']}: cut off while it was made, or being made now; nobody takes "
        f"it for a conversation; `tau-browse undo {left['undo']}`{where} {does}"
    )


def _roots(roots: list[config.Root], until: float, problems: list[str]) -> list[dict[str, Any]]:
    """What there is of τ's sessions in each folder."""
    found = _found(store_over([str(root.path) for root in roots], config.cache_folder()), until)
    reports = []
    for root in roots:
        own = [item for item in found if Path(item.path).is_relative_to(root.path)]
        unlisted = [item for item in own if isinstance(item, Unreadable)]
        reports.append(
            {
                "path": str(root.path),
                "origin": root.origin,
                "exists": os.path.isdir(root.path),
                **_soundness(own),
                "unreadable": len(unlisted),
            }
        )
        wrong = (f"{each.path}: {each.reason}" for each in unlisted if Path(each.path) == root.path)
        problems += [problem for problem in wrong if problem not in problems]
    return reports


def _found(store: Store, until: float) -> list[Listed | Unreadable]:
    """What is in a store. What its list does not know yet is looked into, until some time; lists
    know it from then on."""
    found = [
        store.look_into(item)
        if isinstance(item, Listed) and item.summary is None and time.monotonic() < until
        else item
        for item in store.scan()
    ]
    store.remember()
    return found


def _soundness(found: Sequence[Listed | Unreadable]) -> dict[str, Any]:
    """How many sessions there are, which of them are damaged, and how many were not read: that
    would take longer than a person waits."""
    listed = [item for item in found if isinstance(item, Listed)]
    return {
        "sessions": len(listed),
        "damaged": [
            {"path": item.path, "unreadable": known.unreadable, "damage": known.damage}
            for item in listed
            if (known := item.summary) is not None and (known.unreadable or known.damage)
        ],
        "not_read": sum(item.summary is None for item in listed),
    }


def _store(name: str, until: float, problems: list[str]) -> dict[str, Any]:
    """What there is of another program's sessions in its usual places."""
    report: dict[str, Any] = {"name": name, "places": [], **_soundness([]), "unreadable": []}
    try:
        kind = adapter(name)
        places = kind.places(os.environ)
        report["places"] = [
            {"path": place.path, "origin": place.origin, "exists": os.path.exists(place.path)}
            for place in places
        ]
        is_there = any(place["exists"] for place in report["places"])
        roots = [place.path for place in places]
        found = _found(kind(roots, config.cache_folder()), until) if is_there else []
    except (StoreError, OSError) as error:
        problems.append(str(error))
        return report
    report |= _soundness(found)
    report["unreadable"] = [
        {"path": item.path, "reason": item.reason} for item in found if isinstance(item, Unreadable)
    ]
    return report


def _unused_server() -> dict[str, str] | None:
    """A JMFTS server that is set up, while τ's sessions are looked for in files."""
    try:
        to = config.connection(os.environ)
    except config.ConfigError:
        return None
    return {"url": to.url, "url_origin": to.url_origin}


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
        "unfinished": told(lambda: _unfinished(args)) if about else None,
        "conversations": conversations,
        "documents": about and about.corpus.documents,
        "embedded": about and about.corpus.documents_with_vectors,
        "indexes": about and about.corpus.bm25_indexes,
        "can_embed": about and about.embedding.can_embed,
    }


def _unfinished(args: argparse.Namespace) -> list[dict[str, Any]]:
    """What was cut off while it was made, whether our journal tells of it, and what undo is to be
    asked for: what is whole, and was only to be moved, is moved by the undo that made it."""
    from tau_browser.actions.server_made import is_whole  # which speaks HTTP

    known = {change.id: change for change in Journal(config.changes_folder()).changes()}
    found = []
    for left in places.server(args).unfinished():
        change = known.get(left.change)
        whole = change is not None and is_whole(change)
        undo = change.undoes if change is not None and whole else left.change
        told = {"document": left.document, "change": left.change, "here": change is not None}
        found.append(told | {"is_whole": whole, "undo": undo})
    return found


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
    for root in report["roots"]:
        rows += [("sessions in", _root_line(root)), *_damaged_rows(root)]
    rows += [row for store in report["stores"] for row in _store_rows(store)]
    if unused := report["unused_server"]:
        where = f"{unused['url']} (from {unused['url_origin']})"
        rows.append((f"--store {JMFTS}", f"{where}: not asked; `doctor --store {JMFTS}` does"))
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
    rows = [(f"--store {store['name']}", f"{where}: {_sessions(store)}"), *_damaged_rows(store)]
    shown = store["unreadable"][:_SHOWN]
    rows += [("  unreadable", f"{item['path']}: {item['reason']}") for item in shown]
    if more := len(store["unreadable"]) - len(shown):
        rows.append(("  unreadable", f"and {more:,} more"))
    return rows


def _damaged_rows(report: dict[str, Any]) -> list[tuple[str, str]]:
    """A row for each damaged session; `show` tells more of one."""
    rows = []
    for session in report["damaged"][:_SHOWN]:
        words = {"unreadable": "unreadable stretch", "damage": "harmed entry"}
        said = [counted(session[name], word) for name, word in words.items() if session[name]]
        rows.append(("  damaged", f"{session['path']}: {', '.join(said)}"))
    if more := len(report["damaged"]) - len(rows):
        rows.append(("  damaged", f"and {more:,} more"))
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
    unreadable = f", {root['unreadable']:,} unreadable" if root["unreadable"] else ""
    return f"{root['path']} ({root['origin']}): {_sessions(root)}{unreadable}"


def _sessions(report: dict[str, Any]) -> str:
    """How many sessions there are, and how sound they are."""
    counts = {"damaged": len(report["damaged"]), "not read yet": report["not_read"]}
    parts = [f"{count:,} {word}" for word, count in counts.items() if count]
    sessions: str = counted(report["sessions"], "session")
    return sessions + (f" ({', '.join(parts)})" if parts else "")
