"""Conformance: our results beside those of the reference, case by case."""
