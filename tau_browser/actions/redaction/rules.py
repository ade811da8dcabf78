"""What counts as a secret.

The formats of providers' keys are detect-secrets' own, kept up by its maintainers. What no format
tells is told by its name, as in `ANY_TOKEN=...` or `Authorization: Bearer ...`. What a person would
not want to give away with a transcript besides, mail addresses and home folders, has rules too.
Imported when something is exported, not before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class
from detect_secrets.plugins.base import RegexBasedDetector

# Their formats are no secrets: addresses, or only the first line of what our own rule takes whole.
_LEFT_OUT = {"Public IP (ipv4)", "Private Key"}
_SHORTEST = 8  # characters: a shorter group is part of a format, not the secret in it

_PRIVATE_KEY = re.compile(
    r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----.*?"
    r"(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\Z)",
    re.DOTALL,
)
_BEARER = re.compile(r"\b(?:bearer|basic|token)\s+([A-Za-z0-9._~+/-]{16,}=*)", re.IGNORECASE)
_PREFIXED = re.compile(r"\b(sk-[A-Za-z0-9_-]{20,})")
_NAMED = re.compile(
    r"""(?P<name>key|token|secret|passw(?:or)?d|passphrase|pwd|credential)
        [A-Za-z0-9_.-]{0,20}["'\\]*\s*(?::=|=>|=|:)\s*["'\\]*
        (?P<value>[^\s"'\\,;<>(){}\[\]$&|]{8,})""",
    re.VERBOSE | re.IGNORECASE,
)
_MAIL = re.compile(r"\b[A-Za-z0-9._%+-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}\b")
_HOME = re.compile(r"(?<![\w/])(?:/home/|/Users/|[A-Za-z]:\\+Users\\+)[A-Za-z0-9._-]+")

_UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE)
_HASH = re.compile(r"(?:sha\d+[-:=])?(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{56,128})", re.IGNORECASE)
# Values of configuration and code that stand behind such names: numbers, words, paths, types.
_PLAIN = re.compile(r"[\d.,_]+|[A-Za-z]+(?:[._/-][A-Za-z]+)*|[./~][\w./-]*|https?://\S+")


@dataclass(frozen=True, slots=True)
class Found:
    """A secret in a text. kind: what it is, in words joined by dashes."""

    start: int
    stop: int
    kind: str


def secrets_in(text: str) -> list[Found]:
    """Every secret in a text, in order; where two rules meet, the one that is more certain."""
    taken: list[Found] = []
    for found in _found(text):
        if not any(found.start < other.stop and other.start < found.stop for other in taken):
            taken.append(found)
    return sorted(taken, key=lambda found: found.start)


def _found(text: str) -> Iterator[Found]:
    """What each rule finds, the most certain rules first."""
    if "PRIVATE KEY" in text:
        yield from (Found(*match.span(), "private-key") for match in _PRIVATE_KEY.finditer(text))
    for kind, pattern in _FORMATS:
        yield from (Found(*_secret_span(match), kind) for match in pattern.finditer(text))
    yield from (Found(*match.span(1), "api-key") for match in _PREFIXED.finditer(text))
    yield from (Found(*match.span(1), "bearer-token") for match in _BEARER.finditer(text))
    for match in _NAMED.finditer(text):
        if _is_secret(match["name"].lower(), match["value"]):
            yield Found(*match.span("value"), "named-secret")
    if "@" in text:
        yield from (Found(*match.span(), "e-mail") for match in _MAIL.finditer(text))
    yield from (Found(*match.span(), "home-folder") for match in _HOME.finditer(text))


def _is_secret(name: str, value: str) -> bool:
    """Whether what stands behind a name is one. Hashes and ids are left alone: nobody can tell
    them from what they identify."""
    value = value.strip(".:")
    if _UUID.fullmatch(value) or _HASH.fullmatch(value):
        return False
    if "passw" in name or "passphrase" in name or "pwd" in name:
        return len(value) >= _SHORTEST and not value.startswith(("/", "./", "~"))
    return len(value) >= 16 and (not _PLAIN.fullmatch(value) or _has_long_word(value))


def _has_long_word(value: str) -> bool:
    """Whether a part of it is longer than the words of any language that is written in code."""
    return any(len(part) >= 24 for part in re.split(r"[._/-]", value) if part.isalnum())


def _secret_span(match: re.Match[str]) -> tuple[int, int]:
    """Where the secret is in what a format matched: its longest group, if that is long enough."""
    spans = [match.span(group) for group in range(1, match.re.groups + 1)]
    longest = max(spans, key=lambda span: span[1] - span[0], default=(0, 0))
    return longest if longest[1] - longest[0] >= _SHORTEST else match.span()


def _formats() -> list[tuple[str, re.Pattern[str]]]:
    found = []
    plugins: dict[str, Any] = {**get_mapping_from_secret_type_to_class()}
    for name, plugin in sorted(plugins.items()):
        if name not in _LEFT_OUT and issubclass(plugin, RegexBasedDetector):
            kind = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
            found += [(kind, pattern) for pattern in plugin.denylist]
    return found


_FORMATS = _formats()
