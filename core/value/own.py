"""What fabricd itself was good for: a receipt for each turn in which it repaired calls.

It claims what is seen in a log and nothing else: that so many calls were changed before they were
forwarded. No tokens, no money, and no failure that did not happen.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from msgspec import Struct

from fabricd.core.identity import identity
from fabricd.core.value.evidence import CONTENT_HASH, RUN_ARTIFACT
from fabricd.core.value.receipt import SCHEMA, accepted_identity
from fabricd.core.value.record import PROTOCOL

MECHANISM_ID: Final = "opsle.fabricd-normal-forms"
CALLS_REPAIRED: Final = "calls_repaired"
LIMITATION: Final = (
    "Counted are calls that were changed before they were forwarded. What would have become of "
    "them unchanged is not known."
)


class Repair(Struct, frozen=True):
    """A call that was repaired, and the witness that its repair left behind."""

    call_id: str
    witness: Mapping[str, Any]


class Turn(Struct, frozen=True):
    """A turn that has ended, with its repairs in the order of the log.

    Args:
        session: the session's id, of at least one character.
        first_call: what tells the turn's first call from all others of the session, whether that
            was repaired or not.
        file: the name of the log.
        observed_at: when, as receipts write times; it is not part of what makes receipts equal.
    """

    session: str
    first_call: str
    file: str
    repairs: tuple[Repair, ...]
    observed_at: str | None = None


def receipts_of(turns: Iterable[Turn], conventions: str, version: str) -> list[dict[str, Any]]:
    """The receipts of turns; a turn without repairs has none.

    Args:
        conventions: those that the repairs were made by.
        version: of fabricd when it made them.
    """
    return [_receipt(turn, conventions, version) for turn in turns if turn.repairs]


def _receipt(turn: Turn, conventions: str, version: str) -> dict[str, Any]:
    evidence = list(_evidence(turn))
    told = {} if turn.observed_at is None else {"observed_at": turn.observed_at}
    return {
        "schema": SCHEMA,
        "mechanism": {
            "id": MECHANISM_ID,
            "name": "fabricd",
            "version": version,
            "revision": None,
        },
        "run": {"id": turn.session},
        "operation": {
            "name": "apply-normal-forms",
            "id": f"{turn.session}/{turn.first_call}",
            "configuration_id": conventions,
            "policy_id": None,
        },
        **told,
        "evidence": evidence,
        "measurements": [_measurement(turn, [entry["id"] for entry in evidence])],
        "limitations": [],
    }


def _evidence(turn: Turn) -> Iterable[dict[str, str]]:
    for number, repair in enumerate(turn.repairs, start=1):
        witness = identity(dict(repair.witness))
        yield _entry(f"witness-{number}", CONTENT_HASH, witness)
        yield _entry(f"call-{number}", RUN_ARTIFACT, f"{turn.file}#{repair.call_id}")


def _entry(name: str, kind: str, locator: str) -> dict[str, str]:
    return {"id": name, "kind": kind, "locator": locator, "trust": "OBSERVED"}


def _measurement(turn: Turn, cited: list[str]) -> dict[str, Any]:
    return {
        "id": CALLS_REPAIRED,
        "unit": "count",
        "class": "OBSERVED",
        "direction": "HIGHER_IS_VALUE",
        "source_verification": "OBSERVED",
        "operator_display": True,
        "baseline": None,
        "result": len(turn.repairs),
        "delta": None,
        "evidence_refs": cited,
        "limitations": [LIMITATION],
        "derivation": None,
        "aggregation": {"safe": True, "method": "SUM"},
    }


def run_record(run_id: str, receipts: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The record of a session, of valid receipts of ours, by identity.

    A turn that was read again, longer or by another version, is one turn: its fullest receipt
    stands for it, and of equals the first.
    """
    fullest: dict[object, dict[str, Any]] = {}
    for receipt in receipts:
        turn = receipt["operation"]["id"]
        if turn not in fullest or _repaired(receipt) > _repaired(fullest[turn]):
            fullest[turn] = dict(receipt)
    return {
        "protocol_version": PROTOCOL,
        "run": {"id": run_id},
        "value_receipts": sorted(fullest.values(), key=accepted_identity),
    }


def _repaired(receipt: Mapping[str, Any]) -> int:
    return sum(
        entry["result"] for entry in receipt["measurements"] if entry["id"] == CALLS_REPAIRED
    )
