"""The configuration in force. The only module that imports pydantic: a daemon and `config` do.

An option overrides a variable, a variable the file, the file the default. Each source is judged by
itself first, so that what is wrong is told even where something else overrides it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from fabricd.core.nesting import SCHEMA_LEVELS, deeper_than
from fabricd.daemon.settings.keys import BY_NAME
from fabricd.daemon.settings.layers import (
    Default,
    Layer,
    Origin,
    Place,
    environment_layer,
    file_layer,
    flag_layer,
)
from fabricd.daemon.settings.sentences import sentences
from fabricd.store.addresses import absolute
from fabricd.store.durable import Damaged, Missing, read_bounded, shown
from fabricd.store.homes import find

_MAX_BYTES = 16 * 1024


class BadConfig(ValueError):
    """Raised where a source cannot be used. `problems` says of each where, what, and what to do."""

    def __init__(self, *problems: str) -> None:
        more = f" (and {len(problems) - 1} more: see fabricd config check)" if problems[1:] else ""
        super().__init__(problems[0] + more)
        self.problems = problems


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Entropy(_Section):
    """`[entropy]`"""

    compile: bool = Field(default=True, description=BY_NAME["entropy.compile"].purpose)


class Watch(_Section):
    """`[watch]`"""

    rescan_seconds: Annotated[float, Field(ge=1, le=3600)] = Field(
        default=10, description=BY_NAME["watch.rescan_seconds"].purpose
    )
    force_polling: bool = Field(default=False, description=BY_NAME["watch.force_polling"].purpose)


class Daemon(_Section):
    """`[daemon]`"""

    grace_ms: Annotated[int, Field(ge=0, le=60_000)] = Field(
        default=250, description=BY_NAME["daemon.grace_ms"].purpose
    )


class Log(_Section):
    """`[log]`"""

    level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", description=BY_NAME["log.level"].purpose
    )
    file: str | None = Field(default=None, description=BY_NAME["log.file"].purpose)


class Config(_Section):
    """Everything that can be set. Missing means the default."""

    entropy: Entropy = Entropy()
    watch: Watch = Watch()
    daemon: Daemon = Daemon()
    log: Log = Log()


@dataclass(frozen=True)
class InForce:
    """The configuration, and which source each of its values is from."""

    config: Config
    layers: tuple[Layer, ...]

    def origin(self, place: Place) -> Origin:
        """Where the value at `(section, name)` comes from."""
        for layer in reversed(self.layers):
            if layer.holds(place):
                return layer.origin(place)
        return Default()


def config_path(env: Mapping[str, str]) -> Path:
    """Where the configuration file is, or would be."""
    if given := env.get("FABRICD_CONFIG"):
        return Path(absolute(given, env))
    from platformdirs import user_config_path

    return user_config_path("fabricd", appauthor=False) / "config.toml"


def in_force(env: Mapping[str, str], flags: Mapping[str, str | bool | None]) -> InForce:
    """What the options (by dotted key), the environment and the file say together.

    Raises:
        BadConfig: one of them says what cannot be used.
    """
    from_file = _file(config_path(env))
    layers = (*from_file, environment_layer(env), flag_layer(flags))
    _require_sound(layers)
    return InForce(Config.model_validate(_merged(layers)), layers)


def load(path: Path) -> Config:
    """Read one file alone; a missing one gives the defaults.

    Raises:
        BadConfig: unreadable, not TOML, an unknown key or a value that does not fit.
    """
    layers = tuple(_file(path))
    _require_sound(layers)
    return Config.model_validate(_merged(layers))


def _file(path: Path) -> Iterator[Layer]:
    name = shown(path)
    match read_bounded(path, _MAX_BYTES):
        case Missing():
            return
        case Damaged(reason=reason):
            raise BadConfig(f"{name}: {reason}; make it a readable file, or move it away")
        case bytes() as data:
            yield _parsed(name, data)


def _parsed(name: str, data: bytes) -> Layer:
    if deeper_than(data, SCHEMA_LEVELS):
        raise BadConfig(f"{name} nests more than {SCHEMA_LEVELS} levels deep; no key needs that")
    try:
        return file_layer(name, data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise BadConfig(f"{name} is not UTF-8 (byte {error.start}); save it as UTF-8") from None
    except ValueError as error:
        raise BadConfig(f"{name} is not TOML: {error}; correct it there") from None


def _require_sound(layers: Iterable[Layer]) -> None:
    problems: list[str] = []
    for layer in layers:
        try:
            Config.model_validate(layer.values)
        except ValidationError as error:
            found: Any = error.errors(include_url=False)
            problems += sentences(layer, found, schema())
    if problems:
        raise BadConfig(*problems)


def _merged(layers: Iterable[Layer]) -> dict[str, dict[str, Any]]:
    merged: dict[str, dict[str, Any]] = {}
    for layer in layers:
        for section, values in layer.values.items():
            merged[section] = {**merged.get(section, {}), **values}
    return merged


def schema() -> dict[str, Any]:
    """The JSON Schema of the file, for editors."""
    made = Config.model_json_schema()
    sections = {
        name: {
            "type": "object",
            "additionalProperties": False,
            "properties": {
                k: _rule(v) for k, v in made["$defs"][name.title()]["properties"].items()
            },
        }
        for name in made["properties"]
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "fabricd configuration",
        "type": "object",
        "additionalProperties": False,
        "properties": sections,
    }


def _rule(made: dict[str, Any]) -> dict[str, Any]:
    """A key's rule without what only the generator needs; TOML has no null to allow or default."""
    rule = {**made, **made.get("anyOf", [{}])[0]}
    names = ("description", "type", "enum", "minimum", "maximum", "default")
    return {name: rule[name] for name in names if rule.get(name) is not None}


def log_file(config: Config, env: Mapping[str, str]) -> Path | None:
    """The log file, with `~` expanded; None for standard error.

    Raises:
        BadConfig: it lies among the session logs, where it would be read as one.
    """
    given = config.log.file
    if not given or given == "-":
        return None
    path = Path(absolute(given, env))
    sessions = find(env).sessions
    try:
        inside = Path(os.path.realpath(path)).is_relative_to(os.path.realpath(sessions))
    except ValueError:
        raise BadConfig(
            f"the log file {shown(path)} is no path: name another in log.file"
        ) from None
    if inside:
        raise BadConfig(
            f"the log file {shown(path)} lies below {shown(sessions)}, where every log is read as "
            "a session: name one elsewhere in log.file"
        )
    return path
