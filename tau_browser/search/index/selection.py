"""Filters as the index understands them: what must hold of an entry before it is ranked."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

import tantivy

from tau_browser.model.families import is_called
from tau_browser.model.memory import memory_of_tool
from tau_browser.model.tools import CALLS_ANOTHER
from tau_browser.search.documents import STORED_MEMORY, memory_trait
from tau_browser.search.filters import FILTERS
from tau_browser.search.index import postings
from tau_browser.search.query import Filter, Query

_MUST, _MUST_NOT, _SHOULD = tantivy.Occur.Must, tantivy.Occur.MustNot, tantivy.Occur.Should
_FIELDS = {
    "role": postings.ROLE,
    "kind": postings.KIND,
    "is": postings.TRAIT,
    "has": postings.TRAIT,
}
_FACETS = ("event", "stage", "tag", "metric")
_AT_LEAST = {"severity": postings.SEVERITY, "signal": postings.SIGNAL}


@dataclass(frozen=True, slots=True)
class GroupFacts:
    """What filters ask of entries that stand alike. All but `path` folded."""

    id: int
    path: str
    store: str
    cwd: str
    state: str
    model: str


_ASKED: dict[str, Callable[[GroupFacts, str], bool]] = {
    "store": lambda group, value: value == group.store,
    "project": lambda group, value: value in group.cwd,
    "model": lambda group, value: value in group.model,
    "branch": lambda group, value: value == group.state,
}


@dataclass(frozen=True, slots=True)
class Selection:
    """What is searched. `groups`: in which an entry must stand, or None for all; `condition`:
    the same and all else that is asked, or None if nothing is."""

    groups: frozenset[int] | None
    condition: tantivy.Query | None


def select(
    query: Query,
    all_groups: Callable[[], Iterable[GroupFacts]],
    tools: Callable[[], Iterable[str]],
    paths: Collection[str] | None = None,
) -> Selection:
    """What a query's filters leave of some session files, or of all. tools: those there are."""
    by_name = query.filters_by_name()
    groups = _groups(by_name, all_groups, paths)
    clauses = [_clause(name, conditions, tools) for name, conditions in by_name.items()]
    must = [clause for clause in clauses if clause is not None]
    if groups is not None:
        inside = tantivy.Query.term_set_query(postings.schema(), postings.GROUP, sorted(groups))
        must.append((_MUST, inside))
    if not must:
        return Selection(groups, None)
    if all(occur == _MUST_NOT for occur, _ in must):
        must.append((_MUST, tantivy.Query.all_query()))
    condition = tantivy.Query.const_score_query(tantivy.Query.boolean_query(must), 0.0)
    return Selection(groups, condition)


def _groups(
    by_name: dict[str, list[Filter]],
    all_groups: Callable[[], Iterable[GroupFacts]],
    paths: Collection[str] | None,
) -> frozenset[int] | None:
    """The groups that pass, or None if nothing is asked of them."""
    asked = {name: some for name, some in by_name.items() if name.removeprefix("-") in _ASKED}
    if not asked and paths is None:
        return None

    groups = [group for group in all_groups() if paths is None or group.path in paths]
    for name, some in asked.items():
        test = _ASKED[name.removeprefix("-")]
        values = [str(each.value) for each in some]
        wanted = not name.startswith("-")
        groups = [group for group in groups if any(test(group, it) for it in values) == wanted]
    return frozenset(group.id for group in groups)


def _clause(
    name: str, conditions: list[Filter], tools: Callable[[], Iterable[str]]
) -> tuple[tantivy.Occur, tantivy.Query] | None:
    """What filters of one name ask of the facts that are indexed; None if they ask of groups."""
    bare = name.removeprefix("-")
    if bare in _ASKED:
        return None
    if bare in _OF_TOOLS:
        of_tools, known = _OF_TOOLS[bare], tools()
        queries = [of_tools(str(condition.value), known) for condition in conditions]
    else:
        queries = [_query(condition) for condition in conditions]
    if name.startswith("-"):
        return _MUST_NOT, tantivy.Query.boolean_query([(_SHOULD, each) for each in queries])
    occur = _MUST if FILTERS[bare].joins else _SHOULD
    return _MUST, tantivy.Query.boolean_query([(occur, each) for each in queries])


def _tool(wanted: str, tools: Iterable[str]) -> tantivy.Query:
    """What calls or answers a tool of a name or of a family."""
    name = postings.utf8(wanted)
    return _called(tool for tool in tools if is_called(tool, name))


def _memory(type: str, tools: Iterable[str]) -> tantivy.Query:
    """What makes memory of a type: as stored, else by the tools that it calls."""
    schema = postings.schema()
    kept = tantivy.Query.term_query(schema, postings.TRAIT, memory_trait(type))
    stored = tantivy.Query.term_query(schema, postings.TRAIT, STORED_MEMORY)
    named = [tool for tool in tools if tool not in ("", CALLS_ANOTHER)]
    made = _called(tool for tool in named if memory_of_tool(tool).type == type)
    derived = tantivy.Query.boolean_query([(_MUST, made), (_MUST_NOT, stored)])
    return tantivy.Query.boolean_query([(_SHOULD, kept), (_SHOULD, derived)])


def _called(tools: Iterable[str]) -> tantivy.Query:
    """What calls or answers one of some tools."""
    return tantivy.Query.term_set_query(postings.schema(), postings.TOOL, [*tools])


_OF_TOOLS = {"tool": _tool, "memory": _memory}


def _query(condition: Filter) -> tantivy.Query:
    value = condition.value
    if isinstance(value, str):
        folded = postings.utf8(value.casefold())
        if condition.name in _FACETS:
            facet = f"{condition.name}:{folded}"
            return tantivy.Query.term_query(postings.schema(), postings.FACET, facet)
        return tantivy.Query.term_query(postings.schema(), _FIELDS[condition.name], folded)
    if condition.name in _AT_LEAST:
        return tantivy.Query.range_query(
            postings.schema(),
            _AT_LEAST[condition.name],
            tantivy.FieldType.Integer,
            lower_bound=value,
            upper_bound=None,
            include_upper=True,  # an end that is open must be said to be included
        )
    is_start = condition.name == "since"
    return tantivy.Query.range_query(
        postings.schema(),
        postings.TIME,
        tantivy.FieldType.Integer,
        lower_bound=value if is_start else None,
        upper_bound=None if is_start else value,
        include_upper=is_start,  # an end that is open must be said to be included
    )
