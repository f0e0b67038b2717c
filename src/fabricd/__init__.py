"""fabricd: a per-user daemon that turns coding-agent logs into proven tool-argument forms."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fabricd.core.normalform.library import Normalizer, Result

__all__ = ["Normalizer", "Result", "__version__"]
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


def __getattr__(name: str) -> object:
    # Resolved when they are asked for: most commands need neither.
    if name == "__version__":
        found: object = _installed_version()
    elif name in ("Normalizer", "Result"):
        from fabricd.core.normalform import library

        found = getattr(library, name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found
    return found
