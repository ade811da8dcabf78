"""What the tests of the entry pane share: entries, and what must never come through of them."""

from __future__ import annotations

import re
from typing import Any

from tau_browser.model.session import Session
from tests.conftest import DATA, load, log_of, read

TAU = DATA / "tau"
CASES = DATA / "bugcases"
PRICES = {"scripted": {"input": 3.0, "output": 15.0, "cache_read": 0.3, "cache_write": 3.75}}

# What makes a terminal act, or a person misread: controls, bidi controls, surrogates.
ACTING = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)

HOSTILE = "\x1b]52;c;aGk=\x07 \x9b31m \x1b[2J \u202eevil\u202c \x00 \ud800 &#27;c &#x202e; \r\n\x85"
EVERYWHERE = {
    "type": f"kind{HOSTILE}",
    "id": f"a{HOSTILE}",
    "parentId": None,
    "timestamp": HOSTILE,
    "copiedFrom": HOSTILE,
    "branchOf": HOSTILE,
    "message": {
        "role": f"assistant{HOSTILE}",
        "model": HOSTILE,
        "stop_reason": HOSTILE,
        "error_message": HOSTILE,
        "content": [
            {"type": "text", "text": f"[x](http://{HOSTILE}) `{HOSTILE}`\n```{HOSTILE}\n{HOSTILE}"},
            {"type": "text", "text": f"```{HOSTILE}\nx\n```\n| {HOSTILE} |\n|---|\n| {HOSTILE} |"},
            {"type": "thinking", "thinking": HOSTILE},
            {"type": HOSTILE, HOSTILE: {HOSTILE: HOSTILE}},
            {"type": "image", "data": HOSTILE, "mime_type": HOSTILE},
            {
                "type": "toolCall",
                "id": HOSTILE,
                "name": f"bash{HOSTILE}",
                "arguments": {"path": f"{HOSTILE}.py", HOSTILE: HOSTILE, "command": HOSTILE * 20},
            },
        ],
        "details": {
            "exception": HOSTILE,
            "exit_code": HOSTILE,
            "diff": HOSTILE,
            "captured_output": {HOSTILE: HOSTILE},
            "nested_calls": [{"tool_name": HOSTILE, "status": HOSTILE, "args": {HOSTILE: HOSTILE}}],
        },
        "usage": {"extra": {HOSTILE: HOSTILE}},
    },
}


def case(number: str) -> Session:
    """The session of a bug case."""
    return load(next(path for path in CASES.glob(f"{number}-*/sessions/*/*s1.jsonl")))


def fixture(number: str) -> Session:
    return load(next(TAU.glob(f"{number}-*.jsonl")))


def one_entry(record: dict[str, Any]) -> Session:
    return read(log_of([record]))
