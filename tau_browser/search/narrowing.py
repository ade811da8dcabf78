"""What to look for in the bytes of session files so that every hit's line is found, and few others.

Sound, never exact: the proof is that of `prefilter`, which says what a record may spell in
another way. Here it is put as patterns of ripgrep's.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from tau_browser.search.factors import COMMON, factor_of
from tau_browser.search.find import Expression, Literal, Pattern
from tau_browser.search.folding import fold_case
from tau_browser.search.prefilter import ASCII_ESCAPE, ASCII_SPELLINGS, WORD, is_usable

_LONGEST_WORD = 200
_ESCAPES = f"(?i:{ASCII_ESCAPE.pattern.decode()})"
# Kinds of entries whose texts say more than what is stored in them, and the words that are added.
_SENTENCES = r'"(?:elide|navigate|config|agent_spec)"'
_SENTENCE_WORDS = (
    "history folded here context resumes at entry moved to before the first none"
    " model thinking default tools extensions cwd prompt changed"
)
_ADDED_SIGN = "≈"


@dataclass(frozen=True, slots=True)
class Narrowing:
    """Patterns of ripgrep's: for files that spell ASCII as it is, for those of ASCII with
    escapes, and for others. `weight`: how few lines they are likely to find."""

    in_plain: str
    in_escaped: str
    in_raw: str
    weight: float


def narrowing_of(pattern: Pattern) -> Narrowing | None:
    """What to look for; None where the bytes of a record tell nothing."""
    if isinstance(pattern, Expression):
        any_case = bool(pattern.compiled.flags & re.IGNORECASE)
        factor = factor_of(pattern.query, any_case=any_case)
        return None if factor is None else _narrowing(factor, len(factor))
    assert isinstance(pattern, Literal)
    words = [word[:_LONGEST_WORD] for word in WORD.findall(pattern.needle) if is_usable(word)]
    if words:
        word = max(words, key=_weight)
        spelled = re.escape(word)
        found = f"(?i:{spelled})" if pattern.fold is fold_case else spelled
        return _narrowing(found, _weight(word))
    if pattern.needle.isascii() or _ADDED_SIGN in pattern.needle:
        return None
    return Narrowing(r"\\u", r"\\u", r"\\u|[^\x00-\x7f]", 0)


def _narrowing(found: str, weight: float) -> Narrowing:
    if re.search(found, _SENTENCE_WORDS, re.IGNORECASE):
        found = f"{found}|{_SENTENCES}"
    escaped = f"{found}|{_ESCAPES}"
    return Narrowing(found, escaped, f"{escaped}|{ASCII_SPELLINGS}", weight)


def _weight(word: str) -> float:
    """A long word is rarer, but for those that stand in nearly every line."""
    return len(word) / 10 if word.lower() in COMMON else len(word)
