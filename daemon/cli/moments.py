"""Moments as people write them: `7d`, `12h`, a date, or an RFC 3339 time."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

import click

_AGO = re.compile(r"(\d{1,5})([hdw])\Z")
_UNITS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}


def moment(text: str, now: datetime) -> datetime:
    """The moment a text means, in the zone of `now` where it names none.

    Raises:
        ValueError: it means none.
    """
    if (found := _AGO.match(text.strip().lower())) is not None:
        return now - int(found[1]) * _UNITS[found[2]]
    when = datetime.fromisoformat(text.strip())
    return when if when.tzinfo is not None else when.astimezone()


def since(ctx: click.Context, param: click.Parameter, value: str | None) -> datetime | None:
    """The callback of an option that takes a moment.

    Raises:
        click.BadParameter: the text means none.
    """
    if value is None:
        return None
    now = datetime.now().astimezone()
    try:
        found = moment(value, now)
    except (ValueError, OverflowError):
        raise click.BadParameter(
            f"{value!r} is no moment: write 7d, 12h, 2w, a date such as 2026-11-01, or a time such "
            "as 2026-11-01T09:30",
            ctx,
            param,
        ) from None
    if found > now:
        raise click.BadParameter(f"{value!r} lies in the future", ctx, param)
    return found
