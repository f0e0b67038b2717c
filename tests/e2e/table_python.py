"""Calls to the fetch, git and time servers."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

from tests.e2e.calls import Call, bent, failing, proper, refused


def fetch_calls(url: str) -> list[Call]:
    """Calls to the fetch server; a local HTTP server answers below `url`."""
    page = f"{url}/page"
    return [
        proper("fetch", url=page),
        proper("fetch", url=page, max_length=40, start_index=10, raw=False),
        proper("fetch", url=f"{url}/html", raw=True),
        proper("fetch", url=page, undeclared={"max_length": "5"}),
        failing("fetch", url=f"{url}/missing"),
        # A whole number by its schema, and none to this server.
        failing("fetch", url=page, max_length=20.0),
        bent("number-text", "fetch", {"url": page, "max_length": "20"}, url=page, max_length=20),
        bent("number-text", "fetch", {"url": page, "start_index": "0"}, url=page, start_index=0),
        *(
            bent(
                "boolean-text",
                "fetch",
                {"url": page, "raw": said},
                url=page,
                raw=said.lower() == "true",
            )
            for said in ("true", "True", "TRUE", "false", "False", "fAlSe")
        ),
        bent("null-optional", "fetch", {"url": page, "max_length": None}, url=page),
        bent("null-optional", "fetch", {"url": page, "start_index": None}, url=page),
        bent("null-optional", "fetch", {"url": page, "raw": None}, url=page),
        bent("null-optional", "fetch", {"max_length": None, "raw": None, "url": page}, url=page),
        bent(
            "several",
            "fetch",
            {"url": page, "max_length": "30", "start_index": None, "raw": "True"},
            url=page,
            max_length=30,
            raw=True,
        ),
        bent(
            "whole", "fetch", json.dumps({"url": page, "max_length": 25}), url=page, max_length=25
        ),
        bent("whole", "fetch", json.dumps({"url": page}, indent=2), url=page),
        refused("number-lossy", "fetch", {"url": page, "max_length": "1e3"}),
        refused("number-lossy", "fetch", {"url": page, "max_length": "20.5"}),
        refused("number-lossy", "fetch", {"url": page, "max_length": 20.5}),
        refused("number-text", "fetch", {"url": page, "max_length": "0"}),
        refused("list-for-number", "fetch", {"url": page, "max_length": "[5]"}),
        refused("boolean-text", "fetch", {"url": page, "raw": "yes"}),
        refused("boolean-text", "fetch", {"url": page, "raw": "1"}),
        refused("null-required", "fetch", {"url": None}),
        refused("missing-required", "fetch", {}),
        refused("container-for-scalar", "fetch", {"url": [page]}),
        refused("alias-key", "fetch", {"URL": page}),
        refused("several", "fetch", {"url": page, "max_length": None, "start_index": "x"}),
        refused("unknown-tool", "Fetch", {"url": page}),
    ]


_WHEN = "2026-01-02T03:04:05Z"


def lay_out_repository(root: Path) -> None:
    """A repository with one commit and one change."""
    (root / "a.txt").write_text("one\n")
    who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    # The same commit in each run.
    env = {**os.environ, "GIT_AUTHOR_DATE": _WHEN, "GIT_COMMITTER_DATE": _WHEN}
    for command in (("init", "-q", "-b", "main"), ("add", "."), (*who, "commit", "-qm", "First")):
        subprocess.run(("git", *command), cwd=root, check=True, env=env)
    (root / "a.txt").write_text("one\ntwo\n")
    (root / "b.txt").write_text("b\n")


def git_calls(repo: str) -> list[Call]:
    """Calls to the git server: above all, what is proper arrives as it was sent."""
    return [
        proper("git_status", repo_path=repo),
        proper("git_diff_unstaged", repo_path=repo, context_lines=1),
        proper("git_add", repo_path=repo, files=["a.txt"]),
        proper("git_diff_staged", repo_path=repo),
        proper("git_diff", repo_path=repo, target="HEAD"),
        proper("git_reset", repo_path=repo),
        proper("git_log", repo_path=repo, max_count=1, start_timestamp=None),
        proper("git_log", repo_path=repo, start_timestamp="2 weeks ago", end_timestamp=None),
        proper("git_create_branch", repo_path=repo, branch_name="true", base_branch=None),
        proper("git_create_branch", repo_path=repo, branch_name="other", base_branch="main"),
        proper("git_branch", repo_path=repo, branch_type="local"),
        proper("git_checkout", repo_path=repo, branch_name="other"),
        proper("git_show", repo_path=repo, revision="HEAD"),
        failing("git_branch", repo_path=repo, branch_type="Local"),
        failing("git_show", repo_path=repo, revision="none"),
        bent(
            "null-optional",
            "git_diff_unstaged",
            {"repo_path": repo, "context_lines": None},
            repo_path=repo,
        ),
        bent("null-optional", "git_log", {"repo_path": repo, "max_count": None}, repo_path=repo),
        bent("whole", "git_status", json.dumps({"repo_path": repo}), repo_path=repo),
        refused("scalar-for-array", "git_add", {"repo_path": repo, "files": "a.txt"}),
        refused("python-literal", "git_add", {"repo_path": repo, "files": "['a.txt']"}),
        refused("null-required", "git_status", {"repo_path": None}),
    ]


def time_calls() -> list[Call]:
    """Calls to the time server."""
    noon = {"source_timezone": "Etc/UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"}
    return [
        proper("convert_time", **noon),
        proper("convert_time", **{**noon, "time": "00:30"}),
        proper("convert_time", **{**noon, "source_timezone": "Europe/London"}),
        proper("convert_time", **{**noon, "target_timezone": "America/New_York"}),
        proper("convert_time", **noon, extra=None),
        failing("get_current_time", timezone="Nowhere/None"),
        failing("convert_time", **{**noon, "time": "25:00"}),
        bent("whole", "convert_time", json.dumps(noon), **noon),
        refused("null-required", "get_current_time", {"timezone": None}),
        refused("missing-required", "convert_time", {"time": "12:00"}),
        refused("alias-key", "get_current_time", {"time_zone": "Etc/UTC"}),
    ]
