"""The report card of judges: each of them, all together, and what more people would tell."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any

from askwise.auditing.ballots import FAILED, Ballots, Sources, read_ballots
from askwise.auditing.cascades import Cascade, Progress, cascade
from askwise.auditing.intervals import Interval
from askwise.auditing.judges import JudgeCard, judge_cards
from askwise.auditing.needs import AuditNeed, audit_needs
from askwise.auditing.panels import PanelCard, panel_card
from askwise.auditing.people import PeopleCard, people_card
from askwise.auditing.remarks import remarks_on
from askwise.auditing.shares import ClassShare, class_shares
from askwise.core.checks import between, real, whole
from askwise.core.errors import InvalidProblem
from askwise.core.json_types import Count, JsonLimits
from askwise.core.jsonable import Jsonable
from askwise.core.shown import ShownResult

EPSILON = 0.1


@dataclass(frozen=True, slots=True)
class ReportCard(ShownResult, Jsonable):
    """What may be believed of judges, by people who answered the same tasks.

    Attributes
    ----------
    tasks : int
        Tasks that a judge was asked about.
    verdicts : int
        What was asked, failures included.
    failures : int
        Verdicts without a label.
    labels : tuple of str
        What judges and people say.
    people : PeopleCard
        The people whose majority counts as the truth.
    judges : tuple of JudgeCard
        Each judge.
    panel : PanelCard
        All judges together.
    cascade : Cascade or None
        What asking the cheap ones first would cost; None with fewer than two judges, two labels or
        40 tasks.
    shares : tuple of ClassShare
        The share of each label among all tasks.
    needs : tuple of AuditNeed
        How many answers of people would certify the panel's labels; empty if no task has both a
        verdict and an answer.
    remarks : tuple of str
        What to know before these numbers are believed.
    """

    tasks: Count
    verdicts: Count
    failures: Count
    labels: Annotated[tuple[str, ...], JsonLimits(minItems=1)]
    people: PeopleCard
    judges: tuple[JudgeCard, ...]
    panel: PanelCard
    cascade: Cascade | None
    shares: tuple[ClassShare, ...]
    needs: tuple[AuditNeed, ...]
    remarks: tuple[str, ...]

    def _headline(self) -> str:
        return (
            f"{len(self.judges)} judges on {self.tasks:,} tasks: {self.verdicts:,} verdicts, "
            f"{self.failures:,} of them failures. {' '.join(self.remarks[:1])}"
        )

    def _records(self) -> list[dict[str, Any]]:
        return [
            {
                "judge": each.judge,
                "tasks": each.tasks,
                "verdicts": each.verdicts,
                "failures": each.failures.value,
                **_ends("accuracy", each.accuracy),
                **_ends("kappa", each.kappa),
            }
            for each in self.judges
        ]

    def plot(self) -> Any:
        """How often each judge, and all together, say what most people say.

        Needs Matplotlib, which is in the extra ``askwise[lab]``.
        """
        from askwise.auditing.pictures import judges_figure

        return judges_figure(
            [(each.judge, each.accuracy) for each in self.judges], self.panel.accuracy
        )


def _ends(name: str, found: Interval | None) -> dict[str, float | None]:
    if found is None:
        return {name: None, f"{name}_low": None, f"{name}_high": None}
    return {name: found.value, f"{name}_low": found.low, f"{name}_high": found.high}


def check(
    verdicts: Mapping[str, Any],
    humans: Mapping[str, Any],
    *,
    order: str | None = None,
    prices: Mapping[str, Decimal] | None = None,
    families: Mapping[str, str] | None = None,
    epsilon: float = EPSILON,
    confidence: float = 0.9,
    seed: int = 0,
    sources: Sources = Sources(),  # noqa: B008 - a tuple of words
    progress: Progress = lambda what, done, total: None,
) -> ReportCard:
    """Measure judges against people who answered the same tasks.

    The majority of the people of a task counts as the truth; of k labels that are tied each
    counts 1/k. Each measure says what it is computed from in the class that holds it.

    Parameters
    ----------
    verdicts, humans : mappings of columns, or data frames
        ``task``, ``worker`` and ``label`` of each verdict of a judge and of each answer of a
        person. A verdict without a label (empty or missing) is a failure of the judge. Of several
        verdicts of a judge on a task each counts by share; of a person the first answer counts.
    order : str, optional
        The column of verdicts that names the order in which a judge saw the task.
    prices : mapping of judge to Decimal, optional
        Of a verdict; 1 each if not given.
    families : mapping of judge to str, optional
        Judges who are likely to err together, such as prompts of one model.
    epsilon : float
        What a judge may be worse by than a person in the alternative annotator test: .2 where
        people are experts, .15 if they are skilled, .1 for a crowd.
    confidence : float
        Of certificates, between .5 and 1.
    seed : int
        Of splits and resampling.
    sources : Sources
        What messages call the tables.
    progress : callable
        Told what is done, how far it is and of how much.

    Raises
    ------
    InvalidProblem
        The tables can't be compared; the message says what to do.

    Examples
    --------
    >>> verdicts = {"task": ["a", "b"], "worker": ["gpt", "gpt"], "label": ["yes", "no"]}
    >>> humans = {"task": ["a", "b"], "worker": ["ann", "ann"], "label": ["yes", "yes"]}
    >>> check(verdicts, humans).judges[0].accuracy.value
    0.5
    """
    real(epsilon, "epsilon", "a number from 0 to 1", least=0.0, most=1.0)
    between(confidence, "confidence", 0.5, 1.0)
    whole(seed, "seed", least=0)
    progress("judges", 0, 2)
    ballots = read_ballots(verdicts, humans, sources, order)
    charged = _prices(ballots, prices)
    people = people_card(ballots)
    judges = judge_cards(ballots, epsilon=epsilon)
    progress("judges", 1, 2)
    panel = panel_card(ballots, families or {}, seed=seed)
    progress("judges", 2, 2)
    needs: tuple[AuditNeed, ...] = ()
    if panel.accuracy is not None:
        error = 1.0 - panel.accuracy.value
        needs = audit_needs(len(ballots.task_names), error, confidence=confidence)
    found = cascade(ballots, charged, seed=seed, progress=progress)
    return ReportCard(
        tasks=len(ballots.task_names),
        verdicts=len(ballots.tasks),
        failures=int((ballots.labels == FAILED).sum()),
        labels=ballots.label_names,
        people=people,
        judges=judges,
        panel=panel,
        cascade=found,
        shares=class_shares(ballots),
        needs=needs,
        remarks=tuple(remarks_on(ballots, people, judges, panel, found)),
    )


def _prices(ballots: Ballots, prices: Mapping[str, Decimal] | None) -> list[Decimal] | None:
    if prices is None:
        return None
    for judge in ballots.judge_names:
        if judge not in prices:
            raise InvalidProblem(
                f"judge {judge!r} has no price: give one for every worker of "
                f"{ballots.sources.verdicts}, or for none",
                field="price",
            )
    return [prices[judge] for judge in ballots.judge_names]
