"""A classic repair as edits of the text that was sent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fabricd.core.canonical import string_text
from fabricd.core.normalform.extended.repaired import Edit
from fabricd.core.normalform.forms import form


def classic_edits(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Edit]:
    """What changed between the arguments that came in and the repaired ones, key by key."""
    spelt = {form(key): key for key in after if key not in before}
    edits: list[Edit] = []
    for key, value in before.items():
        name = key
        if key not in after:
            target = spelt.get(form(key))
            if target is None:
                edits.append(Edit((key,), "drop", ""))
                continue
            name = target
            edits.append(Edit((key,), "rename", name))
        new = after[name]
        if new is not value and (type(new) is not type(value) or new != value):
            text = string_text(new) if isinstance(new, str) else str(value)
            edits.append(Edit((key,), "replace", text))
    return edits
