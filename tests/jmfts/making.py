"""Documents on a test server, made with no code of ours: straight HTTP."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import httpx

from tests.jmfts.appliance import Appliance

HEADER = {
    "type": "session",
    "version": 1,
    "id": "0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f",
    "timestamp": "2026-03-01T10:00:00.000Z",
    "cwd": "/proj/demo",
    "hostname": "here",
    "parent": None,
}


class Making:
    """Makes documents."""

    def __init__(self, appliance: Appliance) -> None:
        self._http = httpx.Client(
            base_url=appliance.url,
            headers={"Authorization": f"Bearer {appliance.token}"},
            timeout=60,
            trust_env=False,
        )

    def close(self) -> None:
        self._http.close()

    def request(self, method: str, path: str, **options: Any) -> Any:
        """What the server answers to a request that must succeed."""
        answer = self._http.request(method, path, **options)
        assert answer.is_success, answer.text
        return answer.json()

    def document(self, parent: int | None = None, **fields: Any) -> int:
        """A new document; returns its number."""
        body = {"parent_id": parent, "auto_embed": False, **fields}
        number: int = self.request("POST", "/documents", json=body)["id"]
        return number

    def root(self, **header: Any) -> int:
        """The root of a conversation without entries."""
        header = HEADER | header
        title = f"tau:conversation {header['id'][:8]}"
        stored = {"tau": header}
        return self.document(title=title, usetype="tau:conversation", structured_content=stored)

    def entry(self, parent: int, seq: int, payload: dict[str, Any]) -> int:
        """An entry as τ stores it."""
        kind = payload["type"]
        stored = {"tau": payload, "seq": seq}
        return self.document(
            parent,
            usetype=f"tau:{kind}",
            title=f"{kind} — {seq:04d}",
            structured_content=stored,
            content=said(payload),
        )

    def message(self, parent: int, seq: int, text: str, role: str = "user") -> int:
        """A message as τ stores it."""
        return self.entry(parent, seq, message(text, role))

    def chain(self, *texts: str, **header: Any) -> list[int]:
        """A conversation of messages one after the other: the numbers of its root and of all."""
        numbers = [self.root(**header)]
        for seq, text in enumerate(texts, 1):
            numbers.append(self.message(numbers[-1], seq, text, ("user", "assistant")[~seq % 2]))
        return numbers


def message(text: str, role: str = "user") -> dict[str, Any]:
    """A message's payload."""
    return {
        "type": "message",
        "timestamp": "2026-03-01T10:00:01.000Z",
        "message": {"role": role, "content": [{"type": "text", "text": text}]},
    }


def said(payload: dict[str, Any]) -> str:
    """What τ puts into the content of a document: its text blocks."""
    content = payload.get("message", {}).get("content", [])
    return " ".join(block["text"] for block in content if block.get("type") == "text")


def records(path: Path) -> Iterable[dict[str, Any]]:
    """The records of a log, its header first."""
    return map(json.loads, path.read_text().splitlines())


def more_roots(appliance: Appliance, root: int, count: int) -> None:
    """So many conversations more, each with the root of another and nothing else."""
    appliance.sql(f"""
INSERT INTO documents (usetype, title, structured_content)
SELECT usetype, title, structured_content FROM documents, generate_series(1, {count})
WHERE id = {root};
""")


def deep_chain(appliance: Appliance, entries: int) -> int:
    """A conversation of messages one below the other, put into the database itself, which takes a
    fraction of the time; returns the number of its root."""
    header = json.dumps(HEADER)
    return int(
        appliance.sql(f"""
WITH free AS (SELECT coalesce(max(id), 0) + 1 AS id FROM documents),
made AS (
  INSERT INTO documents (id, parent_id, path, usetype, title, content, structured_content,
                         created_at, updated_at)
  SELECT id + seq, CASE WHEN seq > 0 THEN id + seq - 1 END,
    (SELECT coalesce(jsonb_agg(id + above ORDER BY above), '[]')
       FROM generate_series(0, seq - 1) above),
    CASE WHEN seq > 0 THEN 'tau:message' ELSE 'tau:conversation' END,
    CASE WHEN seq > 0 THEN 'user — ' || seq ELSE 'tau:conversation deep' END,
    CASE WHEN seq > 0 THEN 'step ' || seq END,
    CASE WHEN seq > 0 THEN jsonb_build_object('seq', seq, 'tau', jsonb_build_object(
      'type', 'message', 'timestamp', '2026-03-01T10:00:01.000Z',
      'message', jsonb_build_object('role', 'user', 'content', 'step ' || seq)))
    ELSE jsonb_build_object('tau', '{header}'::jsonb) END,
    now() + seq * interval '1 millisecond', now() + seq * interval '1 millisecond'
  FROM free, generate_series(0, {entries}) seq
  RETURNING id)
SELECT setval('documents_id_seq', max(id)) - {entries} FROM made;
""")
    )
