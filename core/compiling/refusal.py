"""Why a document is no artifact: what was expected at which member, and what was found there.

The guard alone decides. Here one member after another of the refused document is put into a sound
artifact and shown to the guard again, so that the two can never disagree about a member.
"""

from __future__ import annotations

from typing import Any

from fabricd.core.compiling.artifact import MAX_APPLIED, MAX_PLANS, artifact_of
from fabricd.core.plain import is_list, is_number, is_object

_SOUND: dict[str, Any] = {
    "metricVersion": 3,
    "actions": [],
    "quarantined": [],
    "normalizations": [],
    "applied": [],
    "gate": {"passed": True, "beforeScore": 0, "afterScore": 0, "reasons": []},
    "evidenceDigest": "-",
}
_EXPECTED = {
    "metricVersion": "a whole number of at least 1",
    "actions": "a list of restrictions, each ref once",
    "quarantined": "a list of refs with their digests",
    "normalizations": f"a list of at most {MAX_PLANS:,} plans",
    "applied": f"a list of at most {MAX_APPLIED} rows with kind, ref and detail",
    "gate": "passed, two scores and a list of reasons",
    "evidenceDigest": "a text",
}
_EMPTIED = ("actions", "quarantined")


def refusal_of(value: object) -> str | None:
    """What keeps a JSON value from being an artifact, as one sentence; None where it is one."""
    if artifact_of(value) is not None:
        return None
    if not is_object(value):
        return f"expected an object, found {_found(value)}"
    version = value.get("version")
    if not (is_number(version, 1) or is_number(version, 2)):
        return f"expected version 1 or 2, found {_found(version)}"
    for name in _SOUND:
        if artifact_of({**_SOUND, "version": version, name: value.get(name)}) is None:
            return _at(name, value.get(name), is_number(version, 2))
    return "its members do not fit together"


def _at(name: str, found: object, is_current: bool) -> str:
    if name in _EMPTIED and is_current and is_list(found):
        return f"expected {name} of version 2 to be empty, found {_found(found)}"
    if name == "normalizations" and is_list(found) and len(found) <= MAX_PLANS:
        return _among_plans(found)
    return f"expected {name} to be {_EXPECTED[name]}, found {_found(found)}"


def _among_plans(plans: list[Any]) -> str:
    for index, plan in enumerate(plans):
        if artifact_of({**_SOUND, "version": 2, "normalizations": [plan]}) is None:
            return f"expected normalizations[{index}] to be a plan, found {_found(plan)}"
    return f"expected one plan for each ref, found several for {_repeated(plans)}"


def _repeated(plans: list[Any]) -> str:
    seen: set[str] = set()
    for plan in plans:
        if plan["ref"] in seen:
            return str(plan["ref"])[:40]
        seen.add(plan["ref"])
    return "one ref"


def _found(value: object) -> str:
    """A value in a few words."""
    if value is None:
        return "nothing"
    if is_object(value):
        names = ", ".join(name[:40] for name in list(value)[:4])
        return f"an object with {names}{', …' if len(value) > 4 else ''}" if value else "{}"
    if is_list(value):
        return f"a list of {len(value)}"
    if isinstance(value, bool):
        return "true" if value else "false"
    return f'"{value[:40]}"' if isinstance(value, str) else str(value)[:40]
