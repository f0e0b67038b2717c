"""What a log cannot say of a run, one sentence each: the format has no place for them."""

from __future__ import annotations

from collections.abc import Iterator

from fabricd.core.plain import counted
from fabricd.core.trajectory.sessions.joining import Run
from fabricd.core.trajectory.sessions.results import Result


def limitations(run: Run) -> list[str]:
    """The sentences, of the run as a whole first."""
    return [*_of_session(run), *_of_results(run), *_of_losses(run)]


def _of_session(run: Run) -> Iterator[str]:
    yield "the log records no tokens of single tool results: there are no token measurements"
    if not run.versions:
        yield f"the log names no version of {run.agent}: the configuration is the agent alone"
    elif len(run.versions) > 1:
        yield (
            f"the log names {len(run.versions)} versions of {run.agent}: the configuration has "
            f"the first, {run.versions[0]}"
        )
    if run.parent:
        yield (
            f"the session was forked from {run.parent}, whose log was not given: results that it "
            "repeats cannot be told from its own"
        )
    if run.repeated:
        results = counted(run.repeated, "result is", "results are")
        yield f"{results} those of another session and left out"
    if run.unanswered:
        yield f"{counted(run.unanswered, 'call has', 'calls have')} no result in the log"


def _of_results(run: Run) -> Iterator[str]:
    results = run.results
    if not results:
        yield "there are no tool results in the log"
    cut = [each for each in results if each.told and each.full is None]
    if cut:
        yield (
            f"{_counted(cut)} not whole in the log, which gives their sizes in all as "
            f"{sum(each.told for each in cut):,} and keeps no more than was shown: that counts as "
            "all there was"
        )
    unsure = [each for each in results if each.full is None and not each.told]
    if unsure:
        yield (
            f"of {counted(len(unsure), 'result', 'results')} the log does not keep, or does not "
            "say that it keeps, all there was: what was shown counts as all"
        )
    absent = [each for each in results if each.is_absent]
    if absent:
        yield f"{_counted(absent)} not in the log as text: they count as 0 bytes"
    others = sum(each.others for each in results)
    if others:
        yield (
            f"{counted(others, 'item', 'items')} of what was shown, such as images, "
            f"{'is' if others == 1 else 'are'} no text: their bytes are not counted"
        )


def _counted(results: list[Result]) -> str:
    return counted(len(results), "result is", "results are")


def _of_losses(run: Run) -> Iterator[str]:
    losses = run.losses
    unread = losses.bad_lines + losses.overlong_lines + losses.cut_tails
    if unread:
        yield f"{counted(unread, 'line', 'lines')} of the log could not be read"
