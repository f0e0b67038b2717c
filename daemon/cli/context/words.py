"""What commands read off the engine's answers."""

from __future__ import annotations

from typing import Any


def was_selected(explained: dict[str, Any]) -> bool:
    """Whether an explanation is of something that was given."""
    return explained.get("selected") is True


def is_intact(verified: dict[str, Any]) -> bool:
    """Whether a receipt was found as it was written."""
    return verified.get("verified") is not False
