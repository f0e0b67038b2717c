"""Whether the configuration can be used."""

from __future__ import annotations

from collections.abc import Iterator

from fabricd.daemon.doctor.checks import Check, fine, wrong
from fabricd.daemon.doctor.subject import Subject
from fabricd.store.durable import shown


def look(subject: Subject) -> Iterator[Check]:
    """File and environment, as the daemon would take them."""
    from fabricd.daemon.config import BadConfig, config_path, in_force

    path = config_path(subject.env)
    try:
        in_force(subject.env, {})
    except BadConfig as error:
        for problem in error.problems:
            yield wrong("configuration", problem, "fabricd config check")
        return
    what = "is sound" if path.exists() else "does not exist: the defaults are in force"
    yield fine("configuration", f"{shown(path)} {what}")
