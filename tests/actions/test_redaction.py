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
        "client_secret = load_secret(name)",
        "secret = readSecret(name)",
        "hasApiKey = restoredModel",
        'SECRET_KEY = os.environ["X"]',
        "PASSWORD=$DB_PASSWORD",
        "PASSWORD=********",
        "the secret: nothing else",
        "--token option",
        "Authorization: required",
        "https://example.org:8080/a@b",
    ],
)
def test_left_alone(text: str) -> None:
    assert found(text) == []


MIXED = "AbC9dEf0GhI1jKl2MnO3pQr4StU5vWx6YzA7bCd8"
HEX = "0123456789abcdef"
PEM = "-----BEGIN {0}-----\nMIIEowIBAAKCAQEA\n-----END {0}-----"
TOKENS = {
    "AWS": "AKIA" + "QWERTYUIOPASDFGH",
    "AWS for a while": "ASIA" + "QWERTYUIOPASDFGH",
    "GitHub": "ghp_" + MIXED[:36],
    "GitHub OAuth": "gho_" + MIXED[:36],
    "GitHub app": "ghs_" + MIXED[:36],
    "GitHub, of fine grain": "github_pat_" + "11ABCDEFG0" + MIXED[:12] + "_" + MIXED,
    "GitLab": "glpat-" + MIXED[:20],
    "Slack bot": "xoxb-123456789012-1234567890123-" + MIXED[:24],
    "Slack user": "xoxp-123456789012-123456789012-123456789012-" + HEX * 2,
    "Slack app": "xapp-1-A012345678-1234567890123-" + HEX * 4,
    "Slack hook": "https://hooks.slack.com/services/T00000000/B00000000/" + MIXED[:24],
    "Discord hook": "https://discord.com/api/webhooks/123456789012345678/" + MIXED,
    "OpenAI": "sk-" + MIXED[:20] + "T3BlbkFJ" + MIXED[:20],
    "OpenAI, of a project": "sk-proj-" + MIXED,
    "Anthropic": "sk-ant-api03-" + MIXED + "-AbCdEfAA",
    "Anthropic OAuth": "sk-ant-oat01-" + MIXED,
    "OpenRouter": "sk-or-v1-" + HEX * 4,
    "Groq": "gsk_" + MIXED + MIXED[:12],
    "xAI": "xai-" + MIXED + MIXED,
    "Google": "AIza" + "SyD" + MIXED[:32],
    "Google OAuth": "ya29." + MIXED,
    "Hugging Face": "hf_" + MIXED[:34],
    "Stripe": "sk_live_" + MIXED[:24],
    "Stripe, to test": "rk_test_" + MIXED[:24],
    "SendGrid": "SG." + MIXED[:22] + "." + MIXED + "abc",
    "npm": "npm_" + MIXED[:36],
    "PyPI": "pypi-AgEIcHlwaS5vcmc" + MIXED + MIXED,
    "Docker": "dckr_pat_" + MIXED[:27],
    "DigitalOcean": "dop_v1_" + HEX * 4,
    "Vault": "hvs." + MIXED,
    "Databricks": "dapi" + HEX * 2,
    "JWT": f"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.{MIXED}",
    "RSA": PEM.format("RSA PRIVATE KEY"),
    "EC": PEM.format("EC PRIVATE KEY"),
    "PKCS 8": PEM.format("PRIVATE KEY"),
    "PKCS 8, locked": PEM.format("ENCRYPTED PRIVATE KEY"),
    "OpenSSH": PEM.format("OPENSSH PRIVATE KEY"),
    "PGP": PEM.format("PGP PRIVATE KEY BLOCK"),
    "PuTTY": "PuTTY-User-Key-File-2: ssh-rsa\nPrivate-Lines: 1\nAAAB\nPrivate-MAC: 01ab",
    "age": "AGE-SECRET-KEY-1" + "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L" * 2,
}
"""Tokens that tell by themselves what they are, in the shapes of their providers."""


@pytest.mark.parametrize("token", TOKENS.values(), ids=TOKENS)
@pytest.mark.parametrize("around", ["{}", "see '{}', please", '{{\\"x\\": \\"{}\\"}}', "A={}\nB=1"])
def test_a_token_is_found_wherever_it_stands(token: str, around: str) -> None:
    assert found(around.format(token)) == [token]


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("export DB_PASSWORD='s3cr3t-pass'", "s3cr3t-pass"),
        ("DB_PASSWORD=hunter2", "hunter2"),
        ("MYSQL_PWD=hunter2abc", "hunter2abc"),
        ("PGPASS=hunter2abc", "hunter2abc"),
        ("DJANGO_SECRET=abcdefghij12", "abcdefghij12"),
        ("CLIENT_SECRET=correcthorse", "correcthorse"),
        (f"APP_SECRET={HEX * 2}", HEX * 2),
        ("HEROKU_API_KEY=123e4567-e89b-42d3-a456-426614174000",
         "123e4567-e89b-42d3-a456-426614174000"),
        (f"AWS_SECRET_ACCESS_KEY={MIXED}", MIXED),
        (f"aws_session_token = {MIXED}", MIXED),
        ("SECRET_KEY='django-insecure-abc123def456'", "django-insecure-abc123def456"),
        ('password: "hunter2 and a half"', "hunter2 and a half"),
        ("Server=x;User Id=u;Password=hunter2abc;", "hunter2abc"),
        ('{"api_key": "q8Zt5vLp0aXw2RmN7yBd"}', "q8Zt5vLp0aXw2RmN7yBd"),
        ('{\\"api_key\\": \\"q8Zt5vLp0aXw2RmN7yBd\\"}', "q8Zt5vLp0aXw2RmN7yBd"),
        ("curl -H 'Authorization: Bearer abcDEF0123456789xyz'", "abcDEF0123456789xyz"),
        ("Authorization: Bearer abc123def456", "abc123def456"),
        ("Authorization: Basic dXNlcjpwYXNzMTI=", "dXNlcjpwYXNzMTI="),
        (f"authorization: token {MIXED}", MIXED),
        (f"Authorization: {MIXED}", MIXED),
        (f'{{"Proxy-Authorization": "Bearer {MIXED}"}}', MIXED),
        (f"X-API-Key: {HEX * 2}", HEX * 2),
        ("Cookie: sid=hunter2abc; theme=dark", "sid=hunter2abc; theme=dark"),
        ("Set-Cookie: sid=hunter2abc; HttpOnly", "sid=hunter2abc"),
        ("postgres://user:hunter2xyz@db.example.org/x", "hunter2xyz"),
        ("https://bob:pw1@example.org/", "pw1"),
        ("redis://:s3cr3tpw@localhost:6379/0", "s3cr3tpw"),
        ("mongodb+srv://admin:Passw0rd!@cluster0.example.net/db", "Passw0rd!"),
        (f"https://{MIXED}@github.com/a/b", MIXED),
        (f"//registry.example.org/:_authToken={MIXED[:36]}", MIXED[:36]),
        ("//r.example/:_authToken=123e4567-e89b-42d3-a456-426614174000",
         "123e4567-e89b-42d3-a456-426614174000"),
        (f"https://x.example/a?sv=2020&sig={MIXED}%3D", f"{MIXED}%3D"),
        ("machine api.example.org login bob password hunter2abc", "hunter2abc"),
        ("curl -u bob:hunter2abc https://x.example", "hunter2abc"),
        ("tool --password hunter2abc", "hunter2abc"),
        (f"gh auth --token {MIXED}", MIXED),
        ('{"auths":{"r.example":{"auth":"dXNlcjpwYXNzd29yZDEyMw=="}}}', "dXNlcjpwYXNzd29yZDEyMw=="),
        ("write to jo.doe@example.org now", "jo.doe@example.org"),
        ("in /home/joe/src/app", "/home/joe"),
        ("in /Users/Joe.D/src", "/Users/Joe.D"),
        (r"in C:\Users\joe\src", r"C:\Users\joe"),
        ("x -----BEGIN RSA PRIVATE KEY-----\nabc\n", "-----BEGIN RSA PRIVATE KEY-----\nabc\n"),
    ],
)  # fmt: skip
def test_found(text: str, secret: str) -> None:
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


@pytest.mark.parametrize("password", ["pw1", "hunter2", "correct-horse"])
def test_a_hint_tells_little_of_a_short_secret(password: str) -> None:
    (finding,) = findings_in([("e", {"text": f"https://me:{password}@example.org"})])
    assert finding.secret == password
    assert len(finding.hint.partition("…")[0]) <= len(password) / 4


def test_a_record_that_is_deep(tmp_path: Path) -> None:
    record: dict = {"text": "jo@example.org"}
    for _ in range(5000):
        record = {"data": record}
    (finding,) = findings_in([("e", record)])
    assert finding.secret == "jo@example.org"
