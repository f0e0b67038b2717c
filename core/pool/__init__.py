"""The observation pool: which values arguments took, over every session, each counted once."""
