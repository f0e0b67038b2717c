"""From measured evidence and a declared surface to an artifact that passed its gate."""
