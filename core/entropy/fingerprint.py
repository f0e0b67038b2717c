"""Fingerprints of arguments and counts: shape signature, signature distance, entropy in bits."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Any

from fabricd.core.canonical import digest
from fabricd.core.entropy.keysets import tells_names
from fabricd.core.javascript import round6, sorted_by_units, unit_length
from fabricd.core.plain import is_object

MILLION = 1_000_000
_KEYS = 32
_LEVELS = 3
_EXACT_UNITS = 8192
_REMEMBERED = 4096

_TAGS: dict[type, str] = {
    type(None): "null",
    list: "arr",
    tuple: "arr",
    str: "str",
    int: "num",
    float: "num",
    bool: "bool",
}
_CONTAINERS = frozenset({dict, list})
_VALUES = dict[str, Any].values
_flat_signatures: dict[tuple[object, ...], str] = {}


def _tag(value: object, level: int) -> str:
    if is_object(value):
        return "obj" if level >= _LEVELS else "{" + _parts(value, level) + "}"
    return _TAGS.get(type(value), "other")


def _parts(members: Mapping[str, object], level: int) -> str:
    keys = sorted_by_units(members)
    # Most members are scalars, and a call for each would cost more than all else here.
    tag = _TAGS.get
    parts = [
        f"{key}:{tag(type(members[key])) or _tag(members[key], level + 1)}" for key in keys[:_KEYS]
    ]
    if len(keys) > _KEYS:
        parts.append(f"…+{len(keys) - _KEYS}")
    return ",".join(parts)


def known_signature(args: Mapping[str, Any]) -> str | None:
    """The remembered signature of arguments without containers, or None.

    Sessions repeat a few shapes thousands of times; a hit also says that nothing in `args` nests,
    and that the shape tells the names without doubt.
    """
    return _flat_signatures.get((*args, *map(type, args.values())))


def known_signatures(arguments: Iterable[Mapping[str, Any]]) -> list[str] | None:
    """`known_signature` of several calls' arguments, or None where it is None for one of them."""
    known = _flat_signatures
    try:
        return [known[(*args, *map(type, args.values()))] for args in arguments]
    except KeyError:
        return None


def signature(args: Mapping[str, Any]) -> str:
    """The shape of an arguments object: sorted keys with type tags, two nested levels opened."""
    known = known_signature(args)
    if known is None:
        known = f"({_parts(args, 0)})"
        # Only shapes that tell their names are remembered, so that a hit says that too.
        if not has_containers(args) and tells_names(known, args):
            if len(_flat_signatures) >= _REMEMBERED:
                _flat_signatures.clear()
            _flat_signatures[(*args, *map(type, args.values()))] = known
    return known


def has_containers(args: Mapping[str, Any]) -> bool:
    """Whether any argument is an object or an array."""
    return not _CONTAINERS.isdisjoint(map(type, args.values()))


def any_containers(arguments: Iterable[dict[str, Any]]) -> bool:
    """Whether any argument of several calls is an object or an array."""
    values = chain.from_iterable(map(_VALUES, arguments))
    return not _CONTAINERS.isdisjoint(map(type, values))


def shape_digest(args: Mapping[str, Any]) -> str:
    """Digest of the signature string: what a witness says of a call's shape."""
    return digest(signature(args))


def _units(text: str) -> str:
    if unit_length(text) == len(text):
        return text
    raw = text.encode("utf-16-le", "surrogatepass")
    return "".join(map(chr, memoryview(raw).cast("H")))


def distance_millionths(left: str, right: str) -> int:
    """Levenshtein over UTF-16 units ÷ the longer length, in millionths.

    Exact up to 8,192 units a side; of a longer signature the first 8,192 count, because the
    work is quadratic and a trace may carry half a megabyte of keys.
    """
    if left == right:
        return 0
    # Imported on first use: only corpora with retries pay for it.
    from rapidfuzz.distance import Levenshtein

    a, b = _units(left)[:_EXACT_UNITS], _units(right)[:_EXACT_UNITS]
    longer = max(len(a), len(b))
    if longer == 0:
        return 0
    return round(round6(Levenshtein.distance(a, b) / longer) * MILLION)


def signature_distance(left: str, right: str) -> float:
    """The same as a rounded fraction of one."""
    return distance_millionths(left, right) / MILLION


def shannon_of_ranks(ranks: Mapping[int, int]) -> float:
    """Entropy in bits when `ranks[c]` of the outcomes were each seen `c` times.

    The sum runs over ascending counts, so that it does not depend on the order of discovery.
    """
    total = sum(count * times for count, times in ranks.items() if count > 0)
    if total <= 0:
        return 0.0
    bits = 0.0
    for count in sorted(ranks):
        if count > 0:
            share = count / total
            bits += ranks[count] * (share * math.log2(share))
    return round6(-bits)


def shannon(counts: Iterable[int]) -> float:
    """Entropy in bits of a list of counts; zero counts are skipped."""
    return shannon_of_ranks(Counter(counts))
