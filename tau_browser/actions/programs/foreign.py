"""What the rules of all programs but τ have in common: they read lines of JSON, nothing else."""

from __future__ import annotations

import json

import msgspec
import numpy as np

from tau_browser.actions.making import ambiguous, line_numbers, name_goes
from tau_browser.actions.plan import Refusal
from tau_browser.actions.programs.rules import Rules
from tau_browser.model.columns import Bools
from tau_browser.model.heads import decode_record
from tau_browser.model.payload import Record
from tau_browser.model.session import Session
from tau_browser.model.tree import NOWHERE


class ForeignRules(Rules):
    """For logs that are shown in τ's words, but written in others."""

    def unsound(self, session: Session, kept: Bools) -> list[Refusal]:
        refusals = ambiguous(session, kept, self.program)
        bad = [at for at in np.flatnonzero(kept).tolist() if not self._can_be_written(session, at)]
        if bad:
            lines = line_numbers(session, bad)
            refusals.append(Refusal(f"{self.program} could not read what lines {lines} hold"))
        return refusals

    def stored(self, session: Session, place: int) -> Record:
        return decode_record(session.raw(place))

    def can_stay(self, session: Session, place: int) -> bool:
        try:
            _skim(session.raw(place))
        except (msgspec.DecodeError, RecursionError):
            return False
        return True

    def continues(self, source: Session, result: Session) -> tuple[list[Refusal], list[str]]:
        if result.leaf == NOWHERE or not self.goes_on_at(result, result.leaf):
            return [Refusal(f"nothing would be left at which {self.program} could go on")], []
        return [], name_goes(source, result)

    def _can_be_written(self, session: Session, place: int) -> bool:
        if self.can_stay(session, place):
            return True
        try:
            json.dumps(self.stored(session, place), allow_nan=False)
        except (ValueError, RecursionError):  # numbers that are none, or nested too deeply
            return False
        return True


class _Nothing(msgspec.Struct):
    """Looks at nothing in a record, but goes through all of it."""


_skim = msgspec.json.Decoder(_Nothing).decode
