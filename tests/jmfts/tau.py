"""τ's own JMFTS store, as the judge of what we write and the rival of what we do: a process of its
own."""

from __future__ import annotations

import json
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

from tests.environments import TAU, environment
from tests.jmfts.appliance import Appliance

_PROGRAM = """
import json, sys, time
from pathlib import Path
from tau_agent_core.conversation_tree import ConversationTree
from tau_agent_core.session_log import default_leaf
from tau_coding_agent.session_store import Session
from tau_jmfts.catalog import JmftsSessionCatalog
from tau_jmfts.client import JmftsClient
from tau_jmfts.importer import export_session, import_session
from tau_jmfts.store import JmftsSessionLog

def told(session):
    entries = session.entries()
    leaf = default_leaf(entries)
    at = {entry["id"]: place for place, entry in enumerate(entries)}
    return {
        "id": session.id,
        "context": json.dumps(session.context, sort_keys=True),
        "messages": json.dumps(session.messages, sort_keys=True),
        "leaf": at.get(leaf),
        "context_places": [at[entry["id"]] for entry in
                           ConversationTree(entries, leaf).context_entries(leaf)] if leaf else [],
        "entries": len(entries),
    }

def file(client, path):
    return told(Session.load(Path(path)))

def server(client, root):
    return told(JmftsSessionLog.load(client, root))

def bring(client, path):
    return import_session(path, client).root_doc_id

def fork(client, root):
    source = JmftsSessionLog.load(client, root)
    return JmftsSessionLog.fork(client, source, "/proj/demo").root_doc_id

def fork_at(client, root, entry):
    source = JmftsSessionLog.load(client, root)
    return told(JmftsSessionLog.fork(client, source, "/proj/demo", at=entry))

def names(client):
    return [info.name for info in JmftsSessionCatalog(client).list()]

def load(client, root):
    JmftsSessionLog.load(client, root)

def search(client, query, usetypes):
    return len(client.search(query, method="bm25", limit=30, usetype=usetypes))

verbs = {"file": file, "server": server, "import": bring, "fork": fork, "fork_at": fork_at,
         "names": names, "load": load, "search": search}
for line in sys.stdin:
    verb, url, token, *words = json.loads(line)
    client = JmftsClient(url, token=token)
    begun, cpu = time.perf_counter(), time.process_time()
    try:
        answer = {"ok": verbs[verb](client, *words)}
        answer["seconds"] = time.perf_counter() - begun
        answer["cpu"] = time.process_time() - cpu
    except Exception as error:
        answer = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps(answer), flush=True)
"""


@cache
def _process() -> subprocess.Popen[str]:
    return subprocess.Popen(
        [environment(*TAU), "-c", _PROGRAM],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


class TauFailed(Exception):
    """τ raised this."""


def ask(appliance: Appliance, verb: str, *words: Any) -> Any:
    """What τ does or says; a path, or the number of a root, tells of which session."""
    return _answer(appliance, verb, *words)["ok"]


def cost(appliance: Appliance, verb: str, *words: Any) -> tuple[float, float]:
    """How many seconds τ takes for it, and how many of CPU; its own start aside."""
    answer = _answer(appliance, verb, *words)
    return answer["seconds"], answer["cpu"]


def _answer(appliance: Appliance, verb: str, *words: Any) -> dict[str, Any]:
    process = _process()
    assert process.stdin is not None and process.stdout is not None
    said = [verb, appliance.url, appliance.token, *(map(_word, words))]
    process.stdin.write(json.dumps(said) + "\n")
    process.stdin.flush()
    answer: dict[str, Any] = json.loads(process.stdout.readline())
    if "error" in answer:
        raise TauFailed(answer["error"])
    return answer


def _word(word: Any) -> Any:
    return str(word) if isinstance(word, Path) else word
