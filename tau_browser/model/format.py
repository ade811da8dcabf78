"""How the lines of a log are written, and what of them the model needs.

The model speaks τ's words. A format of another program maps the heads of its lines to `Head`, at
the speed at which they can be read, and puts a record into τ's shape when it is looked at. What is
stored stays as it is: only the bytes are kept, and they are shown where a person asks for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
from msgspec import UNSET

from tau_browser.model.columns import PREVIOUS, Columns, Flag, Names
from tau_browser.model.diagnostic import Diagnostic, Severity
from tau_browser.model.heads import Head, decode_record, head_of
from tau_browser.model.payload import Record
from tau_browser.model.tree import NOWHERE, is_foreign

Links = list[tuple[int, Any]]
"""What lines tell that only the whole log can settle, in terms of the format: (place of the
record, link)."""

Remark = tuple[str, Severity]


class _Id(msgspec.Struct):
    id: str = ""


class Format:
    """τ's own format (tau-format 1.2 to 1.6), from which others differ where they say so.

    A format has no state of its own: one is enough for all logs.
    """

    name = "tau"
    program = "τ"
    """The program that writes it, as a person calls it."""
    header_lines = 1
    """How many lines are read one by one in search of the header, before the rest is read fast."""
    header_is_entry = False
    """Whether the record that tells the header is an entry besides."""

    is_direct = True
    """Whether all text of an entry stands in its line as strings, once encoded: then what a line
    cannot hold need not be looked for in it."""
    names_results = True
    """Whether a tool's result says which tool it is of, and not only which call."""
    has_header = True
    """Whether a log without a header is a damaged one."""

    def heads(self, lines: bytes, header: Record | None) -> tuple[Sequence[Head], Links]:
        """The heads of some whole lines, one each, and their links, by place among them.

        Raises DecodeError or RecursionError where a line is odd: they are then read one by one. A
        head without an id is taken for odd unless its parent is PREVIOUS, and so is one without a
        type.
        """
        return _decode_heads(lines), []

    def header(self, record: Record) -> Record | None:
        """The session's header in τ's shape, if a record tells it."""
        return record if record.get("type") == "session" else None

    def header_remarks(self, header: Record) -> list[Remark]:
        """What is odd about a header."""
        remarks = []
        if not isinstance(header.get("id"), str):
            remarks.append(("the session header has no id", Severity.DAMAGE))
        version = header.get("version")
        if isinstance(version, int) and version > 3:
            reason = f"written by a newer version (format {version})"
            remarks.append((reason, Severity.NOTE))
        return remarks

    def head(self, record: Record, header: Record | None) -> tuple[Head, list[str], Any]:
        """The head of a decoded record, what was odd about it, and its link, or None."""
        head, odd = head_of(record)
        if head.id is UNSET and head.parentId is UNSET and is_linear(header):
            return msgspec.structs.replace(head, parentId=PREVIOUS), [], None
        if head.type == "session":
            odd.append("a second session header: kept as an entry, drawn as a root")
        elif head.parentId is UNSET:
            odd.append("no parentId: drawn as a root")
        if head.parentId is UNSET:
            head = msgspec.structs.replace(head, parentId=None)
        return head, odd, None

    def settle(self, columns: Columns, links: Links) -> tuple[Columns, list[Diagnostic]]:
        """The columns of a whole log with what only the whole tells, and what is to be said."""
        return columns, []

    def leaf(self, columns: Columns, kinds: Names) -> int:
        """Where the program reopens the session, or NOWHERE. For τ 0.14.1, the newest finished
        entry in file order (tau-format 2.3).

        Moves and namespaced kinds never count; nor does an entry that nothing can refer to.
        """
        excluded = kinds.where(columns.kind, "navigate") | is_foreign(columns, kinds)
        excluded |= (columns.flags & (Flag.INCOMPLETE | Flag.NO_ID)) != 0
        places = np.flatnonzero(~excluded)
        return int(places[-1]) if len(places) else NOWHERE

    def record(self, stored: Record) -> Record:
        """A record in τ's shape."""
        return stored

    def entry_id(self, raw: bytes) -> str:
        """The id of the record in these bytes; "" where it has none."""
        try:
            return _decode_id(raw).id
        except (msgspec.DecodeError, RecursionError):
            return str(decode_record(raw).get("id", ""))

    def same(self, one: Record, other: Record) -> bool:
        """Whether two stored records of one id say the same."""
        return one == other


TAU = Format()

_decode_heads = msgspec.json.Decoder(Head).decode_lines
_decode_id = msgspec.json.Decoder(_Id).decode


def is_linear(header: Record | None) -> bool:
    """Whether entries have no ids by design: pi's first format, one chain in file order."""
    return header is not None and "version" not in header and "parent_id" not in header
