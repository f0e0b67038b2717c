"""Everything that crosses the process boundary."""

from __future__ import annotations

PROTOCOL = 1
