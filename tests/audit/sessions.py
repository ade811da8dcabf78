"""Sessions in which an agent recalls, written as what happens in them one thing after another."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tests.conftest import HEADER, log_of

CUT = 900


@dataclass(frozen=True)
class Doc:
    """A document as a search finds it, and what a person says became of it."""

    id: int
    title: str
    text: str
    became: str = ""
    usetype: str = "note"
    score: float = 0.016


def printed(docs: Sequence[Doc]) -> str:
    """Hits as τ's tool prints them (tau-format 4.7)."""
    blocks = []
    for doc in docs:
        text = doc.text.strip().replace("\n", " ")
        if len(text) > CUT:
            text = f"{text[:CUT]}… [truncated; read doc {doc.id} for the rest]"
        title = doc.title or "(untitled)"
        blocks.append(
            f"[doc {doc.id}] {title} (usetype={doc.usetype}, score={doc.score:.3f})\n{text}"
        )
    return "\n\n".join(blocks) or "No results."


class Story:
    """A session that grows entry by entry. Each step returns the id of its entry; `at` is the
    entry under which the next one hangs."""

    def __init__(self, **header: Any) -> None:
        self.header = HEADER | {"id": "0123456789abcdef0123456789abcdef"} | header
        self.records: list[dict[str, Any]] = []
        self.labels: list[str] = []
        self.at: str | None = None

    def add(self, **fields: Any) -> str:
        number = len(self.records) + 1
        stamp = f"2026-03-01T10:{number // 60:02}:{number % 60:02}.000Z"
        entry = fields.pop("id", f"{number:08x}")
        record = {"type": "message", "id": entry, "parentId": self.at, "timestamp": stamp}
        self.records.append(record | fields)
        self.at = entry
        return str(entry)

    def user(self, text: str) -> str:
        return self.add(message={"role": "user", "content": [_text(text)]})

    def say(self, text: str = "", *, thinking: str = "", **message: Any) -> str:
        """The model says something."""
        content = [{"type": "thinking", "thinking": thinking}] if thinking else []
        content += [_text(text)] if text else []
        return self.add(message={"role": "assistant", "content": content, **message})

    def call(self, name: str, arguments: Any, text: str = "", **answer: Any) -> str:
        """The model calls a tool, which answers. text: said before the call."""
        call_id = f"call_{len(self.records):06}"
        block = {"type": "toolCall", "id": call_id, "name": name, "arguments": arguments}
        content = [_text(text)] if text else []
        self.add(message={"role": "assistant", "content": [*content, block]})
        return self.answer(call_id, name, **answer) if answer else str(self.at)

    def answer(self, call_id: str, name: str, output: str = "", **message: Any) -> str:
        fields = {"details": None, "is_error": False} | message
        return self.add(
            message={
                "role": "toolResult",
                "tool_call_id": call_id,
                "tool_name": name,
                "content": [_text(output)],
                **fields,
            }
        )

    def search(self, query: str, *docs: Doc, **arguments: Any) -> str:
        """The model searches and finds these documents."""
        self.labels += [doc.became for doc in docs]
        details = {"query": query, "scope": "all", "parent_id": None, "hits": len(docs)}
        given = {"query": query, "scope": "all"} | arguments
        return self.call("jmfts_search", given, output=printed(docs), details=details)

    def read(self, document: int, title: str = "A document", text: str = "Its text.") -> str:
        """The model reads a document."""
        output = f"[doc {document}] {title} (usetype=note, parent=None)\n\n{text}"
        self.labels.append("")
        details = {"doc_id": document}
        return self.call("jmfts_read", {"doc_id": document}, output=output, details=details)

    def read_in_vain(self, document: int) -> str:
        error = f"JmftsError: JMFTS GET /documents/{document} -> 404: 'Document not found'"
        answer = {"output": "The tool failed.", "is_error": True, "details": {"exception": error}}
        return self.call("jmfts_read", {"doc_id": document}, **answer)

    def compact(self, kept: str) -> str:
        return self.add(type="compaction", summary="Things were done.", firstKeptId=kept)

    @property
    def log(self) -> bytes:
        return log_of(self.records, self.header)

    @property
    def text(self) -> str:
        return "\n".join(map(json.dumps, self.records))


def _text(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}
