"""Draws the pictures in screenshots/ from the demo store and the test fixtures."""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from pathlib import Path

import resvg_py

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from tau_browser.tui.app import BrowserApp  # noqa: E402
from tests.tui.browsing import browse, press, settle  # noqa: E402

DEMO = ROOT / "tau_browser" / "demo" / "sessions"
FOLDER = ROOT / "screenshots"
FONT = "Fira Code"


def demo(title: str, **options: object) -> BrowserApp:
    """An app with the demo session open whose text holds this."""
    found = (path for path in sorted(DEMO.rglob("*.jsonl")) if title in path.read_text())
    return browse(DEMO, next(found), **options)


PICTURES = {
    "browser": (demo, {"title": "branch_summary"}, (140, 40), ["plus"]),
    "light": (demo, {"title": "jmfts_search", "theme": "textual-light"}, (140, 40), ["plus"]),
    "find": (demo, {"title": "compaction"}, (140, 40), ["slash", *"sqlite", "enter", "n"]),
    "search": (demo, {"title": "jmfts_search"}, (140, 40), ["s", *"slow carrier requests", "down"]),
    "model-view": (demo, {"title": "compaction"}, (140, 40), ["c"]),
    "audit": (demo, {"title": "jmfts_search"}, (140, 40), ["a", "j"]),
    "small": (demo, {"title": "turn_error"}, (80, 24), ["plus"]),
}


async def draw(app: BrowserApp, size: tuple[int, int], keys: list[str]) -> str:
    """The screen of an app after some keys, as SVG."""
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        for key in keys:
            await press(pilot, key)
        return app.export_screenshot(title="tau-browse")


def main() -> None:
    """Draw them all, for a person who has used nothing yet."""
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= dict.fromkeys(("XDG_CACHE_HOME", "XDG_STATE_HOME", "TAU_HOME"), folder)
        os.environ.pop("JMFTS_API_URL", None)
        _draw_all()


def _draw_all() -> None:
    for name, (make, options, size, keys) in PICTURES.items():
        svg = asyncio.run(draw(make(**options), size, keys))
        png = resvg_py.svg_to_bytes(
            svg_string=svg, font_dirs=_font_folders(), monospace_family=_font(), font_family=_font()
        )
        (FOLDER / f"{name}.png").write_bytes(bytes(png))
        print(FOLDER / f"{name}.png")


def _font_folders() -> list[str]:
    return [str(path) for path in (Path("/usr/share/fonts"),) if path.is_dir()]


def _font() -> str:
    has_fira = any(Path("/usr/share/fonts").rglob("FiraCode*"))
    return FONT if has_fira else "DejaVu Sans Mono"


main()
