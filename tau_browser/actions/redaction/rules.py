"""What counts as a secret.

The formats of providers' keys are detect-secrets' own, kept up by its maintainers, and some that it
lacks. What no format tells is told by where it stands: behind a name, as in `ANY_TOKEN=...`, in a
header, an option or a URL. What a person would not want to give away with a transcript besides,
mail addresses and home folders, has rules too. Imported when something is exported, not before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class
from detect_secrets.plugins.base import RegexBasedDetector

# Their formats are no secrets: addresses, or less than what our own rules take (that of npm takes
# the square of a line's length, too).
_LEFT_OUT = {
    "Public IP (ipv4)",
    "Private Key",
    "Basic Auth Credentials",
    "JSON Web Token",
    "NPM tokens",
}
_SHORTEST = 8  # characters: a shorter group is part of a format, not the secret in it

_PRIVATE_KEY = re.compile(
    r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----.*?"
    r"(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\Z)"
    r"|PuTTY-User-Key-File-\d:.*?(?:Private-MAC: \w+|\Z)",
    re.DOTALL,
)
_PREFIXED = re.compile(
    r"""\b(?: sk-[\w-]{20,} | [sr]k_(?:live|test)_\w{16,} | github_pat_\w{22,} | xapp-[\w-]{20,}
        | AIza[\w-]{35} | ya29\.[\w-]{20,} | GOCSPX-[\w-]{20,} | hf_[A-Za-z0-9]{30,}
        | npm_[A-Za-z0-9]{30,} | dckr_pat_[\w-]{20,} | do[opr]_v1_[0-9a-f]{40,}
        | hv[sbr]\.[\w-]{20,} | dapi[0-9a-f]{32} | shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}
        | lin_api_\w{30,} | gsk_\w{40,} | xai-\w{40,} | r8_\w{30,} | nvapi-[\w-]{30,}
        | pplx-\w{30,} | tvly-[\w-]{20,} | lsv2_\w{30,} | glsa_\w{30,} | ntn_\w{30,}
        | AGE-SECRET-KEY-1[0-9A-Z]{40,}
        | https://(?:\w+\.)?discord(?:app)?\.com/api/webhooks/\d+/[\w-]{30,} )""",
    re.VERBOSE | re.ASCII,
)
_WEB_TOKEN = re.compile(r"\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]*", re.ASCII)
_BEARER = re.compile(r"\b(?:bearer|basic|token)\s+([A-Za-z0-9._~+/-]{16,}=*)", re.IGNORECASE)
_URL = re.compile(
    r"""\b[a-z][a-z0-9+.-]{1,20}://
        (?: [^\s/?\#@:"'<>]{0,64}:(?P<value>[^\s/@"'<>]+) | (?P<user>[\w-]{20,}) )@""",
    re.VERBOSE | re.IGNORECASE,
)
_COOKIE = re.compile(
    r"""\b(?:set-)?cookie["'\\]*:\s*["'\\]*
        (?P<value>[\w.-]+=[^\s"'\\;]{6,}(?:;\s*[\w.-]+=[^\s"'\\;]+)*)""",
    re.VERBOSE | re.IGNORECASE,
)
_SIGNED = re.compile(
    r"[?&](?:sig|x-amz-signature|(?:access|refresh|id)_token|api_?key)=(?P<value>[^\s&\"'#]{16,})",
    re.IGNORECASE,
)
_HEADER = re.compile(  # or an option, a line of a .netrc, the file of docker's logins
    r"""(?: \b(?:proxy-)?authorization["'\\]*\s*[:=]\s*["'\\]*(?:[a-z]+\s+)?
        | --(?:[a-z]+-)*(?:password|passwd|token|secret|api-key)[=\s]\s*["']?
        | \s(?:-u|--user)[=\s]\s*["']?[^\s:"']{1,64}:
        | :_authToken\s*=\s* | \blogin\s+\S+\s+password\s+
        | "auth"\s*:\s*" )
        (?P<value>[^\s"'\\,;<>(){}\[\]$&|]{6,})""",
    re.VERBOSE | re.IGNORECASE,
)
_QUOTED = re.compile(
    r"""(?:passw(?:or)?d|passphrase|secret)["']?\s*[:=]\s*(?P<quote>["'])
        (?P<value>[^"'\\\n]{8,200})(?P=quote)""",
    re.VERBOSE | re.IGNORECASE,
)
_NAMED = re.compile(
    r"""(?P<name>(?:api|access|secret|private|signing|encryption|auth)[_-]?key|secret|key|token
            |passw(?:or)?d|passphrase|pwd|(?<=[A-Z_])PASS|credential)
        (?P<more>[A-Za-z0-9_.-]{0,20})(?P<sign>["'\\]*\s*(?::=|=>|=|:)\s*["'\\]*)
        (?P<value>[^\s"'\\,;<>(){}\[\]$&|]{6,}+)(?![(\[])""",
    re.VERBOSE | re.IGNORECASE,
)
_MAIL = re.compile(r"\b[A-Za-z0-9._%+-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}\b")
_HOME = re.compile(r"(?<![\w/])(?:/home/|/Users/|[A-Za-z]:\\+Users\\+)[A-Za-z0-9._-]+")

_UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE)
_HASH = re.compile(r"(?:sha\d+[-:=])?(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{56,128})", re.IGNORECASE)
# Values of configuration and code that stand behind such names: numbers, words, paths, types.
_PLAIN = re.compile(r"[\d.,_]+|[A-Za-z]+(?:[._/-][A-Za-z]+)*|[./~][\w./-]*|https?://\S+")
_WORDS = re.compile(r"[A-Za-z-]+")
_STRONG = re.compile(r"secret|pass|pwd|.key")
"""Names of nothing but secrets."""


@dataclass(frozen=True, slots=True)
class Found:
    """A secret in a text. kind: what it is, in words joined by dashes."""

    start: int
    stop: int
    kind: str


def secrets_in(text: str) -> list[Found]:
    """Every secret in a text, in order; where two rules meet, the one that is more certain."""
    taken = bytearray(len(text))
    secrets = []
    for found in _found(text):
        if not any(taken[found.start : found.stop]):
            taken[found.start : found.stop] = b"\1" * (found.stop - found.start)
            secrets.append(found)
    return sorted(secrets, key=lambda found: found.start)


def _found(text: str) -> Iterator[Found]:
    """What each rule finds, the most certain rules first."""
    if "PRIVATE KEY" in text or "PuTTY" in text:
        yield from (Found(*match.span(), "private-key") for match in _PRIVATE_KEY.finditer(text))
    if "://" in text:
        for match in _URL.finditer(text):
            yield Found(*match.span("value" if match["value"] else "user"), "url-password")
    if "eyJ" in text:
        yield from (Found(*match.span(), "json-web-token") for match in _WEB_TOKEN.finditer(text))
    for kind, pattern in _FORMATS:
        yield from (Found(*_secret_span(match), kind) for match in pattern.finditer(text))
    yield from (Found(*match.span(), "api-key") for match in _PREFIXED.finditer(text))
    yield from (Found(*match.span(1), "bearer-token") for match in _BEARER.finditer(text))
    for kind, pattern in (("cookie", _COOKIE), ("signature", _SIGNED), ("named-secret", _QUOTED)):
        yield from (Found(*match.span("value"), kind) for match in pattern.finditer(text))
    for match in _HEADER.finditer(text):
        if not _PLAIN.fullmatch(match["value"]) or _has_long_word(match["value"]):
            yield Found(*match.span("value"), "credential")
    for match in _NAMED.finditer(text):
        if _is_secret(match["name"].lower(), match["more"], match["sign"], match["value"]):
            yield Found(*match.span("value"), "named-secret")
    if "@" in text:
        yield from (Found(*match.span(), "e-mail") for match in _MAIL.finditer(text))
    yield from (Found(*match.span(), "home-folder") for match in _HOME.finditer(text))


def _is_secret(name: str, more: str, sign: str, value: str) -> bool:
    """Whether what stands behind a name is one. Hashes and ids are left alone, unless the name is
    that of a secret: nobody can tell them from what they identify. more: how the name goes on."""
    value = value.strip(".:*")
    if not value:
        return False
    if _STRONG.search(name) and more.lower() in ("", "_key", "key"):
        if not _PLAIN.fullmatch(value):
            return True
        if "pass" in name or "pwd" in name:
            return len(value) >= _SHORTEST and value[0] not in "/.~"
        if "secret" in name and ("=" in sign or '"' in sign):  # unlike a word in prose
            return len(value) >= _SHORTEST and bool(_WORDS.fullmatch(value))
    if _UUID.fullmatch(value) or _HASH.fullmatch(value):
        return False
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
