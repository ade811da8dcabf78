"""What is found, what is left alone, and that a secret has one name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tau_browser.actions.redaction.findings import Redactor, findings_in
from tau_browser.actions.redaction.rules import secrets_in
from tests.conftest import DATA, load

CASE = DATA / "bugcases" / "52-export-secrets"
SECRETS = CASE / "sessions" / "--proj-demo--" / "2026-03-01T10-00-00-000Z_s1.jsonl"


def found(text: str) -> list[str]:
    return [text[at.start : at.stop] for at in secrets_in(text)]


def records(path: Path) -> list[tuple[str, dict]]:
    session = load(path)
    return [(session.entry_id(at), session.record(at)) for at in range(len(session))]


def test_the_case_of_the_bug_reports() -> None:
    expected = json.loads((CASE / "expect.json").read_bytes())
    findings = findings_in(records(SECRETS))
    assert sum(finding.count for finding in findings) == expected["redact"]
    redactor = Redactor(findings)
    written = "".join(json.dumps(redactor.record(record)) for _, record in records(SECRETS))
    for kept in expected["keep"]:
        assert kept in written
    for secret in ("AAAAAAA", "BBBBBBB", "CCCCCCC", "DDDDDDD", "hunter2", "RkFLRQ", "EEEEEEE",
                   "FFFFFFF", "GGGGGGG"):  # fmt: skip
        assert secret not in written
    assert written.count("[redacted api-key 1]") == 2  # the same secret, the same name
    assert written.count("[redacted github-token 1]") == 2


@pytest.mark.parametrize(
    "text",
    [
        "commit 0123456789abcdef0123456789abcdef01234567",
        "sha256:" + "0f" * 32,
        "cache_key=0123456789abcdef0123456789abcdef",
        "token_id: 123e4567-e89b-42d3-a456-426614174000",
        "password policy text",
        "max_tokens: 200000",
        "key: value",
        "key = some_function_name",
        "primary_key=True, token=None",
        "secret_name: projects/prod/database",
        "tokens: 1,234,567.89",
        "the key: a long sentence about nothing",
        "keyboard: logitech-wireless-keyboard",
    ],
)
def test_left_alone(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("export DB_PASSWORD='s3cr3t-pass'", "s3cr3t-pass"),
        ('{"api_key": "q8Zt5vLp0aXw2RmN7yBd"}', "q8Zt5vLp0aXw2RmN7yBd"),
        ('{\\"api_key\\": \\"q8Zt5vLp0aXw2RmN7yBd\\"}', "q8Zt5vLp0aXw2RmN7yBd"),
        ("curl -H 'Authorization: Bearer abcDEF0123456789xyz'", "abcDEF0123456789xyz"),
        ("write to jo.doe@example.org now", "jo.doe@example.org"),
        ("in /home/joe/src/app", "/home/joe"),
        ("in /Users/Joe.D/src", "/Users/Joe.D"),
        (r"in C:\Users\joe\src", r"C:\Users\joe"),
        ("redis://:hunter2hunter2@cache.example.invalid", ""),
        ("x -----BEGIN RSA PRIVATE KEY-----\nabc\n", "-----BEGIN RSA PRIVATE KEY-----\nabc\n"),
    ],
)
def test_found(text: str, secret: str) -> None:
    if secret:
        assert found(text) == [secret]


def test_ids_and_pictures_are_not_texts() -> None:
    record = {
        "id": "sk-ant-api03-AAAAAAAAAAAAAAAAAAAAAAAA",
        "message": {
            "tool_call_id": "sk-ant-api03-AAAAAAAAAAAAAAAAAAAAAAAA",
            "content": [{"type": "image", "data": "sk-ant-api03-AAAAAAAAAAAAAAAAAAAAAAAA"}],
        },
    }
    assert findings_in([("e", record)]) == []


def test_what_is_switched_off_stays() -> None:
    findings = findings_in(records(SECRETS))
    only = [finding for finding in findings if finding.kind != "aws-access-key"]
    written = "".join(json.dumps(Redactor(only).record(at)) for _, at in records(SECRETS))
    assert "AKIACCCCCCCCCCCCCCCC" in written and "ghp_" not in written


def test_a_hint_tells_no_secret() -> None:
    findings = findings_in(records(SECRETS))
    for finding in findings:
        said = finding.before + finding.hint + finding.after
        assert not any(other.secret[8:] in said for other in findings)


def test_a_record_that_is_deep(tmp_path: Path) -> None:
    record: dict = {"text": "jo@example.org"}
    for _ in range(5000):
        record = {"data": record}
    (finding,) = findings_in([("e", record)])
    assert finding.secret == "jo@example.org"
