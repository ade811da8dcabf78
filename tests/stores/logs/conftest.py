"""Sessions of lines."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tau_browser.model.decoder import Decoder
from tau_browser.model.format import Format
from tau_browser.model.session import Session, session_of
from tests.conftest import Bytes, log_of


def session_in(format: Format, records: Iterable[Any]) -> Session:
    """The session that these lines are, in a format."""
    data = log_of(records, None)
    decoder = Decoder(format)
    decoder.feed(data)
    return session_of(decoder.log(), Bytes(data))


def parents(session: Session) -> dict[str, str | None]:
    """Each entry's parent in the tree, by ids."""
    ids = [session.entry_id(place) for place in range(len(session))]
    above = session.tree.parent.tolist()
    return {name: ids[at] if at >= 0 else None for name, at in zip(ids, above, strict=True)}


def said(session: Session) -> list[tuple[str, str, str]]:
    """(kind, role, text) of each entry."""
    return [
        (session.kind(place), session.role(place), session.text(place))
        for place in range(len(session))
    ]
