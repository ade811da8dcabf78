"""What cannot be used is refused with a sentence that says what to do, through both faces."""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.jmfts.appliance import Appliance
from tests.jmfts.making import Making


@pytest.fixture
def no_jmfts() -> Iterator[str]:
    """A web server that is none."""

    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(302 if "moved" in self.headers["Authorization"] else 200)
            self.end_headers()
            self.wfile.write(b"<html>hello</html>")

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def refused(run: Run, *argv: str) -> str:
    """What a command says that ends with 2 and prints nothing."""
    result = run(*argv)
    assert (result.code, result.out) == (2, ""), result
    return result.err


def test_no_url(run: Run, home: Path) -> None:
    said = refused(run, "ls", "--store", "jmfts")
    assert "no JMFTS server is named: give --url" in said


def test_no_token(run: Run, home: Path) -> None:
    said = refused(run, "ls", "--url", "http://127.0.0.1:9")
    assert "no token for the JMFTS server: give --token-file" in said


@pytest.mark.parametrize(
    ("token", "why"),
    [("", "it is empty"), ("two words", "holds a blank"), ("\N{SNOWMAN}", "a strange character")],
)
def test_token_that_is_none_is_not_quoted(
    run: Run, home: Path, tmp_path: Path, token: str, why: str
) -> None:
    file = tmp_path / "token"
    file.write_text(token)
    said = refused(run, "ls", "--url", "http://127.0.0.1:9", "--token-file", str(file))
    assert why in said and (not token or token not in said)


def test_wrong_token(
    run: Run, home: Path, appliance: Appliance, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JMFTS_API_TOKEN", "wrong-token")
    said = refused(run, "ls", "--url", appliance.url)
    assert "rejects the token; give the right one" in said and "wrong-token" not in said


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("http://127.0.0.1:9", "cannot be reached: connection refused; is the server running?"),
        ("http://no-such-host.invalid", "cannot be reached"),
        ("localhost:8100", "must begin with http:// or https://"),
        ("ftp://localhost", "must begin with http:// or https://"),
        ("http://me:secret@localhost", "no user, no password"),
        ("http://[::1", "is none"),
    ],
)
def test_url_that_leads_nowhere(
    run: Run, home: Path, monkeypatch: pytest.MonkeyPatch, url: str, why: str
) -> None:
    monkeypatch.setenv("JMFTS_API_TOKEN", "some-token")
    said = refused(run, "ls", "--url", url)
    assert why in said and "secret" not in said and "some-token" not in said


def test_what_is_no_jmfts(
    run: Run, home: Path, no_jmfts: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JMFTS_API_TOKEN", "some-token")
    assert "with something that no JMFTS sends" in refused(run, "ls", "--url", no_jmfts)
    monkeypatch.setenv("JMFTS_API_TOKEN", "moved")
    assert "sends elsewhere (302)" in refused(run, "ls", "--url", no_jmfts)


def test_files_and_a_server_at_once(run: Run, home: Path) -> None:
    for files in (["--session-dir", "."], ["--demo"]):
        assert "give one of the two" in refused(run, "ls", "--store", "jmfts", *files)
    assert "are of a server" in refused(run, "ls", "--store", "tau", "--url", "http://x")


def test_what_is_hidden_and_what_is_not_there(
    run: Run, home: Path, appliance: Appliance, making: Making, monkeypatch: pytest.MonkeyPatch
) -> None:
    hidden, _ = making.chain("a secret")
    stranger = making.request("POST", "/access/principals", json={"name": "stranger"})["id"]
    other = making.request("POST", "/access/principals", json={"name": "other"})["id"]
    token = making.request("POST", f"/access/principals/{stranger}/tokens", json={"label": "x"})
    grant = {"principal_id": other, "level": "read"}
    making.request("POST", f"/access/documents/{hidden}/grants", json=grant)
    secret = next(value for name, value in token.items() if "token" in name and len(str(value)) > 8)
    monkeypatch.setenv("JMFTS_API_TOKEN", secret)
    for document in (str(hidden), "12345"):
        said = refused(run, "show", "--url", appliance.url, document)
        assert f"Document {document} not found, or it is not open to this token" in said


def test_both_faces_refuse_alike_and_the_token_is_never_shown(
    run: Run, home: Path, appliance: Appliance, making: Making
) -> None:
    making.chain("hello")
    config = home / ".tau" / "config.json"
    config.parent.mkdir(exist_ok=True)
    config.write_text(
        json.dumps(
            {
                "session_store": {
                    "backend": "jmfts",
                    "url": appliance.url,
                    "token": appliance.token,
                    "parent_id": 7,
                }
            }
        )
    )
    report = run("doctor", "--json")
    server = json.loads(report.out)["server"]
    assert server == server | {
        "url": appliance.url,
        "url_origin": f"session_store.url in {config}",
        "token_origin": f"session_store.token in {config}",
        "parent": 7,
        "version": "0.8.0",
        "conversations": 1,
        "documents": 2,
    }
    for shown in (report.out, run("doctor").out, run("ls", "--json").out):
        assert appliance.token not in shown
    assert "hello" in run("show", "1").out


def test_doctor_says_what_is_wrong_with_the_server(
    run: Run, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JMFTS_API_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("JMFTS_API_TOKEN", "some-token")
    report = run("doctor", "--store", "jmfts", "--json")
    assert report.code == 2
    facts = json.loads(report.out)
    assert facts["server"]["url_origin"] == "$JMFTS_API_URL"
    assert "cannot be reached" in facts["problems"][0] and "some-token" not in report.out
