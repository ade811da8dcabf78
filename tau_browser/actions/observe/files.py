"""An observation as the file that agmem would write, and its whole result where that is longer."""

from __future__ import annotations

import json
import re
from typing import Any

from tau_browser.stores.agmem.records import SESSION_LIMIT, TYPES, Observation

_NAME = 60  # characters of a tool's name in a file's name
_UNSAFE = re.compile(r"[^A-Za-z0-9_.-]+")
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_NO_WORDS = {"true", "false", "null", "yes", "no", "on", "off", "y", "n"}
_AGENT = "tau-browse"


def files_of(observation: Observation) -> dict[str, bytes]:
    """The files of an observation by their paths below `current/`."""
    path = path_of(observation)
    result = observation.result
    if result is None or len(result) <= SESSION_LIMIT:
        return {path: _markdown(observation, result, {}).encode("utf-8", "replace")}
    whole = f"results/{observation.time[:10]}/{_key(observation)}.md"
    cut = result[:SESSION_LIMIT] + "\n... (truncated)"
    facts = {"whole_result": whole, "whole_result_characters": len(result)}
    return {
        path: _markdown(observation, cut, facts).encode("utf-8", "replace"),
        whole: (_front(_about_result(observation)) + "\n" + result).encode("utf-8", "replace"),
    }


def path_of(observation: Observation) -> str:
    """Where agmem keeps an observation of its type, in a name that no other observation has and
    that stays below its folder."""
    tool = _UNSAFE.sub("_", observation.tool)[:_NAME].strip(".-_") or "tool"
    memory = observation.memory if observation.memory in TYPES else TYPES[0]
    name = f"{tool}-{_key(observation)}.md"
    if memory != "episodic":
        return f"{memory}/{name}"
    return f"episodic/{observation.time[:10]}/{observation.time[11:19].replace(':', '-')}-{name}"


def _key(observation: Observation) -> str:
    return observation.id.replace("-", "")


def _about_result(observation: Observation) -> dict[str, Any]:
    """What agmem wants to know of a file that holds nothing but a result."""
    return {
        "schema_version": "1.0",
        "last_updated": observation.time,
        "source_agent_id": _AGENT,
        "result_of": observation.id,
    }


def _front(facts: dict[str, Any]) -> str:
    lines = [f"{name}: {_yaml(value)}\n" for name, value in facts.items()]
    return "".join(["---\n", *lines, "---\n"])


def _markdown(observation: Observation, result: str | None, more: dict[str, Any]) -> str:
    """agmem's template, with what its own schema asks for besides."""
    facts: dict[str, Any] = {
        "schema_version": "1.0",
        "memory_type": observation.memory,
        "observation_id": observation.id,
        "timestamp": observation.time,
        "tool_name": observation.tool,
        "auto_captured": True,
        "last_updated": observation.time,
        "source_agent_id": _AGENT,
        "confidence_score": 1.0,
        "tags": ["observation"],
        **observation.extra,
        **more,
    }
    arguments = json.dumps(observation.arguments, indent=2, ensure_ascii=False, default=str)
    title = observation.summary or observation.tool
    said = result or ""
    fence = _fence(said)
    return (
        f"{_front(facts)}\n# {title}\n\n## Tool Call\n\n**Tool:** `{observation.tool}`\n"
        f"**Time:** {observation.time}\n\n### Arguments\n\n```json\n{arguments}\n```\n\n"
        f"### Result\n\n{fence}\n{said}\n{fence}\n"
    )


def _fence(text: str) -> str:
    """A fence that nothing in a text can end."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    return "`" * max(3, longest + 1)


def _yaml(value: Any) -> str:
    """A value as YAML takes it; JSON, which YAML takes too, where it could be taken for another."""
    is_word = isinstance(value, str) and _WORD.fullmatch(value) and value.lower() not in _NO_WORDS
    return value if is_word else json.dumps(value, ensure_ascii=True)
