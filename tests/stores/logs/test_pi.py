"""pi's sessions of three versions."""

from __future__ import annotations

from pathlib import Path

import pytest

from tau_browser.model.columns import Flag
from tau_browser.model.context import config_at, fold_at
from tau_browser.model.payload import history_of
from tau_browser.model.summary import summary_of
from tau_browser.stores.pi.format import PI
from tau_browser.stores.pi.store import PiStore
from tau_browser.stores.session_file import load_session
from tau_browser.stores.store import Listed, StoreError
from tests.conftest import DATA
from tests.stores.logs.conftest import parents, said, session_in
from tests.stores.logs.writing import pi, pi_header, pi_message, write_lines

CASE = DATA / "bugcases" / "35-mixed-versions" / "pi" / "sessions" / "--proj-demo--"


def test_first_version_is_one_chain_without_ids() -> None:
    session = load_session(str(next(CASE.glob("*pi1.jsonl"))), PI)
    assert parents(session) == {"line-2": None, "line-3": "line-2", "line-4": "line-3"}
    assert not session.diagnostics
    assert session.leaf == 2
    assert fold_at(session, 2).context.tolist() == [2, 0, 1]  # keeps from the first message


def test_third_version_is_a_tree_with_its_parent_session() -> None:
    session = load_session(str(next(CASE.glob("*pi3.jsonl"))), PI)
    assert parents(session) == {"a": None, "b": "a", "c": "a", "l": "c", "cm": "l"}
    assert session.entry_id(session.leaf) == "cm"
    assert summary_of(session).parent == "/elsewhere/x.jsonl"
    assert said(session)[3] == ("customEntry", "", "label\nlabel: keep\ntargetId: a")
    assert said(session)[4] == ("customMessage", "custom", "note")


def test_pi_goes_on_at_the_last_line_whatever_it_is() -> None:
    session = session_in(PI, [pi_header(), pi_message("a", None), pi("label", "l", "a")])
    assert session.entry_id(session.leaf) == "l"


def test_compaction_keeps_what_it_says() -> None:
    entries = [
        pi_message("a", None),
        pi_message("b", "a"),
        pi("compaction", "c", "b", summary="so far", firstKeptEntryId="b"),
        pi_message("d", "c"),
    ]
    session = session_in(PI, [pi_header(), *entries])
    context = [session.entry_id(int(at)) for at in fold_at(session, session.leaf).context]
    assert context == ["c", "b", "d"]


def test_compaction_that_keeps_messages_in_itself() -> None:
    tail = [
        {"message": {"role": "user", "content": "kept"}},
        {"role": "assistant", "content": "on"},
    ]
    entries = [
        pi_message("a", None),
        pi("compaction", "c", "a", summary="so far", retainedTail=tail),
        pi("compaction", "d", "c", summary="again", retainedTail=[{"id": "a"}, *tail]),
    ]
    session = session_in(PI, [pi_header(), *entries])
    assert history_of(session.record(1)) == [("user", "kept"), ("assistant", "on")]
    assert session.text(1) == "so far\nkept\non"
    assert fold_at(session, 1).context.tolist() == [1]
    # an entry that is named stands in the tree, where it was said
    assert history_of(session.record(2)) == []
    assert fold_at(session, 2).context.tolist() == [2, 0, 1]


def test_settings_usage_and_errors_in_words_of_tau() -> None:
    usage = {"input": 5, "output": 7, "cacheRead": 1, "cacheWrite": 2, "cost": {"total": 0.25}}
    entries = [
        pi("model_change", "a", None, provider="prov", modelId="big"),
        pi("thinking_level_change", "b", "a", thinkingLevel="high"),
        pi_message("c", "b", role="assistant", usage=usage, stopReason="aborted"),
        pi("message", "d", "c", message={"role": "bashExecution", "command": "ls", "output": "f"}),
    ]
    session = session_in(PI, [pi_header(), *entries])
    assert config_at(session, 3) == {"model": "big", "backend": "prov", "thinking": "high"}
    assert session.usage.tolist() == [[5, 7, 1, 2]]
    extra = session.record(2)["message"]["usage"]["extra"]
    assert extra == {"cost as pi counted it, USD": 0.25}
    assert session.has(2, Flag.ABORTED)
    assert session.text(3) == "ls\nf"


def test_record_as_stored_stays_as_it_is() -> None:
    label = pi("label", "l", None, targetId="x", label="here")
    session = session_in(PI, [pi_header(), label])
    assert b'"targetId": "x"' in session.raw(0) and session.record(0)["type"] == "customEntry"


def test_forks_hang_under_their_source(tmp_path: Path) -> None:
    source = write_lines(tmp_path / "a.jsonl", [pi_header("p1"), pi_message("a", None)])
    write_lines(tmp_path / "b.jsonl", [pi_header("p2", parentSession=str(source))])
    store = PiStore([str(tmp_path)])
    looked = [store.look_into(item) for item in store.scan() if isinstance(item, Listed)]
    found = {item.summary.id: item.summary.parent for item in looked if item.summary}
    assert found == {"p1": None, "p2": str(source)}


def test_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "me"))
    home = tmp_path / "me" / ".pi" / "agent"

    def places(**env: str) -> list[str]:
        return [place.path for place in PiStore.places(env)]

    def settings(folder: Path, text: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "settings.json").write_text(text)

    own = str(home / "sessions")
    assert places() == [own]
    assert places(PI_CODING_AGENT_DIR="/x") == ["/x/sessions"]
    settings(home, '{"sessionDir": "~/talks", "theme": "dark"}')
    assert places() == [str(tmp_path / "me" / "talks"), own]
    settings(tmp_path / ".pi", '{"sessionDir": ".pi/sessions"}')
    assert places() == [str(tmp_path / ".pi" / "sessions"), own]
    assert places(PI_CODING_AGENT_SESSION_DIR="/y") == ["/y"]
    settings(tmp_path / ".pi", "{")
    with pytest.raises(StoreError, match="cannot be read as pi's settings"):
        places()
