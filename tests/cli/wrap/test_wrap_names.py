"""What a server is called that nobody named: never what may be the value of an option."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricd.daemon.cli.wrap.names import name_of


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("npx -y @modelcontextprotocol/server-filesystem@2026.8.31 /tmp", "server-filesystem"),
        ("uvx mcp-server-fetch==1.0", "mcp-server-fetch"),
        ("uvx fetch==1.0", "fetch"),
        ("uvx --from git+https://host/x tool-server", "tool-server"),
        ("uv --directory /x run server.py", "server"),
        ("uv tool run pkg", "pkg"),
        ("python3.11 -m mcp_server_git", "mcp_server_git"),
        ("python -um mod", "mod"),
        ("/usr/bin/node /opt/x/build/index.js --port 5", "index"),
        ("node --env-file .env x.js", "x"),
        ("docker run -i --rm ghcr.io/a/b:latest", "b"),
        ("deno run --allow-net=host -A main.ts", "main"),
        ("cmd /c npx -y pkg", "pkg"),
        ("sudo -u me server", "server"),
        ("./server.sh --token s3cret", "server"),
        ("npx", "npx"),
        ("--", "server"),
    ],
)
def test_a_server_that_nobody_named_has_a_name(command: str, name: str) -> None:
    assert name_of(command.split(" ")) == name
    assert name_of(["./my server.sh"]) == "my-server"


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("npx --api-key s3cret -y pkg", "npx"),
        ("npm --token s3cret exec pkg", "npm"),
        ("docker run -e s3cret image", "image"),
        ("docker run -i -eTOKEN=s3cret image", "docker"),
        ("docker run --unheard s3cret image", "docker"),
        ("env API_KEY=s3cret server", "server"),
        ("env -i API_KEY=s3cret npx -y @a/b@1", "b"),
        ("env API_KEY=s3cret", "env"),
        ("sh -c s3cret", "sh"),
        ("bash -lc s3cret", "bash"),
        ("python -c s3cret", "python"),
        ("python -X s3cret mod", "python"),
        ("node --eval s3cret", "node"),
        ("uvx pkg --token s3cret", "pkg"),
    ],
)
def test_the_value_of_an_option_is_no_name(command: str, name: str) -> None:
    assert name_of(command.split(" ")) == name


@given(
    st.sampled_from(["npx", "uvx", "docker", "node", "env", "python", "sh", "deno", "cmd", "sudo"]),
    st.lists(
        st.sampled_from(["-y", "run", "--", "--unheard s3cret", "-Z s3cret", "-e s3cret"])
        | st.sampled_from(["KEY=s3cret", "--key=s3cret", "-ks3cret", "npx", "pkg"]),
        max_size=5,
    ),
)
def test_no_secret_of_an_unknown_option_is_ever_a_name(launcher: str, words: list[str]) -> None:
    command = " ".join([launcher, *words]).split(" ")
    # What is an option to one launcher alone may be a flag to another.
    if "-e s3cret" not in words or launcher == "docker":
        assert "s3cret" not in name_of(command)
