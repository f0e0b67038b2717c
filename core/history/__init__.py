"""The calls in every agent's log: what was called, how it ended, and whether its arguments held."""
