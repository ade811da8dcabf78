"""What filters can be completed with: the tools, models, kinds and projects that an index holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from tau_browser.model.families import family_of
from tau_browser.search.index import postings
from tau_browser.search.index.reader import Reader

Values = dict[str, list[str]]
"""By the name of a filter, what it may ask for, the most frequent first."""

_FIELDS = {"tool": postings.TOOL, "kind": postings.KIND, "role": postings.ROLE}


def known_values(reader: Reader) -> Values:
    """What filters may ask of an index. Raises NoIndex."""
    with reader.guarded():
        facts = {
            name: Counter(dict(reader.searcher.terms_with_prefix(field, "")))
            for name, field in _FIELDS.items()
        }
        models = [group.model for group in reader.catalog.groups()]
    projects = [file.cwd for file in reader.files()]
    facts |= {"model": Counter(models), "project": Counter(projects)}
    values = {name: _most_frequent_first(counts) for name, counts in facts.items()}
    families = {family for tool in values["tool"] if (family := family_of(tool))}
    return values | {"tool": [*dict.fromkeys([*sorted(families), *values["tool"]])]}


def _most_frequent_first(counts: Counter[str]) -> list[str]:
    values: Iterable[str] = (value for value, _ in counts.most_common())
    return [value for value in values if value]
