"""Schemas never reach the network or the file system."""

from __future__ import annotations

import builtins
import os
import socket
from pathlib import Path
from typing import Any

import pytest

from fabricd.core.validation import Unjudgeable, Validator, accepts
from tests.core.making import Json

REMOTE = "http://127.0.0.1:{port}/schema.json"


def reaching_out(reference: str) -> list[Json]:
    """Schemas that would be loaded from elsewhere, if anything ever were."""
    return [
        {"type": "object", "properties": {"n": {"$ref": reference}}},
        {"type": "object", "properties": {"n": {}}, "$schema": reference},
        {
            "type": "object",
            "properties": {"n": {}},
            "$id": reference,
            "allOf": [{"$ref": "x.json"}],
        },
        {"type": "object", "properties": {"n": {"$dynamicRef": reference}}},
    ]


def explode(*args: object, **_: object) -> Any:
    raise AssertionError(f"reached out: {args}")


def ask(schema: Json) -> None:
    try:
        validator = Validator(schema)
    except Unjudgeable:
        assert not accepts(schema, {})
        return
    validator.accepts({"n": 1})
    validator.property_accepts("n", 1)


def test_no_schema_opens_a_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    # The validator is native code, which no patched function sees: a real listener does.
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.2)
        reference = REMOTE.format(port=listener.getsockname()[1])
        with monkeypatch.context() as patch:
            patch.setattr(socket, "socket", explode)
            patch.setattr(builtins, "open", explode)
            patch.setattr(os, "open", explode)
            for schema in reaching_out(reference):
                ask(schema)
        with pytest.raises(TimeoutError):
            listener.accept()


def test_no_schema_reads_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "x.json").write_text("{}")
    reference = (tmp_path / "x.json").as_uri()
    with monkeypatch.context() as patch:
        patch.chdir(tmp_path)
        patch.setattr(builtins, "open", explode)
        patch.setattr(os, "open", explode)
        for schema in [*reaching_out(reference), *reaching_out("x.json")]:
            ask(schema)
        with pytest.raises(Unjudgeable):
            Validator(reaching_out(reference)[0])
