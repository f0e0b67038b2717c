"""A receipt as Markdown for people. What it quotes stands in code spans, which hold no markup."""

from __future__ import annotations

import re
from collections.abc import Iterator

from fabricd.core.context.receipt import Item, Left, Receipt, receipt_id
from fabricd.core.context.verifying import CUT_END, UNSIGNED
from fabricd.core.plain import counted, printable

_TICKS = re.compile("`+")
_LONGEST = 2000
_LEFT = 20


def quoted(text: str) -> str:
    """Untrusted text as a code span of one line: it is shown, and is never markup."""
    shown = printable(text)
    if len(shown) > _LONGEST:
        shown = shown[:_LONGEST] + "…"
    if not shown.strip():
        return "(empty)"
    fence = "`" * (1 + max(map(len, _TICKS.findall(shown)), default=0))
    pad = " " if shown[0] in "` " or shown[-1] in "` " else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def markdown(receipt: Receipt) -> str:
    """The receipt in words; ends with a line break."""
    return "\n".join(_lines(receipt)) + "\n"


def _lines(receipt: Receipt) -> Iterator[str]:
    yield f"# Context receipt {receipt_id(receipt)}"
    yield ""
    yield f"- query: {quoted(receipt.query)}"
    yield f"- budget: {receipt.used:,} of {receipt.budget:,} tokens ({quoted(receipt.tokenizer)})"
    yield f"- index {quoted(receipt.indexer)}, guard {quoted(receipt.guard)}"
    yield f"- text: SHA-256 {quoted(receipt.text_digest)}"
    yield f"- selection: {_certificate(receipt)}"
    for warning in receipt.warnings:
        yield f"- warning: {quoted(warning)}"
    yield ""
    yield f"## Given: {counted(len(receipt.items), 'unit', 'units')}"
    yield ""
    for item in receipt.items:
        yield from _item(item)
    yield ""
    yield f"## Left out: {counted(receipt.omitted.count, 'unit', 'units')}"
    yield ""
    for reason, count in receipt.omitted.by_reason.items():
        yield f"- {quoted(reason)}: {count:,}"
    for left in receipt.omitted.top[:_LEFT]:
        yield _left(left)
    if len(receipt.omitted.top) > _LEFT:
        yield f"- and {len(receipt.omitted.top) - _LEFT:,} more of the best in the JSON"
    if receipt.skipped:
        yield ""
        yield "## Files that were not indexed"
        yield ""
        for reason, count in receipt.skipped.items():
            yield f"- {quoted(reason)}: {count:,}"
    yield ""
    yield f"U{UNSIGNED[1:]}; {CUT_END}."


def _certificate(receipt: Receipt) -> str:
    found = receipt.certificate
    how = "the best possible" if found.exact else f"at most {found.regret:,} below the best"
    return f"{how} of {counted(found.units, 'unit', 'units')} for {quoted(found.objective)}"


def _item(item: Item) -> Iterator[str]:
    level = "" if item.level == "full" else f", {item.level}"
    yield (
        f"- \\#{item.n} {quoted(f'{item.path}:{item.start}-{item.end}')} {_called(item)}{level},"
        f" {counted(item.tokens, 'token', 'tokens')} ({_features(item)})"
    )
    for signal in item.signals:
        yield f"  - text addressed to an assistant: {quoted(signal)}"


def _left(left: Left) -> str:
    place = quoted(f"{left.path}:{left.start}-{left.end}")
    return f"- {place} {_called(left)}: {quoted(left.reason)} ({_features(left)})"


def _called(unit: Item | Left) -> str:
    return quoted(f"{unit.kind} {unit.name}".rstrip())


def _features(unit: Item | Left) -> str:
    return ", ".join(f"{quoted(name)} {value:,}" for name, value in sorted(unit.features.items()))
