"""Reports as JSON, for those who show them."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

KINDS = ("missing-required", "null-optional", "number-text", "undeclared-key", "not-json")


def outcomes(calls: int, errors: int) -> dict[str, int]:
    """Outcomes of calls of which so many failed or timed out."""
    timed_out = errors // 8
    aborted = calls // 200
    return {
        "succeeded": calls - errors - aborted,
        "failed": errors - timed_out,
        "aborted": aborted,
        "timedOut": timed_out,
        "unknown": 0,
    }


def weeks(count: int, calls: int, errors: int, last: date = date(2026, 11, 23)) -> list[Any]:
    """Weeks that end with the last one; more calls in some than in others."""
    return [
        {
            "week": (last - timedelta(days=7 * back)).isoformat(),
            "calls": calls * (1 + back % 4) // 2,
            "errors": errors * (1 + back % 3) // 2,
            "rejected": int(back % 5 == 0 and errors > 0),
        }
        for back in range(count - 1, -1, -1)
    ]


def agent(name: str, tools: list[dict[str, Any]], **members: Any) -> dict[str, Any]:
    """One agent's history, whose sums are those of its tools; other members as given."""
    calls = sum(tool["calls"] for tool in tools)
    errors = sum(tool["errors"] for tool in tools)
    rejected = sum(tool["rejected"] for tool in tools)
    judged = sum(tool["judged"] for tool in tools)
    of = {"calls": calls, "errors": errors, "rejected": rejected}
    return {
        "agent": name,
        "sessions": 1,
        "files": 1,
        "calls": calls,
        "results": calls,
        "outcomes": outcomes(calls, errors),
        "errors": errors,
        "rejections": {
            "recorded": {"rejected": 0, "calls": 0},
            "replayed": {"rejected": rejected, "calls": judged},
        },
        "noSchema": calls - judged,
        "acceptedThoughInvalid": 0,
        "retries": sum(tool["retries"] for tool in tools),
        "retryChurn": None,
        "undated": 0,
        "malformations": {},
        "tools": tools,
        "models": [{"model": "claude-opus-4-6", **of}],
        "projects": [{"project": "/home/me/shop", **of}],
        "weeks": [{"week": "2026-11-23", **of}],
    } | members


def tool(name: str, calls: int, errors: int = 0, rejected: int = 0, judged: int = 0) -> Any:
    """One tool."""
    return {
        "tool": name,
        "calls": calls,
        "errors": errors,
        "rejected": rejected,
        "judged": judged,
        "retries": errors // 3,
    }


def history(*agents: dict[str, Any], **members: Any) -> dict[str, Any]:
    """A report of the last thirty days; other members as given."""
    return {
        "version": 1,
        "filters": {
            "agent": None,
            "project": None,
            "model": None,
            "since": "2026-10-31T00:00:00+01:00",
            "all": False,
            "paths": None,
        },
        "agents": list(agents),
        "skipped": [],
        "losses": {"badLines": 0, "gluedLines": 0, "cutTails": 0, "overlongLines": 0},
        "metric3": None,
    } | members


def newcomer() -> dict[str, Any]:
    """One session of one agent."""
    return history(agent("claude-code", [tool("Bash", 9, 1), tool("Read", 7), tool("Edit", 3)]))


def ordinary() -> dict[str, Any]:
    """Three agents and some weeks."""
    claude = agent(
        "claude-code",
        [
            tool("Bash", 512, 30),
            tool("Read", 301, 6, 1, 1),
            tool("Edit", 120, 9),
            tool("mcp__linear__create_issue", 12, 5),
            tool("Grep", 90),
            tool("TodoWrite", 44),
            tool("WebFetch", 20, 4),
        ],
        sessions=38,
        files=51,
        weeks=weeks(5, 180, 9),
        malformations={"not-json": {"calls": 1, "repairable": 0}},
        projects=[
            {"project": "/home/me/shop", "calls": 900, "errors": 40, "rejected": 1},
            {"project": "/home/me/notes", "calls": 199, "errors": 14, "rejected": 0},
        ],
    )
    pi = agent(
        "pi",
        [tool("bash", 220, 21, 0, 220), tool("edit", 64, 6, 2, 64), tool("read", 140, 2, 0, 140)],
        sessions=12,
        files=12,
        weeks=weeks(3, 120, 6),
        rejections={
            "recorded": {"rejected": 37, "calls": 590},
            "replayed": {"rejected": 2, "calls": 424},
        },
        malformations={
            "missing-required": {"calls": 1, "repairable": 0},
            "key-form": {"calls": 1, "repairable": 1},
        },
        models=[{"model": "openai/gpt-5.1", "calls": 424, "errors": 29, "rejected": 2}],
    )
    codex = agent("codex", [tool("shell", 25, 4, 0, 25)], sessions=2, files=2, undated=3)
    return history(
        claude,
        pi,
        codex,
        skipped=[{"path": "/home/me/.codex/sessions/a.jsonl.zst", "reason": "it is damaged"}],
        losses={"badLines": 0, "gluedLines": 4, "cutTails": 1, "overlongLines": 0},
    )


def huge() -> dict[str, Any]:
    """Thousands of sessions, hundreds of tools, two years."""
    agents = [
        agent(
            name,
            [
                tool(
                    f"mcp__{name}_server_number_{n % 40}__a_tool_with_quite_a_long_name_{n}",
                    90_000 // (n + 1),
                    3_000 // (n + 2),
                    n % 3,
                    40_000 // (n + 1),
                )
                for n in range(400)
            ],
            sessions=5_000,
            files=19_500,
            retryChurn=0.34,
            undated=12,
            acceptedThoughInvalid=428,
            weeks=weeks(104, 4_000, 160),
            malformations={
                slug: {"calls": 120 - 9 * n, "repairable": 40 - 9 * n if n < 4 else 0}
                for n, slug in enumerate((*KINDS, "enum-form", "key-form", "bad-item"))
            },
            models=[
                {"model": f"vendor/model-{n}", "calls": 900 - n, "errors": 20, "rejected": 1}
                for n in range(60)
            ],
            projects=[
                {
                    "project": f"/home/me/work/a/rather/deep/place/of/customers/project-{n}",
                    "calls": 9_000 - n,
                    "errors": 200,
                    "rejected": 3,
                }
                for n in range(200)
            ],
        )
        for name in ("claude-code", "codex", "pi", "copilot-cli", "opencode", "gemini-cli")
    ]
    return history(
        *agents,
        skipped=[
            {"path": f"/home/me/logs/{n}.jsonl", "reason": f"reason {n % 14}"} for n in range(300)
        ],
        losses={"badLines": 3, "gluedLines": 4, "cutTails": 1, "overlongLines": 2},
    )


def nothing() -> dict[str, Any]:
    """Nobody has any log."""
    return history()


def hostile(text: str) -> dict[str, Any]:
    """A text in every place that a log fills."""
    of = {"calls": 40, "errors": 4, "rejected": 1}
    one = agent(
        text,
        [tool(text, 40, 4, 1, 40), tool(text + "2", 2)],
        malformations={text: {"calls": 1, "repairable": 0}},
        models=[{"model": text, **of}, {"model": text + "2", **of}],
        projects=[{"project": text, **of}, {"project": text + "2", **of}],
        weeks=[{"week": text, **of}, {"week": "2026-11-23", **of}],
    )
    value = history(
        one,
        # Both weeks hold as many calls: charts are alike wherever the text is sorted.
        agent("pi", [tool(text, 40, 4, 1, 40)], weeks=[]),
        skipped=[{"path": text, "reason": text}],
    )
    value["filters"] |= {"project": text, "model": text, "since": text, "paths": [text]}
    return value
