"""Spellings that fold to one, and how names are quoted in messages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fabricd.core.normalform.forms import form

_SHOWN = 6
_LENGTH = 60


def folded(names: Iterable[str]) -> list[list[str]]:
    """The groups of different names that share a form, in order of their first names."""
    groups: dict[str, list[str]] = {}
    for name in dict.fromkeys(names):
        shape = form(name)
        if shape is not None:
            groups.setdefault(shape, []).append(name)
    return [group for group in groups.values() if len(group) > 1]


def quoted(names: Sequence[str]) -> str:
    """Names in quotes, the first of many."""
    shown = [f'"{name[:_LENGTH]}{"…" if len(name) > _LENGTH else ""}"' for name in names[:_SHOWN]]
    if len(names) > _SHOWN:
        return f"{', '.join(shown)} and {len(names) - _SHOWN} more"
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)
