"""Agents taken together: sums, one row for each name, and weeks without a gap."""

from __future__ import annotations

import pytest

from fabricd.core.history.merged import Row, merged, worst
from fabricd.core.history.value import history_of
from tests.core.history import values


def test_sums_are_those_of_the_agents() -> None:
    value = values.ordinary()
    total = merged(history_of(value))
    assert total.calls == sum(agent["calls"] for agent in value["agents"]) == 1_548
    assert sum(row.calls for row in total.tools) == sum(row.calls for row in total.by_name) == 1_548
    assert (total.recorded.rejected, total.recorded.calls) == (37, 590)
    assert (total.replayed.rejected, total.replayed.calls) == (3, 450)
    assert (total.outcomes.timed_out, total.outcomes.aborted) == (9, 7)
    assert total.malformations[0][1].calls == 1 and len(total.malformations) == 3


def test_the_order_of_agents_does_not_matter() -> None:
    value = values.huge()
    turned = value | {"agents": value["agents"][::-1]}
    assert merged(history_of(value)) == merged(history_of(turned))


def test_a_tool_of_two_agents_has_a_row_for_each_and_one_name() -> None:
    value = values.history(
        values.agent("pi", [values.tool("read", 5, 1, 0, 5)]),
        values.agent("codex", [values.tool("read", 7, 2, 1, 3)]),
    )
    total = merged(history_of(value))
    assert [(row.agent, row.calls) for row in total.tools] == [("codex", 7), ("pi", 5)]
    assert total.by_name == (Row("read", 12, 3, 1, 8),)


def test_churn_is_weighted_by_retries() -> None:
    value = values.history(
        values.agent("pi", [], retries=10, retryChurn=0.5),
        values.agent("codex", [], retries=30, retryChurn=0.1),
        values.agent("opencode", [], retries=0, retryChurn=None),
    )
    assert merged(history_of(value)).churn == pytest.approx(0.2)
    assert merged(history_of(values.newcomer())).churn is None


def test_worst_is_most_errors_then_most_rejections() -> None:
    rows = [Row("a", 9, 1, 0), Row("b", 9, 2, 0), Row("c", 9, 2, 1), Row("d", 99, 0, 0)]
    assert [row.name for row in worst(rows)] == ["c", "b", "a"]


@pytest.mark.parametrize(
    ("names", "wanted"),
    [
        (["2026-11-02", "2026-11-16"], ["2026-11-02", "2026-11-09", "2026-11-16"]),
        (["2026-12-28", "2027-01-11"], ["2026-12-28", "2027-01-04", "2027-01-11"]),
        (["2026-11-02", "2026-11-30"], ["2026-11-02", "… 3 weeks", "2026-11-30"]),
        # No Mondays, no dates: the rows stand as they came.
        (["2026-11-03", "2026-11-16"], ["2026-11-03", "2026-11-16"]),
        (["2026-11-02", "<b>"], ["2026-11-02", "<b>"]),
        (["0001-01-01", "9999-12-27"], ["0001-01-01", "… 521,721 weeks", "9999-12-27"]),
        ([], []),
    ],
)
def test_weeks_between_the_first_and_the_last_are_there(
    names: list[str], wanted: list[str]
) -> None:
    weeks = [{"week": name, "calls": 1, "errors": 0, "rejected": 0} for name in reversed(names)]
    value = values.history(values.agent("pi", [values.tool("read", 2)], weeks=weeks))
    total = merged(history_of(value))
    assert [row.name for row in total.weeks] == wanted
    assert sum(row.calls for row in total.weeks) == len(names)
