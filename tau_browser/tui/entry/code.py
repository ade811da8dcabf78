"""Source code with the colours of its language, as text whose styles are names of the palette."""

from __future__ import annotations

from functools import lru_cache
from pathlib import PurePath

from pygments.lexer import Lexer  # type: ignore[import-untyped]
from pygments.lexers import (  # type: ignore[import-untyped]
    find_lexer_class_for_filename,
    get_lexer_by_name,
)
from pygments.token import Token  # type: ignore[import-untyped]
from pygments.util import ClassNotFound  # type: ignore[import-untyped]
from rich.text import Text

_MOST_COLOURED = 40_000
"""Characters of code that are coloured; longer code stays plain, which costs next to nothing."""

_STYLES = {
    Token.Comment: "code.comment",
    Token.Keyword: "code.keyword",
    Token.Operator.Word: "code.keyword",
    Token.Literal.String: "code.string",
    Token.Literal.Number: "code.number",
    Token.Keyword.Constant: "code.number",
    Token.Name.Function: "code.name",
    Token.Name.Class: "code.name",
    Token.Name.Tag: "code.name",
    Token.Name.Decorator: "code.name",
    Token.Name.Builtin: "code.builtin",
}


def coloured(code: str, lexer: Lexer | None) -> Text:
    """Safe code as text; without colours where the language is not known."""
    if lexer is None or len(code) > _MOST_COLOURED:
        return Text(code)
    text = Text()
    for token, piece in lexer.get_tokens(code):
        while token not in _STYLES and token.parent is not None:
            token = token.parent
        text.append(piece, _STYLES.get(token))
    return text


def lexer_of_file(name: str) -> Lexer | None:
    """The lexer for a file of this name."""
    return _lexer_of_file(PurePath(name).suffix.lower() or name)


@lru_cache(256)
def lexer_named(name: str) -> Lexer | None:
    """The lexer of a language, as named after the fence of a code block."""
    try:
        return get_lexer_by_name(name, stripnl=False, ensurenl=False) if name else None
    except ClassNotFound:
        return None


@lru_cache(256)
def _lexer_of_file(ending: str) -> Lexer | None:
    found = find_lexer_class_for_filename(f"file{ending}" if ending.startswith(".") else ending)
    return found(stripnl=False, ensurenl=False) if found else None
