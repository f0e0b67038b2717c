"""Surfaces that are none, or are hostile: one sentence, and no step outside this machine."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.running import Cli, action, process, surface_of

BAD = {
    "empty": (b"", "not JSON"),
    "cut": (surface_of(action("a.b"))[:-20], "not JSON"),
    "two documents": (surface_of() * 2, "not JSON"),
    "not UTF-8": (b'{"version":1,"actions":["\xff"]}', "not UTF-8"),
    "a list": (b"[]", "object"),
    "null": (b"null", "object"),
    "no version": (b'{"actions":[]}', "version 1"),
    "version 2": (surface_of(version=2), "version 1"),
    "version true": (surface_of(version=True), "version 1"),
    "version text": (surface_of(version="1"), "version 1"),
    "no actions": (b'{"version":1}', "actions"),
    "actions are an object": (b'{"version":1,"actions":{}}', "actions"),
    "depth 200": (surface_of() [:-2] + b"[" * 200 + b"]" * 200 + b"]}", "levels"),
    "depth 100,000": (b"[" * 100_000, "levels"),
    "NaN": (b'{"version":1,"actions":[],"x":NaN}', "NaN"),
    "1e400": (b'{"version":1,"actions":[{"ref":"a","inputSchema":{"minimum":1e400}}]}', "1e400"),
    "10^400": (b'{"version":1,"actions":[{"ref":"a","x":1' + b"0" * 400 + b"}]}", "double"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_a_file_that_is_no_surface_is_one_sentence(
    cli: Cli, place: Path, sessions: Path, name: str
) -> None:
    data, words = BAD[name]
    path = place / "surface.json"
    path.write_bytes(data)
    cli("derive", path).complains(2, str(path), words)
    cli("measure", "--sessions", sessions, "--surface", path).complains(2, str(path), words)
    cli("compile", "--sessions", sessions, "--surface", path).complains(2, str(path), words)


@pytest.mark.parametrize("name", ["missing", ".", "file/below", "\udcff\n\x1b[31m"])
def test_a_path_that_cannot_be_read_is_one_sentence(
    cli: Cli, place: Path, sessions: Path, name: str
) -> None:
    (place / "file").write_bytes(surface_of())
    for command in (["derive"], ["measure", "--sessions", sessions, "--surface"]):
        cli(*command, place / name).complains(2, str(place))


@pytest.mark.skipif(os.getuid() == 0, reason="root reads everything")
def test_an_unreadable_file_is_one_sentence(cli: Cli, place: Path) -> None:
    (place / "surface.json").write_bytes(surface_of())
    (place / "surface.json").chmod(0)
    cli("derive", place / "surface.json").complains(2, str(place / "surface.json"))


@pytest.mark.parametrize("command", ["derive", "digest"])
def test_a_fifo_without_a_writer_holds_nobody_up(place: Path, command: str) -> None:
    os.mkfifo(place / "fifo")
    process(command, place / "fifo", seconds=15).complains(2, str(place / "fifo"))


@pytest.mark.parametrize("command", ["derive", "digest"])
def test_a_fifo_whose_writer_says_nothing_is_one_sentence(place: Path, command: str) -> None:
    os.mkfifo(place / "fifo")
    # Open for both, so that neither end has to wait for the other.
    descriptor = os.open(place / "fifo", os.O_RDWR)
    try:
        process(command, place / "fifo", seconds=15).complains(2, str(place / "fifo"))
    finally:
        os.close(descriptor)


def test_elements_that_are_no_actions_are_dropped(cli: Cli, place: Path) -> None:
    odd: list[object] = [None, 5, [], {}, {"ref": 5}, {"ref": None, "inputSchema": {}}]
    (place / "surface.json").write_bytes(surface_of(*odd, action("a.b")))
    (place / "plain.json").write_bytes(surface_of(action("a.b")))
    assert cli("derive", place / "surface.json") == cli("derive", place / "plain.json")


def test_a_byte_order_mark_and_duplicate_keys_are_read_as_the_agent_does(
    cli: Cli, place: Path
) -> None:
    plain = surface_of(action("a.b"))
    (place / "plain.json").write_bytes(plain)
    (place / "odd.json").write_bytes(
        b"\xef\xbb\xbf" + plain.replace(b'{"version": 1', b'{"version": 7, "version": 1')
    )
    assert cli("derive", place / "odd.json") == cli("derive", place / "plain.json")


@contextmanager
def web() -> Generator[tuple[int, list[object]], None, None]:
    """A local port that notes who comes."""
    visitors: list[object] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            while True:
                try:
                    connection, peer = server.accept()
                except OSError:
                    return
                visitors.append(peer)
                connection.close()

        thread = threading.Thread(target=serve)
        thread.start()
        yield server.getsockname()[1], visitors
        server.shutdown(socket.SHUT_RDWR)
        thread.join(timeout=10)


@pytest.mark.parametrize("keyword", ["$ref", "$schema"])
@pytest.mark.parametrize("where", ["root", "property"])
def test_a_schema_on_the_web_is_never_fetched(
    cli: Cli, place: Path, keyword: str, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a connection was tried")

    with web() as (port, visitors):
        monkeypatch.setattr(socket.socket, "connect", refuse)
        outside = {keyword: f"http://127.0.0.1:{port}/schema.json"}
        inner = {"a": outside if where == "property" else {"type": "integer"}}
        schema = {"type": "object", "additionalProperties": False, "properties": inner}
        schema |= outside if where == "root" else {}
        (place / "surface.json").write_bytes(surface_of(action("a.b", schema), action("c.d")))
        found = cli("derive", place / "surface.json")
        line = b'{"ref":"a.b","args":{"A":"5"},"schema":' + _text(schema) + b"}"
        applied = cli("apply", stdin=line)
    assert visitors == []
    assert found.code == applied.code == 0
    assert "c.d" in [plan["ref"] for plan in found.json["plans"]]
    if keyword == "$ref":
        [row] = found.json["withoutPlan"]
        assert row["ref"] == "a.b" and row["reason"]
        assert applied.lines == [{"args": {"A": "5"}, "witness": None}]


@pytest.mark.parametrize("keyword", ["$ref", "$schema"])
def test_a_schema_in_a_file_is_never_opened(place: Path, keyword: str) -> None:
    # Whoever opens this fifo waits for a writer that never comes.
    os.mkfifo(place / "schema.json")
    outside = {keyword: (place / "schema.json").as_uri()}
    schema = {"type": "object", "additionalProperties": False, "properties": {"a": outside}}
    (place / "surface.json").write_bytes(surface_of(action("a.b", schema), action("c.d")))
    found = process("derive", place / "surface.json", seconds=10)
    assert found.code == 0
    assert "c.d" in [plan["ref"] for plan in found.json["plans"]]


def _text(schema: object) -> bytes:
    return surface_of(schema)[len(b'{"version": 1, "actions": [') : -2]
