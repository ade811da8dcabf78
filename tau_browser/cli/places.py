"""Which sessions a command is about, from its options and from what is set up."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from tau_browser import config
from tau_browser.cli.output import Failure
from tau_browser.stores.adapters import JMFTS, TAU, adapter
from tau_browser.stores.store import Store
from tau_browser.stores.targets import NoSession, Target, demo_target, only_session, target_of

if TYPE_CHECKING:
    from tau_browser.stores.jmfts.store import JmftsStore


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
    """Where sessions of a kind usually are; some kinds have no such place here. Raises ConfigError
    and StoreError."""
    if name in (TAU, JMFTS):
        return config.session_roots(os.environ, Path.cwd())
    places = adapter(name).places(os.environ)
    return [config.Root(Path(place.path), place.origin) for place in places]


def store_name(args: argparse.Namespace) -> str:
    """Which store the options name, or else τ's configuration. Raises Failure and ConfigError."""
    if args.store == JMFTS and (args.session_dir is not None or args.demo):
        other = "--demo" if args.demo else "--session-dir"
        raise Failure(f"{other} is of files, and --store jmfts of a server: give one of the two")
    if args.store != JMFTS and args.store is not None and (args.url or args.token_file):
        raise Failure("--url and --token-file are of a server: give --store jmfts with them")
    if args.session_dir is not None or args.demo:
        if args.url or args.token_file:
            raise Failure("--url and --token-file are of a server: leave the other options out")
        return args.store or TAU
    if args.url or args.token_file:
        return JMFTS
    name: str = args.store or config.store_name(os.environ)
    return name


def store(args: argparse.Namespace) -> Store:
    """The store that the options name, for what needs no other place. Raises Failure, ConfigError
    and StoreError."""
    if args.store not in (None, JMFTS) and not args.demo and not roots(args):
        raise Failure(f"--store {args.store}: there is no usual place for it; name a path as well")
    return _store(args)


def _store(args: argparse.Namespace) -> Store:
    """The same, with nothing in it where it has no usual place."""
    if store_name(args) == JMFTS:
        return server(args)
    if args.demo:
        if args.store not in (None, TAU):
            raise Failure(f"the demo is a store of τ: leave out --demo, or --store {args.store}")
        return demo_target("").store
    kind = adapter(args.store or TAU)
    found: Store = kind([str(root.path) for root in roots(args)], config.cache_folder())
    return found


def server(args: argparse.Namespace) -> JmftsStore:
    """The store on the JMFTS server that is set up. Raises ConfigError and StoreError."""
    to = connection(args)
    found: JmftsStore = adapter(JMFTS)(to.url, to.token, config.cache_folder(), to.parent)
    return found


def connection(args: argparse.Namespace) -> config.Connection:
    """How the JMFTS server is reached. Raises ConfigError."""
    return config.connection(os.environ, url=args.url, token_file=args.token_file)


def target(args: argparse.Namespace, ref: str) -> Target:
    """What a word names, be it a folder. Raises Failure, ConfigError and StoreError."""
    try:
        return target_of(ref, _store(args), config.cache_folder(), args.store)
    except NoSession:
        store(args)  # which says so where there is no place to look for one
        raise


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
    usual = args.session_dir is args.store is None and found.name == TAU
    if usual and found.is_empty():
        return demo_target(f"no sessions in {found.title}: these are demo sessions")
    return Target(found)
