"""The configuration file. The only module that imports pydantic, and only the daemon imports it."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from fabricd.core.nesting import SCHEMA_LEVELS, deeper_than
from fabricd.store.addresses import absolute
from fabricd.store.durable import Damaged, Missing, read_bounded, shown

_MAX_BYTES = 16 * 1024


class BadConfig(ValueError):
    """Raised by `load`: the file cannot be used. The message says where and what."""


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Entropy(_Section):
    """`[entropy]`"""

    compile: bool = Field(default=True, description="Compile artifacts; false only measures.")


class Watch(_Section):
    """`[watch]`"""

    rescan_seconds: Annotated[float, Field(ge=1, le=3600)] = Field(
        default=10, description="Seconds between two full looks at the session logs."
    )
    force_polling: bool = Field(
        default=False, description="Poll instead of using file system events."
    )


class Daemon(_Section):
    """`[daemon]`"""

    grace_ms: Annotated[int, Field(ge=0, le=60_000)] = Field(
        default=250, description="How long triggers are gathered before a compile, in ms."
    )


class Log(_Section):
    """`[log]`"""

    level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", description="The least important event that is logged."
    )
    file: str | None = Field(
        default=None, description="Log to this file instead of standard error."
    )


class Config(_Section):
    """Everything that can be set. Missing means the default."""

    entropy: Entropy = Entropy()
    watch: Watch = Watch()
    daemon: Daemon = Daemon()
    log: Log = Log()


def config_path(env: Mapping[str, str]) -> Path:
    """Where the configuration file is, or would be."""
    if given := env.get("FABRICD_CONFIG"):
        return Path(absolute(given, env))
    from platformdirs import user_config_path

    return user_config_path("fabricd", appauthor=False) / "config.toml"


def load(path: Path) -> Config:
    """Read the file; a missing one gives the defaults.

    Raises:
        BadConfig: unreadable, not TOML, an unknown key or a value that does not fit.
    """
    match read_bounded(path, _MAX_BYTES):
        case Missing():
            return Config()
        case Damaged(reason=reason):
            raise BadConfig(f"{shown(path)}: {reason}")
        case bytes() as data:
            return _parse(path, data)


def _parse(path: Path, data: bytes) -> Config:
    if deeper_than(data, SCHEMA_LEVELS):
        raise BadConfig(f"{shown(path)} nests more than {SCHEMA_LEVELS} levels deep")
    try:
        value = tomllib.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise BadConfig(f"{shown(path)} is not UTF-8 (byte {error.start})") from None
    except ValueError as error:
        raise BadConfig(f"{shown(path)} is not TOML: {error}") from None
    try:
        return Config.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise BadConfig(f"{shown(path)}: {_sentence(first)}") from None


_EXPECTED: Mapping[str, str] = {
    "bool_type": "true or false",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "string_type": "a text",
    "model_type": "a table",
}


def _sentence(error: Any) -> str:
    where = ".".join(str(part) for part in error["loc"])
    if error["type"] == "extra_forbidden":
        return f"unknown key {where}{_suggestion(where)}"
    expected = _EXPECTED.get(error["type"])
    if expected is None:
        expected = f"{error['msg'][:1].lower()}{error['msg'][1:]}"
    return f"{where} is {str(error['input'])[:60]!a}, expected {expected}"


def _suggestion(where: str) -> str:
    from rapidfuzz import fuzz, process

    match = process.extractOne(where, known_keys(), scorer=fuzz.ratio, score_cutoff=60)
    return f"; did you mean {match[0]}?" if match else f"; known are {', '.join(known_keys())}"


def known_keys() -> list[str]:
    """Every key, as `section.name`."""
    return [
        f"{section}.{name}" for section, values in Config().model_dump().items() for name in values
    ]


def rendered(config: Config) -> str:
    """The configuration in force, as TOML that could be saved."""
    lines: list[str] = []
    for section, values in config.model_dump().items():
        lines.append(f"[{section}]")
        part: BaseModel = getattr(config, section)
        fields = type(part).model_fields
        for name, value in values.items():
            lines.append(f"# {fields[name].description}")
            shown_value = _toml(value)
            lines.append(f"{name} = {shown_value}" if shown_value else f"# {name} is not set")
        lines.append("")
    return "\n".join(lines)


def _toml(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        import json

        # TOML knows no surrogate pairs and wants DEL escaped, unlike JSON.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def log_file(config: Config, env: Mapping[str, str]) -> Path | None:
    """The log file, with `~` expanded."""
    return Path(absolute(config.log.file, env)) if config.log.file else None


def environment() -> Mapping[str, str]:
    """The process environment, in one place."""
    return os.environ
