"""A capture before it begins: what there is to be captured now, told like any other change."""

from __future__ import annotations

from collections.abc import Iterator

from tau_browser.actions.folder_writer import Folder
from tau_browser.actions.observe.calls import Calls
from tau_browser.actions.observe.capture import Capture
from tau_browser.actions.observe.files import files_of
from tau_browser.actions.observe.follow import require_other
from tau_browser.actions.observe.redacting import Redaction
from tau_browser.actions.observe.signing import UNSIGNED
from tau_browser.actions.plan import Item, Plan, Verb, Way
from tau_browser.model.session import Session
from tau_browser.model.text import counted, safe_line
from tau_browser.stores.agmem.records import Observation
from tau_browser.stores.store import Listed, Store, whole

_UNDO = "commits are for agmem to take back: undo does not reach them"


def plan_capture(store: Store, path: str | None, capture: Capture) -> Plan:
    """The plan of a capture of one session, or of all of a store, into a repository. Of all, their
    calls are not gone through. Raises StoreError where it would be refused."""
    known = capture.look()
    if path is None:
        paths = [item.path for item in store.scan() if isinstance(item, Listed)]
        for each in paths:
            require_other(each, capture.root)
        about = f"all {counted(len(paths), 'session')} of {store.title}, and those to come"
        remark = "how many calls they hold is not known before they are read"
        return _plan(about, capture, known, [], (remark,))
    require_other(path, capture.root)
    return _of_session(whole(store.open(path)), store.name, capture, known)


def _of_session(session: Session, store: str, capture: Capture, known: set[str] | None) -> Plan:
    calls, redaction = Calls(store), Redaction()
    done = list(calls.done(session))
    new = [redaction.observation(each) for each in done if each.id not in (known or ())]
    remarks = tuple(_remarks(len(done) - len(new), redaction.count, calls.waiting))
    return _plan(session.id, capture, known, new, remarks)


def _remarks(known: int, secrets: int, waiting: int) -> Iterator[str]:
    if known:
        yield f"{counted(known, 'call')} captured already"
    if secrets:
        yield f"{counted(secrets, 'secret')} hidden; no scanner finds all"
    if waiting:
        entries = counted(waiting, "entry")
        yield f"{entries} with calls that have no result yet: captured when it is there"


def _plan(
    about: str,
    capture: Capture,
    known: set[str] | None,
    new: list[Observation],
    remarks: tuple[str, ...],
) -> Plan:
    files = {path: data for each in new for path, data in files_of(each).items()}
    return Plan(
        verb=Verb.OBSERVE,
        store="agmem",
        about=f"capture the tool calls of {safe_line(about)}",
        read=None,  # what is captured is what is there when it is
        way=Way.NEW if known is None else Way.APPEND,
        target=str(capture.root),
        content=Folder(files),
        adding=tuple(map(_item, new)),
        remarks=(*remarks, *[UNSIGNED] * capture.lacks_key, _UNDO),
    )


def _item(observation: Observation) -> Item:
    entry = str(observation.extra.get("source_entry", ""))
    return Item(entry, safe_line(f"{observation.memory}: {observation.summary}"))
