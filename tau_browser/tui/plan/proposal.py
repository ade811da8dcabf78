"""What the plan screen is given: a change that is proposed, and what may be chosen about it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from tau_browser.actions.journal import Change
from tau_browser.actions.plan import Plan
from tau_browser.actions.progress import Tell
from tau_browser.actions.wording import Line


@dataclass(frozen=True, slots=True)
class Choice:
    """A key that changes what is proposed. key: Textual's name for it · does: in a few words."""

    key: str
    does: str
    to: Proposal


@dataclass(frozen=True, slots=True)
class Question:
    """A key that asks for a line of text. value: what stands there already."""

    key: str
    does: str
    value: str
    to: Callable[[str], Proposal]


@dataclass(frozen=True, slots=True)
class Detail:
    """A line that only some proposals have. switch: what Space does."""

    line: Line
    switch: Proposal | None = None


class Proposal(Protocol):
    """A change, with what has been chosen about it so far. Frozen: a choice gives another."""

    def plan(self) -> Plan:
        """What it comes to. Slow: called in a thread. Raises StoreError."""
        ...

    def choices(self, plan: Plan | None) -> Sequence[Choice | Question]:
        """What can be chosen now; without a plan, none could be made."""
        ...

    def details(self, plan: Plan) -> Sequence[Detail]:
        """What there is to say beyond the plan."""
        ...

    def confirm(self, plan: Plan) -> str:
        """What a person must type before it is done; "" for nothing."""
        ...

    def apply(self, plan: Plan, tell: Tell) -> Change:
        """Do it. Slow: called in a thread. Raises Stopped, StoreError."""
        ...
