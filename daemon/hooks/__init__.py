"""The turn-end hook in the agents' own configuration: what to write, and what stands there."""
