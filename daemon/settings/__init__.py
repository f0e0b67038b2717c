"""What can be set: every key by all its names, and where a value stands."""
