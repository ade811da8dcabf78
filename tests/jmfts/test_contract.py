"""Every request that we make is one that the running server says it takes."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import AsyncIterator, Set
from typing import Any

import httpx
import pytest

from tau_browser.stores.jmfts import thread
from tau_browser.stores.jmfts.client import Client
from tau_browser.stores.jmfts.errors import JmftsError
from tests.jmfts.appliance import Appliance

DOCUMENT = {
    "title": "t",
    "content": "c",
    "parent_id": 1,
    "usetype": "tau:message",
    "structured_content": {},
    "event_time": "2026-03-01T10:00:00Z",
    "auto_embed": False,
    "auto_index_bm25": False,
    "sequential": True,
}
SEARCH = {"query": "q", "limit": 20, "usetype": ["tau:message"], "parent_id": 1}
HELD = SEARCH | {"as_of": "2026-03-01T10:00:00Z"}
CALLS: dict[str, list[tuple[Any, ...]]] = {
    "capabilities": [()],
    "documents": [("tau:conversation", 10, 0)],
    "located": [("tau:session_info", 10, 0)],
    "newest": [(10, 0)],
    "document": [(1,)],
    "entry": [(1,)],
    "embedded": [(1,)],
    "written_since": [("2026-03-01T10:00:00Z",)],
    "frontier": [(1,)],
    "view": [(1,)],
    "is_owner": [()],
    "subtree": [(1, 2000)],
    "children": [(1, "jmfts:chunk")],
    "below": [(1, "tau:compaction", 10)],
    "search": [(m, SEARCH) for m in ("vector", "fulltext", "maxsim")] + [("bm25", HELD, "tau")],
    "tokens": [(1,)],
    "counts": [()],
    "indexes": [()],
    "index_roots": [("tau",)],
    "create": [(DOCUMENT,)],
    "update": [
        (1, {"title": "t", "content": "c", "structured_content": {}, "re_embed": False}),
        (1, {"parent_id": 1, "usetype": "tau:conversation"}),
    ],
    "delete": [(1,)],
    "embed": [(1,)],
    "chunk": [(1, 220)],
    "create_index": [("tau",)],
    "index": [("tau", 1)],
}


def requests() -> list[httpx.Request]:
    """One request of each kind that the client makes."""
    made: list[httpx.Request] = []

    def note(request: httpx.Request) -> httpx.Response:
        made.append(request)
        return httpx.Response(400, json={"detail": "noted"})

    client = Client("http://server", "token")
    client._opened = httpx.MockTransport(note)
    for name, calls in CALLS.items():
        for arguments in calls:
            with pytest.raises(JmftsError, match="noted"):
                thread.run(drive(getattr(client, name)(*arguments)))
    return made


async def drive(asked: Any) -> None:
    if isinstance(asked, AsyncIterator):
        async for _ in asked:
            pass
    else:
        await asked


def test_every_request_is_in_the_contract_of_the_server(appliance: Appliance) -> None:
    assert_taken(appliance)


def test_and_in_that_of_an_old_one(old: Appliance) -> None:
    # Before 0.7.0 a server takes no max_words, skips it, and cuts pieces of about that length.
    assert_taken(old, skipped={"max_words"})


def assert_taken(appliance: Appliance, skipped: Set[str] = frozenset()) -> None:
    contract = httpx.get(f"{appliance.url}/openapi.json", trust_env=False, timeout=60).json()
    for request in requests():
        operation = operation_of(contract, request)
        taken = {each["name"] for each in operation.get("parameters", []) if each["in"] == "query"}
        assert set(request.url.params) <= taken, request
        assert_body_fits(contract, operation, request, skipped)


def test_every_request_of_the_client_is_tried() -> None:
    public = {
        name
        for name, member in inspect.getmembers(Client, inspect.isfunction)
        if not name.startswith("_") and name != "close"
    }
    assert public == set(CALLS)


def operation_of(contract: dict[str, Any], request: httpx.Request) -> dict[str, Any]:
    for template, methods in contract["paths"].items():
        fits = re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", template), request.url.path)
        if fits and request.method.lower() in methods:
            operation: dict[str, Any] = methods[request.method.lower()]
            return operation
    raise AssertionError(f"the server does not know {request}")


def assert_body_fits(
    contract: dict[str, Any],
    operation: dict[str, Any],
    request: httpx.Request,
    skipped: Set[str],
) -> None:
    if not request.content:
        body = operation.get("requestBody", {})
        assert not body.get("required"), request
        return
    schema = operation["requestBody"]["content"]["application/json"]["schema"]
    name = schema["$ref"].rpartition("/")[2]
    schema = contract["components"]["schemas"][name]
    sent = json.loads(request.content)
    assert sent.keys() - skipped <= schema["properties"].keys(), request
    assert set(schema.get("required", [])) <= sent.keys(), request
