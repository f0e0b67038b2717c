"""What holds for every test: bounded examples, and nothing left open in a directory of its own."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from tests.cancelling import descriptors

settings.register_profile(
    "fabricd",
    deadline=None,
    max_examples=40,
    # Sessions and schemas are deep structures: drawing one takes longer than the default allows.
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("fabricd")


@pytest.fixture(autouse=True)
def everything_closed(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail a test that leaves a file of its directory open: the next one would find it."""
    if "tmp_path" not in request.fixturenames:
        yield
        return
    root = str(request.getfixturevalue("tmp_path"))
    yield
    if _within(root):
        # What only a cycle still holds is nobody's fault.
        gc.collect()
    left = _within(root)
    assert not left, f"left open: {', '.join(left)}"


def _within(root: str) -> list[str]:
    return [name for name in descriptors() if name.startswith(root)]
