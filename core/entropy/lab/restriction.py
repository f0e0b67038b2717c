"""The pure rewrite of a surface: enums tightened, actions removed. The input is never changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from fabricd.core.canonical import digest, digest_members
from fabricd.core.compiling.artifact import Artifact, Overlay, Quarantine
from fabricd.core.compiling.compile import ordered_actions
from fabricd.core.entropy.lab.proposals import EnumTighten, NoiseQuarantine
from fabricd.core.model import Action, Surface
from fabricd.core.steps import ACTIONS, Steps


def tightened(schema: Mapping[str, Any], proposals: Iterable[EnumTighten]) -> dict[str, Any]:
    """The schema with the enums that proposals for its action keep."""
    properties = dict(schema["properties"])
    for proposal in proposals:
        properties[proposal.key] = {**properties[proposal.key], "enum": list(proposal.values)}
    return {**schema, "properties": properties}


def overlays_of(surface: Surface, proposals: Iterable[EnumTighten]) -> tuple[Overlay, ...]:
    """One overlay an action, in the order in which the proposals name them."""
    schemas = surface.schema_of()
    by_ref: dict[str, list[EnumTighten]] = {}
    for proposal in proposals:
        by_ref.setdefault(proposal.ref, []).append(proposal)
    return tuple(
        Overlay(ref, tightened(schemas[ref], mine), digest(schemas[ref]))
        for ref, mine in by_ref.items()
    )


def quarantined_of(
    surface: Surface, proposals: Iterable[NoiseQuarantine]
) -> tuple[Quarantine, ...]:
    """The removals, with the digests of the live schemas."""
    schemas = surface.schema_of()
    return tuple(Quarantine(row.ref, digest(schemas[row.ref])) for row in proposals)


def effective_steps(surface: Surface, artifact: Artifact) -> Steps[Surface]:
    """The surface as the artifact would leave it, sorted by ref; yields between actions.

    An overlay or removal counts only while the digest of the live schema is the recorded one: what
    was declared anew is nobody's to restrict.
    """
    overlays = {overlay.ref: overlay for overlay in artifact.overlays}
    removed = {(row.ref, row.base_schema_digest) for row in artifact.quarantined}
    touched = set(overlays) | {ref for ref, _ in removed}
    kept: list[Action] = []
    for number, action in enumerate(ordered_actions(surface), start=1):
        if number % ACTIONS == 0:
            yield
        schema = action.input_schema
        live = digest(schema) if action.ref in touched else ""
        if (action.ref, live) in removed:
            continue
        overlay = overlays.get(action.ref)
        if overlay is not None and overlay.base_schema_digest == live:
            schema = overlay.input_schema
        kept.append(Action(action.ref, schema))
    listed = [{"ref": action.ref, "inputSchema": action.input_schema} for action in kept]
    name = yield from digest_members([("actions", listed), ("version", 1)], ACTIONS)
    return Surface(tuple(kept), name)
