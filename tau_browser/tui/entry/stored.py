"""JSON for people: a stored line laid out as it was written, a decoded value as text."""

from __future__ import annotations

import json
import re
from typing import Any

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"?|[\[\]{},:]|[^\s"\[\]{},:]+', re.DOTALL)
_INDENT = 2
_DEEPEST = 16  # levels that are still drawn further to the right

_encode = json.JSONEncoder(ensure_ascii=False).iterencode
_encode_in_lines = json.JSONEncoder(ensure_ascii=False, indent=_INDENT).iterencode


def laid_out(stored: str) -> str:
    """A stored line, one member to a line and every token as written. It may end anywhere.

    What does not begin like a record is no JSON, and stays as it is.
    """
    if not stored.lstrip().startswith("{"):
        return stored
    lines, line, depth = [], "", 0
    for token in _TOKEN.findall(stored):
        if token in "}]":
            depth = max(0, depth - 1)
            if not line.endswith(("{", "[")):
                lines.append(line)
                line = _indent(depth)
            line += token
        elif line.endswith(("{", "[", ",")):
            lines.append(line)
            line = _indent(depth) + token
        else:
            line += ": " if token == ":" else token
        depth += token in "{["
    return "\n".join([*lines, line])


def json_text(value: Any, most: int, *, in_lines: bool) -> str:
    """The JSON of a decoded value, made only until it is longer than `most` characters."""
    pieces, size = [], 0
    try:
        for piece in (_encode_in_lines if in_lines else _encode)(value):
            pieces.append(piece)
            size += len(piece)
            if size > most:
                break
    except RecursionError:
        pieces.append(" … nested too deeply")
    return "".join(pieces)


def _indent(depth: int) -> str:
    return " " * (_INDENT * min(depth, _DEEPEST))
