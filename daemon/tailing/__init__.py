"""The session logs followed: watches, cursors, and the books of what was read."""
