"""Ratings as tables: which of them count, what they say, and who said it."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from askwise.core.errors import InvalidParameter, InvalidProblem
from askwise.data.evaluations.ratings import Export, Rating

ScoreColumns = dict[str, list[str]]
"""The columns task, worker and label."""

COLUMNS = ("task", "worker", "label")

LEFT_OUT = "ratings of people"
"""Left out because nobody wants them."""


@dataclass(frozen=True, eq=False)
class ScoreTables:
    """What judges and people said, out of an export.

    Attributes
    ----------
    verdicts : mapping of columns
        ``task``, ``worker``, ``label`` of each verdict of a judge; an empty label is a failure.
    people : mapping of columns
        The same of people; empty if the export has no rating of theirs.
    metrics : tuple of str
        What the judges rated.
    people_metrics : tuple of str
        What the people rated.
    left_out : mapping of str to int
        How many entries of the export are in neither table, by the reason.
    """

    verdicts: ScoreColumns
    people: ScoreColumns
    metrics: tuple[str, ...]
    people_metrics: tuple[str, ...]
    left_out: Mapping[str, int]

    def to_json(self) -> dict[str, object]:
        """How much was read of what, and what was left out."""
        return {
            "verdicts": len(self.verdicts["task"]),
            "people": len(self.people["task"]),
            "metrics": list(self.metrics),
            "people_metrics": list(self.people_metrics),
            "left_out": dict(self.left_out),
        }

    def said(self) -> str:
        """What was read, and what was not, in a sentence."""
        judges = _counted(len(self.verdicts["task"]), "verdict", self.metrics)
        people = _counted(len(self.people["task"]), "rating of people", self.people_metrics)
        rest = ", ".join(f"{count:,} {reason}" for reason, count in self.left_out.items())
        return f"{judges}; {people}; left out: {rest or 'nothing'}."


def tables_of(
    export: Export,
    source: str,
    *,
    metric: Sequence[str] = (),
    people_metric: Sequence[str] = (),
    threshold: float | None = None,
    people: bool = True,
) -> ScoreTables:
    """Choose the ratings that count and put them into tables; see :func:`read_scores`."""
    told = [each for each in export.ratings if each.person or each.metric in people_metric]
    said = [each for each in export.ratings if not each.person and each.metric not in people_metric]
    if not said:
        raise InvalidProblem(
            f"{source} has no verdict of a judge: export what judges said too", field="metric"
        )
    judged = _chosen(said, metric, "metric", source)
    left_out = Counter(export.left_out)
    if not people:
        left_out[LEFT_OUT], told = len(told), []
    asked = _people_metrics(told, people_metric, judged, source, export.hint) if people else ()
    left_out["verdicts of other metrics"] = sum(each.metric not in judged for each in said)
    left_out["ratings of people of other metrics"] = sum(each.metric not in asked for each in told)
    verdicts, answers = _empty(), _empty()
    _refuse_mixed(said, judged, source)
    several = len(judged) > 1
    for each in said:
        if each.metric in judged:
            _add(verdicts, each, _worker(each, several), _label(each, threshold, source))
    for each in told:
        if each.metric not in asked:
            continue
        label = _label(each, threshold, source)
        if label:
            _add(answers, each, each.judge or each.metric, label)
        else:
            left_out["ratings of people without a value"] += 1
    counted = {reason: count for reason, count in left_out.items() if count}
    return ScoreTables(verdicts, answers, judged, asked, counted)


def _chosen(
    ratings: Iterable[Rating], wanted: Sequence[str], field: str, source: str
) -> tuple[str, ...]:
    """The metrics that are taken: those named, or the only one."""
    there = tuple(sorted({each.metric for each in ratings}))
    for name in wanted:
        if name not in there:
            raise InvalidParameter(
                f"{field} is {name!r}, which {source} does not have: it has {_listed(there)}",
                field=field,
            )
    if not wanted and len(there) > 1:
        raise InvalidParameter(
            f"{field} is not given, and {source} has several: name one of {_listed(there)}",
            field=field,
        )
    return tuple(dict.fromkeys(wanted)) or there


def _people_metrics(
    told: Sequence[Rating],
    wanted: Sequence[str],
    judged: tuple[str, ...],
    source: str,
    hint: str,
) -> tuple[str, ...]:
    """What people rated: what is named, else the judges' metrics, else the only one."""
    if wanted and not told:
        raise InvalidParameter(
            f"people_metric is {wanted[0]!r}, which {source} does not have; ratings of people are "
            f"{hint}",
            field="people_metric",
        )
    same = tuple(name for name in judged if any(each.metric == name for each in told))
    if not told or (same and not wanted):
        return same
    return _chosen(told, wanted, "people_metric", source)


def _refuse_mixed(said: Iterable[Rating], judged: Sequence[str], source: str) -> None:
    """Refuse two assertions of one kind on an output: nothing says which is which."""
    seen = Counter((each.task, each.metric, each.judge) for each in said if each.unnamed)
    for (task, metric, _), count in seen.items():
        if count > 1 and metric in judged:
            raise InvalidProblem(
                f"{source}: output {task} has {count} assertions of type {metric!r} without a "
                "metric: give each a name in the field metric of your configuration",
                field="metric",
            )


def _label(rating: Rating, threshold: float | None, source: str) -> str:
    """What a rating says; empty if it has failed."""
    if rating.score is None or (threshold is None and rating.label is not None):
        return rating.label or ""
    if threshold is None:
        raise InvalidParameter(
            f"threshold is not given, and {source} has numbers for {rating.metric!r}, such as "
            f"{rating.score:g} for {rating.task!r}: give the score from which on a task passes",
            field="threshold",
        )
    passes = rating.score <= threshold if rating.lower_passes else rating.score >= threshold
    return "pass" if passes else "fail"


def _worker(rating: Rating, several: bool) -> str:
    """How a judge is called: by the model, by the metric, or by both if there are several."""
    if rating.judge is None:
        return rating.metric
    return f"{rating.metric} by {rating.judge}" if several else rating.judge


def _add(table: ScoreColumns, rating: Rating, worker: str, label: str) -> None:
    for name, cell in zip(COLUMNS, (rating.task, worker, label), strict=True):
        table[name].append(cell)


def _empty() -> ScoreColumns:
    return {name: [] for name in COLUMNS}


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names))


def _counted(count: int, noun: str, metrics: Sequence[str]) -> str:
    first, *rest = noun.split(" ")
    words = " ".join((first if count == 1 else f"{first}s", *rest))
    return f"{count:,} {words}" + (f" ({', '.join(metrics)})" if metrics else "")
