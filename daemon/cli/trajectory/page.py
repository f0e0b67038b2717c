"""A trajectory as one page: no script, nothing fetched, readable without colours."""

from __future__ import annotations

from html import escape
from pathlib import Path

from fabricd.core.plain import printable
from fabricd.core.trajectory.waterfall import Fall, Waterfall
from fabricd.daemon.cli.live import write
from fabricd.daemon.cli.talk import FAILED, Complaint, out, say
from fabricd.daemon.cli.trajectory.words import said
from fabricd.store.durable import shown

_START = b"<!doctype html>"

_STYLE = """\
:root { color-scheme: light dark; --bar: #8a93a6; --first: #2f6fde; --later: #d9822b; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 62rem; padding: 0 1rem; }
h1 { font-size: 1.3rem; } p { margin: .2rem 0 1rem; }
table { border-collapse: collapse; width: 100%; }
th { text-align: left; font-weight: 600; padding: .9rem 0 .2rem; overflow-wrap: anywhere; }
small { font-weight: 400; opacity: .75; padding-left: .5rem; }
td { padding: .1rem .6rem .1rem 0; white-space: nowrap; }
td.bytes { text-align: right; font-variant-numeric: tabular-nums; }
td.drawn { width: 100%; }
.bar { height: .9rem; min-width: 1px; background: var(--bar); border-radius: 2px; }
.initial { background: var(--first); } .escalated { background: var(--later); }
.final { background: linear-gradient(90deg, var(--first) var(--part), var(--later) var(--part)); }
"""


def page_of(fall: Waterfall) -> str:
    """The page."""
    listed = [*fall.falls, *([fall.others] if fall.others else [])]
    scale = max((max(one.available, one.final) for one in fall.falls), default=1) or 1
    total = max(fall.total.available, fall.total.final) or 1
    rows = [_rows(fall.total, total)]
    rows += [_rows(one, max(scale, one.available, one.final)) for one in listed]
    title = f"Trajectory {_text(fall.run_id)}"
    more = f" · {fall.additional:,} bytes from additional sources" if fall.additional else ""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>\n{_STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n"
        f"<p>task {_text(fall.task_id)} · arm {_text(fall.arm_id)}{more}</p>\n"
        f"<table>\n{''.join(rows)}</table>\n</body>\n</html>\n"
    )


def _text(text: str) -> str:
    return escape(printable(text))


def _rows(fall: Fall, scale: int) -> str:
    steps = (
        ("available", 0, fall.available),
        ("initial", 0, fall.initial),
        ("escalated", fall.initial, fall.escalated),
        ("final", 0, fall.final),
    )
    part = 100 * fall.initial / fall.final if fall.final else 100
    rows = [
        f'<tr><th colspan="3" scope="rowgroup">{_text(fall.name)} '
        f"<small>{said(fall)}</small></th></tr>\n"
    ]
    for name, start, size in steps:
        style = (
            f"margin-left:{100 * start / scale:.2f}%;width:{100 * size / scale:.2f}%;"
            f"--part:{part:.2f}%"
        )
        bar = f'<div class="bar {name}" style="{style}"></div>' if size else ""
        rows.append(
            f'<tr><td>{name}</td><td class="bytes">{size:,} B</td>'
            f'<td class="drawn">{bar}</td></tr>\n'
        )
    return f"<tbody>\n{''.join(rows)}</tbody>\n"


def require_page(path: Path) -> None:
    """A page may take the place of a page, and of nothing else.

    Raises:
        Complaint: something else is there.
    """
    try:
        if not path.is_file() or not path.stat().st_size:
            return
        with path.open("rb") as file:
            start = file.read(len(_START))
    except OSError as error:
        reason = error.strerror or str(error)
        raise Complaint(f"{shown(path)} cannot be written: {reason}", FAILED) from None
    if start.lower() != _START:
        raise Complaint(f"{shown(path)} is there and is no page: choose another file for --html")


def write_page(path: Path, fall: Waterfall) -> None:
    """Write the page to a file, `-` for standard output.

    Raises:
        Complaint: it cannot be written.
    """
    data = page_of(fall).encode("utf-8", "backslashreplace")
    if str(path) == "-":
        out(data)
        return
    write(path, data)
    say(f"wrote {shown(path)}")
