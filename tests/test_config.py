"""Settings: where they come from, and what is said when they are wrong."""

from __future__ import annotations

import json
import os
import stat
import tempfile
from pathlib import Path

import pytest

from tau_browser import config
from tau_browser.config import ConfigError
from tau_browser.model.families import FAMILIES, Family
from tau_browser.model.memory import MEMORY_TYPES, MemoryType


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of our own, with nothing in it."""
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return home


# τ's home


def test_home_is_dot_tau_unless_named(home: Path) -> None:
    assert config.tau_home({}) == config.Home(home / ".tau", "default")
    assert config.tau_home({"TAU_HOME": "", "TAU_PORTABLE_BASE": ""}).origin == "default"


def test_named_home_comes_first_links_resolved(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "base" / ".tau").mkdir(parents=True)
    env = {"TAU_HOME": str(tmp_path / "link"), "TAU_PORTABLE_BASE": str(tmp_path / "base")}
    assert config.tau_home(env) == config.Home(tmp_path / "real", "$TAU_HOME")


def test_tilde_in_the_name_is_the_home(home: Path) -> None:
    (home / "t").mkdir()
    assert config.tau_home({"TAU_HOME": "~/t"}).path == home / "t"


def test_portable_base_counts_if_it_holds_a_home(tmp_path: Path, home: Path) -> None:
    base = tmp_path / "base"
    base.mkdir()
    env = {"TAU_PORTABLE_BASE": str(base)}
    assert config.tau_home(env).path == home / ".tau"
    (base / ".tau").mkdir()
    assert config.tau_home(env) == config.Home(base / ".tau", "$TAU_PORTABLE_BASE")


@pytest.mark.parametrize("name", ["TAU_HOME", "TAU_PORTABLE_BASE"])
@pytest.mark.parametrize("kind", ["missing", "file"])
def test_home_that_is_no_directory_is_an_error(tmp_path: Path, name: str, kind: str) -> None:
    path = tmp_path / "x"
    if kind == "file":
        path.write_text("")
    with pytest.raises(ConfigError, match=f"^{name}={path} is not a directory; create it or"):
        config.tau_home({name: str(path)})


def test_naming_a_home_creates_nothing(home: Path) -> None:
    config.tau_home({})
    config.session_roots({}, home)
    assert list(home.iterdir()) == []


# Where sessions may be


def test_roots_without_a_server(home: Path, tmp_path: Path) -> None:
    roots = config.session_roots({}, tmp_path / "work")
    assert [root.path for root in roots] == [
        home / ".tau" / "sessions",
        tmp_path / "work" / ".tau" / "sessions",
    ]


def test_folder_of_the_server_counts_if_it_is_ours(tmp_path: Path) -> None:
    served = tmp_path / f".tau-{os.getuid()}" / "sessions"
    served.mkdir(parents=True)
    assert served in [root.path for root in config.session_roots({}, tmp_path)]


def test_folder_of_the_server_is_refused_if_it_is_a_link(tmp_path: Path) -> None:
    (tmp_path / "theirs" / "sessions").mkdir(parents=True)
    (tmp_path / f".tau-{os.getuid()}").symlink_to(tmp_path / "theirs")
    assert len(config.session_roots({}, tmp_path)) == 2


# Prices


def prices_of(home: Path, text: str) -> dict[str, dict[str, float]]:
    (home / ".tau").mkdir(exist_ok=True)
    (home / ".tau" / "config.json").write_text(text)
    return config.prices({})


def test_prices_by_model(home: Path) -> None:
    models = {
        "a": {"cost": {"input": 3, "output": 15.5, "odd": "x", "flag": True}},
        "b": {"cost": None},
        "c": 5,
    }
    assert prices_of(home, json.dumps({"models": models})) == {"a": {"input": 3.0, "output": 15.5}}


@pytest.mark.parametrize("text", ["{}", '{"models": []}', '{"models": null}'])
def test_no_prices(home: Path, text: str) -> None:
    assert config.prices({}) == {}
    assert prices_of(home, text) == {}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[]", "must be a JSON object"),
        ("{", "mend the file or move it away"),
        pytest.param("[" * 100_000, "mend the file or move it away", id="deep"),
    ],
)
def test_broken_config_of_tau_is_said(home: Path, text: str, reason: str) -> None:
    with pytest.raises(ConfigError, match=f"config.json: .*{reason}"):
        prices_of(home, text)


# Our own settings


def settings_of(text: str) -> config.Settings:
    path = config.config_folder() / "config.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    return config.settings()


def test_settings_have_defaults() -> None:
    settings = config.settings()
    assert (settings.theme, settings.ascii, settings.keys) == (None, False, {})


def test_settings_are_read() -> None:
    settings = settings_of('theme = "nord"\nascii = true\n[keys]\nfind = "f5,slash"\n')
    assert (settings.theme, settings.ascii, settings.keys) == ("nord", True, {"find": "f5,slash"})


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("theme = ", "config.toml: .*mend the file or move it away"),
        ("theme = '\udcff'", "config.toml: .*mend the file or move it away"),
        pytest.param("a = " + "[" * 100_000, "config.toml: .*mend the file", id="deep"),
        ("colour = 1", "config.toml: unknown setting 'colour'; known are theme, ascii, keys"),
        ("theme = 1", "config.toml: theme must be a str"),
        ("ascii = 'yes'", "config.toml: ascii must be a bool"),
        ("[keys]\nfind = 1", r"config.toml: keys.find must be a string such as"),
        ("[tool_families]\nx = 'shel'", "config.toml: tool_families.x must be one of read, write"),
        ("[memory_types]\n'' = 'semantic'", r"memory_types.\(empty\) must be one of episodic"),
    ],
)
def test_wrong_setting_is_said(text: str, reason: str) -> None:
    with pytest.raises(ConfigError, match=reason):
        settings_of(text)


def test_rules_on_names_of_tools() -> None:
    rules = "[tool_families]\njira = 'edit'\n[memory_types]\njira = 'semantic'\n"
    settings = settings_of(rules)
    assert settings.tool_families == {"jira": Family.EDIT}
    assert settings.memory_types == {"jira": MemoryType.SEMANTIC}
    try:
        config.use_rules(settings)
        assert FAMILIES.of("jira").value is Family.EDIT
        assert MEMORY_TYPES.of("jira").value is MemoryType.SEMANTIC
    finally:
        config.use_rules(config.Settings(settings.path))


# What is remembered


def test_remembers_between_runs() -> None:
    assert config.remembered() == {}
    config.remember(theme="nord")
    config.remember(width=3)
    assert config.remembered() == {"theme": "nord", "width": 3}
    (file,) = config.state_folder().iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.parametrize("damage", ["", "[]", "{", "\udcff"])
def test_damaged_memory_is_no_memory(damage: str) -> None:
    config.remember(theme="nord")
    (file,) = config.state_folder().iterdir()
    file.write_bytes(damage.encode("utf-8", "surrogateescape"))
    assert config.remembered() == {}
    config.remember(theme="dracula")
    assert config.remembered() == {"theme": "dracula"}


# The JMFTS server


def configured(home: Path, **session_store: object) -> None:
    (home / ".tau").mkdir(exist_ok=True)
    stored = json.dumps({"session_store": session_store})
    (home / ".tau" / "config.json").write_text(stored)


def test_store_is_as_tau_is_told(home: Path) -> None:
    assert config.store_name({}) == "tau"
    for backend, name in (("file", "tau"), ("jmfts", "jmfts")):
        configured(home, backend=backend)
        assert config.store_name({}) == name
    for wrong in ("x", 1, None):
        configured(home, backend=wrong)
        with pytest.raises(config.ConfigError, match="backend must be"):
            config.store_name({})


def test_connection_is_told_by_flags_then_by_tau_then_by_the_environment(
    home: Path, tmp_path: Path
) -> None:
    env = {"JMFTS_API_URL": "http://env", "JMFTS_API_TOKEN": "of-env"}
    found = config.connection(env)
    assert (found.url, found.url_origin) == ("http://env", "$JMFTS_API_URL")
    assert (found.token, found.token_origin) == ("of-env", "$JMFTS_API_TOKEN")
    configured(home, url="http://config/", token="of-config", parent_id=3)
    found = config.connection(env)
    assert (found.url, found.token, found.parent) == ("http://config", "of-config", 3)
    assert found.token_origin == f"session_store.token in {home / '.tau' / 'config.json'}"
    file = tmp_path / "token"
    file.write_text("of-file\n")
    found = config.connection(env, url="http://flag", token_file=str(file))
    assert (found.url, found.url_origin) == ("http://flag", "--url")
    assert (found.token, found.token_origin) == ("of-file", f"--token-file {file}")
    assert "of-file" not in repr(found)
    configured(home, url="", token="")
    assert config.connection(env).url == "http://env"


@pytest.mark.parametrize(
    ("stored", "why"),
    [
        ({"url": 1}, "session_store.url must be a string"),
        ({"url": "http://x", "token": 1}, "session_store.token must be a string"),
        ({"url": "http://x", "token": "t", "parent_id": "1"}, "parent_id must be a number"),
        ({"url": "http://x", "token": "t", "parent_id": True}, "parent_id must be a number"),
    ],
)
def test_settings_of_a_wrong_kind_are_errors(
    home: Path, stored: dict[str, object], why: str
) -> None:
    configured(home, **stored)
    with pytest.raises(config.ConfigError, match=why):
        config.connection({})


def test_session_store_that_is_no_object_is_an_error(home: Path) -> None:
    (home / ".tau").mkdir()
    (home / ".tau" / "config.json").write_text('{"session_store": []}')
    with pytest.raises(config.ConfigError, match="session_store must be a JSON object"):
        config.connection({})
