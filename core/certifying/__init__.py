"""Certification: the laws of measuring and repairing, each held against what was worked out apart.

Every check compares what the product does with values that were written down by hand, or computed
without the code that is under test.
"""
