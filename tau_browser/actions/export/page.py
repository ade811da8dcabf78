"""A session as one HTML file: the whole tree, to be read anywhere, without a network.

The page is complete without its script, which only finds, folds and changes the view. Style and
script are allowed by their hashes and nothing else is; everything stored is escaped, and its
control characters are shown as pictures.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from html import escape
from importlib.resources import files

from tau_browser.actions.export.pictures import is_shown
from tau_browser.model.context import fold_at, states
from tau_browser.model.label import call_label, label_of, speaker_of
from tau_browser.model.payload import (
    Block,
    Call,
    Image,
    Record,
    Text,
    Thinking,
    blocks_of,
    lines_of,
    message_of,
    text_of,
)
from tau_browser.model.session import Session
from tau_browser.model.state import State
from tau_browser.model.summary import Summary, stamp_text, summary_of
from tau_browser.model.text import counted, safe, safe_line, size_of
from tau_browser.model.tree import NOWHERE

_LONG = 24  # lines of a tool's output from which it is folded
_ROLES = ("system", "user", "assistant", "toolResult", "custom")


def page_of(session: Session) -> str:
    """The page."""
    return "".join(_page(session))


def _page(session: Session) -> Iterator[str]:
    style, script = _asset("page.css"), _asset("page.js")
    summary = summary_of(session)
    policy = (
        f"default-src 'none'; img-src data:; style-src {_hash(style)}; "
        f"script-src {_hash(script)}; base-uri 'none'; form-action 'none'"
    )
    title = _line(summary.title)
    yield (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<title>{title}</title>\n<style>{style}</style>\n</head>\n<body>\n"
        '<a class="skip" href="#tree">To the conversation</a>\n'
    )
    yield f"<header>\n<h1>{title}</h1>\n{_facts(session, summary)}\n</header>\n"
    yield _BAR
    yield '<main id="tree" tabindex="-1" aria-label="Conversation">\n'
    yield from _tree(session)
    yield '</main>\n<section id="model" aria-label="What the model saw" hidden></section>\n'
    yield "<footer>Written by tau-browse. Nothing in this file is loaded from a network.</footer>\n"
    yield f"<script>{script}</script>\n</body>\n</html>\n"


_BAR = """<nav aria-label="View">
<form id="find" role="search"><label for="query">Find</label>
<input id="query" type="search" autocomplete="off" spellcheck="false" aria-keyshortcuts="/">
<button type="button" id="previous" title="previous hit (N)">↑</button>
<button type="button" id="next" title="next hit (n)">↓</button>
<output id="hits" for="query" aria-live="polite"></output></form>
<button type="button" id="unfold" title="+">Unfold all</button>
<button type="button" id="fold" title="-">Fold all</button>
<button type="button" id="view" aria-pressed="false" title="c">Model view</button>
<button type="button" id="theme">Light or dark</button>
</nav>
"""


def _facts(session: Session, summary: Summary) -> str:
    facts = {
        "session": summary.id,
        "directory": summary.cwd,
        "created": summary.created,
        "fork of": summary.parent or "",
        "entries": f"{len(session):,}",
        "forks": f"{summary.forks:,}",
    }
    return f"<dl>{''.join(_fact(name, value) for name, value in facts.items() if value)}</dl>"


def _fact(name: str, value: str) -> str:
    return f"<div><dt>{name}</dt><dd>{_line(value)}</dd></div>"


def _tree(session: Session) -> Iterator[str]:
    """Every entry in the order of the outline; turns and branches that were left are groups."""
    outline, leaf = session.outline, session.leaf
    state = states(session, leaf)
    seen = fold_at(session, leaf).context.tolist() if leaf != NOWHERE else []
    rank = {place: at for at, place in enumerate(seen)}
    ends: list[int] = []
    for line, place in enumerate(outline.entry.tolist()):
        while ends and ends[-1] == line:
            ends.pop()
            yield "</details>\n"
        size, is_branch = int(outline.size[line]), bool(outline.branch[place])
        if size > 1 and (is_branch or session.is_user[place]):
            kind = "branch" if is_branch else "turn"
            about = f"branch of {counted(size, 'entry')}" if is_branch else counted(size, "entry")
            opened = "" if is_branch else " open"
            yield (
                f'<details class="{kind}"{opened}><summary><span class="about">{about}</span> '
                f"{_preview(session, place)}</summary>\n"
            )
            ends.append(line + size)
        yield _entry(session, place, State(int(state[place])), rank.get(place))
    yield "</details>\n" * len(ends)


def _preview(session: Session, place: int) -> str:
    record = session.record(place)
    said = label_of(session, place, record)[:120]
    return escape(f"{speaker_of(record)}: {said}" if said else speaker_of(record))


def _entry(session: Session, place: int, state: State, rank: int | None) -> str:
    record = session.record(place)
    role = session.role(place)
    classes = ["entry", state.word, role if role in _ROLES else "other"]
    about = [f'<span class="id">{_line(session.entry_id(place))}</span>']
    if stamp := stamp_text(record.get("timestamp")):
        about.append(f"<time>{_line(stamp)}</time>")
    if state is not State.PATH:
        about.append(f'<span class="state">{state.word}</span>')
    if place == session.leaf:
        about.append('<span class="state">leaf</span>')
    ranked = "" if rank is None else f' data-seen="{rank}"'
    name = escape(speaker_of(record))
    body = "".join(_body(session, place, record))
    return (
        f'<article id="e{place}" class="{" ".join(classes)}"{ranked} tabindex="-1">'
        f"<h2>{name}</h2><p class=about>{' '.join(about)}</p>"
        f"<div class=body>{body}</div></article>\n"
    )


def _body(session: Session, place: int, record: Record) -> Iterator[str]:
    message = message_of(record)
    if not message:
        yield _text(label_of(session, place, record))
        text = text_of(record)
        if record.get("type") in ("compaction", "branch_summary") and text:
            yield _text(text)
        elif record.get("type") not in ("message", "session_info", "elide"):
            rest = {k: v for k, v in record.items() if k not in ("id", "parentId", "timestamp")}
            yield _folded("as stored", "\n".join(lines_of(rest)))
        return
    is_result = message.get("role") == "toolResult"
    for block in blocks_of(record):
        yield _block(block, is_result=is_result)
    details = message.get("details")
    if isinstance(details, dict):
        yield _folded("details", "\n".join(lines_of(details)))
    if isinstance(message.get("error_message"), str):
        yield f'<p class="error">{_line(message["error_message"])}</p>'


def _block(block: Block, *, is_result: bool) -> str:
    if isinstance(block, Text):
        lines = block.text.count("\n") + 1
        if is_result and lines > _LONG:
            return _folded(f"{lines:,} lines", block.text)
        return _text(block.text, "output" if is_result else "text")
    if isinstance(block, Thinking):
        return _folded("thinking", block.text) if block.text else ""
    if isinstance(block, Call):
        arguments = "\n".join(lines_of(block.arguments))
        return _folded(f"→ {call_label(block)}", arguments, "call", opened=len(arguments) < 400)
    if isinstance(block, Image):
        if is_shown(block):
            return f'<img alt="image" src="data:{block.mime_type};base64,{block.data}">'
        return f'<p class="about">[image {_line(block.mime_type)}, {size_of(block.size)}]</p>'
    return _folded(block.kind or "other", block.text)


def _text(text: str, kind: str = "text") -> str:
    return f"<pre class={kind}>\n{escape(safe(text))}</pre>" if text else ""


def _folded(name: str, text: str, kind: str = "more", *, opened: bool = False) -> str:
    is_open = " open" if opened else ""
    return f"<details class={kind}{is_open}><summary>{_line(name)}</summary>{_text(text)}</details>"


def _line(text: str) -> str:
    return escape(safe_line(text))


def _asset(name: str) -> str:
    return files("tau_browser.actions.export").joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
