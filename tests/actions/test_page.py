"""The HTML export in a browser: it opens, folds, finds, and nothing in it acts."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tau_browser.actions.export.page import page_of
from tau_browser.model.context import fold_at
from tau_browser.model.session import Session
from tests.conftest import DATA, HEADER, load, log_of, message, read

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")

EVIL = '</script><script>window.evil=1</script><img src=x onerror="window.evil=1">\'"`&amp;'


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield started
        started.close()


_FIND = """(words) => new Promise((done) => {
    const query = document.getElementById("query"), hits = document.getElementById("hits");
    new MutationObserver((_, observer) => { observer.disconnect(); done(hits.textContent); })
        .observe(hits, {childList: true});
    query.value = words;
    query.dispatchEvent(new Event("input"));
})"""


class Opened:
    """A page, and all that went wrong in it."""

    def __init__(self, browser: Browser, session: Session, folder: Path, **options: Any) -> None:
        path = folder / "page.html"
        path.write_text(page_of(session), encoding="utf-8")
        self.page: Page = browser.new_page(**options)
        self.troubles: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda said: self.troubles.append(said.text))
        self.page.on("pageerror", lambda error: self.troubles.append(str(error)))
        self.page.on("request", lambda asked: self.requests.append(asked.url))
        self.page.goto(path.as_uri())

    def shown(self, selector: str) -> int:
        return self.page.evaluate(
            "(s) => [...document.querySelectorAll(s)].filter(e => e.checkVisibility()).length",
            selector,
        )

    def find(self, words: str) -> str:
        """Type words and wait, in the page itself, until it says what it found."""
        return self.page.evaluate(_FIND, words)


@pytest.fixture
def opened(browser: Browser, tmp_path: Path) -> Iterator[Any]:
    pages: list[Opened] = []

    def open_page(session: Session, **options: Any) -> Opened:
        pages.append(Opened(browser, session, tmp_path, **options))
        return pages[-1]

    yield open_page
    for page in pages:
        page.page.close()


def test_it_opens_and_folds_without_a_network(opened: Any) -> None:
    session = load(DATA / "tau" / "02-forked-tree.jsonl")
    page = opened(session)
    assert page.page.locator("article").count() == len(session)
    branches = page.page.locator("details.branch").count()
    assert branches == int(session.outline.branch.sum()) > 0
    before = page.shown("article")
    assert 0 < before < len(session)  # branches that were left are folded
    page.page.keyboard.press("+")
    assert page.shown("article") == len(session)
    page.page.click("#fold")
    assert page.shown("article") < before
    assert page.troubles == []
    assert len(page.requests) == 1  # the file itself


def test_finding_unfolds_and_walks(opened: Any) -> None:
    session = load(DATA / "tau" / "02-forked-tree.jsonl")
    page = opened(session)
    page.page.keyboard.press("/")
    page.page.keyboard.type("R")
    assert page.page.input_value("#query") == "R"
    count = int(page.find("ROTATION").split()[0])
    assert count >= 2
    page.page.keyboard.press("Enter")
    assert page.page.inner_text("#hits") == f"1 of {count}"
    assert page.shown("article.here") == 1
    assert "rotation" in page.page.inner_text("article.here").lower()
    marked = page.page.evaluate("CSS.highlights.get('hits').size")
    assert marked == count
    page.page.keyboard.press("Escape")
    page.page.keyboard.press("n")
    assert page.page.inner_text("#hits") == ""
    assert page.find("no such thing") == "nothing found"
    assert page.find("a.b*(c") == "nothing found"
    assert page.troubles == []


@pytest.mark.parametrize("name", ["03-compaction", "04-elide", "02-forked-tree"])
def test_the_model_view_is_what_the_model_saw(name: str, opened: Any) -> None:
    session = load(DATA / "tau" / f"{name}.jsonl")
    page = opened(session)
    page.page.keyboard.press("c")
    expected = session.ids(fold_at(session, session.leaf).context)
    assert page.page.locator("#model .id").all_inner_texts() == expected
    assert page.shown("#tree") == 0 and page.page.get_attribute("#view", "aria-pressed") == "true"
    page.page.keyboard.press("c")
    assert page.shown("#tree") == 1 and page.shown("#model") == 0


def evil_record(entry_id: str, parent: str | None, role: str) -> dict:
    record = message(entry_id, parent, EVIL, role)
    record["timestamp"] = EVIL
    record["message"] |= {
        "tool_name": EVIL,
        "tool_call_id": EVIL,
        "model": EVIL,
        "error_message": EVIL,
        "details": {EVIL: EVIL, "exception": EVIL},
    }
    record["message"]["content"] += [
        {"type": "thinking", "thinking": EVIL},
        {"type": "toolCall", "id": EVIL, "name": EVIL, "arguments": {EVIL: EVIL}},
        {"type": "image", "mime_type": EVIL, "data": "AAAA"},
        {"type": "image", "mime_type": "image/png", "data": EVIL},
        {"type": "image", "mime_type": "image/svg+xml", "data": "PHN2Zz4="},
        {"type": EVIL, EVIL: EVIL},
    ]
    return record


def test_a_script_in_every_field_stays_text(opened: Any) -> None:
    roles = ["system", "user", "assistant", "toolResult", EVIL]
    records: list[dict] = [
        evil_record(f"{EVIL}{at}", f"{EVIL}{at - 1}" if at else None, role)
        for at, role in enumerate(roles)
    ]
    last = f"{EVIL}{len(roles) - 1}"
    for kind in ("compaction", "elide", "branch_summary", "session_info", "customEntry", EVIL):
        record = message(f"{kind}-{EVIL}", last)
        del record["message"]
        extra = {"summary": EVIL, "firstKeptId": EVIL, "name": EVIL, "customType": EVIL}
        records.append(record | extra | {"type": kind, "data": {EVIL: [EVIL]}})
    header = HEADER | {"id": EVIL, "cwd": EVIL, "timestamp": EVIL, "parent": EVIL}
    page = opened(read(log_of(records, header)))
    assert page.page.evaluate("window.evil") is None
    assert page.page.locator("script").count() == 1 and page.page.locator("img").count() == 0
    assert page.page.locator("article").count() == len(records)
    assert page.page.evaluate(
        "[...document.querySelectorAll('*')].every(e =>"
        " [...e.attributes].every(a => !a.name.startsWith('on')))"
    )
    page.page.keyboard.press("+")
    assert EVIL in page.page.text_content("article .body")
    assert page.troubles == []


def test_even_a_script_that_got_in_would_not_run(opened: Any) -> None:
    page = opened(load(DATA / "tau" / "01-linear-tools.jsonl"))
    page.page.evaluate(
        "document.body.append(Object.assign(document.createElement('script'),"
        " {textContent: 'window.evil = 1'}))"
    )
    page.page.evaluate(
        "document.body.insertAdjacentHTML('beforeend', '<img src=http://x.invalid>')"
    )
    assert page.page.evaluate("window.evil") is None
    assert any("Content Security Policy" in trouble for trouble in page.troubles)


@pytest.mark.parametrize("fixture", sorted((DATA / "tau").glob("*.jsonl")), ids=lambda p: p.stem)
def test_every_fixture_opens(fixture: Path, opened: Any) -> None:
    session = load(fixture)
    page = opened(session)
    assert page.page.locator("article").count() == len(session)
    assert page.troubles == []


def test_five_thousand_entries_open_and_are_searched(opened: Any) -> None:
    session = load(DATA / "tau" / "17-five-thousand.jsonl")
    page = opened(session)
    assert page.page.locator("article").count() == len(session)
    for words, least in (("e", 5000), ("T", 5000)):
        assert int(page.find(words).split()[0].replace(",", "")) > least
        page.page.click("#next")
        assert page.shown("article.here") == 1
    assert page.troubles == []


def test_landmarks_names_and_order_of_headings(opened: Any) -> None:
    page = opened(load(DATA / "tau" / "02-forked-tree.jsonl")).page
    for landmark in ("banner", "navigation", "search", "main", "contentinfo"):
        assert page.get_by_role(landmark).count() == 1, landmark
    assert page.get_by_role("searchbox", name="Find").count() == 1
    nameless = page.evaluate(
        "[...document.querySelectorAll('button')].filter(b => !b.innerText.trim()).length"
    )
    assert nameless == 0
    assert page.get_by_role("heading", level=1).count() == 1
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "tree"


_CONTRASTS = """() => {
    const canvas = new OffscreenCanvas(1, 1).getContext('2d', {willReadFrequently: true});
    const rgb = (colour) => {
        canvas.clearRect(0, 0, 1, 1);
        canvas.fillStyle = colour;
        canvas.fillRect(0, 0, 1, 1);
        return canvas.getImageData(0, 0, 1, 1).data;
    };
    const luminance = (colour) => {
        const [r, g, b] = [...rgb(colour)].map(v => v / 255)
            .map(v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
        return .2126 * r + .7152 * g + .0722 * b;
    };
    const ground = (element) => {
        for (let up = element; up; up = up.parentElement) {
            const colour = getComputedStyle(up).backgroundColor;
            if (rgb(colour)[3] === 255) return colour;
        }
        return 'white';
    };
    const found = {};
    for (const element of document.querySelectorAll('body *')) {
        if (!element.innerText?.trim() || !element.checkVisibility()) continue;
        const pair = [luminance(getComputedStyle(element).color), luminance(ground(element))];
        const [low, high] = pair.sort((a, b) => a - b);
        const ratio = (high + .05) / (low + .05);
        const name = element.tagName + '.' + element.className;
        found[name] = Math.min(found[name] ?? 99, ratio);
    }
    return found;
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast_of_every_text(scheme: str, opened: Any) -> None:
    page = opened(load(DATA / "tau" / "11-error-and-abort.jsonl"), color_scheme=scheme).page
    page.keyboard.press("+")
    for switched in (False, True):
        if switched:
            page.click("#theme")
        low = {name: at for name, at in page.evaluate(_CONTRASTS).items() if at < 4.5}
        assert low == {}


def test_print_shows_everything(opened: Any) -> None:
    session = load(DATA / "tau" / "02-forked-tree.jsonl")
    page = opened(session)
    page.page.emulate_media(media="print")
    page.page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.shown("article") == len(session) and page.shown("nav") == 0
    page.page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert page.shown("article") < len(session)


def test_without_its_script_the_page_is_complete(opened: Any) -> None:
    session = load(DATA / "tau" / "02-forked-tree.jsonl")
    page = opened(session, java_script_enabled=False)
    assert page.page.locator("article").count() == len(session)


def test_the_policy_allows_nothing_but_its_own(tmp_path: Path) -> None:
    html = page_of(load(DATA / "tau" / "01-linear-tools.jsonl"))
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', html)
    assert policy is not None and "unsafe" not in policy[1]
    assert policy[1].startswith("default-src &#x27;none&#x27;")
    assert not re.search(r"""\b(?:src|href|action)\s*=\s*["'](?!data:|#)""", html)
