"""Verdicts against labels: what a person says became of a hit, and what the audit says."""

from __future__ import annotations

from collections import Counter

import pytest

from tau_browser.audit.recall import Verdict
from tau_browser.audit.session_audit import audit_session
from tests.audit.labelled import STORIES
from tests.audit.sessions import Story
from tests.conftest import read

VERDICTS = [verdict.value for verdict in Verdict]


def verdicts(story: Story) -> list[tuple[str, str]]:
    """(label, verdict) of each hit; what a read shows has no label."""
    audit = audit_session("story", read(story.log))
    found = [hit.verdict.value for recall in audit.recalls for hit in recall.hits]
    assert len(found) == len(story.labels)
    return [pair for pair in zip(story.labels, found, strict=True) if pair[0]]


def confusion() -> Counter[tuple[str, str]]:
    return Counter(pair for tell in STORIES for pair in verdicts(tell()))


def precision(table: Counter[tuple[str, str]], verdict: str) -> float:
    """The share of those so judged that are so labelled."""
    judged = sum(count for (_, found), count in table.items() if found == verdict)
    return table[verdict, verdict] / judged if judged else 0.0


def recall(table: Counter[tuple[str, str]], verdict: str) -> float:
    """The share of those so labelled that are so judged."""
    labelled = sum(count for (label, _), count in table.items() if label == verdict)
    return table[verdict, verdict] / labelled if labelled else 0.0


def confusion_table(table: Counter[tuple[str, str]]) -> str:
    """Markdown: a row per label, a column per verdict."""
    lines = [["label \\ verdict", *VERDICTS, "precision", "recall"]]
    lines.append(["---", *(["---:"] * (len(VERDICTS) + 2))])
    for label in VERDICTS:
        row = [str(table[label, verdict] or "") for verdict in VERDICTS]
        shares = [f"{share(table, label):.2f}" for share in (precision, recall)]
        lines.append([label, *row, *shares])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def test_verdicts_agree_with_labels(capsys: pytest.CaptureFixture[str]) -> None:
    table = confusion()
    with capsys.disabled():
        print(f"\n{table.total()} hits\n{confusion_table(table)}")
    assert table.total() >= 60
    for verdict in ("cited", "opened"):
        assert precision(table, verdict) == recall(table, verdict) == 1
    assert precision(table, "quoted") >= 0.9 <= recall(table, "quoted")
    assert all(table[label, label] for label in VERDICTS)


@pytest.mark.parametrize("tell", STORIES, ids=lambda tell: tell().records[0]["name"])
def test_every_verdict_says_why(tell: object) -> None:
    story = tell()  # type: ignore[operator]
    session = read(story.log)
    for one in audit_session("story", session).recalls:
        for hit in one.hits:
            assert bool(hit.evidence) == (hit.verdict not in (Verdict.UNUSED, Verdict.UNKNOWN))
            for evidence in hit.evidence:
                assert session.tree.is_ancestor(one.result, evidence.place)
                assert evidence.shared
