"""Plain words for what stands in a report: agents, malformations, names from logs, rates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fabricd.core.plain import printable

ENOUGH = 30
_UNKNOWN = 40

AGENTS: Mapping[str, str] = {
    "pi": "Pi",
    "claude-code": "Claude Code",
    "codex": "Codex",
    "copilot-cli": "Copilot CLI",
    "opencode": "OpenCode",
    "gemini-cli": "Gemini CLI",
    "gateway": "Gateway",
}

KINDS: Mapping[str, str] = {
    "json-text": "a list or object sent as JSON text",
    "python-literal": "a list or object sent as Python text",
    "number-text": "a number sent as text",
    "number-lossy": "a number sent as text that no number spells exactly so",
    "list-for-number": "a list where one number belongs",
    "boolean-text": "true or false sent as text",
    "null-optional": "null for an argument that may be left out",
    "null-required": "null for an argument that is required",
    "enum-form": "an allowed value in another spelling",
    "enum-unknown": "a value that is not among the allowed ones",
    "key-form": "an argument's name in another spelling",
    "undeclared-key": "an argument that the tool does not have",
    "missing-required": "a required argument is missing",
    "bad-item": "something wrong inside a list or object",
    "scalar-for-array": "a single value where a list belongs",
    "container-for-scalar": "a list or object where a single value belongs",
    "not-json": "arguments that are not JSON",
    "unknown-tool": "a tool that does not exist",
}


def agent_name(agent: str) -> str:
    """An agent as people call it."""
    return AGENTS.get(agent) or middle(printable(agent), _UNKNOWN)


def kind_words(slug: str) -> str:
    """A kind of malformation in words."""
    return KINDS.get(slug) or middle(printable(slug), _UNKNOWN)


def name_words(name: str, what: str) -> str:
    """A name from a log, or that there is none."""
    return printable(name) if name.strip() else f"(no {what} named)"


def middle(text: str, width: int) -> str:
    """A text of at most `width` characters: what is too long loses its middle."""
    if len(text) <= width:
        return text
    head = max(0, width) // 2
    tail = width - head - 1
    return f"{text[:head]}…{text[len(text) - tail :]}" if tail > 0 else "…"[:width]


def rate(part: int, whole: int) -> str:
    """A share in per cent, or that the calls are too few."""
    if whole < ENOUGH:
        return "too few to say"
    if part and 100 * part / whole < 0.01:
        return "under 0.01 %"
    return f"{100 * part / whole:.2f} %"


def short_rate(part: int, whole: int) -> str:
    """The same for a table, whose notes say what `too few` means; nothing for no calls."""
    if not whole:
        return ""
    return "too few" if whole < ENOUGH else rate(part, whole)


def listed(words: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
