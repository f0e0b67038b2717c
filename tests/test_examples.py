"""The examples of the documentation run as they stand."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

from tests.harness import ROOT

EXAMPLES = ROOT / "docs" / "examples"


def run(name: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(EXAMPLES / name)]
    return subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=30)


def test_the_server_repairs_in_front_of_its_handlers() -> None:
    def call(number: int, arguments: Any) -> str:
        params = {"name": "add", "arguments": arguments}
        return json.dumps(
            {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
        )

    lines = [
        json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json.dumps({"jsonrpc": "2.0", "id": 0, "method": "tools/list"}),
        call(1, {"numbers": [1, 2.5]}),
        call(2, {"numbers": "[1, 2]", "round": "True"}),
        call(3, {"NUMBERS": ["1", "2"], "round": None}),
        call(4, {"numbers": "1, 2"}),
    ]
    done = run("mcp_server.py", "\n".join(lines) + "\n")
    listed, *replies = [json.loads(line)["result"] for line in done.stdout.splitlines()]
    assert [tool["name"] for tool in listed["tools"]] == ["add"]
    told = [(reply["content"][0]["text"], reply["isError"]) for reply in replies]
    assert told[:3] == [("3.5", False), ("3", False), ("3", False)]
    assert told[3][1]
    assert done.stderr.splitlines() == [
        "add: repaired by json-container, boolean-string",
        "add: repaired by key-form, numeric-string, optional-null",
    ]


def test_the_agent_repairs_what_can_be_proven_and_tells_the_rest() -> None:
    done = run("agent_loop.py")
    answers = [line.partition(" -> ")[2] for line in done.stdout.splitlines()]
    assert answers[1] == '["007 0 newest", "007 1 newest", "a"]'
    assert answers[2] == '["007 0 best-match"]'
    assert answers[3].startswith("error: 'str' object")
    assert done.stdout.splitlines()[-1] == "2 of 4 calls were repaired"
    assert done.stderr == ""
