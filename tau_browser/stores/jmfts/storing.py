"""From entries to documents: what τ itself would store of them (tau-format 4.1)."""

from __future__ import annotations

import json
import re
import socket
from typing import Any

from tau_browser.model.payload import Record
from tau_browser.model.times import NO_TIME, parse_time
from tau_browser.stores.jmfts.documents import CHUNK, ROOT, TAU
from tau_browser.stores.jmfts.records import FOREIGN

UNFINISHED = "tau-browse:unfinished"
"""The use type of a root until all is below it: nobody takes it for what it will be."""

MADE_BY = "tau-browse:change"
"""Where such a root, and what is promoted, names the line of the journal that tells of it."""

CORPUS = "tau-browse:corpus"
PROMOTED = "tau-browse:promoted"
"""The use types of what is kept of sessions, and of the documents in it."""

_MESSAGES = ("message", "customMessage")
_SUMMARIES = ("compaction", "branch_summary")
_LONGEST_USETYPE = 100  # characters
# A document that is nested more deeply is taken, and then fails to be sent with its tree.
_DEEPEST = 250
# A word of more letters than fit into a page of the server's index makes the server fail.
_ENDLESS_WORD = re.compile("[0-9A-Za-z]{1000}")
_NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")

# What PostgreSQL keeps of the words of one text, and what is sent of one that has more: bytes.
_MOST_WORDS = 1_000_000
_OF_TOO_MANY = 100_000
_WORD = re.compile(r"[^\W_]+")

# What of a record is stored as the place of its document.
_ELSEWHERE = ("id", "parentId", "parent_id")

Body = dict[str, Any]


def root_of(header: Record, name: str, parent: int | None) -> Body:
    """The root of a conversation. name: the session's, or ""."""
    header = {"hostname": socket.gethostname(), "parent": None} | header
    return {
        "title": name or title_of(header),
        "parent_id": parent,
        "usetype": ROOT,
        "structured_content": {"tau": header},
        "auto_embed": False,
    }


def unfinished(root: Body, change: str) -> Body:
    """A root while what belongs below it is not all there. change: the id of what makes it."""
    told = {**root["structured_content"], MADE_BY: change}
    return root | {"usetype": UNFINISHED, "structured_content": told}


def finished(root: Body) -> Body:
    """What changes in such a root once all is there."""
    return {name: root[name] for name in ("usetype", "structured_content")}


def title_of(header: Record) -> str:
    """The title of a conversation without a name."""
    return f"{ROOT} {str(header.get('id', ''))[:8]}"


def document_of(record: Record, seq: int, parent: int, *, numbered: bool = True) -> Body:
    """An entry below its parent. seq: the writer's counter · numbered: whether it gets a number
    among its siblings, as what τ appends and copies does, and what it imports does not; that costs
    the server a tenth of its work."""
    if record.get("type") == FOREIGN:
        return foreign_of(record, parent)
    tau = payload_of(record)
    content = content_of(tau)
    return {
        "title": _title(tau, seq),
        "content": content,
        "parent_id": parent,
        "usetype": _usetype(record),
        "structured_content": {"tau": tau, "seq": seq},
        "auto_embed": False,
        "auto_index_bm25": is_indexable(content),
        "sequential": True if numbered else None,
    }


def foreign_of(record: Record, parent: int) -> Body:
    """What somebody else put below a conversation, as it was, with the time that it had."""
    content, time = record.get("content"), record.get("timestamp")
    return {
        "title": record.get("title"),
        "content": content if isinstance(content, str) else None,
        "parent_id": parent,
        "usetype": _usetype(record),
        "structured_content": record.get("structured_content") or {},
        "event_time": time if parse_time(time) != NO_TIME else None,
        "auto_embed": False,
        "auto_index_bm25": is_indexable(str(content)),
    }


def payload_of(record: Record) -> Record:
    """What τ keeps of an entry: all but its place in the tree, which the documents tell."""
    return {name: value for name, value in record.items() if name not in _ELSEWHERE}


def content_of(tau: Record) -> str:
    """What the server searches of an entry: its text, and neither calls nor thoughts; how it
    begins, where it has more words than the server can keep."""
    text = says(tau)
    return text[:_OF_TOO_MANY] if _is_too_much(text) else text


def is_searched_in_part(record: Record) -> bool:
    """Whether an entry has more words than a server can keep."""
    return _is_too_much(says(record))


def _is_too_much(text: str) -> bool:
    """Whether a text's different words, each as a whole and in its parts, take too much."""
    if len(text) <= _OF_TOO_MANY:
        return False
    words = {*text.split(), *_WORD.findall(text)}
    return sum(len(word.encode()) + 6 for word in words) > _MOST_WORDS


def says(tau: Record) -> str:
    """All the text of an entry, or of a foreign document."""
    kind = tau.get("type")
    if kind == FOREIGN:
        return str(tau.get("content") or "")
    if kind in _MESSAGES:
        message = tau.get("message")
        content = message.get("content") if isinstance(message, dict) else None
        if isinstance(content, str):
            return content
        return " ".join(
            block["text"]
            for block in (content if isinstance(content, list) else ())
            if isinstance(block, dict)
            and block.get("type") == "text"
            and isinstance(block.get("text"), str)
        )
    if kind in _SUMMARIES:
        return str(tau.get("summary", ""))
    if kind == "elide":
        if tau.get("firstKeptId") is None:
            return "elide: history folded here, no resume point recorded"
        return f"elide: history folded here, context resumes at entry {tau['firstKeptId']}"
    return ""


def is_indexable(content: str) -> bool:
    """Whether the server can put a text into an index of words."""
    return not _ENDLESS_WORD.search(content)


def is_piece(record: Record) -> bool:
    """Whether a record is a piece of another that was made for search: it is made anew."""
    return record.get("type") == FOREIGN and record.get("usetype") == CHUNK


def obstacle(record: Record) -> str:
    """Why a server cannot store a record as it is; "" if it can."""
    if _is_deep(record):
        return "it is nested too deeply"
    if record.get("type") == FOREIGN and (why := _oddity(record)):
        return why
    if len(_usetype(record) or "") > _LONGEST_USETYPE:
        return "its kind has too long a name"
    try:
        text = json.dumps(record, allow_nan=False)
        json.dumps(record, allow_nan=False, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return "it holds half a character"
    except ValueError:
        return "it holds a number that JSON does not know"
    return "it holds a NUL character" if _NUL.search(text) else ""


def _oddity(record: Record) -> str:
    """Why a foreign document cannot be made of a record, or would be none."""
    content, stored = record.get("content"), record.get("structured_content")
    if not isinstance(stored, dict | None) or not isinstance(content, str | None):
        return "it is no document"
    if not all(isinstance(record.get(name), str | None) for name in ("title", "usetype")):
        return "it is no document"
    if (record.get("usetype") or "").startswith(TAU) and ("tau" in (stored or {})):
        return "it would pass for an entry of τ's"
    if record.get("usetype") in (ROOT, UNFINISHED):
        return "it would pass for a conversation"
    return "it has more words than a server can keep" if is_searched_in_part(record) else ""


def _is_deep(record: Record) -> bool:
    level: list[Any] = [record]
    for _ in range(_DEEPEST):
        if not level:
            return False
        inner = (part.values() if isinstance(part, dict) else part for part in level)
        level = [each for parts in inner for each in parts if isinstance(each, dict | list)]
    return True


def _usetype(record: Record) -> str | None:
    if record.get("type") == FOREIGN:
        return record.get("usetype")
    return f"{TAU}{record.get('type', '')}"


def _title(tau: Record, seq: int) -> str:
    kind = str(tau.get("type", ""))
    if kind in _MESSAGES:
        message = tau.get("message")
        kind = str(message.get("role", kind)) if isinstance(message, dict) else kind
    elif kind == "customEntry":
        kind = str(tau.get("customType", kind))
    return f"{kind} — {seq:04d}"
