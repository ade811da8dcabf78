"""Settings, resolved once and passed down: flags, then τ's configuration, then the environment."""

from __future__ import annotations

import contextlib
import json
import os
import stat
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

APP = "tau-browse"

_QUERIES = "queries"
_KEPT_QUERIES = 50


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
class Settings:
    """What a person set in config.toml."""

    path: Path
    theme: str | None = None
    ascii: bool = False
    keys: dict[str, str] = field(default_factory=dict)  # verb -> keys, separated by commas


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
    known = {"theme": str, "ascii": bool, "keys": dict}
    for name, value in stored.items():
        if name not in known:
            raise ConfigError(f"{path}: unknown setting {name!r}; known are {', '.join(known)}")
        if not isinstance(value, known[name]):
            raise ConfigError(f"{path}: {name} must be a {known[name].__name__}")
    keys = stored.get("keys", {})
    if wrong := [verb for verb, value in keys.items() if not isinstance(value, str)]:
        raise ConfigError(f'{path}: keys.{wrong[0]} must be a string such as "f5" or "j,down"')
    return Settings(path, stored.get("theme"), stored.get("ascii", False), keys)


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


def cache_folder() -> Path:
    """Where the app keeps what it can make anew."""
    from platformdirs import user_cache_path

    return user_cache_path(APP)


def _tau_config(env: Mapping[str, str]) -> dict[str, Any]:
    path = tau_home(env).path / "config.json"
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
