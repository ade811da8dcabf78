"""What of a regular expression can be looked for in the bytes of a record, before it is decoded.

A factor is a stretch of an expression whose matches hold none of the characters at which
`text_of` joins what is stored (`prefilter.JOINTS`) and none that JSON escapes: so a match of it
lies in one stored string, in one piece, spelled as it is. Where no such stretch can be told, every
record must be decoded. The parser is that of the standard library, which knows less than the
`regex` module; what it does not know has no factor.
"""

from __future__ import annotations

import re
import re._constants as op  # type: ignore[import-not-found]
import re._parser as parser  # type: ignore[import-not-found]
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tau_browser.search.prefilter import JOINTS

_SHORTEST = 2
_MOST_REPEATED = 20
_MOST_TELLING = 30  # characters in a class; more stand nearly everywhere
# What text_of may spell otherwise than the record, or add: constants, units of size; numbers too.
_ADDED = ("true", "false", "none", "null", "infinity", "nan", "image", "kb", "mb", "gb")
COMMON = (
    "type message id parentid timestamp role content text thinking signature toolcall name"
    " arguments tool_call_id tool_name toolresult is_error details exit_code usage input_tokens"
    " output_tokens cache_read_tokens cache_write_tokens model provider api stop_reason user"
    " assistant customtype custommessage customentry data status truncated bytes_written"
)
"""What stands in nearly every line, so that looking for it narrows nothing."""
_IN_NUMBERS = frozenset("0123456789eE+-")
# Syntax that the standard library reads as something else: fuzzy matches, named classes.
_MISREAD = re.compile(r"\{[^},]*[a-z<=]|\[:|\[\[|--|\|\||&&|~~")
_JOINT = re.compile(f"[{JOINTS}]")
_DIGITS = frozenset("0123456789")
_WORDS = _DIGITS | frozenset("_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
_CATEGORIES = {op.CATEGORY_DIGIT: _DIGITS, op.CATEGORY_WORD: _WORDS}
_OTHER_SPELLING = r"|\\u[0-9a-fA-F]{4}|[^\x00-\x7f]"
_LETTER, _CHOICE = 3, 1  # what a character narrows the search by


@dataclass(frozen=True, slots=True)
class _Piece:
    """Part of a factor. `at_edge`: the pattern where nothing follows or nothing comes before;
    `chars`: the ASCII that a match consists of; `least`: characters of the shortest match."""

    pattern: str
    at_edge: str
    chars: frozenset[str]
    least: int
    weight: int


def factor_of(expression: str, *, any_case: bool) -> str | None:
    """The best factor of an expression, as a pattern of ripgrep's; None if it has none."""
    if _MISREAD.search(expression):
        return None
    try:
        tree = parser.parse(expression, re.MULTILINE)
    except (re.error, RecursionError, OverflowError, ValueError):
        return None
    if tree.state.flags & re.VERBOSE:
        return None
    found = [core for stretch in _stretches(tree) if (core := _core(stretch))]
    if not found:
        return None
    best = max(found, key=_weight)
    is_any_case = any_case or bool(tree.state.flags & re.IGNORECASE)
    return f"(?i:{_spelled(best)})" if is_any_case else _spelled(best)


def _stretches(tree: Any) -> Iterator[list[_Piece]]:
    """Runs of pieces, as long as they go."""
    run: list[_Piece] = []
    for piece in _pieces(tree):
        if piece is None:
            yield run
            run = []
        else:
            run.append(piece)
    yield run


def _core(stretch: list[_Piece]) -> list[_Piece]:
    """The part of a stretch that is worth looking for: without what nearly anything matches at
    its ends; [] if it is of no use."""
    telling = [
        at for at, piece in enumerate(stretch) if piece.least and len(piece.chars) <= _MOST_TELLING
    ]
    if telling and _is_usable(core := stretch[telling[0] : telling[-1] + 1]):
        return core
    return stretch if _is_usable(stretch) else []


def _weight(core: list[_Piece]) -> float:
    weight = sum(piece.weight for piece in core)
    return weight / 10 if re.search(_spelled(core), COMMON, re.IGNORECASE) else weight


def _spelled(core: list[_Piece]) -> str:
    edges = (0, len(core) - 1)
    return "".join(piece.at_edge if at in edges else piece.pattern for at, piece in enumerate(core))


def _pieces(tree: Any) -> Iterator[_Piece | None]:
    """What an expression consists of; None where a stretch ends."""
    for kind, value in tree:
        if kind in (op.AT, op.ASSERT, op.ASSERT_NOT):  # these match nothing; they only forbid
            continue
        if kind is op.SUBPATTERN and not value[1] and not value[2]:
            yield from _pieces(value[3])
        elif kind is op.ATOMIC_GROUP:
            yield from _pieces(value)
        else:
            yield _piece(kind, value)


def _piece(kind: Any, value: Any) -> _Piece | None:
    if kind is op.LITERAL:
        return _set([chr(value)], _LETTER)
    if kind is op.IN:
        return _class(value)
    if kind in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT):
        return _repeated(*value)
    if kind is op.BRANCH:
        return _choice(value[1])
    return None


def _set(chars: list[str], weight: int, others: str = "") -> _Piece | None:
    if any(_JOINT.match(char) for char in chars):
        return None
    spelled = "".join(char if char.isalnum() else rf"\{char}" for char in chars)
    pattern = spelled if len(chars) == 1 and not others else f"(?:[{spelled}]{others})"
    return _Piece(pattern, pattern, frozenset(chars), 1, weight)


def _class(items: Any) -> _Piece | None:
    chars: set[str] = set()
    others = ""
    for kind, value in items:
        if kind is op.LITERAL:
            chars.add(chr(value))
        elif kind is op.RANGE and value[1] < 0x7F:
            chars.update(map(chr, range(value[0], value[1] + 1)))
        elif kind is op.CATEGORY and value in _CATEGORIES:
            chars |= _CATEGORIES[value]
            others = _OTHER_SPELLING
        else:  # also a class that says what it is not
            return None
    return _set(sorted(chars), _CHOICE, others)


def _repeated(least: int, most: Any, tree: Any) -> _Piece | None:
    once = _joined(_pieces(tree))
    if once is None:
        return None
    kept = min(least, _MOST_REPEATED)
    exactly = f"(?:{once.pattern}){{{kept}}}"
    pattern = exactly if kept == most else f"(?:{once.pattern}){{{kept},}}"
    return _Piece(pattern, exactly, once.chars, once.least * kept, once.weight * kept)


def _choice(trees: Any) -> _Piece | None:
    options = [_joined(_pieces(tree)) for tree in trees]
    known = [option for option in options if option is not None]
    if len(known) < len(options):
        return None
    pattern = f"(?:{'|'.join(option.pattern for option in known)})"
    chars = frozenset[str]().union(*(option.chars for option in known))
    least, weight = min(it.least for it in known), min(it.weight for it in known)
    return _Piece(pattern, pattern, chars, least, weight)


def _joined(pieces: Iterator[_Piece | None]) -> _Piece | None:
    """Pieces one after the other as one; None if a stretch ends among them."""
    found = list(pieces)
    known = [piece for piece in found if piece is not None]
    if len(known) < len(found):
        return None
    pattern = "".join(piece.pattern for piece in known)
    chars = frozenset[str]().union(*(piece.chars for piece in known))
    least, weight = sum(it.least for it in known), sum(it.weight for it in known)
    return _Piece(pattern, pattern, chars, least, weight)


def _is_usable(stretch: list[_Piece]) -> bool:
    """Whether it is long enough, and can lie in nothing that `text_of` adds."""
    if sum(piece.least for piece in stretch) < _SHORTEST:
        return False
    needed = [piece for piece in stretch if piece.least]
    if not any(piece.chars.isdisjoint(_IN_NUMBERS) or _is_letters(piece) for piece in needed):
        return False
    pattern = re.compile(_spelled(stretch), re.IGNORECASE)
    return not any(pattern.search(word) for word in _ADDED)


def _is_letters(piece: _Piece) -> bool:
    """Whether it is several letters in a row: a number has one at most."""
    return piece.least > 1 and all(char.isalpha() for char in piece.chars)
