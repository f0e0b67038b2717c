"""That the daemon stays reachable, awake and current: looks of a few seconds."""
