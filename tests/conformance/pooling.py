"""The observation pool: windows merged step by step, and the file after each."""

from __future__ import annotations

import json
import re
from typing import Any

from fabricd.core.canonical import digest
from fabricd.core.pool.bounds import prune_steps
from fabricd.core.pool.export import export_steps
from fabricd.core.pool.file import observed, pool_bytes, pool_of
from fabricd.core.pool.ledger import Change, Ledger, merge_steps
from fabricd.core.pool.rows import Record
from fabricd.core.pool.values import identity_of, written_name
from fabricd.core.steps import finish
from tests.conformance.values import Case, Check


def pools(case: Case) -> Check:
    """Each step is a pass over some sessions; a session without an id is known by its path."""
    ledger = Ledger()
    found: list[Case] = []
    raw = b"{}"
    for windows in case["steps"]:
        merged = [finish(merge_steps(ledger, _change(ledger, window))) for window in windows]
        finish(prune_steps(ledger))
        raw = pool_bytes(finish(export_steps(ledger)))
        counts = {"merged": sum(merged), "skipped": len(merged) - sum(merged)}
        found.append({**counts, "pool": json.loads(raw)})
    loaded = pool_of(json.loads(raw))
    rows = [] if loaded is None else observed(loaded)
    return Check(
        {name: case[name] for name in ("expected", "reload", "observations")},
        {
            "expected": found,
            "reload": "observation pool is invalid" if loaded is None else "loads",
            "observations": [
                {"ref": row.ref, "key": row.key, "value": row.value, "count": row.count}
                for row in rows
            ],
        },
    )


def _change(ledger: Ledger, window: Case) -> Change:
    records = [
        Record(number, _adds(ledger, row)) for number, row in enumerate(window["observations"])
    ]
    return Change(window["file"], window["file"], "", tuple(records), True)


def _adds(ledger: Ledger, row: Case) -> tuple[int, ...]:
    identity = ledger.know(
        identity_of(written_name(row["ref"]), written_name(row["key"]), row["value"])
    )
    return (identity,) * row.get("count", 1)


_HIDDEN = object()


# --- the same without books: every session as it was said last, added up


def exact_pool(case: Case) -> Case:
    """What the steps amount to where each session counts once, as it was last seen."""
    sessions: dict[str, list[str]] = {}
    texts: dict[str, tuple[str, str, Any]] = {}
    steps: list[Case] = []
    for windows in case["steps"]:
        merged = 0
        for window in windows:
            names = sorted(_name(row, texts) for row in window["observations"])
            merged += sessions.get(window["file"]) != names
            sessions[window["file"]] = names
        pool = _summed(sessions, texts)
        steps.append({"merged": merged, "skipped": len(windows) - merged, "pool": pool})
    rows = [
        {"ref": entry["ref"], "key": entry["key"], **value}
        for entry in steps[-1]["pool"]["entries"]
        for value in entry["values"]
        if entry["total"] == sum(each["count"] for each in entry["values"])
    ]
    return {"expected": steps, "reload": "loads", "observations": rows}


_SECRET_KEYS = ("token", "secret", "password", "apikey", "authorization", "cookie")
_PREFIXES = ("sk-", "ghp_", "gho_", "github_pat_", "xoxb-", "AKIA", "AIza", "glpat-", "eyJ")


def _is_hidden(row: Case) -> bool:
    """Whether a value may not be stored: long, of a secret's key, or looking like a secret."""
    value = row["value"]
    if re.sub("[^a-z0-9]", "", row["key"].lower()).endswith(_SECRET_KEYS):
        return True
    if not isinstance(value, str):
        return False
    mixed = [
        run
        for run in re.findall(r"[A-Za-z0-9_+/=.-]{20,}", value)
        if re.search(r"\d", run) and re.search("[A-Za-z]", run)
    ]
    return len(value.encode()) > 256 or bool(mixed) or value.startswith(_PREFIXES)


def _is_odd(name: str) -> bool:
    """Whether the reference's reader would refuse a name that its writer wrote."""
    return not name or name != name.strip() or "\0" in name or name.startswith('"')


def _written(name: str) -> str:
    return json.dumps(name, ensure_ascii=False) if _is_odd(name) else name


def _name(row: Case, texts: dict[str, tuple[str, str, Any]]) -> str:
    if _is_hidden(row):
        name = f"{row['ref']}\0{row['key']}\0other:"
        texts[name] = (row["ref"], row["key"], _HIDDEN)
        return name
    value = row["value"]
    kind = {bool: "boolean", str: "string"}.get(type(value), "number")
    whole = isinstance(value, float) and value.is_integer() and abs(value) < 1e21
    text = json.dumps(int(value) if whole else value) if kind != "string" else value
    name = f"{row['ref']}\0{row['key']}\0{kind}:{text}"
    texts[name] = (row["ref"], row["key"], value)
    return name


def _counts(names: list[str]) -> dict[str, int]:
    return {name: names.count(name) for name in names}


def _summed(sessions: dict[str, list[str]], texts: dict[str, tuple[str, str, Any]]) -> Case:
    counts = _counts([name for names in sessions.values() for name in names])
    entries: dict[tuple[str, str], list[tuple[int, str]]] = {}
    for name, count in counts.items():
        entries.setdefault(texts[name][:2], []).append((-count, name))
    rows: list[Case] = []
    for (ref, key), ranked in sorted(entries.items()):
        clear = [pair for pair in sorted(ranked) if texts[pair[1]][2] is not _HIDDEN]
        values = [{"value": texts[name][2], "count": -n} for n, name in clear[:16]]
        hidden = sum(-n for n, name in ranked if texts[name][2] is _HIDDEN)
        total = hidden + sum(row["count"] for row in values)
        entry = {"ref": _written(ref), "key": _written(key), "total": total, "values": values}
        rows.append(entry)
    files = list(sessions)
    tracked = [
        {
            "file": file,
            "digest": digest(sessions[file]),
            "counts": {
                "\0".join((*map(_written, name.split("\0", 2)[:2]), name.split("\0", 2)[2])): n
                for name, n in _counts(sessions[file]).items()
            },
        }
        for file in files[-16:]
    ]
    baked = [digest(sessions[file]) for file in files[:-16]]
    return {"version": 1, "entries": rows, "tracked": tracked, "baked": baked[-512:]}


def differs_from_exact(case: Case) -> bool:
    """Whether the reference's way of counting shows.

    Equal sessions, regrowth after 16 others, cuts undone, values or names it should not keep.
    """
    seen: dict[tuple[Any, ...], str] = {}
    order: list[str] = []
    values: dict[tuple[str, str], set[str]] = {}
    for window in (window for windows in case["steps"] for window in windows):
        if any(_is_hidden(row) or _is_odd(row["key"]) for row in window["observations"]):
            return True
        names = sorted(_name(row, {}) for row in window["observations"])
        key = tuple(names)
        if seen.setdefault(key, window["file"]) != window["file"]:
            return True
        known = window["file"] in order
        if known and (window["file"] not in order[-16:] or _is_wide(values)):
            return True
        order += [] if known else [window["file"]]
        for row in window["observations"]:
            values.setdefault((row["ref"], row["key"]), set()).add(_name(row, {}))
    return False


def _is_wide(values: dict[tuple[str, str], set[str]]) -> bool:
    return any(len(found) > 16 for found in values.values())
