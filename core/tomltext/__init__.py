"""TOML as somebody wrote it: where each value stands, so that an edit leaves the rest alone."""
