"""fabricd: a per-user daemon that turns coding-agent logs into proven tool-argument forms."""

from __future__ import annotations

__version__: str


def _installed_version() -> str:
    import os
    import sys

    # The name of the metadata folder holds the version; reading the metadata itself costs a status
    # call a third of its time, and more than the whole hook client.
    for folder in sys.path:
        try:
            names = os.listdir(folder or ".")
        except OSError:
            continue
        for name in names:
            if name.startswith("fabricd-") and name.endswith(".dist-info"):
                return name.removeprefix("fabricd-").removesuffix(".dist-info")
    return "0+unknown"  # run straight from a checkout


def __getattr__(name: str) -> str:
    if name == "__version__":
        version = _installed_version()
        globals()["__version__"] = version
        return version
    raise AttributeError(name)
