"""Ranking: which units of a root have to do with a query, and how much, in whole millionths.

Every part of a score is an integer and keeps its name, so that a receipt can tell it.
"""
