"""Measurement: fingerprints, the metric-3 meter and its trend."""
