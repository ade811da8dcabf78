"""Writes the demo store: six invented sessions, byte for byte as τ 0.14.1 would have left them.

Run it from anywhere; it replaces tau_browser/demo/sessions. The same script gives the same bytes,
so a change to a story shows up in review as a change to the files.

The first half is the teller, which knows the file format; the second half is the stories.
"""

import base64
import hashlib
import itertools
import json
import random
import re
import shutil
import struct
import textwrap
import uuid
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

STORE = Path(__file__).resolve().parent.parent / "tau_browser" / "demo" / "sessions"

SYSTEM_PROMPT = (
    "You are tau, a coding agent. Work in small steps, say what you checked, and ask before you "
    "delete anything."
)
SCOUT_PROMPT = "You are a scout. Read, search, report with file and line. Change nothing."

# Tool schemas and the rest of the frame cost tokens too, before anybody has said a word.
FRAME_TOKENS = 3_900


# --- The tools: what a call would have answered ---------------------------------------------------

Files = dict[str, str]


@dataclass
class Outcome:
    """What a tool gave back: its text, τ's details for that tool, and how long it took."""

    text: str
    details: dict | None = None
    is_error: bool = False
    seconds: float = 0.02


@dataclass
class Call:
    """One tool call of an assistant message; `run` works on the story's files, not on the disk."""

    name: str
    arguments: dict
    run: Callable[[Files], Outcome]


def read(path: str) -> Call:
    """A read of a whole file."""

    def run(files: Files) -> Outcome:
        text = files[path]
        details = {"lines_read": len(text.split("\n")), "truncated": False, "path": path}
        return Outcome(text, details)

    return Call("read", {"path": path}, run)


def write(path: str, content: str) -> Call:
    """A file written anew."""

    def run(files: Files) -> Outcome:
        files[path] = content
        lines = len(content.split("\n"))
        details = {"path": path, "lines": lines, "bytes": len(content.encode())}
        return Outcome(f"Wrote {lines} lines to {path}", details)

    return Call("write", {"path": path, "content": content}, run)


def edit(path: str, old: str, new: str) -> Call:
    """One replacement; the diff pairs lines by position, which is all that τ's own does."""

    def run(files: Files) -> Outcome:
        before = files[path]
        if before.count(old) != 1:
            raise ValueError(f"{path} holds {before.count(old)} times: {old}")
        files[path] = after = before.replace(old, new)
        diff = "\n".join(
            f"  {left}" if left == right else "\n".join(changed(left, right))
            for left, right in itertools.zip_longest(before.split("\n"), after.split("\n"))
        )
        details = {"path": path, "replacements": 1, "diff": diff}
        return Outcome(f"Replaced 1 occurrence(s) in {path}", details)

    return Call("edit", {"path": path, "old_string": old, "new_string": new}, run)


def changed(left: str | None, right: str | None) -> list[str]:
    """The one or two diff lines for a pair of differing lines, of which one may be missing."""
    return [f"{sign} {line}" for sign, line in (("-", left), ("+", right)) if line is not None]


def grep(pattern: str) -> Call:
    """A search for a plain string through all files of the story."""

    def run(files: Files) -> Outcome:
        matches = [
            f"{path}:{number}:{line}"
            for path, text in sorted(files.items())
            for number, line in enumerate(text.split("\n"), 1)
            if pattern in line
        ]
        details = {"matches": len(matches), "files_searched": len(files)}
        return Outcome("\n".join(matches), details)

    return Call("grep", {"pattern": pattern}, run)


def bash(
    command: str,
    output: str = "",
    *,
    stderr: str = "",
    exit_code: int = 0,
    seconds: float = 0.4,
    timeout: int | None = None,
    restore: Files | None = None,
) -> Call:
    """A shell command with the output it had; `restore` puts files back, as `git restore` does."""
    text = "\n".join(part for part in (output, stderr and f"stderr:\n{stderr}") if part)
    details = {"exit_code": exit_code, "truncated": False, "bytes_written": len(text.encode())}
    if exit_code and not text:
        text = f"Command exited with code {exit_code}"
    outcome = Outcome(text, details, is_error=bool(exit_code and stderr), seconds=seconds)

    def run(files: Files) -> Outcome:
        if restore is not None:
            files.clear()
            files.update(restore)
        return outcome

    arguments: dict = {"command": command} | ({"timeout": timeout} if timeout else {})
    return Call("bash", arguments, run)


@dataclass
class Document:
    """A document in the shared memory that the agent may search."""

    id: int
    title: str
    usetype: str
    text: str

    def hit(self, score: float) -> str:
        """The two lines by which a search result shows it."""
        head = f"[doc {self.id}] {self.title} (usetype={self.usetype}, score={score:.3f})"
        return f"{head}\n{self.text}"


def search_memory(query: str, *hits: str, scope: str = "all", **arguments: str | int) -> Call:
    """A jmfts_search; τ keeps the hits as text and only their number as data."""
    details = {"query": query, "scope": scope, "parent_id": None, "hits": len(hits)}
    outcome = Outcome("\n\n".join(hits) or "No results.", details, seconds=0.3)
    return Call("jmfts_search", {"query": query, "scope": scope, **arguments}, lambda _: outcome)


def failed_search(query: str, reason: str, **arguments: str) -> Call:
    """A jmfts_search that raised: the model is told nothing, the reason is in the details."""
    text = (
        "The tool failed with an internal error. The user can see the details; "
        "they are not shown here."
    )
    outcome = Outcome(text, {"exception": reason}, is_error=True, seconds=0.1)
    return Call("jmfts_search", {"query": query, **arguments}, lambda _: outcome)


def read_memory(document: Document, parent: int) -> Call:
    """A jmfts_read of one document."""
    head = f"[doc {document.id}] {document.title} (usetype={document.usetype}, parent={parent})"
    outcome = Outcome(f"{head}\n\n{document.text}", {"doc_id": document.id}, seconds=0.15)
    return Call("jmfts_read", {"doc_id": document.id}, lambda _: outcome)


# --- The teller: one session, told entry by entry -------------------------------------------------


def iso(ms: int) -> str:
    """τ's way to write an instant: UTC, milliseconds, a Z."""
    return (
        datetime.fromtimestamp(ms / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%S.") + f"{ms % 1000:03}Z"
    )


def text_block(text: str) -> dict:
    """A text block."""
    return {"type": "text", "text": text}


def image_block(png: bytes) -> dict:
    """An image block."""
    return {"type": "image", "data": base64.b64encode(png).decode(), "mime_type": "image/png"}


def tokens_of(value: object) -> int:
    """A rough count, the usual four characters to a token."""
    return len(json.dumps(value)) // 4


@dataclass
class Teller:
    """A session being told: a clock, a leaf, the project's files, and the lines written so far."""

    seed: str  # of every id and every pause; never written
    cwd: str
    start: str  # "2026-11-03 08:41:07", UTC
    files: Files = field(default_factory=dict)
    model: str = "heron"
    wire_model: str = "heron-2-large"
    context_window: int = 131_072
    thinking: str | None = "medium"

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        self.now = int(datetime.fromisoformat(f"{self.start}+00:00").timestamp() * 1000)
        self.now += self.random.randrange(1000)
        self.id = uuid.UUID(int=self.random.getrandbits(128), version=4).hex
        self.lines: list[dict] = []
        self.entries: dict[str, dict] = {}
        self.leaf: str | None = None
        self.header = {
            "type": "session",
            "version": 1,
            "id": self.id,
            "timestamp": iso(self.now),
            "cwd": self.cwd,
            "parent": None,
        }

    # Opening and ending

    def open(self, tools: list[str], *, name: str | None = None, extensions: tuple = ()) -> None:
        """The chain that every new session starts with, up to the first user message."""
        self.configure(model=self.model, backend="openai", cwd=self.cwd)
        if name:
            self.rename(name)
        self.append("message", message={"role": "system", "content": SYSTEM_PROMPT})
        self.now += self.random.randrange(8_000, 30_000)
        self.configure(
            model_spec={
                "id": self.wire_model,
                "provider": "openai",
                "context_window": self.context_window,
            },
            thinking=self.thinking,
            tools=tools,
            extensions=list(extensions),
            system_prompt_digest=hashlib.sha256(SYSTEM_PROMPT.encode()).hexdigest(),
        )

    def fork(self, seed: str, start: str) -> "Teller":
        """A new session that begins with all of this one, as `tau --fork` copies it: same entry
        ids, one line per entry, the placeholders folded away."""
        copy = Teller(seed, self.cwd, start, dict(self.files), self.model, self.wire_model)
        copy.header["parent"] = self.id
        copy.entries = dict(self.entries)
        copy.lines = list(self.entries.values())
        copy.leaf = self.leaf
        return copy

    def save(self) -> None:
        """Write the file into the folder that τ keeps for the working directory."""
        folder = STORE / f"--{self.cwd.strip('/').replace('/', '-')}--"
        folder.mkdir(parents=True, exist_ok=True)
        stamp = self.header["timestamp"].replace(":", "-").replace(".", "-")
        text = "".join(json.dumps(line) + "\n" for line in [self.header, *self.lines])
        (folder / f"{stamp}_{self.id}.jsonl").write_text(text, encoding="ascii", newline="\n")

    # Entries

    def new_id(self) -> str:
        """Eight hex digits that this session does not hold yet."""
        while (entry_id := f"{self.random.getrandbits(32):08x}") in self.entries:
            pass
        return entry_id

    def append(self, kind: str, **payload: object) -> str:
        """Write an entry under the leaf and make it the leaf; a message's time is the entry's."""
        message = payload.get("message", {})
        event_time = message.get("timestamp", self.now)
        entry_id = self.new_id()
        self.put(
            {"type": kind, "id": entry_id, "parentId": self.leaf, "timestamp": iso(event_time)}
            | payload
        )
        return entry_id

    def put(self, entry: dict) -> None:
        """Write a line; the last line of an id is what the entry is, at the place of the first."""
        self.lines.append(entry)
        self.entries[entry["id"]] = entry
        self.leaf = entry["id"]
        self.now += self.random.randrange(1, 6)

    def configure(self, **data: object) -> str:
        """A config entry."""
        return self.append("customEntry", customType="config", data=data)

    def rename(self, name: str) -> str:
        """A session_info entry."""
        return self.append("session_info", name=name)

    def bookmark(self, label: str, entry_id: str) -> str:
        """A bookmark, in the shape that extensions share."""
        data = {"label": label, "entry_id": entry_id}
        return self.append("customEntry", customType="bookmark", data=data)

    def notice(self, kind: str, text: str, *, to_model: bool, details: dict | None = None) -> str:
        """A customMessage: something an extension or τ itself put into the conversation."""
        message = {"role": "custom", "customType": kind, "content": [text_block(text)]}
        message |= {"display": True, "visibleToModel": to_model}
        if details is not None:
            message["details"] = details
        message["timestamp"] = self.now
        return self.append("customMessage", customType=kind, message=message)

    def user(self, text: str, *images: dict) -> str:
        """What the person typed, after the while that reading and typing took."""
        self.now += self.random.randrange(15_000, 90_000) + 60 * len(text)
        content = [text_block(tidy(text)), *images]
        return self.append(
            "message", message={"role": "user", "content": content, "timestamp": self.now}
        )

    def agent(self, text: str = "", *calls: Call, think: str = "") -> str:
        """One assistant message and the results of its calls, which follow one under another.

        Returns the id of the assistant message; the leaf is the last result."""
        content = []
        if think:
            content.append(
                {
                    "type": "thinking",
                    "thinking": tidy(think),
                    "cached_tokens": 0,
                    "thinking_signature": "reasoning_content",
                }
            )
        if text:
            content.append(text_block(tidy(text)))
        call_ids = [f"call_{self.random.getrandbits(48):012x}" for _ in calls]
        for call_id, call in zip(call_ids, calls, strict=True):
            content.append(
                {
                    "type": "toolCall",
                    "id": call_id,
                    "name": call.name,
                    "arguments": call.arguments,
                    "provider_signature": {},
                }
            )
        entry_id = self.stream(content, "toolUse" if calls else "stop")
        for call_id, call in zip(call_ids, calls, strict=True):
            self.result(call_id, call)
        return entry_id

    def result(self, call_id: str, call: Call) -> None:
        """Run a call and write its toolResult."""
        outcome = call.run(self.files)
        self.now += int(outcome.seconds * 1000) + self.random.randrange(3, 40)
        message = {
            "role": "toolResult",
            "tool_call_id": call_id,
            "tool_name": call.name,
            "content": [text_block(outcome.text)],
            "details": outcome.details,
            "is_error": outcome.is_error,
            "timestamp": self.now,
        }
        self.append("message", message=message)

    def failed_turn(self, text: str, error: str) -> None:
        """An assistant message whose stream broke, and τ's notice of it."""
        self.stream([text_block(tidy(text))], "error", error)
        details = {"exception": f"RuntimeError: {error}"}
        self.notice(
            "turn_error", f"The turn failed: RuntimeError: {error}", to_model=False, details=details
        )

    def aborted_turn(self, text: str) -> str:
        """An assistant message that the person stopped."""
        return self.stream([text_block(tidy(text))], "aborted")

    def stream(self, content: list[dict], stop_reason: str, error: str | None = None) -> str:
        """An assistant message's two lines: the placeholder when the stream opens, then the whole.

        A finished message carries the instant its stream opened, a broken one when it broke."""
        self.now += self.random.randrange(600, 2_400)
        opened = self.now
        self.now += self.random.randrange(4)
        usage = self.usage(content)
        entry_id = self.append(
            "message",
            message={"role": "assistant", "content": [], "model": self.wire_model},
            status="incomplete",
        )
        self.now += usage["output_tokens"] * 14
        stamp = self.now if stop_reason in ("error", "aborted") else opened
        entry = {k: v for k, v in self.entries[entry_id].items() if k != "status"}
        entry["timestamp"] = iso(stamp)
        entry["message"] = {
            "role": "assistant",
            "content": content,
            "api": "openai-completions",
            "provider": "openai",
            "model": self.wire_model,
            "response_id": f"resp_{self.random.getrandbits(64):016x}",
            "usage": usage,
            "stop_reason": stop_reason,
            "error_message": error,
            "reasoning_level": self.thinking,
            "timestamp": stamp,
        }
        self.put(entry)
        return entry_id

    # Splices

    def summarize_branch(self, at: str, summary: str) -> str:
        """Go back to `at` and leave there a summary of what grew from it."""
        self.now += self.random.randrange(9_000, 20_000)
        self.leaf = at
        return self.append("branch_summary", summary=tidy(summary), fromId=at)

    def compact(self, first_kept: str, summary: str) -> str:
        """Fold everything in the context before `first_kept` into a summary."""
        self.now += self.random.randrange(9_000, 20_000)
        context = self.context()
        covered = list(itertools.takewhile(lambda e: e["id"] != first_kept, context))
        covered_tokens = FRAME_TOKENS + sum(map(entry_tokens, covered))
        text = tidy(summary) + file_lists(covered)
        return self.append(
            "compaction",
            summary=text,
            firstKeptId=first_kept,
            tokensBefore=FRAME_TOKENS + sum(map(entry_tokens, context)),
            summarizerModelId=self.wire_model,
            summaryUsage={
                "input_tokens": covered_tokens + 480,
                "output_tokens": tokens_of(text),
                "cache_read_tokens": 0,
                "cache_write_tokens": 0,
                "total_tokens": covered_tokens + 480 + tokens_of(text),
            },
            coveredEntries=len(covered),
            coveredTokens=covered_tokens,
            configId=next(e["id"] for e in reversed(context) if e.get("customType") == "config"),
        )

    # What the model sees, for the usage numbers

    def path(self) -> list[dict]:
        """The entries from the root to the leaf."""
        path = []
        at = self.leaf
        while at is not None:
            path.append(self.entries[at])
            at = path[-1]["parentId"]
        return path[::-1]

    def context(self) -> list[dict]:
        """The path, folded at its last compaction."""
        path = self.path()
        folds = [i for i, entry in enumerate(path) if entry["type"] == "compaction"]
        if not folds:
            return path
        before, fold, after = path[: folds[-1]], path[folds[-1]], path[folds[-1] + 1 :]
        kept = itertools.dropwhile(lambda e: e["id"] != fold["firstKeptId"], before)
        system = [e for e in before if e.get("message", {}).get("role") == "system"]
        return [*system, fold, *kept, *after]

    def usage(self, content: list[dict]) -> dict:
        """Token counters: what the last call on this path sent is read from the cache."""
        context = self.context()
        prompt = FRAME_TOKENS + sum(map(entry_tokens, context))
        calls = [
            i for i, e in enumerate(context) if e.get("message", {}).get("role") == "assistant"
        ]
        folded = any(e["type"] == "compaction" for e in context[calls[-1] :]) if calls else True
        cached = 0
        if not folded:
            cached = FRAME_TOKENS + sum(map(entry_tokens, context[: calls[-1]]))
            cached -= cached % 128
        thought = sum(tokens_of(b["thinking"]) for b in content if b["type"] == "thinking")
        output = tokens_of(content)
        return {
            "input_tokens": prompt - cached,
            "output_tokens": output,
            "cache_read_tokens": cached,
            "cache_write_tokens": 0,
            "cache_reported": True,
            "total_tokens": prompt + output,
            "reasoning_tokens": thought or None,
            "cost": {},
            "extra": {},
        }


def entry_tokens(entry: dict) -> int:
    """What an entry costs the model to read; bookkeeping costs nothing."""
    if entry["type"] in ("compaction", "branch_summary"):
        return tokens_of(entry["summary"])
    content = entry.get("message", {}).get("content", "")
    if isinstance(content, str):
        return tokens_of(content)
    return sum(900 if block["type"] == "image" else tokens_of(block) for block in content)


def file_lists(entries: list[dict]) -> str:
    """The tags that τ ends a compaction summary with: files only read, files changed."""
    paths: dict[str, set[str]] = {"read": set(), "write": set(), "edit": set()}
    for entry in entries:
        content = entry.get("message", {}).get("content", ())
        for block in content:
            if isinstance(block, dict) and block.get("name") in paths:
                paths[block["name"]].add(block["arguments"]["path"])
    modified = paths["write"] | paths["edit"]
    lists = (("read-files", paths["read"] - modified), ("modified-files", modified))
    return "".join(
        f"\n\n<{tag}>\n" + "\n".join(sorted(names)) + f"\n</{tag}>" for tag, names in lists if names
    )


def tidy(text: str) -> str:
    """A story's text as it was typed: not indented, and each paragraph or list item on one line."""
    lines: list[str] = []
    fenced = False
    for line in textwrap.dedent(text).strip().split("\n"):
        fence = line.startswith("```")
        if fenced or fence or not lines or begins_a_line(line) or ends_a_line(lines[-1]):
            lines.append(line)
        else:
            lines[-1] += f" {line.strip()}"
        fenced ^= fence
    return "\n".join(lines)


def begins_a_line(line: str) -> bool:
    """Whether a line of Markdown cannot be the continuation of the line above it."""
    return re.match(r"$|[|#<-]|\d+\. ", line) is not None


def ends_a_line(line: str) -> bool:
    """Whether nothing may be joined to a line of Markdown."""
    return re.match(r"$|[|#<]|```", line) is not None


def source(text: str) -> str:
    """A file's content without the indentation it has in this file."""
    return textwrap.dedent(text).strip() + "\n"


def png(width: int, height: int, colour: Callable[[int, int], bytes]) -> bytes:
    """A small picture, stored uncompressed so that every zlib writes the same bytes."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    rows = b"".join(b"\0" + b"".join(colour(x, y) for x in range(width)) for y in range(height))
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows, 0)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body


# --- The stories: harbor, a small parcel-tracking service -----------------------------------------

HARBOR = "/home/sam/harbor"
NOTES = "/home/sam/notes-cli"
CODING_TOOLS = ["read", "bash", "write", "edit", "grep"]

CARRIERS = source('''
    """What each carrier calls things, in our own words."""

    from harbor.model import Status


    def status_of(code, table):
        for prefix, status in table:
            if code.startswith(prefix):
                return status
        return Status.UNKNOWN


    # Code prefix -> status; the first match wins.
    GULL = [
        ("PRE", Status.ANNOUNCED),
        ("TRN", Status.MOVING),
        ("DLV", Status.DELIVERED),
        ("RTN", Status.RETURNED),
    ]
''')

MODEL = source('''
    """A parcel, and the five things that can be said of it."""

    from enum import Enum


    class Status(Enum):
        ANNOUNCED = "announced"
        MOVING = "on its way"
        DELIVERED = "delivered"
        RETURNED = "returned"
        UNKNOWN = "unknown"
''')

CARRIERS_TEST = source("""
    import pytest

    from harbor.carriers import GULL, status_of
    from harbor.model import Status


    @pytest.mark.parametrize("code", ["DLV_ATT", "DLV_REF", "DLV_WRONG"])
    def test_a_failed_delivery_is_never_a_delivery(code):
        assert status_of(code, GULL) is not Status.DELIVERED


    def test_a_code_we_have_never_seen_is_unknown():
        assert status_of("DLV_MOON", GULL) is Status.UNKNOWN
""")


def late_parcels() -> Teller:
    """Linear: a bug found, mended and kept from coming back."""
    s = Teller("late parcels", HARBOR, "2026-11-03 08:41:07")
    s.files = {"harbor/carriers.py": CARRIERS, "harbor/model.py": MODEL}
    s.open(CODING_TOOLS, name="Parcels delivered before they arrive")

    s.user("""
        Three customers wrote that we say "delivered" while the parcel is still in the van. All three
        are Gull Post. Find out why, don't change anything yet.
    """)
    s.agent(
        "The status comes from the code table, so I'll read that first and look at what Gull really sent.",
        read("harbor/carriers.py"),
        bash(
            "sqlite3 events.db \"select code, count(*) from raw where carrier='gull' "
            "and code like 'DLV%' group by 1 order by 2 desc\"",
            "DLV_OK|18204\nDLV_ATT|611\nDLV_REF|43\nDLV_WRONG|7\n",
        ),
        think="""
            Only one carrier, so the shared rendering is not to blame. Either Gull sends a wrong code
            or we map a right one wrongly. The table is the cheapest thing to look at, and the raw
            events say which of the two it is.
        """,
    )
    s.agent(
        """
        Gull is innocent. We match codes by **prefix**, and `DLV` is the prefix of four different codes:

        | code | meaning | times | we say |
        |---|---|---:|---|
        | `DLV_OK` | handed over | 18,204 | delivered |
        | `DLV_ATT` | nobody home | 611 | **delivered** |
        | `DLV_REF` | refused | 43 | **delivered** |
        | `DLV_WRONG` | wrong address | 7 | **delivered** |

        So 661 events in the database are told wrongly, about 3.5 % of Gull's deliveries. The line is

        ```python
        ("DLV", Status.DELIVERED),
        ```

        I would match whole codes instead of prefixes. The price: a code that Gull invents tomorrow shows
        as *unknown* rather than as something plausible. I think that is the right way round. Shall I?
        """,
        think="""
            611 + 43 + 7 = 661 wrong out of 18865, 3.5 %. Mapping longer prefixes first would fix these
            three but the next invented DLV_something would be "delivered" again. Exact match fails
            towards "unknown", which a customer can forgive.
        """,
    )
    s.user("""
        Yes, whole codes. "Nobody home" deserves its own status: call it ATTEMPTED, shown as "we missed
        you". Refused and wrong address go to RETURNED.
    """)
    s.agent(
        "The new status first, then the table, then the comparison.",
        edit(
            "harbor/model.py",
            '    UNKNOWN = "unknown"\n',
            '    UNKNOWN = "unknown"\n    ATTEMPTED = "we missed you"\n',
        ),
        edit(
            "harbor/carriers.py",
            '    ("DLV", Status.DELIVERED),\n    ("RTN", Status.RETURNED),\n',
            '    ("DLV_OK", Status.DELIVERED),\n    ("DLV_ATT", Status.ATTEMPTED),\n'
            '    ("DLV_REF", Status.RETURNED),\n    ("DLV_WRONG", Status.RETURNED),\n'
            '    ("RTN", Status.RETURNED),\n',
        ),
        edit(
            "harbor/carriers.py",
            "        if code.startswith(prefix):",
            "        if code == prefix:",
        ),
    )
    s.agent(
        "",
        bash(
            "python -m pytest -q",
            "....F...........                                                  [100%]\n"
            "FAILED tests/test_carriers.py::test_transit - AssertionError: "
            "assert <Status.UNKNOWN> is <Status.MOVING>\n1 failed, 15 passed in 0.61s\n",
            exit_code=1,
            seconds=1.9,
        ),
    )
    s.agent(
        "",
        bash(
            "sqlite3 events.db \"select distinct code from raw where carrier='gull' order by 1\"",
            "DLV_ATT\nDLV_OK\nDLV_REF\nDLV_WRONG\nPRE\nRTN\nTRN_AIR\nTRN_HUB\nTRN_ROAD\nTRN_SEA\n",
        ),
        think="The transit codes have suffixes too. No more guessing: every code we ever received.",
    )
    s.agent(
        "",
        edit(
            "harbor/carriers.py",
            '    ("TRN", Status.MOVING),\n',
            '    *((f"TRN_{way}", Status.MOVING) for way in ("AIR", "HUB", "ROAD", "SEA")),\n',
        ),
        write("tests/test_gull_codes.py", CARRIERS_TEST),
        bash(
            "python -m pytest -q",
            "....................                                              [100%]\n20 passed in 0.58s\n",
            seconds=1.8,
        ),
        think="Four transit codes. A comprehension keeps the table on one screen.",
    )
    s.agent("""
        Done, and a test would have caught me: `TRN` relied on prefix matching as well, with four suffixes.
        They are listed by name now.

        - `harbor/model.py`: `ATTEMPTED`, shown as "we missed you"
        - `harbor/carriers.py`: whole codes only
        - `tests/test_gull_codes.py`: a failed delivery is never a delivery, and an unknown code stays unknown

        The 661 old events correct themselves, because the status is worked out when a page is drawn and
        never stored.
    """)
    s.user("Lovely. Give me a commit message, I'll commit it myself.")
    s.agent("""
        ```text
        Match carrier codes whole, not by prefix

        Gull Post's DLV_ATT (nobody home), DLV_REF and DLV_WRONG all begin with
        DLV and were shown as delivered: 661 events so far. A code that we do
        not know is now "unknown" instead of whatever it happens to begin with.
        ```
    """)
    s.save()
    return s


POLLER = source('''
    """Asks the carriers where the parcels are."""

    import asyncio

    INTERVAL = 60  # seconds


    async def poll_forever(carriers, store):
        while True:
            for carrier in carriers:
                for parcel in store.open_parcels(carrier.name):
                    store.record(parcel, await carrier.track(parcel.number))
            await asyncio.sleep(INTERVAL)
''')

RETRY = source('''
    """Try again, a little later each time."""

    import asyncio
    import random

    from harbor.errors import TooManyRequests


    async def patiently(call, *arguments, tries=5, base=0.5):
        for attempt in range(tries):
            try:
                return await call(*arguments)
            except TooManyRequests:
                await asyncio.sleep(random.uniform(0, base * 2**attempt))
        return await call(*arguments)
''')

QUEUED_POLLER = source('''
    """Asks the carriers where the parcels are: one queue and one budget per carrier."""

    import asyncio
    import random

    LONGEST_PAUSE = 900  # seconds


    async def poll_forever(carriers, store):
        await asyncio.gather(*(poll_carrier(carrier, store) for carrier in carriers))


    async def poll_carrier(carrier, store):
        """Oldest news first, as fast as the carrier allows; slower after every refusal."""
        gap = 60 / carrier.requests_per_minute
        pause = gap
        while True:
            parcel = store.stalest_parcel(carrier.name)
            try:
                store.record(parcel, await carrier.track(parcel.number))
                pause = max(gap, pause * 0.8)
            except carrier.TooManyRequests as refusal:
                pause = min(LONGEST_PAUSE, refusal.retry_after or pause * 2)
            await asyncio.sleep(pause * random.uniform(0.8, 1.2))
''')


def polling() -> Teller:
    """Forks: an idea that was tried and left, and a prompt that was asked again in better words."""
    s = Teller("polling", HARBOR, "2026-11-05 13:02:44")
    s.files = {"harbor/poller.py": POLLER, "harbor/carriers.py": CARRIERS, "harbor/model.py": MODEL}
    s.open(CODING_TOOLS, name="Polling without hammering the carriers")

    s.user("""
        Gull throttled us again last night: 429 from 02:10 until I restarted the worker at 07:30. Look at
        the poller and tell me what you would change, before you change anything.
    """)
    s.agent(
        "",
        read("harbor/poller.py"),
        bash(
            "grep ' 429 ' logs/poller.log | cut -c12-16 | sort | uniq -c | sort -rn | head -4",
            "    611 02:11\n    598 02:12\n    604 02:13\n    602 02:14\n",
        ),
        think="The code, and what the log says about the rhythm of it.",
    )
    crossroads = s.agent(
        """
        The loop treats a refusal like any other answer and asks again at once, six hundred times a
        minute. Meanwhile **every other carrier waits**, because they share the loop. Two ways out:

        1. **Retry inside `track()`** with growing pauses. Ten lines, nothing else moves.
        2. **A queue and a budget per carrier.** A rewrite of this file, about thirty lines, and a
           refusal by one carrier stays that carrier's problem.

        I lean towards the second, but the first is cheap to try.
        """,
        think="Six hundred refusals a minute: the loop does not slow down when it is told to.",
    )

    s.user("Try the cheap one first.")
    s.agent(
        "",
        write("harbor/retry.py", RETRY),
        edit(
            "harbor/poller.py",
            "import asyncio\n\n",
            "import asyncio\n\nfrom harbor.retry import patiently\n\n",
        ),
        edit(
            "harbor/poller.py",
            "await carrier.track(parcel.number))",
            "await patiently(carrier.track, parcel.number))",
        ),
        bash(
            "python tools/simulate.py --carriers 3 --throttle gull --hours 1",
            "carrier   calls   429s   longest silence\n"
            "gull       1904    377          0m 31s\n"
            "tern        212      0          9m 40s\n"
            "puffin      208      0          9m 38s\n",
            seconds=6.2,
        ),
        think="Full jitter, five tries. The simulator will show whether the others still starve.",
    )
    s.agent("""
        It helps Gull and punishes the innocent: while Gull is being asked patiently, Tern and Puffin are not
        asked at all, for **9 minutes 40**. They share a loop, so every pause is everybody's pause. I would
        not ship this.
    """)
    s.user("Agreed. Throw it away.")
    s.agent(
        "",
        bash(
            "git restore harbor && git clean -f harbor",
            "Removing harbor/retry.py\n",
            restore={
                "harbor/poller.py": POLLER,
                "harbor/carriers.py": CARRIERS,
                "harbor/model.py": MODEL,
            },
        ),
    )
    s.agent("The tree is as it was. Nothing of the attempt is left but this branch.")

    s.summarize_branch(
        crossroads,
        """
        Retrying inside `track()` was tried and dropped. In the simulator (3 carriers, Gull throttled, 1 hour)
        it cut Gull's refusals to 377 but kept Tern and Puffin silent for up to 9m 40s, because all carriers
        share one loop. The working tree was restored; no file changed.
        """,
    )
    s.user("Then the queue per carrier. Keep it boring.")
    s.agent(
        "",
        write("harbor/poller.py", QUEUED_POLLER),
        bash(
            "python tools/simulate.py --carriers 3 --throttle gull --hours 1",
            "carrier   calls   429s   longest silence\n"
            "gull        588     14          4m 10s\n"
            "tern        240      0          0m 19s\n"
            "puffin      240      0          0m 18s\n",
            seconds=6.4,
        ),
        bash("python -m pytest -q", "20 passed in 0.66s\n", seconds=1.9),
        think="""
            One task per carrier. The parcel with the oldest news goes first, so that a short budget is spent
            where it matters. Halving on success would swing; 0.8 settles.
        """,
    )
    queued = s.agent("""
        Each carrier now has its own task, its own budget and its own bad mood:

        ```python
        except carrier.TooManyRequests as refusal:
            pause = min(LONGEST_PAUSE, refusal.retry_after or pause * 2)
        ```

        | | refusals in an hour | longest silence of the others |
        |---|---:|---:|
        | before | 36,000 | for ever |
        | retry in `track()` | 377 | 9m 40s |
        | queue per carrier | **14** | **19s** |

        New setting: `requests_per_minute` for each carrier. It wants a paragraph in the docs.
    """)

    s.user("Write the docs for the new setting.")
    s.agent("""
        ## Powerful, flexible rate control

        Harbor now ships with a robust, fully adaptive request budget that empowers you to tailor polling
        seamlessly to the needs of each carrier. Simply set `requests_per_minute` and let Harbor take care
        of the rest!
    """)

    s.leaf = queued
    s.user(
        "Write the docs for the new setting. Two sentences, no adjectives, say what happens when it is wrong."
    )
    s.agent("""
        `requests_per_minute`: how many times a minute Harbor asks this carrier, at most. Too high and the
        carrier refuses, Harbor doubles its pauses up to 15 minutes and news arrives late; too low and news
        arrives late as well, without refusals in the log.
    """)
    s.user("Ha. Yes, that one. Commit.")
    s.agent(
        "",
        bash(
            "git add -A && git commit -qm 'Poll each carrier on its own budget' && git log --oneline -1",
            "7c1e0d4 Poll each carrier on its own budget\n",
        ),
    )
    s.agent("Committed as `7c1e0d4`.")
    s.save()
    return s


def circuit_breaker(polling: Teller) -> Teller:
    """A fork of the whole file above, carried on in another direction."""
    s = polling.fork("circuit breaker", "2026-11-06 09:15:20")
    s.rename("Polling: what a circuit breaker would add")
    s.user("""
        On this copy only: Puffin was down for six hours yesterday and we asked it 240 times an hour, for
        nothing. What would a circuit breaker look like here? Show me the change, don't commit it.
    """)
    s.agent(
        "",
        edit(
            "harbor/poller.py",
            "            pause = min(LONGEST_PAUSE, refusal.retry_after or pause * 2)\n",
            "            pause = min(LONGEST_PAUSE, refusal.retry_after or pause * 2)\n"
            "        except (OSError, TimeoutError):\n"
            "            pause = min(LONGEST_PAUSE, max(pause, 15) * 2)\n",
        ),
        bash(
            "python tools/simulate.py --carriers 3 --down puffin --hours 6",
            "carrier   calls   429s   errors   noticed recovery after\n"
            "gull       3528     14        0   -\n"
            "tern       1440      0        0   -\n"
            "puffin       30      0       30   7m 05s\n",
            seconds=11.0,
        ),
        think="""
            A real breaker has three states and a probe. But the pause that we already keep is a breaker whose
            probe is the next call: open is "long pause", half-open is the call after it. So two lines.
        """,
    )
    s.agent("""
        Two lines, since the pause already *is* a breaker: a long pause is "open", the call that ends it is
        the probe. In six hours of outage Puffin is asked 30 times instead of 1,440, and the recovery is
        noticed after 7 minutes.

        What a full breaker with named states would add is somewhere to **look**: "Puffin: resting until
        14:20". If you want that on the status page, the state is worth having. Otherwise I would stop here.
    """)
    s.user("I want it on the status page. What would you show, in words?")
    s.agent("""
        One line per carrier, the time first, never a colour alone:

        ```text
        ✓ Gull     asked 4 s ago
        ✓ Tern     asked 11 s ago
        … Puffin   not answering since 08:32, asking again at 14:20
        ```

        I'd avoid "down": we only know that it does not answer *us*.
    """)
    s.save()
    return s


HISTORY = source('''
    """Where a parcel has been: one JSON file per parcel."""

    import json
    from pathlib import Path

    ROOT = Path("history")


    def events(number):
        return json.loads((ROOT / f"{number}.json").read_text())


    def add(number, event):
        path = ROOT / f"{number}.json"
        known = json.loads(path.read_text()) if path.exists() else []
        path.write_text(json.dumps([*known, event]))
''')

SCHEMA = source("""
    create table parcel (
        number  text primary key,
        carrier text not null
    ) strict;

    create table event (
        parcel text not null references parcel (number),
        at     text not null,  -- ISO, UTC
        code   text not null,
        place  text
    ) strict;
""")

IMPORTER = source('''
    """Copies history/*.json into harbor.db; may be stopped and started again."""

    import json
    import sqlite3
    import sys
    from pathlib import Path


    def main(limit):
        db = sqlite3.connect("harbor.db")
        done = {number for (number,) in db.execute("select number from parcel")}
        files = [f for f in sorted(Path("history").glob("*.json")) if f.stem not in done]
        bad = []
        for file in files[:limit]:
            try:
                events = json.loads(file.read_text())
            except ValueError as error:
                bad.append((file, error))
                continue
            with db:  # one parcel, one transaction
                db.execute("insert into parcel values (?, ?)", (file.stem, events[0]["carrier"]))
                db.executemany(
                    "insert into event values (?, ?, ?, ?)",
                    [(file.stem, e["at"], e["code"], e.get("place")) for e in events],
                )
        for file, error in bad:
            print("skipped", file, error, file=sys.stderr)


    main(int(sys.argv[1]) if sys.argv[1:] else None)
''')

SQL_HISTORY = source('''
    """Where a parcel has been, out of harbor.db."""

    import sqlite3

    db = sqlite3.connect("harbor.db")
    db.row_factory = sqlite3.Row


    def events(number):
        rows = db.execute("select at, code, place from event where parcel = ?", (number,))
        return [dict(row) for row in rows]


    def add(number, event):
        with db:
            db.execute(
                "insert into event values (?, ?, ?, ?)",
                (number, event["at"], event["code"], event.get("place")),
            )
''')


def moving_to_sqlite() -> Teller:
    """A long one: compacted in the middle, then carried on."""
    s = Teller(
        "moving to sqlite",
        HARBOR,
        "2026-11-10 07:55:31",
        model="heron-mini",
        wire_model="heron-2-mini",
        context_window=32_768,
    )
    s.files = {"harbor/history.py": HISTORY}
    s.open(CODING_TOOLS, name="Parcel history: from 41,000 files to one database")

    s.user("""
        history/ holds 41,000 JSON files, one per parcel, and the nightly backup takes 50 minutes because of
        it. I want one SQLite file. Plan first.
    """)
    s.agent(
        "",
        read("harbor/history.py"),
        bash(
            "ls history | wc -l; du -sh history; cat history/GP7741.json",
            "41306\n212M\thistory\n"
            '[{"at": "2026-10-30T06:12:00Z", "carrier": "gull", "code": "PRE", "place": null}, '
            '{"at": "2026-10-31T17:40:00Z", "carrier": "gull", "code": "TRN_ROAD", "place": "Oulu"}]\n',
        ),
    )
    s.agent(
        """
        212 MB on disk for what is perhaps 40 MB of text: most of it is half-empty blocks. The plan:

        1. **Schema**: `parcel` and `event`, nothing clever.
        2. **Importer** that can be stopped and started again, one transaction per parcel.
        3. **Check**: the same number of events, and a hundred parcels compared in full.
        4. **Reads** move to the database, behind the two functions that exist today.
        5. **Writes** move last. Until then both are written.
        6. The old folder is kept, read-only, until you say so.

        Steps 1 to 3 touch nothing that runs.
        """,
        think="""
            Two functions are the whole interface, events() and add(), so the switch is easy. The danger is in
            the data: 41,000 files written by years of different code. The importer must not trust them.
        """,
    )
    s.user("Good. Schema, please. No ORM, strict tables.")
    s.agent(
        "",
        write("harbor/schema.sql", SCHEMA),
        bash("sqlite3 harbor.db < harbor/schema.sql && echo ok", "ok\n"),
    )
    s.agent(
        "Two strict tables. Times stay ISO text in UTC, as in the files, so that they sort and can be compared with the originals byte by byte."
    )
    s.user("Importer. Try it on 500 first.")
    s.agent(
        "",
        write("tools/import_history.py", IMPORTER),
        bash(
            "python tools/import_history.py 500 && sqlite3 harbor.db 'select count(*) from parcel; select count(*) from event'",
            "497\n6120\n",
            seconds=2.2,
        ),
    )
    s.agent(
        "497 parcels, 6,120 events, and three files it could not read. They are named on stderr and are still where they were."
    )
    s.user("What is wrong with the three?")
    s.agent(
        "",
        bash(
            "for f in GP0093 GP0211 GP0388; do ls -l --time-style=long-iso history/$f.json; tail -c 60 history/$f.json; echo; done",
            "-rw-r--r-- 1 sam sam 4096 2025-04-18 03:12 history/GP0093.json\n"
            'rier": "gull", "code": "TRN_HUB", "place": "Tampere"}, {"at": "20\n'
            "-rw-r--r-- 1 sam sam 4096 2025-04-18 03:12 history/GP0211.json\n"
            '"2025-04-18T01:59:00Z", "carrier": "gull", "code": "TRN_ROA\n'
            "-rw-r--r-- 1 sam sam 0 2025-04-18 03:12 history/GP0388.json\n\n",
        ),
    )
    s.agent(
        """
        A full disk, in the night of 18 April 2025 at 03:12. `add()` rewrites the whole file for each event, so
        when the disk filled up, the old events went with the new one: two files are cut at exactly 4,096 bytes
        and one is empty. The database will not have this fault, since it appends and commits.
        """,
        think="Same minute for all three; two cut at exactly 4096 bytes, one empty: a full disk.",
    )
    s.user("""
        Then nothing that can still be read may be lost. Keep the raw text of such files in a table of their
        own, with the reason, and rescue the whole events from it later.
    """)
    s.agent(
        "",
        edit(
            "harbor/schema.sql",
            "    place  text\n) strict;\n",
            "    place  text\n) strict;\n\ncreate table unreadable (\n    file   text primary key,\n"
            "    raw    blob not null,\n    reason text not null\n) strict;\n",
        ),
        edit(
            "tools/import_history.py",
            '        print("skipped", file, error, file=sys.stderr)\n',
            '        print("skipped", file, error, file=sys.stderr)\n'
            "        with db:\n"
            "            row = (file.name, file.read_bytes(), str(error))\n"
            '            db.execute("insert or ignore into unreadable values (?, ?, ?)", row)\n',
        ),
        bash(
            "rm harbor.db && sqlite3 harbor.db < harbor/schema.sql && python tools/import_history.py 500; "
            "sqlite3 harbor.db 'select file, length(raw), reason from unreadable'",
            "GP0093.json|4096|Unterminated string starting at: line 1 column 4094 (char 4093)\n"
            "GP0211.json|4096|Unterminated string starting at: line 1 column 4087 (char 4086)\n"
            "GP0388.json|0|Expecting value: line 1 column 1 (char 0)\n",
            seconds=2.5,
        ),
    )
    s.agent(
        "`unreadable` keeps file name, bytes and reason. Nothing is repaired on the way in; rescuing is a step of its own that can be looked at before it is trusted."
    )
    s.user("Full import, and the check from your plan.")
    s.agent(
        "",
        bash(
            "time -p python tools/import_history.py 2>import.log; tail -3 import.log",
            "real 94.12\nuser 41.06\nsys 9.41\n",
            seconds=94.1,
            timeout=600_000,
        ),
        bash(
            "python tools/compare.py --sample 100",
            "files 41306 = parcels 41218 + unreadable 88\nevents in files 507661, in database 507661\n"
            "sample of 100 parcels: 100 equal, 0 different\n",
            seconds=14.0,
        ),
    )
    s.agent("""
        All 41,306 files are accounted for: 41,218 parcels and 88 unreadable. 507,661 events on either side, and a
        hundred parcels compared in full are equal. `harbor.db` is 46 MB.
    """)
    kept = s.user("Now the reads. Both functions keep their names.")
    s.agent(
        "",
        write("harbor/history.py", SQL_HISTORY),
        bash(
            "python -m pytest -q",
            "FAILED tests/test_timeline.py::test_order - AssertionError: events out of order\n"
            "1 failed, 19 passed in 0.71s\n",
            exit_code=1,
            seconds=2.0,
        ),
    )
    s.agent(
        "",
        edit("harbor/history.py", "where parcel = ?", "where parcel = ? order by at, rowid"),
        bash("python -m pytest -q", "20 passed in 0.69s\n", seconds=2.0),
        think="The files were in order because events were appended; a table has no order.",
    )
    s.agent("""
        Reads come from the database. A test found the one thing that files gave us for free: order. It is now
        asked for, `order by at, rowid`, where `rowid` keeps the sequence of events within the same second.
    """)
    s.compact(
        kept,
        """
        ## Goal
        Replace harbor's 41,306 JSON files in history/ by one SQLite file, harbor.db, without losing anything.

        ## Constraints & Preferences
        - No ORM; strict tables
        - Nothing that can still be read may be lost; the old folder stays until Sam says so

        ## Progress
        ### Done
        - [x] Schema: parcel, event, unreadable (harbor/schema.sql)
        - [x] Restartable importer, one transaction per parcel (tools/import_history.py)
        - [x] Full import: 41,218 parcels + 88 unreadable = 41,306 files; 507,661 events on both sides; 100 sampled parcels equal

        ### In Progress
        - [ ] Reads from the database (harbor/history.py)

        ## Key Decisions
        - **Raw bytes of unreadable files are kept with the reason**: they were cut by a full disk on 2025-04-18 at 03:12
        - **Times stay ISO text in UTC**: they sort, and compare with the originals

        ## Next Steps
        1. Writes move last; until then both are written
        2. Rescue whole events from the 88 unreadable files
        """,
    )
    s.user("Where were we, and what is left?")
    s.agent("""
        Imported and checked; reads come from the database since this morning. Left to do:

        1. Both stores are still written. Turn off the files.
        2. Rescue what can be rescued from the 88 cut files.
        3. The backup, which is why we began.
    """)
    s.user("The timeline page got slower, 340 ms. It was 20 with files. Why?")
    s.agent(
        "",
        bash(
            "sqlite3 harbor.db \"explain query plan select at, code, place from event where parcel = 'GP7741' order by at, rowid\"",
            "QUERY PLAN\n|--SCAN event\n`--USE TEMP B-TREE FOR ORDER BY\n",
        ),
    )
    s.agent(
        "It reads all half a million events each time. A foreign key brings no index with it in SQLite; I forgot.",
        edit(
            "harbor/schema.sql",
            "create table unreadable (",
            "create index event_of_parcel on event (parcel, at);\n\ncreate table unreadable (",
        ),
        bash(
            "sqlite3 harbor.db 'create index event_of_parcel on event (parcel, at)' && python tools/bench.py timeline",
            "timeline: median 3.1 ms, p99 4.4 ms (1,000 parcels)\n",
            seconds=3.6,
        ),
        think="SCAN: no index on event.parcel. A foreign key does not make one.",
    )
    s.agent("340 ms → **3 ms**. The index covers the order as well, so nothing is sorted any more.")
    s.user("And the backup?")
    s.agent(
        "",
        bash(
            "time -p sqlite3 harbor.db \".backup '/var/backups/harbor.db'\" "
            "&& sqlite3 /var/backups/harbor.db 'pragma integrity_check'",
            "ok\n",
            stderr="real 0.41\nuser 0.05\nsys 0.18\n",
            seconds=0.7,
        ),
    )
    s.agent("""
        From 50 minutes to **0.4 seconds**, with an integrity check, and while the service is writing. Use
        `.backup`, never `cp`: a copy taken in the middle of a commit may be torn.
    """)
    s.user("Is there anything in this that we will regret in a year?")
    s.agent(
        """
        Two things, neither urgent:

        - **`place` is free text.** "Oulu", "OULU" and "Oulu (FI)" are three places. The files had the same
          fault, so we lost nothing, but every report will have to clean it again.
        - **Nobody will look at `unreadable`.** A table that only grows when things go wrong needs a line on
          the status page, or it becomes a drawer.

        I would not regret SQLite. 500,000 events a year is a small number for it.
        """,
        think="An honest answer, not a reassuring one. What would hurt: free text places, and the unwatched table.",
    )
    s.save()
    return s


# --- The stories: notes-cli, notes on the command line --------------------------------------------

FIND = source('''
    """Finds notes by the words in them."""

    from notes.store import all_notes


    def find(words):
        hits = []
        for note in all_notes():
            text = note.body.casefold()
            if all(word.casefold() in text for word in words):
                hits.append(note)
        return sorted(hits, key=lambda note: note.changed, reverse=True)
''')

NOTE_STORE = source('''
    """Notes on disk: Markdown with YAML front matter, one file each."""

    from dataclasses import dataclass
    from pathlib import Path

    import yaml


    @dataclass
    class Note:
        id: str
        title: str
        body: str
        changed: float


    def all_notes(root=Path.home() / "notes"):
        for path in root.rglob("*.md"):
            yield load(path)


    def load(path):
        _, front, body = path.read_text().split("---", 2)
        meta = yaml.safe_load(front)
        return Note(meta["id"], meta["title"], body, path.stat().st_mtime)
''')


LAZY_NOTE_STORE = source('''
    """Notes on disk: Markdown with YAML front matter, one file each."""

    from dataclasses import dataclass
    from functools import cached_property
    from pathlib import Path

    import yaml


    @dataclass
    class Note:
        front: str
        body: str
        changed: float

        @cached_property
        def meta(self):
            return yaml.safe_load(self.front)


    def all_notes(root=Path.home() / "notes"):
        for path in root.rglob("*.md"):
            yield load(path)


    def load(path):
        _, front, body = path.read_text().split("---", 2)
        return Note(front, body, path.stat().st_mtime)
''')

NOTE_LIST = source('''
    """One line per note, for people."""

    from datetime import date


    def line(note):
        day = date.fromtimestamp(note.changed)
        return f"{day:%d %b %Y}  {note.title}"
''')


def slow_search() -> Teller:
    """A sub-agent beside the main thread, a turn that failed and one that was stopped."""
    s = Teller("slow search", NOTES, "2026-11-12 19:20:58")
    s.files = {
        "notes/find.py": FIND,
        "notes/list.py": NOTE_LIST,
        "notes/store.py": NOTE_STORE,
    }
    s.open(CODING_TOOLS, extensions=("/home/sam/.tau/extensions/scout.py",))

    s.user(
        "`notes find` takes 2.8 seconds with my 9,000 notes. It should feel instant. Where does the time go?"
    )
    s.agent(
        "",
        bash(
            "python -X importtime -m notes --version 2>&1 | tail -1; "
            "time -p python -m notes find zebra",
            "import time:      2104 |     186400 | notes.cli\n",
            stderr="real 2.81\nuser 2.64\nsys 0.15\n",
            seconds=5.9,
        ),
    )
    measured = s.agent("""
        0.19 s of the 2.8 is starting Python; the rest is ours, and nearly all of it is computing, not
        waiting for the disk. Before I guess: a `/scout` through the code would say what is done once
        per note.
    """)

    s.configure(
        tools=["read", "grep"],
        system_prompt_digest=hashlib.sha256(SCOUT_PROMPT.encode()).hexdigest(),
    )
    s.notice(
        "scout",
        "What does `notes find` do once for every note? Order the answer by cost, with file and line.",
        to_model=True,
    )
    s.agent("", grep("all_notes"), read("notes/store.py"))
    s.agent(
        "",
        read("notes/find.py"),
        think="load() parses YAML for each note, even for those that don't match.",
    )
    s.agent("""
        Once per note, costliest first:

        1. `notes/store.py:24` `yaml.safe_load`: the pure Python YAML parser, for every note, before anything is known about it
        2. `notes/store.py:23` `read_text` and `split`: needed, cheap
        3. `notes/find.py:9` `casefold` of the whole body: cheap
        4. `notes/find.py:10` `word.casefold()` for each note again; it could be done once

        `find` only needs the body. Title and id are needed for hits alone.
    """)

    s.leaf = measured
    s.notice(
        "scout_report",
        "The scout came back: every note's front matter goes through the pure Python YAML parser "
        "(notes/store.py:24), also for notes that don't match. `find` only needs the body.",
        to_model=True,
    )
    s.user("So parse the front matter only for hits. Do it.")
    s.failed_turn(
        "I'll make the front matter lazy: keep the text and", "stream ended early: 502 Bad Gateway"
    )
    s.user("Again, please.")
    s.agent(
        "The note keeps its front matter as text and parses it when somebody asks.",
        write("notes/store.py", LAZY_NOTE_STORE),
        edit("notes/list.py", "note.title", "note.meta['title']"),
        bash(
            "python -m pytest -q && time -p python -m notes find zebra",
            "41 passed in 1.20s\n",
            stderr="real 0.31\nuser 0.27\nsys 0.04\n",
            seconds=2.9,
        ),
        think="A cached property: parsed at most once, and not at all for a note that is not shown.",
    )
    s.agent("""
        2.81 s → **0.31 s**, of which 0.19 is Python starting. The YAML parser now sees the hits and nobody else:

        ```python
        @cached_property
        def meta(self):
            return yaml.safe_load(self.front)
        ```
    """)
    s.user("And now rewrite the whole thing in Rust :)")
    s.aborted_turn("""
        Before rewriting anything I would measure what a port could still win. Starting Python is 190 of the
        310 ms, so a native program might come to about 100 ms, and the price is two languages in a project of
        six hundred lines. If what you want is
    """)
    s.user("I was kidding, go to sleep. Commit it first.")
    s.agent(
        "",
        bash(
            "git commit -qam 'find: parse the front matter of hits only' && git log --oneline -1",
            "e40b7a9 find: parse the front matter of hits only\n",
        ),
    )
    s.agent("Committed as `e40b7a9`. Good night.")
    s.save()
    return s


def chart(x: int, y: int) -> bytes:
    """A bar chart of 36 by 16 pixels: seven bars, the last one high."""
    heights = (3, 3, 4, 3, 5, 4, 14)
    bar, offset = divmod(x - 1, 5)
    if 0 <= bar < len(heights) and offset < 4 and 15 - y < heights[bar]:
        return b"\xd0\x60\x40" if bar == 6 else b"\x50\x80\xb0"
    return b"\xf4\xf1\xea"


DECISION = Document(
    41,
    "Note ids",
    "note",
    "Decided on 2 October: a note's id is its creation time to the second, in base 32, seven "
    "characters (for example 4k9m2xq). Short enough to type, sorts by age, and two notes in one "
    "second get a letter behind it. ULIDs were tried for a week in September and dropped: nobody "
    "types 26 characters.",
)
SUGGESTION = Document(
    388,
    "assistant — 0014",
    "tau:message",
    "Let us use ULIDs for note ids: they sort by time, need no coordination and every language has "
    "a library for them.",
)
IMPORT_RULE = Document(
    57,
    "Import from Markdown folders",
    "note",
    "An import keeps the file's own date as the creation date, so that imported notes sort among "
    "the old ones and not on top. Notes without a date get the file's mtime.",
)
ATTACHMENTS = Document(
    203,
    "Attachments",
    "note",
    "Attachments live beside the note in a folder with the note's name. They have no ids.",
)


def note_ids() -> Teller:
    """Recall: what was asked of the memory, what came back, and what became of it."""
    s = Teller("note ids", NOTES, "2026-11-18 16:47:12")
    memory_tools = ["jmfts_search", "jmfts_read", "jmfts_ingest"]
    s.files = {"notes/store.py": NOTE_STORE}
    s.open([*CODING_TOOLS, *memory_tools], extensions=("/home/sam/.tau/extensions/memory.py",))

    s.user(
        "I'm writing the import from other programs. Which form did we decide on for note ids, and why? I only remember that it was a long discussion."
    )
    s.agent(
        "I'll look it up rather than guess.",
        failed_search(
            "note id format decision",
            "RuntimeError: jmfts_search(scope='conversation'): this session is not JMFTS-backed, so it has "
            "no conversation subtree to search. Use scope='all' or scope='subtree' with an explicit doc_id.",
            scope="conversation",
        ),
        search_memory(
            "note id format decision",
            SUGGESTION.hit(0.016),
            DECISION.hit(0.016),
            IMPORT_RULE.hit(0.014),
            ATTACHMENTS.hit(0.013),
            limit=4,
        ),
        think="A decision from weeks ago; memory should hold it. This session's own scope first, then everything.",
    )
    s.agent(
        "",
        read_memory(DECISION, parent=12),
        think="388 says ULIDs, 41 says they were dropped. 41 calls itself the decision and is later; read it in full.",
    )
    answer = s.agent("""
        Seven characters of **base 32 from the creation time**, decided on 2 October [doc 41]. Short enough to
        type, and they sort by age.

        Take care with an older suggestion that still ranks first: "Let us use ULIDs for note ids". It was tried
        for a week in September and dropped, because nobody types 26 characters [doc 41].

        For the importer this means that the id follows from the date, so the date must be right *before* the id
        is made.
    """)
    s.bookmark("why ids look like this", answer)
    s.rename("Note ids: what we decided")
    s.user("And if a folder holds two hundred files with the same mtime? A git checkout does that.")
    s.agent(
        "",
        search_memory(
            "note id collision same second suffix letter",
            DECISION.hit(9.482),
            method="bm25",
            limit=5,
        ),
        search_memory("bulk import thousands of notes one second", method="fulltext"),
        think="A letter behind it: 26 letters, 200 files. What happens after z? Look whether that was thought of.",
    )
    s.agent(
        """
        Then the rule runs out. "Two notes in one second get a letter behind it" gives 26 more ids for a second,
        and nothing I can find says what comes after `z`; a search for bulk imports came back empty. Proposal:

        ```python
        def free_id(created, taken):
            \"\"\"The first free id at or after the second of creation.\"\"\"
            second = int(created)
            while (note_id := base32(second)) in taken:
                second += 1
            return note_id
        ```

        Two hundred files then spread over 200 seconds. The ids are off by three minutes at most, the dates in
        the front matter stay exact, and no id gets longer.
        """,
    )
    picture = image_block(png(36, 16, chart))
    s.user(
        """
        <attachment filename="notes-per-day.png"></attachment>
        Good, do that. This is my week, the last bar is the import. Is the spread visible anywhere?
        """,
        picture,
    )
    s.agent("""
        Only there, and only as height: six days of three to five notes and then the import as one tall bar. All
        200 ids fall within the same few minutes, so no note lands on the wrong day unless the folder was checked
        out just before midnight. I'd write that into the importer's help text instead of working around it.
    """)
    s.user(
        "Into the help text, then. And check that imported notes do not end up on top of my list."
    )
    s.agent(
        "",
        search_memory(
            "how do imported notes sort, creation date or import date",
            IMPORT_RULE.hit(0.016),
            ATTACHMENTS.hit(0.012),
            limit=2,
        ),
        write(
            "notes/importer.py",
            source('''
                """Brings in Markdown files from other programs."""

                from notes.ids import base32


                def free_id(created, taken):
                    """The first free id at or after the second of creation."""
                    second = int(created)
                    while (note_id := base32(second)) in taken:
                        second += 1
                    return note_id
            '''),
        ),
        bash("python -m pytest -q tests/test_importer.py", "6 passed in 0.22s\n", seconds=1.1),
    )
    s.agent("""
        `notes/importer.py` is there, with six tests, one of them for two hundred files of the same second. An
        import keeps the file's own date as the creation date, so imported notes sort among the old ones, as it
        was always meant to be.
    """)
    s.rename("Note ids, and what an import does to them")
    s.save()
    return s


def main() -> None:
    """Write all six, in place of what was there."""
    shutil.rmtree(STORE, ignore_errors=True)
    late_parcels()
    circuit_breaker(polling())
    moving_to_sqlite()
    slow_search()
    note_ids()


if __name__ == "__main__":
    main()
