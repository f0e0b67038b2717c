"""Every rule on every place of a tool's schema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fabricd.core.lint.dialects import dialect_findings, draft_of, root_findings
from fabricd.core.lint.findings import SEVERITIES, Finding, found
from fabricd.core.lint.objects import object_findings
from fabricd.core.lint.places import places, pointer_to
from fabricd.core.lint.values import value_findings
from fabricd.core.nesting import SCHEMA_LEVELS, value_deeper_than
from fabricd.core.plain import is_object
from fabricd.core.steps import ACTIONS, Steps
from fabricd.core.validation import Unjudgeable, Validator

_UNIONS = ("anyOf", "oneOf", "allOf")


def lint_steps(tools: Mapping[str, Any]) -> Steps[list[Finding]]:
    """The findings of a listing, tool by tool in its order, yielding between them.

    Args:
        tools: the schema by name, None where a tool declares none.
    """
    findings: list[Finding] = []
    for index, (tool, schema) in enumerate(tools.items(), start=1):
        findings.extend(lint(tool, schema))
        if index % ACTIONS == 0:
            yield
    return findings


def lint(tool: str, schema: object) -> list[Finding]:
    """What makes one tool hard to call: the worst first, then by place. Never raises."""
    if schema is None:
        return [found("no-schema", tool, "", "nothing is said about its arguments")]
    if not is_object(schema):
        return [found("unjudgeable-schema", tool, "", "the schema is not an object")]
    if value_deeper_than(schema, SCHEMA_LEVELS):
        deep = f"it nests more than {SCHEMA_LEVELS} levels deep"
        return [found("unjudgeable-schema", tool, "", deep)]
    every = dict.fromkeys(_everything(tool, schema))
    return sorted(every, key=lambda finding: SEVERITIES.index(finding.severity))


def _everything(tool: str, schema: dict[str, Any]) -> Iterator[Finding]:
    judge, reason = _judge(schema)
    if reason is not None:
        yield from _unjudged(tool, schema, reason)
    yield from _root(tool, schema)
    yield from root_findings(tool, schema)
    draft = draft_of(schema)
    for place in places(schema):
        yield from dialect_findings(tool, draft, place)
        yield from object_findings(tool, schema, judge, place)
        yield from value_findings(tool, schema, judge, place)


def _root(tool: str, schema: Mapping[str, Any]) -> Iterator[Finding]:
    if schema.get("type") != "object":
        said = "the type is another one" if "type" in schema else "no type is said"
        yield found("root-not-object", tool, "", said)
    for name in _UNIONS:
        if name in schema:
            yield found("root-union", tool, f"/{name}", f"{name} stands at the root")


def _unjudged(tool: str, schema: dict[str, Any], reason: str) -> Iterator[Finding]:
    culprits = list(_culprits(tool, schema))
    yield from culprits
    if not culprits:
        yield found("unjudgeable-schema", tool, "", reason)


def _culprits(tool: str, schema: dict[str, Any]) -> Iterator[Finding]:
    """The properties that alone make the schema one that cannot be judged."""
    declared = schema.get("properties")
    if not is_object(declared) or _judge({**schema, "properties": {}})[1] is not None:
        return
    for name, inner in declared.items():
        _, reason = _judge({**schema, "properties": {name: inner}})
        if reason is not None:
            yield found("unjudged-property", tool, pointer_to("", "properties", name), reason)


def _judge(schema: dict[str, Any]) -> tuple[Validator | None, str | None]:
    """The validator of a schema, or why there is none."""
    try:
        return Validator(schema), None
    except Unjudgeable as error:
        return None, error.reason
