"""Which stored pictures may stand in an export as pictures."""

from __future__ import annotations

import re

from tau_browser.model.payload import Image

_TYPES = ("image/png", "image/jpeg", "image/gif", "image/webp")
_BASE64 = re.compile(r"[A-Za-z0-9+/]+={0,2}")


def is_shown(image: Image) -> bool:
    """Whether it is of a kind that every reader shows and none runs, and spelled as it must be."""
    return image.mime_type in _TYPES and _BASE64.fullmatch(image.data) is not None
