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
"""The use type of a root until everything below it is there: nobody takes it for a conversation."""

MADE_BY = "tau-browse:change"
"""Where such a root names the line of the journal that tells of it."""

_MESSAGES = ("message", "customMessage")
_SUMMARIES = ("compaction", "branch_summary")
_LONGEST_KIND = 96  # characters; a use type has 100
# A word of more letters than fit into a page of the server's index makes the server fail.
_ENDLESS_WORD = re.compile("[0-9A-Za-z]{1000}")
_NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")

# What of a record is stored as the place of its document, or first.
_ELSEWHERE = ("id", "parentId", "parent_id", "type", "timestamp")

Body = dict[str, Any]


def root_of(header: Record, name: str, parent: int | None, change: str) -> Body:
    """The root of a conversation that is not there yet. name: the session's, or "" · change: the
    id of what makes it."""
    header = {**header, "hostname": header.get("hostname") or socket.gethostname()}
    header.setdefault("parent", None)
    return {
        "title": name or title_of(header),
        "parent_id": parent,
        "usetype": UNFINISHED,
        "structured_content": {"tau": header, MADE_BY: change},
        "auto_embed": False,
    }


def finished(root: Body) -> Body:
    """What makes a conversation of a root, once all is there."""
    return {"usetype": ROOT, "structured_content": {"tau": root["structured_content"]["tau"]}}


def title_of(header: Record) -> str:
    """The title of a conversation without a name."""
    return f"{ROOT} {str(header.get('id', ''))[:8]}"


def document_of(record: Record, seq: int, parent: int) -> Body:
    """An entry below its parent. seq: the writer's counter."""
    if record.get("type") == FOREIGN:
        return foreign_of(record, parent)
    tau = payload_of(record)
    content = content_of(tau)
    return {
        "title": _title(tau, seq),
        "content": content,
        "parent_id": parent,
        "usetype": f"{TAU}{tau['type']}",
        "structured_content": {"tau": tau, "seq": seq},
        "auto_embed": False,
        "auto_index_bm25": is_indexable(content),
        "sequential": True,
    }


def foreign_of(record: Record, parent: int) -> Body:
    """What somebody else put below a conversation, as it was, with the time that it had."""
    content, time = record.get("content"), record.get("timestamp")
    return {
        "title": record.get("title"),
        "content": content if isinstance(content, str) else None,
        "parent_id": parent,
        "usetype": record.get("usetype"),
        "structured_content": record.get("structured_content") or {},
        "event_time": time if parse_time(time) != NO_TIME else None,
        "auto_embed": False,
        "auto_index_bm25": is_indexable(str(content)),
    }


def payload_of(record: Record) -> Record:
    """What τ keeps of an entry: all but its place in the tree, which the documents tell."""
    return {
        "type": record.get("type", ""),
        "timestamp": record.get("timestamp"),
        **{name: value for name, value in record.items() if name not in _ELSEWHERE},
    }


def content_of(tau: Record) -> str:
    """What the server searches of an entry: its text, and neither calls nor thoughts."""
    kind = tau["type"]
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
    if len(str(record.get("type", ""))) > _LONGEST_KIND:
        return "its kind has too long a name"
    try:
        text = json.dumps(record, allow_nan=False)
        json.dumps(record, allow_nan=False, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return "it holds half a character"
    except ValueError:
        return "it holds a number that JSON does not know"
    except RecursionError:
        return "it is nested too deeply"
    return "it holds a NUL character" if _NUL.search(text) else ""


def _title(tau: Record, seq: int) -> str:
    kind = str(tau["type"])
    if kind in _MESSAGES:
        message = tau.get("message")
        kind = str(message.get("role", kind)) if isinstance(message, dict) else kind
    elif kind == "customEntry":
        kind = str(tau.get("customType", kind))
    return f"{kind} — {seq:04d}"
