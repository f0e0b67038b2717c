from __future__ import annotations

import importlib.util

import pytest

from tests.daemon.context.editing import edited


@pytest.mark.skipif(
    importlib.util.find_spec("tree_sitter") is None, reason="the extra is not installed"
)
def test_no_answer_holds_what_was_not_there() -> None:
    run = edited(50, seed=5)
    assert run.wrong == []
    assert run.answers > 0 and run.items > 0
