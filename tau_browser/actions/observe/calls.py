"""From the entries of a session to the tool calls that are done, as observations."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime

import numpy as np

from tau_browser.model.calls import is_result, results_of
from tau_browser.model.memory import memory_of_tool
from tau_browser.model.payload import Call, Record, blocks_of, message_of
from tau_browser.model.session import Session
from tau_browser.model.times import NO_TIME, format_time, parse_time
from tau_browser.stores.agmem.records import Observation

_NAMESPACE = uuid.UUID("6f1c1ce2-6d0c-5d7d-9a0e-6a9d3c1f7b52")
_SUMMARY_KEYS = ("path", "file", "url", "query", "command")
_VALUE, _SUMMARY = 100, 200  # characters, as agmem's
_NO_TIME = "1970-01-01T00:00:00.000000+00:00"


class Calls:
    """The tool calls of one session, each told once, when it is done: it has a result, or the
    conversation went on without one."""

    def __init__(self, store: str) -> None:
        self._store = store
        self._looked_at = 0  # places up to here
        self._waiting: list[int] = []

    @property
    def waiting(self) -> int:
        """How many entries hold calls that are not done."""
        return len(self._waiting)

    def restart(self) -> None:
        """The session was written anew: all of it is to be gone through again."""
        self._looked_at, self._waiting = 0, []

    def done(self, session: Session) -> Iterator[Observation]:
        """The calls that are done in a session as it stands now and that were not told before."""
        places = [*self._waiting, *_with_calls(session, self._looked_at)]
        self._looked_at, self._waiting = len(session), []
        for place in places:
            record = session.record(place)
            calls = [block for block in blocks_of(record) if isinstance(block, Call)]
            if not calls:
                continue
            if is_result(session, place):  # a store that keeps call and result as one
                yield self._observation(session, record, 0, calls[0], record)
                continue
            results = results_of(session, place, record)
            ended = _went_on(session, place)
            if not ended and any(call.id not in results for call in calls):
                self._waiting.append(place)
                continue
            for at, call in enumerate(calls):
                result = results.get(call.id)
                answer = None if result is None else session.record(result)
                yield self._observation(session, record, at, call, answer)

    def _observation(
        self, session: Session, record: Record, at: int, call: Call, answer: Record | None
    ) -> Observation:
        time = utc(record.get("timestamp") or session.header.get("timestamp"))
        origin = str(record.get("copiedFrom") or record.get("id") or "")
        arguments = call.arguments if isinstance(call.arguments, dict) else {"": call.arguments}
        # the same for a call's copies in forks, another for every other call there is
        told = [self._store, origin, at, call.id, time, call.name, arguments]
        message = message_of(answer) if answer else {}
        extra = {
            "source_store": self._store,
            "source_session": session.id,
            "source_entry": origin,
            "call_id": call.id,
            "is_error": message.get("is_error") is True or None,
        }
        return Observation(
            id=str(uuid.uuid5(_NAMESPACE, json.dumps(told, sort_keys=True))),
            time=time,
            tool=call.name,
            arguments=arguments,
            result=None if answer is None else _said(answer),
            memory=memory_of_tool(call.name).type.value,
            summary=summary_of(call.name, arguments),
            extra={name: value for name, value in extra.items() if value},
        )


def summary_of(tool: str, arguments: Record) -> str:
    """A call in agmem's words: the tool, and those of its arguments that say most."""
    told = [f"{key}={str(arguments[key])[:_VALUE]}" for key in _SUMMARY_KEYS if key in arguments]
    return " ".join(" ".join([tool, *told]).split())[:_SUMMARY]


def utc(stamp: object) -> str:
    """A timestamp in the spelling of agmem's observations."""
    milliseconds = parse_time(stamp)
    if milliseconds == NO_TIME or format_time(milliseconds) is None:
        return _NO_TIME
    moment = datetime.fromtimestamp(milliseconds / 1000, UTC)
    return moment.isoformat(timespec="microseconds")


def _with_calls(session: Session, start: int) -> list[int]:
    """Places from `start` on that may hold calls, in file order."""
    roles = session.columns.role[start:]
    kinds = session.columns.kind[start:]
    may = session.roles.where(roles, "assistant", "toolResult")
    may |= session.kinds.where(kinds, "toolResult")
    return (np.flatnonzero(may) + start).tolist()


def _went_on(session: Session, place: int) -> bool:
    """Whether somebody spoke after a call: then what has no result will not get one."""
    level = [place]
    while level:
        level = [child for at in level for child in session.tree.children(at)]
        if any(session.role(at) in ("user", "assistant") for at in level):
            return True
        level = [at for at in level if is_result(session, at)]
    return False


def _said(record: Record) -> str:
    """What a tool answered: the texts of its blocks."""
    blocks = [block for block in blocks_of(record) if not isinstance(block, Call)]
    said = [block.text for block in blocks]
    details = message_of(record).get("details")
    if isinstance(details, dict) and isinstance(details.get("exception"), str):
        said.append(details["exception"])
    return "\n".join(text for text in said if text)
