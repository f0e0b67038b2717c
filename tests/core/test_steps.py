from __future__ import annotations

import pytest

from fabricd.core.steps import Steps, finish


def counting(to: int) -> Steps[str]:
    for _ in range(to):
        yield
    return "done"


@pytest.mark.parametrize("pauses", [0, 1, 5])
def test_steps_driven_to_their_end_give_their_result(pauses: int) -> None:
    steps = counting(pauses)
    assert finish(steps) == "done"
    assert next(steps, "over") == "over"


def test_an_error_inside_steps_comes_out() -> None:
    def failing() -> Steps[None]:
        yield
        raise ValueError("inside")

    with pytest.raises(ValueError, match="inside"):
        finish(failing())
