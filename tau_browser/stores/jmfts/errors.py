"""What can go wrong with a server, in sentences that say what to do."""

from __future__ import annotations

import json
from typing import Any

from tau_browser.stores.store import StoreError

_LONGEST = 300  # characters of what a server said of an error


class JmftsError(StoreError):
    """A request failed. `status` is HTTP's, 0 where there was no answer; `detail` as answered."""

    def __init__(self, message: str, status: int = 0, detail: Any = None) -> None:
        super().__init__(message)
        self.status = status
        self.detail = detail

    @property
    def is_missing(self) -> bool:
        """Whether there is no such document, or none that the token may see."""
        return self.status == 404

    @property
    def is_too_long(self) -> bool:
        """Whether a text is longer than what the server's model takes at once."""
        return isinstance(self.detail, dict) and self.detail.get("error") == "text_too_long"


def refusal(place: str, asked: str, status: int, content_type: str, body: bytes) -> JmftsError:
    """What an answer other than success means. `asked`: method and path, without the host."""
    detail = _detail_of(content_type, body)
    said = _words_of(detail)
    match status:
        case 401:
            reason = f"{place} rejects the token; give the right one with --token-file, in τ's "
            reason += "config.json or in $JMFTS_API_TOKEN"
        case 403:
            reason = f"{place} does not allow it: {said}"
        case 404 if "not found" in said.lower() and said != "Not Found":
            reason = f"{place}: {said}, or it is not open to this token"
        case 404:
            reason = f"{place} does not know {asked}: it is no JMFTS, or one older than 0.5.0"
        case 501:
            reason = f"{place} cannot do this: {said}"
        case _ if 300 <= status < 400:
            reason = f"{place} sends elsewhere ({status}); give the URL that it leads to"
        case _:
            reason = f"{place} failed at {asked} ({status}): {said}"
    return JmftsError(reason, status, detail)


def _detail_of(content_type: str, body: bytes) -> Any:
    """The detail of an answer; its text where that is no JSON, as with a failure inside."""
    text = body[:_LONGEST].decode("utf-8", "replace")
    if not content_type.startswith("application/json"):
        return text
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        return text
    return answer.get("detail", answer) if isinstance(answer, dict) else answer


def _words_of(detail: Any) -> str:
    if isinstance(detail, list):  # what a request got wrong, field by field
        detail = "; ".join(
            f"{'.'.join(map(str, item.get('loc', ())))}: {item.get('msg', '')}"
            for item in detail
            if isinstance(item, dict)
        )
    if isinstance(detail, dict):
        detail = detail.get("message") or detail
    return " ".join(str(detail).split())[:_LONGEST] or "it does not say why"
