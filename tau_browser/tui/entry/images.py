"""Stored pictures as half blocks, where the optional package for it is installed."""

from __future__ import annotations

import base64
import binascii
from io import BytesIO

from rich.console import RenderableType

from tau_browser.model.payload import Image

_MOST_BYTES = 20_000_000
_MOST_PIXELS = 40_000_000
_MOST_ROWS = 24
_FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP")


def picture(image: Image, width: int) -> RenderableType | None:
    """The picture in at most so many columns; None where it cannot be drawn."""
    try:
        from PIL import Image as Pillow
        from rich_pixels import Pixels
    except ImportError:
        return None
    if image.size > _MOST_BYTES:
        return None
    try:
        data = base64.b64decode(image.data)
        with Pillow.open(BytesIO(data), formats=_FORMATS) as opened:
            if opened.width * opened.height > _MOST_PIXELS:
                return None
            opened.draft("RGB", (width, 2 * _MOST_ROWS))
            shown = opened.convert("RGBA")
    except (OSError, ValueError, SyntaxError, binascii.Error, Pillow.DecompressionBombError):
        return None
    shown.thumbnail((width, 2 * _MOST_ROWS))
    pixels: RenderableType = Pixels.from_image(shown)
    return pixels
