"""One hypothesis profile for all tests: examples are bounded by their number, not by a clock."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

settings.register_profile(
    "fabricd",
    deadline=None,
    max_examples=40,
    # Sessions and schemas are deep structures: drawing one takes longer than the default allows.
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("fabricd")
