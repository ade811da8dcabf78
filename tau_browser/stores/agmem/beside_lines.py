"""What a repository holds beside its history, in τ's lines."""

from __future__ import annotations

from collections.abc import Iterator

from tau_browser.model.diagnostic import Severity
from tau_browser.model.text import counted
from tau_browser.stores.agmem.beside import Beside, Pending, blob_id
from tau_browser.stores.agmem.changes import Change, Files, Way
from tau_browser.stores.agmem.records import TYPES, Observation, folder_type, read_memory
from tau_browser.stores.agmem.writing import OTHER, STORE, Item, Writer

_BUFFER = "daemon_buffer.jsonl"


def lines_beside(writer: Writer, beside: Beside, head: Files) -> Iterator[bytes]:
    """All of it. head: the files of the last commit."""
    yield from _conflicts(writer, beside)
    pending = beside.pending()
    yield from _pending(writer, beside, pending)
    yield from _open_session(writer, beside)
    yield from _working(writer, beside, pending, head)
    yield from _archived(writer, beside)
    yield from _records(writer, beside)


def _conflicts(writer: Writer, beside: Beside) -> Iterator[bytes]:
    conflicts = beside.conflicts()
    if not conflicts:
        return
    title = counted(len(conflicts), "file") + " of a merge that is not finished"
    top, data = writer.add("conflicts", None, "branch", "conflicts", title)
    yield data
    for conflict in conflicts:
        path = str(conflict.get("path", ""))
        sides = [
            {"type": "text", "text": f"{side}:\n\n{conflict[f'{side}_content']}"}
            for side in ("base", "ours", "theirs")
            if isinstance(conflict.get(f"{side}_content"), str)
        ]
        _, data = writer.write(
            f"conflict/{path}",
            top,
            "memory_file",
            "",
            customType="conflict",
            title=f"{path}: {conflict.get('message', '')}",
            memory=folder_type(path) or None,
            message={"role": "custom", "content": sides or "(neither side is stored)"},
            file=path,
            origin=_origin(".mem/merge/conflicts.json"),
        )
        yield data


def _pending(writer: Writer, beside: Beside, pending: Pending) -> Iterator[bytes]:
    if not pending.observations:
        return
    says = [
        counted(len(pending.observations), "observation") + " not committed",
        f"{pending.in_session:,} in the session file, {pending.in_buffer:,} in the buffer",
    ]
    if lock := beside.lock():
        says.append(f"daemon.pid says {lock}")
    if twice := pending.in_session + pending.in_buffer - len(pending.observations):
        writer.find(
            f"{counted(twice, 'observation')} in the session file and in the buffer: agmem counts "
            "them twice when it starts again; each is shown once",
            Severity.NOTE,
            _BUFFER,
        )
    title = " · ".join(says)
    session = pending.session or None
    top, data = writer.add("pending", None, "branch", "pending", title, session=session)
    yield data
    yield from _uncommitted(writer, pending.observations, top, f".mem/{_BUFFER}")


def _open_session(writer: Writer, beside: Beside) -> Iterator[bytes]:
    facts, observations = beside.open_session()
    if not facts:
        return
    title = f"SessionManager's session {facts.get('id', '')} · {facts.get('status', '')}"
    title += f" · {counted(len(observations), 'observation')}"
    time = facts.get("started_at")
    top, data = writer.add(
        "open session",
        None,
        "branch",
        "session",
        title,
        time=time if isinstance(time, str) else "",
        facts=facts,
    )
    yield data
    yield from _uncommitted(writer, observations, top, ".mem/current_session.json")


def _uncommitted(
    writer: Writer, observations: list[Observation], over: str, path: str
) -> Iterator[bytes]:
    for memory in (*TYPES, ""):
        some = [each for each in observations if each.memory == memory]
        if some:
            name = memory or OTHER
            top, data = writer.group(name, f"{name}/{over}", over, len(some))
            yield data
            for each in some:
                yield writer.observation(each, top, {"origin": _origin(path)})


def _working(writer: Writer, beside: Beside, pending: Pending, head: Files) -> Iterator[bytes]:
    """Files of `current/` that are not as HEAD has them, but for what is pending anyway."""
    committed = dict(head)
    items: list[Item] = []
    for path in beside.working():
        before = committed.pop(path, None)
        content = beside.content(f"current/{path}")
        if content is None:
            continue
        writer.blobs.add(blob := blob_id(content))
        if blob == before:
            continue
        memory = read_memory(path, content)
        if not (isinstance(memory, Observation) and memory.id in pending.ids):
            items.append(Item(Change(path, blob, Way.CHANGED if before else Way.ADDED), memory))
    items += [Item(Change(path, blob, Way.DELETED)) for path, blob in committed.items()]
    staged = beside.staged()
    if not items:
        return
    title = f"{counted(len(items), 'file')} not as in the last commit"
    if staged:
        title += f" · {len(staged):,} staged"
    top, data = writer.add(
        "working copy", None, "branch", "working copy", title, staged=staged or None
    )
    yield data
    yield from writer.items(items, top, "working copy", "", {})


def _archived(writer: Writer, beside: Beside) -> Iterator[bytes]:
    paths = list(beside.archived())
    if not paths:
        return
    title = f"{counted(len(paths), 'file')} that decay, distill or garden put away"
    top, data = writer.add("archived", None, "branch", "archived", title)
    yield data
    for path, name in paths:
        content = beside.content(path)
        if content is None:
            continue
        memory = read_memory(name, content)
        about = {"file": path, "origin": _origin(path)}
        if isinstance(memory, Observation):
            yield writer.observation(memory, top, about)
        else:
            yield writer.file(memory, f"archived/{path}", top, "", about)


def _records(writer: Writer, beside: Beside) -> Iterator[bytes]:
    records = list(beside.records())
    if not records:
        return
    title = f"{counted(len(records), 'file')} that agmem keeps for itself"
    top, data = writer.add("records", None, "branch", "records", title)
    yield data
    for name, value in records:
        origin = _origin(f".mem/{name}")
        yield writer.write(
            f"record/{name}",
            top,
            "memory_record",
            "",
            customType="record",
            title=name,
            data=value,
            origin=origin,
        )[1]


def _origin(path: str) -> dict[str, str]:
    return {"store": STORE, "object": "", "path": path}
