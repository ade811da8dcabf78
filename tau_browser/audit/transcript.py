"""What the entries of a session say, as far as an audit asks: read in one pass."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from tau_browser.audit.said import CALL, Block, Passage, arguments_text, blocks_in
from tau_browser.audit.tools import Asked, ToolTable
from tau_browser.audit.users import text_said
from tau_browser.model.session import Session, records_at

_NESTED = b'"nested_calls"'
_place = attrgetter("place")


class Transcript(NamedTuple):
    """passages: what the model said, each told by its number · calls: those that ask a memory, as
    (entry, id of the call, what it asks) · telling: the results that may tell of calls which the
    tool made itself · users: each user's entry and its text. All in file order."""

    passages: list[Passage]
    calls: list[tuple[int, str, Asked]]
    telling: list[int]
    users: list[tuple[int, str]]

    def hear(self, place: int, blocks: Sequence[Block], tools: ToolTable) -> None:
        """Add what an answer says: its texts, in order, the arguments of its calls last."""
        arguments = []
        for block in blocks:
            if block.type == CALL:
                arguments.append(Passage(place, "arguments", arguments_text(block.arguments)))
                if (asked := tools.asked(block.name, block.arguments)) is not None:
                    self.calls.append((place, block.id, asked))
            elif block.text:
                self.passages.append(Passage(place, "text", block.text))
            elif block.thinking:
                self.passages.append(Passage(place, "thinking", block.thinking))
        self.passages.extend(arguments)

    def said_at(self, place: int) -> list[Passage]:
        """The passages of an entry."""
        start = bisect_left(self.passages, place, key=_place)
        return self.passages[start : bisect_right(self.passages, place, start, key=_place)]


def transcript_of(session: Session, tools: ToolTable) -> Transcript:
    """What a session says."""
    columns, roles = session.columns, session.roles
    is_answer = roles.where(columns.role, "assistant")
    is_result = roles.where(columns.role, "toolResult")
    is_result |= session.kinds.where(columns.kind, "toolResult")
    is_user = session.is_user
    places = np.flatnonzero(is_answer | is_result | is_user).astype(np.int32)
    masks = (mask[places].tolist() for mask in (is_answer, is_result, is_user))
    raws = records_at(session.source, columns, places)
    transcript = Transcript([], [], [], [])
    for place, raw, answer, result, user in zip(places.tolist(), raws, *masks, strict=True):
        if answer:
            transcript.hear(place, blocks_in(session.format, raw), tools)
        if result and _NESTED in raw:
            transcript.telling.append(place)
        if user:
            transcript.users.append((place, text_said(session.format, raw)))
    return transcript
