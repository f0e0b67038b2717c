"""A repair in words: the call, before and after, and a paragraph for each rule."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fabricd.core.canonical import as_given, text
from fabricd.core.plain import is_list, is_object, printable

_LONG = 400
_LINE = 160
_MEANING = {
    "key-form": "the name, in another spelling, means one declared property and no other",
    "optional-null": "the property may be left out, and does not allow null",
    "numeric-string": "the text is exactly how that number is written",
    "boolean-string": "the text is true or false",
    "json-container": "the text is JSON of a kind that the schema allows where it allows no text",
    "enum-form": "the text, in another spelling, means one allowed value and no other",
}


def rendered(value: dict[str, Any]) -> str:
    """The explanation as text."""
    return "".join(f"{line}\n" for line in _lines(value))


def _lines(value: dict[str, Any]) -> Iterator[str]:
    when = f", {printable(str(value['at']))}" if value["at"] else ""
    yield f"{printable(str(value['ref']))}{when}: {value['outcome']} after the repair"
    yield f"witness  {value['witness']}"
    if value["log"]:
        yield f"log      {printable(value['log'])}, call {printable(text(value['id'], as_given))}"
    is_full = value["values"]["kept"] == "full"
    for word in ("before", "after"):
        kept = value["values"][word]
        shown = text(kept, as_given) if is_full else _shown(kept)
        yield f"{word:<9}{_cut(shown, _LONG)}" if kept is not None else f"{word:<9}not kept"
    for rule in value["rules"]:
        times = f", {rule['count']} times" if rule["count"] > 1 else ""
        yield ""
        yield f"{rule['kind']}{times}: {rule['before']} → {printable(rule['after'])}"
        yield f"  because    {_MEANING.get(rule['kind'], 'its plan says so')}"
        yield f"  rests on   {printable(rule['at']) or 'the arguments themselves'}"
        if rule["schema"] is not None:
            yield f"  schema     {_cut(text(rule['schema'], as_given), _LINE)}"
        else:
            yield "  schema     no longer in the logs"
    if not is_full:
        yield ""
        yield "Texts are not kept: fabricd wrap --audits full keeps them."


def _shown(value: object) -> str:
    """A projected value: a text that was left out is its type, what was kept stands as it is."""
    if is_object(value):
        return "{" + ", ".join(f"{key}: {_shown(member)}" for key, member in value.items()) + "}"
    if is_list(value):
        return "[" + ", ".join(map(_shown, value)) + "]"
    return "string" if value == "" else text(value, as_given)


def _cut(words: str, width: int) -> str:
    words = printable(words)
    return words if len(words) <= width else words[: width - 1] + "…"
