"""Hits of memories other than JMFTS: whatever of their results can be told apart.

Most print JSON, a list of objects or an object that holds one. Any other text is one hit.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from tau_browser.audit.recall import Hit

_LISTS = ("results", "memories", "hits", "entities", "nodes", "documents", "facts", "items")
_IDS = ("id", "memory_id", "doc_id", "uuid", "record_id", "path", "name")
_TITLES = ("title", "name", "path")
_TEXTS = ("content", "text", "memory", "fact", "snippet", "summary", "observations", "body")
_SCORES = ("score", "similarity", "relevance", "distance")
_NOTHING = ("", "no results", "no results.", "no results found", "no results found.", "null")
_MOST = 1000


def foreign_hits(text: str) -> list[Hit]:
    """The hits in a result."""
    if text.strip().lower() in _NOTHING:
        return []
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return [Hit(1, "", "", "", None, False, text)]
    items = _items(value)
    if items is None:
        return [Hit(1, "", "", "", None, False, text)]
    return [_hit(rank, item) for rank, item in enumerate(items[:_MOST], 1)]


def _items(value: Any) -> list[Any] | None:
    if isinstance(value, dict):
        lists = [value[name] for name in _LISTS if isinstance(value.get(name), list)]
        value = lists[0] if lists else None
    return value if isinstance(value, list) else None


def _hit(rank: int, item: Any) -> Hit:
    if not isinstance(item, dict):
        return Hit(rank, "", "", "", None, False, _text(item))
    score = next((item[name] for name in _SCORES if _is_number(item.get(name))), None)
    texts = [_text(item[name]) for name in _TEXTS if item.get(name)]
    return Hit(
        rank,
        _first(item, _IDS),
        _first(item, _TITLES),
        _first(item, ("type", "entityType", "category", "kind")),
        None if score is None else float(score),
        False,
        "\n".join(texts) if texts else _text(item),
    )


def _first(item: Mapping[str, Any], names: tuple[str, ...]) -> str:
    found = (item[name] for name in names if isinstance(item.get(name), str | int))
    return next((str(value) for value in found if str(value)), "")


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return "\n".join(value)
    return msgspec.json.encode(value).decode()


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
