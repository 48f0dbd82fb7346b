"""The pytest plug-in: fails a test if a judge does not agree with people often enough.

It adds the fixture ``judge_check``. Whatever that needs is imported when it is called, so that test
runs without it do not wait for it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from askwise.auditing import JudgeAgreement

    Table = str | os.PathLike[str] | Mapping[str, Any]


@pytest.fixture(scope="session")
def judge_check() -> Callable[..., tuple[JudgeAgreement, ...]]:
    """Fail unless a judge agrees with people at least this often, with 95% confidence.

    ``judge_check("verdicts.csv", human="people.csv", judge="gpt", at_least=0.8)``; see
    :func:`hold_to_people`.
    """
    return hold_to_people


def hold_to_people(
    verdicts: Table,
    *,
    at_least: float,
    human: Table | None = None,
    judge: str | None = None,
    confidence: float = 0.95,
    tool: str | None = None,
    metric: str | Iterable[str] = (),
    people_metric: str | Iterable[str] = (),
    threshold: float | None = None,
) -> tuple[JudgeAgreement, ...]:
    """Fail the test, in one sentence, unless judges agree with people as often as is asked.

    Parameters
    ----------
    verdicts : path, or mapping of columns, or data frame
        What judges said: ``task``, ``worker``, ``label``. With ``tool``, the path of an export.
    at_least : float
        The share of tasks on which a judge has to agree with most people. The lower end of the
        exact one-sided interval has to reach it, not only the share that was found.
    human : the same as verdicts, optional
        What people said of the same tasks; needed unless an export has their ratings.
    judge : str, optional
        The one who is held to it; every judge by default.
    confidence : float
        Of the interval.
    tool, metric, people_metric, threshold
        How to read an export, see :func:`~askwise.data.evaluations.read_scores`.

    Returns
    -------
    tuple of JudgeAgreement
        What was found, one for each judge.
    """
    __tracebackhide__ = True
    from askwise.auditing import Sources, agreements
    from askwise.core.errors import InvalidParameter

    if tool is None:
        said, told = _columns(verdicts, blank=("label",)), human
    else:
        from askwise.data.evaluations import read_scores

        if isinstance(verdicts, Mapping):
            raise InvalidParameter(
                f"tool is {tool!r}: give the path of its export, not a table", field="tool"
            )
        names = {"metric": metric, "people_metric": people_metric}
        read = read_scores(verdicts, tool, **names, threshold=threshold, people=human is None)
        said, told = read.verdicts, human
        if read.people["task"]:
            told = read.people
    if told is None:
        raise InvalidParameter(
            "human is not given: judges are measured against people, so give their answers, a "
            "table with task, worker and label",
            field="human",
        )
    found = agreements(
        said,
        _columns(told),
        at_least=at_least,
        judge=judge,
        confidence=confidence,
        sources=Sources(_named(verdicts, "verdicts"), _named(human, "people")),
    )
    short = [each.sentence() for each in found if not each.holds]
    if short:
        pytest.fail(" ".join(short), pytrace=False)
    return found


def _columns(table: Table, blank: tuple[str, ...] = ()) -> Mapping[str, Any]:
    if not isinstance(table, str | os.PathLike):
        return table
    from askwise.data.columns import read_columns

    return read_columns(table, ("task", "worker", "label"), blank=blank).cells


def _named(table: object, otherwise: str) -> str:
    return str(table) if isinstance(table, str | os.PathLike) else otherwise
