"""The secrets of a session, each with a name that stays the same wherever it stands."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from tau_browser.actions.redaction.rules import secrets_in
from tau_browser.model.payload import Record

_CONTEXT = 24  # characters shown on each side
# Where ids, signatures and pictures stand: never text that somebody wrote.
_LEFT_ALONE = {
    "type",
    "id",
    "parentId",
    "parent_id",
    "timestamp",
    "status",
    "copiedFrom",
    "branchOf",
    "firstKeptId",
    "fromId",
    "targetId",
    "configId",
    "requestId",
    "entry_id",
    "tool_call_id",
    "toolCallId",
    "response_id",
    "thinking_signature",
    "thinkingSignature",
    "provider_signature",
    "system_prompt_digest",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One secret. placeholder: what takes its place · count: how often it stands there · entry,
    before, after: where it was met first, and the text around it."""

    secret: str
    kind: str
    placeholder: str
    count: int
    entry: str
    before: str
    after: str

    @property
    def hint(self) -> str:
        """The secret as it may be shown: of keys and passwords, no more than how they begin."""
        if self.kind in ("e-mail", "home-folder"):
            return self.secret
        begins = self.secret[: min(4, len(self.secret) // 4)]
        return f"{begins}… ({len(self.secret)} characters)"


def findings_in(records: Iterable[tuple[str, Record]]) -> list[Finding]:
    """The secrets of entries, given as (id, record), in the order in which they are met."""
    counts: Counter[str] = Counter()
    first: dict[str, tuple[str, str, str, str]] = {}
    for entry, record in records:
        for text in texts_of(record):
            met = secrets_in(text)
            ends = [0, *(found.stop for found in met)]
            starts = [*(found.start for found in met), len(text)]
            for at, found in enumerate(met):  # the text around it holds none of the others
                secret = text[found.start : found.stop]
                counts[secret] += 1
                before = text[max(ends[at], found.start - _CONTEXT) : found.start]
                after = text[found.stop : min(starts[at + 1], found.stop + _CONTEXT)]
                first.setdefault(secret, (found.kind, entry, before, after))
    numbers: Counter[str] = Counter()
    findings = []
    for secret, (kind, entry, before, after) in first.items():
        numbers[kind] += 1
        name = f"[redacted {kind} {numbers[kind]}]"
        findings.append(Finding(secret, kind, name, counts[secret], entry, before, after))
    return findings


def texts_of(record: Record) -> Iterator[str]:
    """Every string of a record in which somebody may have written a secret."""
    texts: list[str] = []
    _mapped(record, lambda text: texts.append(text) or text)  # type: ignore[func-returns-value]
    return iter(texts)


class Redactor:
    """Puts placeholders in the place of some secrets, wherever they stand."""

    def __init__(self, findings: Iterable[Finding]) -> None:
        self._names = {finding.secret: finding.placeholder for finding in findings}
        longest_first = sorted(self._names, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, longest_first)))

    def text(self, text: str) -> str:
        """The text without the secrets."""
        if not self._names:
            return text
        return self._pattern.sub(lambda match: self._names[match[0]], text)

    def record(self, record: Record) -> Record:
        """The record without the secrets; the very same one if it holds none."""
        hit = False

        def change(text: str) -> str:
            nonlocal hit
            changed = self.text(text)
            hit = hit or changed != text
            return changed

        changed = _mapped(record, change)
        return changed if hit else record


def _mapped(record: Record, change: Callable[[str], str]) -> Record:
    """A copy of a record with its texts changed. Nothing recurses: a record may be deep."""
    top: Record = {}
    stack: list[tuple[Any, Any]] = [(record, top)]
    while stack:
        old, new = stack.pop()
        pairs: Any = old.items() if isinstance(old, dict) else enumerate(old)
        for name, value in pairs:
            if isinstance(value, str):
                spared = isinstance(old, dict) and (name in _LEFT_ALONE or _is_picture(old, name))
                made: Any = value if spared else change(value)
            elif isinstance(value, dict | list):
                made = {} if isinstance(value, dict) else []
                stack.append((value, made))
            else:
                made = value
            if isinstance(new, dict):
                new[name if name in _LEFT_ALONE else change(name)] = made
            else:
                new.append(made)
    return top


def _is_picture(block: Record, name: str) -> bool:
    return name == "data" and block.get("type") == "image"
