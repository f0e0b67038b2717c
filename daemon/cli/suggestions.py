"""The author's review in plain words: what was seen, and what could be done about it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from fabricd.core.entropy.observations import typed_text
from fabricd.core.plain import printable

_VALUES = 8
_KEYS = 4


def _quoted(texts: Iterable[str], most: int) -> str:
    shown = [printable(text) for text in texts]
    more = f" and {len(shown) - most} more" if len(shown) > most else ""
    return ", ".join(shown[:most]) + more


def _calls(count: int) -> str:
    return "1 call" if count == 1 else f"{count:,} calls"


def _keyset(cluster: Mapping[str, Any]) -> str:
    names = _quoted(cluster["keys"], _KEYS) if cluster["keys"] else "no arguments"
    return f"{names} ({_calls(cluster['calls'])})"


def sentence(signal: Mapping[str, Any]) -> str:
    """One suggestion as a sentence, from its JSON form."""
    match signal["kind"]:
        case "declare-enum":
            values = _quoted((typed_text(value)[1] for value in signal["values"]), _VALUES)
            return (
                f"{printable(signal['ref'])}: {printable(signal['key'])} took {signal['distinct']} "
                f"values in {_calls(signal['calls'])} ({values}); the schema could list them"
            )
        case "overload-split":
            sets = "; ".join(map(_keyset, signal["clusters"][:_KEYS]))
            return (
                f"{printable(signal['ref'])} is called with {len(signal['clusters'])} sets of "
                f"arguments that share nothing: {sets}; it may be more than one action (traces "
                "do not keep all arguments)"
            )
        case "sequence-fuse":
            steps = " → ".join(map(printable, signal["sequence"]))
            return (
                f"{steps} came {signal['occurrences']:,} times in this order; it may be one action"
            )
        case "rules-cut":
            return (
                f"{printable(signal['ref'])}: {signal['rules']} rules fell to the limit of 128 a "
                "plan; its last properties get no repairs"
            )
        case "property-not-judged":
            key = signal["key"]
            where = "" if key is None else f", property {printable(key)}"
            return (
                f"{printable(signal['ref'])}{where}: no validator can compile the schema "
                f"({printable(signal['reason'])}); the action gets no repairs"
            )
        case "not-on-surface":
            calls = _calls(signal["calls"])
            return f"{printable(signal['ref'])} is not declared, and was called ({calls})"
        case other:
            return printable(str(other))
