"""JSON as somebody wrote it: where each value stands, and edits that leave the rest alone."""
