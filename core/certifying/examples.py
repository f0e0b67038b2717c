"""The surface and the sessions that most checks read, and what is known of them by hand.

The canonical texts are written out letter by letter, and hashed by the standard library: no digest
here comes from the code that is certified.
"""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

from fabricd.core.certifying.lines import Json, assistant, called, log, result, traced

SEARCH, OPEN, UPDATE = "mcp.notes.search", "mcp.notes.open", "mcp.notes.update"


def hashed(canonical: str) -> str:
    """SHA-256 of a text that was written down in canonical form."""
    return sha256(canonical.encode()).hexdigest()


# --- the surface

SEARCH_SCHEMA: Json = {
    "type": "object",
    "additionalProperties": False,
    "required": ["query"],
    "properties": {
        "query": {"type": "string"},
        "maxResults": {"type": "integer", "minimum": 1},
        "order": {"type": "string", "enum": ["newest", "oldest", "bestMatch"]},
        "note": {"type": "string"},
    },
}
OPEN_SCHEMA: Json = {"type": "object"}
UPDATE_SCHEMA: Json = {
    "type": "object",
    "additionalProperties": False,
    "required": ["id"],
    "properties": {
        "id": {"type": "string"},
        "due": {"type": ["string", "null"]},
        "archived": {"type": "boolean"},
    },
}
ACTIONS: list[Json] = [
    {"ref": OPEN, "inputSchema": OPEN_SCHEMA},
    {"ref": SEARCH, "inputSchema": SEARCH_SCHEMA},
    {"ref": UPDATE, "inputSchema": UPDATE_SCHEMA},
]


def surface_text(actions: list[Json]) -> bytes:
    """A surface as its file holds it."""
    return json.dumps({"version": 1, "actions": actions}, indent=2).encode() + b"\n"


SURFACE = surface_text(ACTIONS)

_SEARCH_TEXT = (
    '{"additionalProperties":false,"properties":{"maxResults":{"minimum":1,"type":"integer"},'
    '"note":{"type":"string"},"order":{"enum":["newest","oldest","bestMatch"],"type":"string"},'
    '"query":{"type":"string"}},"required":["query"],"type":"object"}'
)
_UPDATE_TEXT = (
    '{"additionalProperties":false,"properties":{"archived":{"type":"boolean"},'
    '"due":{"type":["string","null"]},"id":{"type":"string"}},"required":["id"],"type":"object"}'
)
SEARCH_DIGEST = hashed(_SEARCH_TEXT)
UPDATE_DIGEST = hashed(_UPDATE_TEXT)
SURFACE_DIGEST = hashed(
    '{"actions":[{"inputSchema":{"type":"object"},"ref":"mcp.notes.open"},'
    f'{{"inputSchema":{_SEARCH_TEXT},"ref":"mcp.notes.search"}},'
    f'{{"inputSchema":{_UPDATE_TEXT},"ref":"mcp.notes.update"}}],"version":1}}'
)

# --- the plans that it permits, rule by rule

SEARCH_RULES = [
    ("key-form", "maxResults"),
    ("optional-null", "maxResults"),
    ("numeric-string", "maxResults"),
    ("key-form", "note"),
    ("optional-null", "note"),
    ("key-form", "order"),
    ("optional-null", "order"),
    ("enum-form", "order"),
    ("key-form", "query"),
]
UPDATE_RULES = [
    ("key-form", "archived"),
    ("optional-null", "archived"),
    # No rule for a null: the field may be null, and such a null says something.
    ("key-form", "due"),
    ("key-form", "id"),
]


def plan_json(ref: str, base: str, rules: list[tuple[str, str]]) -> Json:
    """A plan as it is written."""
    return {
        "version": 1,
        "ref": ref,
        "baseSchemaDigest": base,
        "rules": [{"kind": kind, "key": key} for kind, key in rules],
    }


def plan_text(plan: Json) -> str:
    """A plan in canonical form."""
    rules = ",".join(f'{{"key":"{row["key"]}","kind":"{row["kind"]}"}}' for row in plan["rules"])
    return (
        f'{{"baseSchemaDigest":"{plan["baseSchemaDigest"]}","ref":"{plan["ref"]}",'
        f'"rules":[{rules}],"version":1}}'
    )


SEARCH_PLAN = plan_json(SEARCH, SEARCH_DIGEST, SEARCH_RULES)
UPDATE_PLAN = plan_json(UPDATE, UPDATE_DIGEST, UPDATE_RULES)
PLANS = [SEARCH_PLAN, UPDATE_PLAN]
_PLANS_TEXT = f"[{plan_text(SEARCH_PLAN)},{plan_text(UPDATE_PLAN)}]"
COMPILE_DIGEST = hashed(f'{{"plans":{_PLANS_TEXT},"surface":"{SURFACE_DIGEST}"}}')
MERGE_DIGEST = hashed(_PLANS_TEXT)


def artifact_json(score: float, evidence_digest: str) -> Json:
    """The artifact of these plans as it is written."""
    return {
        "version": 2,
        "metricVersion": 3,
        "actions": [],
        "quarantined": [],
        "normalizations": PLANS,
        "applied": [
            {"kind": "normal-form", "ref": SEARCH, "detail": "9 proven rules"},
            {"kind": "normal-form", "ref": UPDATE, "detail": "4 proven rules"},
        ],
        "gate": {"passed": True, "beforeScore": score, "afterScore": score, "reasons": []},
        "evidenceDigest": evidence_digest,
    }


def written(value: Any) -> bytes:
    """A durable file as the standard library writes it."""
    return json.dumps(value, indent=2, ensure_ascii=False).encode() + b"\n"


# --- sessions, and their report

ALPHA = log(
    assistant("m", "alpha"),
    result(
        traced(
            called(SEARCH, {"query": "a"}, "failed", "validate"),
            called(SEARCH, {"query": "a", "note": "n"}),
            called("fabric.discovery.list", {}),
            called(OPEN, {}, "failed", "invoke"),
            phase="Inspect",
        )
    ),
    result(
        traced(
            called(SEARCH, {"query": "b"}),
            # Not a refusal: only what failed can have been refused.
            called(SEARCH, {"query": "b", "note": "n"}, "aborted", "validate"),
            called("fabric.workflow.step", {}),
            called("fabric.kernel.note", {}),
            phase="Inspect",
        )
    ),
)
BETA = log(
    assistant("m", "beta"),
    result(
        traced(
            called(OPEN, {}, "failed", "resolve"),
            called(OPEN, {}, "timed_out"),
            called(UPDATE, {"id": "1"}, "failed", "approve"),
            called(UPDATE, {"id": "1"}),
        )
    ),
)
# Of ten calls of actions two were refused: one at validate, one at resolve.
RATE = 0.2
LEXICON = {SEARCH: 2}
REPORT: Json = {
    "metricVersion": 3,
    "catalogDigest": SURFACE_DIGEST,
    "totals": {
        "traces": 3,
        "operations": 12,
        "actionOperations": 10,
        "discoveryOperations": 1,
        "workflowOperations": 1,
        "succeeded": 4,
        "failed": 4,
        "aborted": 1,
        "timedOut": 1,
        "invocationRejections": 2,
        "invocationRejectionsPer1k": 200,
    },
    # One bit for the four searches, none for the other six calls.
    "shapeEntropyBits": 0.4,
    # One bit for two failures of open, none for the other two.
    "failureStageEntropyBits": 0.5,
    # Nine letters inserted among twenty, and two retries of the same shape.
    "churnRate": 0.15,
    "navigationRatio": 0.1,
    # Two sequences of Inspect, one without a phase: two bits over three traces.
    "flowEntropyBits": 0.666667,
    "lexiconRows": 2,
    # 1 + 0.75 + (log2(3) / 6 + 0.25) + 1.25 for search, 1 for open, 1 + 1 + 0.35 for update.
    "staticFreedom": 6.86416,
    "staticScore": 0.543916,
    "behavioralScore": RATE,
    "score": RATE,
    "refs": [
        {
            "ref": OPEN,
            "calls": 3,
            "succeeded": 0,
            "failed": 2,
            "shapeSignatures": [{"signature": "()", "count": 3}],
            "shapeEntropyBits": 0,
            "failureStageEntropyBits": 1,
            "churnRate": 0,
            "lexiconRows": 0,
            "staticFreedom": 1,
            "score": 0.333333,
        },
        {
            "ref": SEARCH,
            "calls": 4,
            "succeeded": 2,
            "failed": 1,
            "shapeSignatures": [
                {"signature": "(note:str,query:str)", "count": 2},
                {"signature": "(query:str)", "count": 2},
            ],
            "shapeEntropyBits": 1,
            "failureStageEntropyBits": 0,
            "churnRate": 0.45,
            "lexiconRows": 2,
            "staticFreedom": 3.51416,
            "score": 0.25,
        },
        {
            "ref": "fabric.kernel.note",
            "calls": 1,
            "succeeded": 1,
            "failed": 0,
            "shapeSignatures": [{"signature": "()", "count": 1}],
            "shapeEntropyBits": 0,
            "failureStageEntropyBits": 0,
            "churnRate": 0,
            "lexiconRows": 0,
            "staticFreedom": 0,
            "score": 0,
        },
        {
            "ref": UPDATE,
            "calls": 2,
            "succeeded": 1,
            "failed": 1,
            "shapeSignatures": [{"signature": "(id:str)", "count": 2}],
            "shapeEntropyBits": 0,
            "failureStageEntropyBits": 0,
            "churnRate": 0,
            "lexiconRows": 0,
            "staticFreedom": 2.35,
            "score": 0,
        },
    ],
    "byModel": [
        {
            "model": "m/alpha",
            "operations": 8,
            "actionOperations": 6,
            "succeeded": 3,
            "invocationRejections": 1,
            "invocationRejectionsPer1k": 166.666667,
            "behavioralScore": 0.166667,
        },
        {
            "model": "m/beta",
            "operations": 4,
            "actionOperations": 4,
            "succeeded": 1,
            "invocationRejections": 1,
            "invocationRejectionsPer1k": 250,
            "behavioralScore": 0.25,
        },
    ],
}
REPORT_TEXT = json.dumps(REPORT, separators=(",", ":"), ensure_ascii=False)
