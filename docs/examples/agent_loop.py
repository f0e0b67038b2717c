"""The part of an agent framework where a model's tool calls are carried out.

A model API gives each call as a name and the JSON text of its arguments. What a rule can prove is
mended before the tool is called; what none can is told to the model, as it would be without.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple

from fabricd import Normalizer


class ToolCall(NamedTuple):
    """A call as a model wrote it."""

    name: str
    arguments: str


class Toolbox:
    """Functions with their declared parameters."""

    def __init__(self, tools: list[dict[str, Any]], functions: dict[str, Callable[..., Any]]):
        self._functions = functions
        self._normalizer = Normalizer(tools)
        self.repaired = 0

    def carry_out(self, call: ToolCall) -> str:
        """What goes back to the model."""
        result = self._normalizer.apply(call.name, call.arguments)
        self.repaired += result.changed
        # What was not changed is the text itself.
        args = result.args if result.changed else json.loads(result.args)
        try:
            return json.dumps(self._functions[call.name](**args))
        except (KeyError, TypeError, ValueError) as error:
            return f"error: {error}"


TOOLS: list[dict[str, Any]] = [
    {
        "name": "search",
        "parameters": {
            "type": "object",
            "properties": {
                "query": {"type": "string"},
                "maxResults": {"anyOf": [{"type": "integer", "maximum": 50}, {"type": "null"}]},
                "order": {"enum": ["newest", "best-match"]},
                "labels": {"type": "array", "items": {"type": "string"}},
            },
            "required": ["query"],
            "additionalProperties": False,
        },
    }
]


def search(
    query: str,
    maxResults: int | None = None,
    order: str = "newest",
    labels: list[str] | None = None,
) -> list[str]:
    """Stands for a tool that takes its arguments at their word."""
    if order not in ("newest", "best-match"):
        raise ValueError(f"unknown order {order}")
    return [f"{query} {number} {order}" for number in range(maxResults or 1)] + (labels or [])


CALLS = [
    ToolCall("search", '{"query": "007", "maxResults": 1}'),
    ToolCall("search", '{"query": "007", "max_results": "2", "labels": "[\\"a\\"]"}'),
    ToolCall("search", '{"query": "007", "order": "Best Match"}'),
    ToolCall("search", '{"query": "007", "maxResults": "many"}'),
]


def main() -> None:
    toolbox = Toolbox(TOOLS, {"search": search})
    for call in CALLS:
        print(call.arguments, "->", toolbox.carry_out(call))
    print(f"{toolbox.repaired} of {len(CALLS)} calls were repaired")


if __name__ == "__main__":
    main()
