"""Service templates, shipped as data: a systemd user unit and a launchd agent."""
