"""Secrets out of observations, before anything of them reaches the disk."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from tau_browser.actions.observe.calls import summary_of
from tau_browser.stores.agmem.records import Observation

# What an export hides besides, and a memory of paths and people could not do without.
_NO_SECRETS = ("e-mail", "home-folder")


@dataclass
class Redaction:
    """Hides secrets; `count`: how many so far."""

    count: int = field(default=0)

    def observation(self, observation: Observation) -> Observation:
        """The observation without secrets."""
        tool, arguments = self.text(observation.tool), self._value(observation.arguments)
        result = observation.result
        return replace(
            observation,
            tool=tool,
            arguments=arguments,
            result=None if result is None else self.text(result),
            summary=summary_of(tool, arguments),  # made anew: a cut may hide what a secret is
            extra=self._value(observation.extra),
        )

    def text(self, text: str) -> str:
        """A text with the kind of each secret in its place."""
        from tau_browser.actions.redaction.rules import secrets_in

        pieces, at = [], 0
        for found in secrets_in(text):
            if found.kind not in _NO_SECRETS:
                pieces += [text[at : found.start], f"[redacted {found.kind}]"]
                at = found.stop
                self.count += 1
        return "".join([*pieces, text[at:]])

    def _named(self, name: str, text: str) -> str:
        """A text that stands under a name, which may tell that it is a secret."""
        before = f"{name}="
        redacted = self.text(before + text)
        return redacted[len(before) :] if redacted.startswith(before) else self.text(text)

    def _value(self, value: Any) -> Any:
        """A value with its texts redacted; nothing recurses, it may be deep."""
        top: list[Any] = [None]
        stack: list[tuple[Any, Any, Any]] = [(value, top, 0)]
        while stack:
            old, holder, key = stack.pop()
            if isinstance(old, str):
                holder[key] = self.text(old)
            elif isinstance(old, dict):
                holder[key] = new = {}
                names = [self.text(str(name)) for name in old]
                new.update(dict.fromkeys(names))
                for name, item in zip(names, old.values(), strict=True):
                    if isinstance(item, str):
                        new[name] = self._named(name, item)
                    else:
                        stack.append((item, new, name))
            elif isinstance(old, list):
                holder[key] = made = [None] * len(old)
                stack += [(item, made, at) for at, item in enumerate(old)]
            else:
                holder[key] = old
        return top[0]
