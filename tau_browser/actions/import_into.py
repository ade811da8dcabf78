"""Importing into whatever kind of store is asked for."""

from __future__ import annotations

from tau_browser.actions.imports import ImportRequest, plan_import
from tau_browser.actions.journal import Journal
from tau_browser.actions.plan import Plan, Refused
from tau_browser.actions.reading import file_state, read_file
from tau_browser.actions.writer import Writer
from tau_browser.actions.writers import writer_beside, writer_into
from tau_browser.stores.adapters import JMFTS
from tau_browser.stores.store import Capability, Listed, Store, why_not
from tau_browser.stores.targets import Target


def plan_into(
    store: Store, source: Target, request: ImportRequest, journal: Journal
) -> tuple[Plan, Writer]:
    """The plan of an import of the session at the source's path, and who carries it out.

    Raises Refused where the store takes none, StoreError.
    """
    if Capability.IMPORT not in store.capabilities:
        raise Refused(why_not(store, Capability.IMPORT))
    assert source.path is not None
    if store.name == JMFTS:
        from tau_browser.actions import server_import, server_writer  # which speak HTTP

        if request.cwd is not None:
            raise Refused("a conversation on a server keeps the directory of its source")
        writer = writer_beside(store, "")
        assert isinstance(writer, server_writer.ServerWriter)
        return server_import.plan_import(read_file(source.path, journal), writer), writer
    session = None
    read = file_state(source.path)
    for progress in source.store.open(source.path).load():
        session = progress.session
    assert session is not None  # the last progress carries one
    ids = {store.identify(listed) for listed in store.scan() if isinstance(listed, Listed)}
    hand = writer_into(store)
    return plan_import(session, read, request, hand, lambda found: found in ids), hand
