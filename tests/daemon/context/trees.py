"""A small project in several languages, and an engine to ask about it."""

from __future__ import annotations

import json
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fabricd.core.steps import finish
from fabricd.daemon.clock import SystemClock
from fabricd.daemon.context.engine import Engine
from tests.store.context.trees import git, make_repository, write

CLIENT = (
    '''"""Talks to a server."""

from errors import TooManyRedirects


class Client:
    """Keeps connections."""

    def __init__(self, limit: int = 20) -> None:
        self.limit = limit
        self.history: list[str] = []

    def send(self, url: str) -> str:
        """Send a request and follow its redirects."""
        response = self._open(url)
        while response.startswith("redirect:"):
            self.follow(response)
            response = self._open(response.removeprefix("redirect:"))
        return response

    def follow(self, response: str) -> None:
        """Remember a redirect; too many of them are an error."""
        self.history.append(response)
        if len(self.history) > self.limit:
            raise TooManyRedirects(self.history)

    def _open(self, url: str) -> str:
        return url

    def close(self) -> None:
        self.history.clear()

    def is_open(self) -> bool:
        return bool(self.history)

    def padding(self) -> list[int]:
        return [
'''
    + "".join(f"            {number},\n" for number in range(40))
    + '''        ]


def open_client() -> Client:
    """A client with the usual limit."""
    return Client()
'''
)
ERRORS = '''class TooManyRedirects(Exception):
    """A redirect loop."""

    def __init__(self, history: list[str]) -> None:
        super().__init__("exceeded the allowed number of redirects")
        self.history = history
'''
GUIDE = """# Guide

## Redirects

A client follows redirects until there are too many.

## Caching

Nothing is cached.
"""
TYPES = """export interface Session {
  token: string;
}

export function openSession(token: string): Session {
  return { token };
}
"""


def project(root: Path) -> Path:
    """A committed tree of five files."""
    make_repository(root)
    write(root, "src/client.py", CLIENT)
    write(root, "src/errors.py", ERRORS)
    write(root, "docs/guide.md", GUIDE)
    write(root, "web/session.ts", TYPES)
    write(root, "tests/test_client.py", "def test_redirects():\n    assert True\n")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "Follow redirects")
    return root


class Asked:
    """An engine that is asked with keywords."""

    def __init__(self, engine: Engine, root: Path) -> None:
        self.engine = engine
        self.root = root

    def __call__(self, method: str, **params: Any) -> dict[str, Any]:
        params.setdefault("root", str(self.root))
        steps = self.engine.ask(method, json.dumps(params).encode())
        answer: dict[str, Any] = json.loads(finish(steps))
        return answer

    def select(self, query: str, budget: int = 8000, **more: Any) -> dict[str, Any]:
        return self("select", query=query, budget=budget, **more)


@contextmanager
def opened(state: Path, root: Path) -> Generator[Asked, None, None]:
    """An engine over a state directory."""
    engine = Engine.open(state, SystemClock())
    try:
        yield Asked(engine, root)
    finally:
        engine.close()
