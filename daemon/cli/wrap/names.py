"""What a wrapped server is called that nobody named: a word of its command that is surely no value.

Names stand in logs and reports, values of options may be secrets: where a word may be one, the name
is that of the launcher.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

_PACKAGES = frozenset({"-y", "--yes", "--no", "-q", "--quiet", "-s", "--silent", "--"})
_UV = frozenset(
    {
        "-q", "--quiet", "-v", "--verbose", "--offline", "--isolated", "--no-cache", "-n", "-U",
        "--refresh", "--frozen", "--locked", "--no-sync", "--no-project", "--managed-python",
        "--upgrade", "--no-config", "--active", "--all-extras", "--no-dev", "--no-progress", "--",
    }
)  # fmt: skip
_UV_VALUES = frozenset(
    {
        "--from", "--with", "-w", "--python", "-p", "--directory", "--project", "--env-file",
        "--extra", "--group", "--index", "--index-url", "-i", "--cache-dir", "--with-editable",
        "--with-requirements", "--default-index", "--extra-index-url", "--config-file",
        "--spec",
    }
)  # fmt: skip
_DOCKER = frozenset(
    {
        "-i", "-t", "-it", "-ti", "-d", "--rm", "--init", "--interactive", "--tty", "--detach",
        "--privileged", "--read-only", "-P", "-q", "--quiet", "--no-healthcheck", "--",
    }
)  # fmt: skip
_DOCKER_VALUES = frozenset(
    {
        "-e", "--env", "--env-file", "-v", "--volume", "--mount", "-p", "--publish", "--network",
        "--net", "--name", "-w", "--workdir", "-u", "--user", "--entrypoint", "-l", "--label",
        "--platform", "--pull", "--add-host", "-h", "--hostname", "--gpus", "--memory", "-m",
        "--cpus", "--security-opt", "--cap-add", "--cap-drop", "--tmpfs", "--context", "-H",
    }
)  # fmt: skip
_NODE = frozenset({"--", "--no-warnings", "--enable-source-maps", "--trace-warnings"})
_NODE_VALUES = frozenset({"-r", "--require", "--import", "--loader", "--env-file", "-C"})
_DENO = frozenset({"-A", "--allow-all", "-q", "--quiet", "-r", "--reload", "--no-lock", "--"})
_PYTHON_FLAGS = frozenset("bBdEiIOPqsSuvx")
_PACKAGE_VALUES = frozenset({"-p", "--package", "--registry", "--prefix", "-w", "--workspace"})

# Words that start a server and are none: their options without a value, and those with one.
_LAUNCHERS: dict[str, tuple[frozenset[str], frozenset[str]]] = {
    **dict.fromkeys(("npx", "npm", "pnpm", "yarn", "bunx", "bun"), (_PACKAGES, _PACKAGE_VALUES)),
    **dict.fromkeys(("uv", "uvx", "pipx"), (_UV, _UV_VALUES)),
    **dict.fromkeys(("docker", "podman"), (_DOCKER, _DOCKER_VALUES)),
    "node": (_NODE, _NODE_VALUES),
    "deno": (_DENO, frozenset({"--config", "-c", "--import-map"})),
    "env": (frozenset({"-i", "-", "--ignore-environment", "-v", "--"}), frozenset({"-u", "-C"})),
    "sudo": (frozenset({"-E", "-n", "-H", "--"}), frozenset({"-u", "-g"})),
    "sh": (frozenset({"-e", "-u", "-x", "--"}), frozenset()),
    "bash": (frozenset({"-e", "-u", "-x", "-l", "--login", "--"}), frozenset()),
    "cmd": (frozenset({"/c", "/C", "/s", "/S", "/d", "/D"}), frozenset()),
}
_NEITHER: tuple[frozenset[str], frozenset[str]] = (frozenset(), frozenset())
# Behind a launcher, the words of what it shall do.
_DOES = frozenset({"dlx", "exec", "run", "tool", "x", "container"})
_PYTHON = re.compile(r"python[0-9.]*\Z")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=(?!=)")
_VERSION = re.compile(r"(?<=.)[@=:<>~].*")


def name_of(command: Sequence[str]) -> str:
    """What a server is called that nobody named: the first word that is no launcher.

    Never the value of an option, nor of a variable: where that is unsure, the launcher's name.
    """
    launcher = plain(command[0])
    if not _is_launcher(launcher):
        return launcher or "server"
    return _started_by(launcher, list(command[1:])) or launcher


def _started_by(launcher: str, words: list[str]) -> str | None:
    while words:
        word = words.pop(0)
        if _VARIABLE.match(word):
            continue
        if _is_option(launcher, word):
            if not _is_passed(launcher, word, words):
                return None
            continue
        name = plain(word)
        if _is_launcher(name):
            launcher = name
        elif word not in _DOES:
            return name or None
    return None


def _is_option(launcher: str, word: str) -> bool:
    return word.startswith("-") or (launcher == "cmd" and word.startswith("/"))


def _is_passed(launcher: str, option: str, words: list[str]) -> bool:
    """Take an option, with its value; gives whether it is certain what that is."""
    if option.startswith("--") and "=" in option:
        return True
    if _PYTHON.match(launcher):
        # Behind -m stands the name, behind -c or -W something else.
        flags = set(option[1:].removesuffix("m"))
        return len(option) > 1 and flags <= _PYTHON_FLAGS
    without, with_value = _LAUNCHERS.get(launcher, _NEITHER)
    if option in with_value:
        del words[:1]
        return True
    return option in without or (launcher == "deno" and option.startswith("--allow-"))


def _is_launcher(word: str) -> bool:
    return word in _LAUNCHERS or _PYTHON.match(word) is not None


def plain(word: str) -> str:
    """A path, a package or an image as a name: without folders, version and suffix."""
    last = _VERSION.sub("", os.path.basename(word.rstrip("/")))
    last = re.sub(r"\.(?:js|mjs|cjs|ts|py|exe|cmd|sh)\Z", "", last)
    return re.sub(r"[^A-Za-z0-9._-]+", "-", last).strip("-.")[:64]
