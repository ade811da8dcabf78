"""What the queries of the evaluation are asked of: entries of sessions that the project wrote.

- stories/: invented sessions, by hand. Most queries look for one of their entries.
- The demo store that comes with the package, and the docs: README, changelog and docstrings.
- Filler, by chance and the same in every run: what agents' sessions are full of, about the same
  things as the stories, so that an entry has to be found among thousands that sound alike. It is
  put together from phrases, so it is duller than life; the stories are not longer than life.
"""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tau_browser.stores.session_file import load_session

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PACKAGE = ROOT / "tau_browser"
FILLER = 6000
_SHORTEST_DOC = 80  # characters; a shorter docstring says little


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a session, or a passage of the docs."""

    id: str
    role: str
    text: str


def entries(count: int = FILLER) -> list[Entry]:
    """All entries, each id once."""
    found = [*_stories(), *_demo(), *_docs(), *filler(count)]
    return list({entry.id: entry for entry in found}.values())


def _stories() -> Iterator[Entry]:
    for path in sorted((HERE / "stories").glob("*.txt")):
        for block in re.split(r"^--- ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
            head, _, text = block.partition("\n")
            entry_id, role = head.split()
            yield Entry(entry_id, role, re.sub(r"\n=== .*\n\Z", "", text).strip())


def _demo() -> Iterator[Entry]:
    for path in sorted((PACKAGE / "demo").rglob("*.jsonl")):
        session = load_session(path)
        for place in range(len(session)):
            if text := session.text(place).strip():
                yield Entry(session.entry_id(place), session.role(place), text)


def _docs() -> Iterator[Entry]:
    for path in (ROOT / "README.md", ROOT / "CHANGELOG.md"):
        for number, passage in enumerate(re.split(r"\n\s*\n", path.read_text(encoding="utf-8"))):
            yield Entry(f"{path.name}:{number}", "docs", passage.strip())
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                text = ast.get_docstring(node) or ""
                name = getattr(node, "name", "")
                if len(text) >= _SHORTEST_DOC:
                    yield Entry(f"{path.relative_to(ROOT)}:{name}", "docs", text)


def filler(count: int) -> Iterator[Entry]:
    """Entries by chance, the same in every run."""
    rng = random.Random(7)
    for number in range(count):
        (kind,) = rng.choices(list(_SHARES), list(_SHARES.values()))
        yield Entry(f"filler{number}", kind.__name__.strip("_"), kind(rng))


def _phrases() -> dict[str, list[str]]:
    """Phrases by what they name, as phrases.txt lists them: a heading, then one a line."""
    blocks = (HERE / "phrases.txt").read_text(encoding="utf-8").removeprefix("# ").split("\n# ")
    lists = (block.strip().split("\n") for block in blocks)
    return {name: phrases for name, *phrases in lists}


PHRASES = _phrases()


def _pick(rng: random.Random, name: str) -> str:
    return rng.choice(PHRASES[name])


def _remark(rng: random.Random) -> str:
    part, other = rng.sample(PHRASES["parts"], 2)
    sentences = [
        f"{part.capitalize()} {_pick(rng, 'troubles')} because {_pick(rng, 'causes')}.",
        f"{_pick(rng, 'remedies')}.",
        f"{_pick(rng, 'remedies')}, as in {other}.",
        f"`{_name(rng)}` in {_path(rng)} did not need to change.",
    ]
    return " ".join(rng.sample(sentences, rng.randint(1, len(sentences))))


def _request(rng: random.Random) -> str:
    part = _pick(rng, "parts")
    return _pick(rng, "requests").format(
        part=part,
        Part=part.capitalize(),
        trouble=_pick(rng, "troubles"),
        cause=_pick(rng, "causes"),
    )


def _traceback(rng: random.Random) -> str:
    frames = "\n".join(
        f'  File "{_path(rng)}", line {rng.randint(3, 400)}, in {_name(rng)}\n    {_code(rng)}'
        for _ in range(rng.randint(1, 4))
    )
    failure = _pick(rng, "failures").format(
        noun=_pick(rng, "nouns"),
        other=_pick(rng, "nouns"),
        name=_name(rng),
        number=rng.randint(10, 99),
        less=rng.randint(0, 9),
    )
    return f"Traceback (most recent call last):\n{frames}\n{failure}"


def _test_run(rng: random.Random) -> str:
    failed = [f"FAILED {_path(rng, 'test_')}::test_{_name(rng)}" for _ in range(rng.randint(0, 3))]
    passed = f"{len(failed)} failed, {rng.randint(5, 400)} passed in {rng.random() * 30:.2f}s"
    return "\n".join([*failed, passed])


def _listing(rng: random.Random) -> str:
    return "\n".join(
        f"{_path(rng)}:{rng.randint(1, 500)}:{_code(rng)}" for _ in range(rng.randint(2, 9))
    )


def _log(rng: random.Random) -> str:
    return "\n".join(
        f"2026-11-{rng.randint(1, 30):02} {rng.randint(0, 23):02}:{rng.randint(0, 59):02} "
        f"{rng.choice(('INFO', 'WARN', 'DEBUG'))} {_pick(rng, 'nouns')}.{_pick(rng, 'nouns')} "
        f"{_pick(rng, 'parts')} {_pick(rng, 'troubles')} ({rng.getrandbits(32):08x})"
        for _ in range(rng.randint(1, 5))
    )


def _chinese(rng: random.Random) -> str:
    part, trouble, cause = _complaint(rng, "chinese")
    return f"{part}{trouble}，因为{cause}。"


def _japanese(rng: random.Random) -> str:
    part, trouble, cause = _complaint(rng, "japanese")
    return f"{part}{trouble}。{cause}。"


def _complaint(rng: random.Random, language: str) -> tuple[str, str, str]:
    part, trouble, cause = (
        _pick(rng, f"{language} {what}") for what in ("parts", "troubles", "causes")
    )
    return part, trouble, cause


def _code(rng: random.Random) -> str:
    return (
        f"{_pick(rng, 'nouns')} = self.{_name(rng)}({_pick(rng, 'nouns')}, {_pick(rng, 'nouns')})"
    )


def _name(rng: random.Random) -> str:
    verb, noun, other = _pick(rng, "verbs"), _pick(rng, "nouns"), _pick(rng, "nouns")
    snake = f"{verb}_{noun}_{other}"
    return rng.choice((snake, f"{verb}_{noun}", f"{verb}{noun.title()}{other.title()}"))


def _path(rng: random.Random, prefix: str = "") -> str:
    return f"{_pick(rng, 'folders')}/{prefix}{_pick(rng, 'nouns')}_{_pick(rng, 'nouns')}.py"


_SHARES = {
    _remark: 40,
    _request: 12,
    _listing: 12,
    _traceback: 10,
    _test_run: 10,
    _log: 10,
    _chinese: 3,
    _japanese: 3,
}
"""Of the kinds of filler, in percent."""
