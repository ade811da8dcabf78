"""Where a text names documents: by id, as the tools print it, or by title."""

from __future__ import annotations

import re

_NUMBERS = r"#?\d{1,18}(?:\s*(?:,|;|/|&|and|or)\s*(?:docs?\s+)?#?\d{1,18})*"
# "document 12" may be one of twelve pages
_NAMED = re.compile(rf"\b(?:docs?[\s#:]{{0,3}}|documents? #)({_NUMBERS})\b", re.IGNORECASE)
_BRACKETED = re.compile(rf"\[docs?\s({_NUMBERS})\]", re.IGNORECASE)
_NUMBER = re.compile(r"\d{1,18}")
_SPECIAL = re.compile(r"[\d._/:#-]|[a-z][A-Z]")
_LEAST = 8  # characters of a title of several words
_LEAST_WORD = 5  # characters of a title of one
_QUOTES = "\"'`*_“”‘’«»"


def cited_ids(text: str) -> list[str]:
    """The ids of documents that a text names, in any spelling: [doc 4], docs 4 and 7, doc #4."""
    return _ids(_NAMED, text)


def bracketed_ids(text: str) -> list[str]:
    """The ids that a text cites just as the tools ask for it: [doc 4]."""
    return _ids(_BRACKETED, text)


def cited_spans(text: str, document: str) -> list[tuple[int, int]]:
    """Where a text names a document by its id."""
    named = (found for found in _NAMED.finditer(text) if document in _NUMBER.findall(found[1]))
    return [found.span() for found in named] if document else []


def names_documents(text: str) -> bool:
    """Whether a text speaks of documents, as everybody spells it."""
    return "doc" in text or "Doc" in text or "DOC" in text


def _ids(pattern: re.Pattern[str], text: str) -> list[str]:
    if not names_documents(text):
        return []
    found = (number for match in pattern.finditer(text) for number in _NUMBER.findall(match[1]))
    return list(dict.fromkeys(found))


def is_name(title: str) -> bool:
    """Whether a title is peculiar enough for its letters to mean the document wherever they stand:
    several words with a capital or a sign among them, or one like a file's name."""
    words = title.split()
    if len(words) > 1:
        return len(title) >= _LEAST and (title != title.lower() or bool(_SPECIAL.search(title)))
    return len(title) >= _LEAST_WORD and bool(_SPECIAL.search(title))


def names_title(text: str, title: str) -> bool:
    """Whether a text names a title, letter by letter: alone if it is a name, else in quotes."""
    peculiar = is_name(title)
    at = text.find(title)
    while at >= 0:
        before, after = text[:at][-1:], text[at + len(title) :][:1]
        if peculiar and not before.isalnum() and not after.isalnum():
            return True
        if before and after and before in _QUOTES and after in _QUOTES:
            return True
        at = text.find(title, at + 1)
    return False
