"""Read an export of an evaluation tool."""

import os
from collections.abc import Callable, Iterable
from pathlib import Path

from askwise.core.checks import real
from askwise.core.errors import InvalidParameter, nearest
from askwise.data.evaluations import deepeval, langfuse, promptfoo, trulens
from askwise.data.evaluations.ratings import Export
from askwise.data.evaluations.scores import ScoreTables, tables_of

TOOLS: dict[str, Callable[[Path, tuple[str, ...]], Export]] = {
    "langfuse": lambda path, named: langfuse.read(path),
    "promptfoo": lambda path, named: promptfoo.read(path),
    "deepeval": lambda path, named: deepeval.read(path),
    "trulens": trulens.read,
}
"""Readers by the names of the tools; each is given the file and the metrics that were named."""


def read_scores(
    path: str | os.PathLike[str],
    tool: str,
    *,
    metric: str | Iterable[str] = (),
    people_metric: str | Iterable[str] = (),
    threshold: float | None = None,
    people: bool = True,
) -> ScoreTables:
    """Read what judges and people said out of an export of an evaluation tool.

    Nothing is guessed: of several metrics one has to be named, and numbers need a threshold unless
    the tool says itself what passes.

    Parameters
    ----------
    path : path
        The export.
    tool : str
        ``langfuse``, ``promptfoo``, ``deepeval`` or ``trulens``.
    metric : str or iterable of str
        The score that counts; may be left out if judges gave only one. Of several, each makes
        judges of its own.
    people_metric : str or iterable of str
        The score that people gave, if it is called otherwise. All ratings of that name are taken
        for people's.
    threshold : float, optional
        The score from which on a task passes, in place of what the tool itself says. Numbers then
        become the labels ``pass`` and ``fail``.
    people : bool
        Whether ratings of people are wanted. If not, they are left out, and it need not be said
        which of them would count.

    Raises
    ------
    InvalidProblem
        The file is no such export.
    InvalidParameter
        It has several metrics and none was named, or numbers and no threshold.
    OSError
        The file can't be read.

    Examples
    --------
    >>> import json, tempfile
    >>> rows = [
    ...     {
    ...         "traceId": "t1",
    ...         "name": "right",
    ...         "source": "EVAL",
    ...         "dataType": "NUMERIC",
    ...         "value": 0.9,
    ...     },
    ...     {
    ...         "traceId": "t1",
    ...         "name": "right",
    ...         "source": "ANNOTATION",
    ...         "dataType": "NUMERIC",
    ...         "value": 1,
    ...         "authorUserId": "ann",
    ...     },
    ... ]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "scores.json")
    ...     _ = file.write_text(json.dumps(rows))
    ...     found = read_scores(file, "langfuse", threshold=0.5)
    >>> found.verdicts
    {'task': ['t1'], 'worker': ['right'], 'label': ['pass']}
    >>> found.people["worker"]
    ['ann']
    """
    if tool not in TOOLS:
        raise InvalidParameter(f"tool is {tool!r}: {nearest(tool, TOOLS)}", field="tool")
    if threshold is not None:
        real(threshold, "threshold", "a number")
    named, given = _names(metric), _names(people_metric)
    file = Path(path)
    return tables_of(
        TOOLS[tool](file, (*named, *given)),
        str(file),
        metric=named,
        people_metric=given,
        threshold=threshold,
        people=people,
    )


def _names(given: str | Iterable[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)
