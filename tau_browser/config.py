"""Settings, resolved once and passed down: flags, then τ's configuration, then the environment."""

from __future__ import annotations

import contextlib
import json
import os
import re
import stat
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from tau_browser.model.families import Family
    from tau_browser.model.memory import MemoryType

APP = "tau-browse"

_QUERIES = "queries"
_KEPT_QUERIES = 50
_MEMORY_ACTIONS = ("search", "read", "write")


class ConfigError(Exception):
    """A setting that cannot be used. The message says which, where, and what to do."""


@dataclass(frozen=True, slots=True)
class Home:
    """τ's home folder, and what named it."""

    path: Path
    origin: str


@dataclass(frozen=True, slots=True)
class Root:
    """A folder that may hold sessions, and why we look there."""

    path: Path
    origin: str


@dataclass(frozen=True, slots=True)
class Connection:
    """How to reach a JMFTS server, and what told each part. The token is shown nowhere.

    parent: number of the document below which new conversations are made, or None.
    """

    url: str
    url_origin: str
    token: str = field(repr=False)
    token_origin: str
    parent: int | None = None


@dataclass(frozen=True, slots=True)
class Settings:
    """What a person set in config.toml."""

    path: Path
    theme: str | None = None
    ascii: bool = False
    keys: dict[str, str] = field(default_factory=dict)  # verb -> keys, separated by commas
    memory_tools: dict[str, str] = field(default_factory=dict)  # name pattern -> what it does
    memory_folders: list[str] = field(default_factory=list)  # patterns of paths
    memory_types: dict[str, MemoryType] = field(
        default_factory=dict
    )  # a tool's name or word -> type
    tool_families: dict[str, Family] = field(default_factory=dict)  # the same -> family


def tau_home(env: Mapping[str, str]) -> Home:
    """τ's home as τ finds it (tau-format 1.1). Raises ConfigError."""
    if named := env.get("TAU_HOME"):
        path = Path(named).expanduser()
        if not path.is_dir():
            raise ConfigError(
                f"TAU_HOME={named} is not a directory; create it or unset the variable"
            )
        return Home(path.resolve(), "$TAU_HOME")
    if base := env.get("TAU_PORTABLE_BASE"):
        if not Path(base).is_dir():
            raise ConfigError(
                f"TAU_PORTABLE_BASE={base} is not a directory; create it or unset the variable"
            )
        if (Path(base) / ".tau").is_dir():
            return Home((Path(base) / ".tau").resolve(), "$TAU_PORTABLE_BASE")
    return Home(Path("~/.tau").expanduser(), "default")


def session_roots(env: Mapping[str, str], cwd: Path) -> list[Root]:
    """Every folder where τ may have left sessions (tau-format 1.1 and 1.10). Raises ConfigError."""
    home = tau_home(env)
    roots = [Root(home.path / "sessions", f"τ's home, {home.origin}")]
    served = Path(tempfile.gettempdir()) / f".tau-{os.getuid()}" / "sessions"
    if _is_own_folder(served.parent) and _is_own_folder(served):
        roots.append(Root(served, "sessions of tau --mode rpc"))
    roots.append(Root(cwd / ".tau" / "sessions", "SDK sessions of this directory"))
    return roots


def store_name(env: Mapping[str, str]) -> str:
    """The store that τ's config.json names: "tau" (its files) or "jmfts". Raises ConfigError."""
    backend = _session_store(env).get("backend", "file")
    names = {"file": "tau", "jmfts": "jmfts"}
    if not isinstance(backend, str) or backend not in names:
        raise ConfigError(
            f'{_tau_config_path(env)}: session_store.backend must be "file" or "jmfts"'
        )
    return names[backend]


def connection(
    env: Mapping[str, str], *, url: str | None = None, token_file: str | None = None
) -> Connection:
    """How to reach the JMFTS server: by flags, else as τ's config.json says, else by environment.

    Raises ConfigError.
    """
    stored, origin = _session_store(env), str(_tau_config_path(env))
    found_url = _first(
        (url, "--url"),
        (_text_in(stored, "url", origin), f"session_store.url in {origin}"),
        (env.get("JMFTS_API_URL"), "$JMFTS_API_URL"),
    )
    if found_url is None:
        raise ConfigError(
            "no JMFTS server is named: give --url, set session_store.url in "
            f"{origin}, or set $JMFTS_API_URL"
        )
    found_token = _first(
        (_token_in(token_file), f"--token-file {token_file}"),
        (_text_in(stored, "token", origin), f"session_store.token in {origin}"),
        (env.get("JMFTS_API_TOKEN"), "$JMFTS_API_TOKEN"),
    )
    if found_token is None:
        raise ConfigError(
            "no token for the JMFTS server: give --token-file, set session_store.token in "
            f"{origin}, or set $JMFTS_API_TOKEN"
        )
    if not re.fullmatch(r"[!-~]+", found_token[0]):
        raise ConfigError(f"the token from {found_token[1]} holds a blank or a strange character")
    parent = stored.get("parent_id")
    if parent is not None and type(parent) is not int:
        raise ConfigError(f"{origin}: session_store.parent_id must be a number or null")
    return Connection(*_checked_url(*found_url), *found_token, parent)


def prices(env: Mapping[str, str]) -> dict[str, dict[str, float]]:
    """USD per million tokens by model name, from τ's config.json. Raises ConfigError."""
    models = _tau_config(env).get("models")
    costs = {
        name: model["cost"]
        for name, model in (models.items() if isinstance(models, dict) else ())
        if isinstance(model, dict) and isinstance(model.get("cost"), dict)
    }
    return {
        name: {
            bucket: float(price)
            for bucket, price in cost.items()
            if isinstance(price, int | float) and not isinstance(price, bool)
        }
        for name, cost in costs.items()
    }


def settings() -> Settings:
    """What config.toml says; the defaults where there is none. Raises ConfigError."""
    path = config_folder() / "config.toml"
    try:
        text = path.read_text(encoding="utf-8")
        import tomllib  # which takes its time, and most people have no such file

        stored = tomllib.loads(text)
    except FileNotFoundError:
        return Settings(path)
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: {error}; mend the file or move it away") from error
    tables = ("keys", "memory", "memory_types", "tool_families")
    known = {"theme": str, "ascii": bool, **dict.fromkeys(tables, dict)}
    for name, value in stored.items():
        if name not in known:
            raise ConfigError(f"{path}: unknown setting {name!r}; known are {', '.join(known)}")
        if not isinstance(value, known[name]):
            raise ConfigError(f"{path}: {name} must be a {known[name].__name__}")
    keys = stored.get("keys", {})
    if wrong := [verb for verb, value in keys.items() if not isinstance(value, str)]:
        raise ConfigError(f'{path}: keys.{wrong[0]} must be a string such as "f5" or "j,down"')
    tools, folders = _memory(path, stored.get("memory", {}))
    return Settings(
        path=path,
        theme=stored.get("theme"),
        ascii=stored.get("ascii", False),
        keys=keys,
        memory_tools=tools,
        memory_folders=folders,
        memory_types=_rules(path, stored, "memory_types"),
        tool_families=_rules(path, stored, "tool_families"),
    )


def use_rules(settings: Settings) -> None:
    """Let the person's rules on what names of tools tell hold from now on."""
    from tau_browser.model.families import FAMILIES
    from tau_browser.model.memory import MEMORY_TYPES

    MEMORY_TYPES.use(settings.memory_types)
    FAMILIES.use(settings.tool_families)


def _rules(path: Path, stored: dict[str, Any], table: str) -> dict[str, Any]:
    """The rules of a table of the config: a tool's name or word, and what it tells."""
    if not (rules := stored.get(table)):
        return {}
    from tau_browser.model.families import Family  # only for those who have rules
    from tau_browser.model.memory import MemoryType

    kind = MemoryType if table == "memory_types" else Family
    for text, value in rules.items():
        if not text or value not in list(kind):
            known = ", ".join(kind)
            raise ConfigError(f"{path}: {table}.{text or '(empty)'} must be one of {known}")
    return {text: kind(value) for text, value in rules.items()}


def remembered() -> dict[str, Any]:
    """What the app remembers between runs, such as the theme; {} where that is unreadable."""
    try:
        value = json.loads((state_folder() / "remembered.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def remember(**values: Any) -> None:
    """Keep these for the next run. Raises OSError."""
    folder = state_folder()
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle, temporary = tempfile.mkstemp(dir=folder)  # made 0600
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        json.dump(remembered() | values, file, indent=1)
    os.replace(temporary, folder / "remembered.json")


def remembered_queries() -> list[str]:
    """The last queries, the newest last."""
    stored = remembered().get(_QUERIES)
    queries = stored if isinstance(stored, list) else []
    return [query for query in queries if isinstance(query, str)][-_KEPT_QUERIES:]


def remember_query(query: str) -> None:
    """Make a query the newest. One that cannot be kept is no reason to disturb anybody."""
    others = [other for other in remembered_queries() if other != query]
    if query.strip():
        with contextlib.suppress(OSError):
            remember(**{_QUERIES: [*others, query][-_KEPT_QUERIES:]})


def config_folder() -> Path:
    """Where config.toml is looked for."""
    from platformdirs import user_config_path

    return user_config_path(APP)


def state_folder() -> Path:
    """Where the app keeps what it remembers."""
    from platformdirs import user_state_path

    return user_state_path(APP)


def changes_folder() -> Path:
    """Where the journal of changes is kept, with the trash beside it."""
    return state_folder() / "changes"


def labels_folder() -> Path:
    """Where what a person writes on entries is kept."""
    return state_folder() / "labels"


def cache_folder() -> Path:
    """Where the app keeps what it can make anew."""
    from platformdirs import user_cache_path

    return user_cache_path(APP)


def _first(*found: tuple[str | None, str]) -> tuple[str, str] | None:
    """The first value that is there, and what told it."""
    return next(((value, origin) for value, origin in found if value), None)


def _checked_url(url: str, origin: str) -> tuple[str, str]:
    try:
        parts = urlsplit(url)
        is_whole = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        raise ConfigError(f"the URL from {origin} is none: {url}") from None
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ConfigError(
            f"the URL from {origin} must be a plain http://HOST:PORT: no user, no password, no ?"
        )
    if not is_whole:
        raise ConfigError(f"the URL from {origin} must begin with http:// or https://: {url}")
    return url.rstrip("/"), origin


def _token_in(path: str | None) -> str | None:
    """The token in a file. Raises ConfigError, which quotes nothing of what is in it."""
    if path is None:
        return None
    try:
        token = Path(path).expanduser().read_text(encoding="utf-8").strip()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text"
        raise ConfigError(f"--token-file {path}: {str(reason).lower()}") from None
    if not token:
        raise ConfigError(f"--token-file {path}: it is empty")
    return token


def _text_in(stored: dict[str, Any], name: str, origin: str) -> str | None:
    value = stored.get(name)
    if value is not None and not isinstance(value, str):
        raise ConfigError(f"{origin}: session_store.{name} must be a string")
    return value


def _session_store(env: Mapping[str, str]) -> dict[str, Any]:
    stored = _tau_config(env).get("session_store", {})
    if not isinstance(stored, dict):
        raise ConfigError(f"{_tau_config_path(env)}: session_store must be a JSON object")
    return stored


def _tau_config_path(env: Mapping[str, str]) -> Path:
    return tau_home(env).path / "config.json"


def _memory(path: Path, stored: dict[str, Any]) -> tuple[dict[str, str], list[str]]:
    """The tools and the folders of memories that a person named. Raises ConfigError."""
    tools, folders = stored.get("tools", {}), stored.get("folders", [])
    if unknown := stored.keys() - {"tools", "folders"}:
        named = ", ".join(sorted(unknown))
        raise ConfigError(f"{path}: unknown setting memory.{named}; known are tools, folders")
    if not isinstance(tools, dict) or any(does not in _MEMORY_ACTIONS for does in tools.values()):
        raise ConfigError(
            f"{path}: memory.tools must be names with one of {', '.join(_MEMORY_ACTIONS)}, "
            'such as "notes_find*" = "search"'
        )
    if not isinstance(folders, list) or any(not isinstance(each, str) for each in folders):
        raise ConfigError(f'{path}: memory.folders must be paths such as ["*/notes/*"]')
    return tools, folders


def _tau_config(env: Mapping[str, str]) -> dict[str, Any]:
    path = _tau_config_path(env)
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: {error}; mend the file or move it away") from error
    if not isinstance(value, dict):
        raise ConfigError(f"{path}: must be a JSON object")
    return value


def _is_own_folder(path: Path) -> bool:
    """Whether a folder in a shared place is ours: no link, and nobody else's."""
    try:
        status = path.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid()
