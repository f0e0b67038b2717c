"""fabricd: a per-user daemon that turns coding-agent logs into proven tool-argument forms."""

from __future__ import annotations

__version__: str


def __getattr__(name: str) -> str:
    # Lazy: importlib.metadata costs more than the whole hook client, which imports this package.
    if name == "__version__":
        from importlib.metadata import PackageNotFoundError, version

        try:
            return version("fabricd")
        except PackageNotFoundError:  # run straight from a checkout
            return "0+unknown"
    raise AttributeError(name)
