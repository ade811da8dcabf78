"""Whose rules a session falls under."""

from __future__ import annotations

from tau_browser.actions.programs.claude_code import CLAUDE_CODE_RULES
from tau_browser.actions.programs.pi import PI_RULES
from tau_browser.actions.programs.rules import TAU_RULES, Rules
from tau_browser.model.session import Session

_RULES = {"pi": PI_RULES, "claude-code": CLAUDE_CODE_RULES}


def rules_of(session: Session) -> Rules:
    """The rules by which a copy of the session is made: τ's, where none are known for its format,
    which say why not."""
    return _RULES.get(session.format.name, TAU_RULES)
