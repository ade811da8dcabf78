"""Which sessions a command is about, from its options and from what is set up."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from tau_browser import config
from tau_browser.cli.output import Failure
from tau_browser.stores.adapters import TAU, adapter
from tau_browser.stores.store import Store
from tau_browser.stores.targets import Target, demo_target, only_session, target_of


def roots(args: argparse.Namespace) -> list[config.Root]:
    """The folders to look in. Raises Failure, ConfigError and StoreError."""
    if args.session_dir is None:
        return usual_roots(args.store or TAU)
    folder = Path(args.session_dir).expanduser()
    if not args.session_dir:
        raise Failure("--session-dir is empty; name a folder")
    if not folder.is_dir():
        raise Failure(f"--session-dir {args.session_dir} is not a directory")
    return [config.Root(folder.absolute(), "--session-dir")]


def usual_roots(name: str) -> list[config.Root]:
    """Where sessions of a kind usually are. Raises Failure, ConfigError and StoreError."""
    if name == TAU:
        return config.session_roots(os.environ, Path.cwd())
    places = adapter(name).places(os.environ)
    if not places:
        raise Failure(f"--store {name}: there is no usual place for it; name a path as well")
    return [config.Root(Path(place.path), place.origin) for place in places]


def store(args: argparse.Namespace) -> Store:
    """The store that the options name. Raises Failure, ConfigError and StoreError."""
    if args.demo:
        if args.store not in (None, TAU):
            raise Failure(f"the demo is a store of τ: leave out --demo, or --store {args.store}")
        return demo_target("").store
    kind = adapter(args.store or TAU)
    found: Store = kind([str(root.path) for root in roots(args)], config.cache_folder())
    return found


def target(args: argparse.Namespace, ref: str) -> Target:
    """What a word names, be it a folder. Raises Failure, ConfigError and StoreError."""
    return target_of(ref, store(args), config.cache_folder(), args.store)


def session(args: argparse.Namespace) -> Target:
    """The one session that `args.ref` names. Raises Failure, ConfigError and StoreError."""
    return only_session(target(args, args.ref))


def app_target(args: argparse.Namespace) -> Target:
    """What the app opens: what was named, else all there is, else the demo.

    Raises Failure, ConfigError and StoreError.
    """
    if args.target is not None:
        return target(args, args.target)
    if args.demo:
        return demo_target("demo sessions")
    found = store(args)
    if args.session_dir is args.store is None and found.is_empty():
        return demo_target(f"no sessions in {found.title}: these are demo sessions")
    return Target(found)
