"""From documents to the lines of a log, in τ's format: what a session is read from.

The id of an entry is the number of its document, so that what entries say of each other holds as
it is. What somebody else put below a conversation (a note, a file, the pieces that a long message
was cut into for search) becomes an entry of kind "jmfts:document" with all that it holds.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec import UNSET

from tau_browser.stores.jmfts.documents import ROOT, TAU, Document, Payload

FOREIGN = "jmfts:document"
REQUIRED = ("type", "version", "id", "timestamp", "cwd", "hostname", "parent")
_payload = msgspec.json.Decoder(Payload).decode
_INCOMPLETE = b'"incomplete"'


class Line(msgspec.Struct, frozen=True, gc=False):
    """One document as one line of a log, with what is needed to put lines together."""

    document: int
    data: bytes
    seq: int | None  # the writer's counter; None for what τ did not write
    incomplete: bool  # τ will replace it when its stream ends
    flaw: str = ""  # why τ cannot have written it, though it passes for an entry


def header_line(root: Document) -> tuple[bytes, str]:
    """The first line of a conversation, and why the document is none ("" if it is one)."""
    if root.usetype != ROOT:
        return b"", f"document {root.id} is no {ROOT} (its usetype is {root.usetype!r})"
    tau = _read(root).tau
    header = _as_object(tau)
    if header is None or header.get("type") != "session":
        return b"", f"document {root.id} holds no session header"
    missing = [name for name in REQUIRED if name not in header]
    why = f"its session header lacks {', '.join(missing)}" if missing else ""
    return _one_line(bytes(tau)) if tau is not UNSET else b"", why


def line_of(document: Document, root: int) -> Line:
    """A document below a root as a line."""
    parent = None if document.parent_id == root else document.parent_id
    link = {"id": str(document.id), "parentId": None if parent is None else str(parent)}
    payload = _read(document)
    if not (document.usetype or "").startswith(TAU) or payload.tau is UNSET:
        return Line(document.id, msgspec.json.encode(_foreign(document, link)), None, False)
    raw, seq = _one_line(bytes(payload.tau)), _seq(payload)
    not_tau = f"not τ wrote document {document.id}: it has no"
    if raw[:1] != b"{":
        link |= {"type": "", "tau": msgspec.Raw(raw)}  # type: ignore[dict-item]
        return Line(document.id, msgspec.json.encode(link), seq, False, f"{not_tau} entry")
    # Last, so that it holds whatever the payload itself says.
    tail = msgspec.json.encode(link)[1:]
    body = raw[:-1].rstrip()
    data = body + (b"," if len(body) > 1 else b"") + tail
    is_incomplete = _INCOMPLETE in raw and (_as_object(raw) or {}).get("status") == "incomplete"
    flaw = f"{not_tau} seq" if seq is None else ""
    return Line(document.id, data, seq, is_incomplete, flaw)


def disorder(lines: Iterable[Line]) -> str:
    """Why entries cannot all have been written by one τ, which could not open them then; "" if they
    can.

    One writer counts on from entry to entry, and numbers of documents grow as they are made.
    """
    before: Line | None = None
    for line in lines:
        if line.flaw:
            return line.flaw
        if line.seq is None:
            continue
        if before is not None and before.seq is not None and line.seq <= before.seq:
            return (
                f"a second program wrote to it: document {line.document} has seq {line.seq} "
                f"after {before.seq} of document {before.document}"
            )
        before = line
    return ""


def _foreign(document: Document, link: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": FOREIGN,
        **link,
        "timestamp": stamp(document.event_time or document.created_at),
        "usetype": document.usetype,
        "title": document.title,
        "content": document.content,
        "structured_content": document.structured_content,
    }


def stamp(written: str | None) -> str | None:
    """A server's timestamp; those without a zone are UTC."""
    if written is None or written.endswith("Z") or "+" in written[10:]:
        return written
    return f"{written}Z"


def _seq(payload: Payload) -> int | None:
    if payload.seq is UNSET:
        return None
    try:
        return msgspec.json.decode(payload.seq, type=int)
    except (msgspec.DecodeError, RecursionError):
        return None


def _read(document: Document) -> Payload:
    try:
        return _payload(document.structured_content)
    except (msgspec.DecodeError, RecursionError):
        return Payload()


def _as_object(raw: Any) -> dict[str, Any] | None:
    try:
        value = msgspec.json.decode(raw) if raw is not UNSET else None
    except (msgspec.DecodeError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _one_line(raw: bytes) -> bytes:
    """JSON without line ends, which may stand between its parts and nowhere else."""
    return raw.replace(b"\r", b" ").replace(b"\n", b" ")
