"""Service templates, shipped as data: a systemd user unit, its socket, and a launchd agent."""

from __future__ import annotations

UNIT = "fabricd.service"
SOCKET_UNIT = "fabricd.socket"
LABEL = "dev.fabricd"
AGENT = f"{LABEL}.plist"
