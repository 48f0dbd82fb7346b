"""What comes on top of a campaign, or in its place: truths, audits, a cascade."""

import math
from dataclasses import dataclass
from decimal import Decimal

import numpy as np

from askwise.auditing.ballots import Ballots
from askwise.auditing.cascades import PricedJudges
from askwise.auditing.climbs import Climb
from askwise.auditing.draws import draw_order, exactly
from askwise.auditing.limits import fewest_audits
from askwise.auditing.needs import audit_needs
from askwise.core.json_types import Count, Positive, Share
from askwise.core.jsonable import Jsonable
from askwise.kernels.calibration import LEAST_TRUTHS
from askwise.lab.planning.plan import Estimate, MoneyRange
from askwise.lab.planning.ranges import middle, money_range
from askwise.lab.rehearsing.trials import Rehearsal, Trials
from askwise.lab.simulate import Progress, unseen
from askwise.lab.worlds import Recording
from askwise.policies.labels.hem.confidence import CALIBRATING

CASCADES = 20
"""Worlds in which a cascade is tried."""


@dataclass(frozen=True, slots=True)
class TruthsPart(Jsonable):
    """Known truths that turn agreement into a probability.

    Attributes
    ----------
    told : int
        How many truths are known beforehand.
    least : int
        How many truths make a confidence calibrated.
    wanted : int
        How many truths the policy asks for.
    price : Decimal or None
        What the wanted truths cost beyond those told, from the cheapest trusted worker; None if
        nobody is trusted.
    """

    told: Count
    least: Count
    wanted: Count
    price: Decimal | None


@dataclass(frozen=True, slots=True)
class CertificatePart(Jsonable):
    """What it takes to certify the labels.

    Attributes
    ----------
    error : float
        At most this share of the labels is wrong.
    confidence : float
        How sure that statement is.
    by : str
        The worker who audits.
    clean : int
        The fewest audits, all of them right, that certify all labels.
    expected : int or None
        The fewest audits if as many labels are wrong as the plan expects; None if no number does.
    audits : Estimate
        Audits made one after the other until nothing more can be shown: expected, and the 80%
        range.
    share : Estimate
        The share of the labels that is certified then.
    complete : float
        The probability that all labels are certified.
    price : MoneyRange
        The cost of the audits.
    """

    error: Share
    confidence: Share
    by: str
    clean: Positive
    expected: Positive | None
    audits: Estimate
    share: Estimate
    complete: Share
    price: MoneyRange


@dataclass(frozen=True, slots=True)
class CascadePart(Jsonable):
    """A fixed order, the cheap before the expensive, until the weighted votes are sure enough.

    Attributes
    ----------
    truths : int
        Truths that are told to set weights and threshold by.
    total : MoneyRange
        The cost of all other tasks, as many as the campaign has: expected, and the 80% range.
    error : Estimate
        The share of wrong labels of these: expected, and the 80% range.
    """

    truths: Count
    total: MoneyRange
    error: Estimate


def truths_part(rehearsal: Rehearsal) -> TruthsPart:
    """How many truths are wanted, and what they cost."""
    staff, told = rehearsal.worlds.staff, rehearsal.truths
    wanted = min(CALIBRATING, rehearsal.worlds.tasks)
    trusted = [Decimal(str(each.price)) for each in staff if each.trusted]
    price = min(trusted) * max(0, wanted - told) if trusted else None
    return TruthsPart(told, LEAST_TRUTHS, wanted, price)


def certificate_part(
    trials: Trials,
    *,
    error: float,
    confidence: float,
    by: str,
    price: Decimal,
    audits: int,
    seed: int,
    tell: Progress = unseen,
) -> CertificatePart:
    """Audit the labels of every simulated campaign as a certificate would have it."""
    made, shares = [], []
    count = len(trials.each)
    for at, trial in enumerate(trials.each):
        tell("auditing", at, count)
        left = np.flatnonzero(~trial.settled)
        if not len(left):
            made.append(0)
            shares.append(1.0)
            continue
        drawn = draw_order(
            [str(each) for each in left],
            trial.confidence[left],
            error=error,
            confidence=confidence,
            audits=audits,
            seed=(seed + at) % 2**63,
        )
        wrong = trial.wrong[np.array(drawn.tasks, np.int64)]
        climb = Climb(drawn)
        while wanted := climb.wanted():
            climb.hear(wanted[0], bool(wrong[wanted[0]] > 0))
        made.append(len(climb.wrong))
        shares.append(climb.size / len(left))
    tell("auditing", count, count)
    labels = len(trials.each[0].wrong)
    need = audit_needs(labels, trials.error, confidence=confidence, alphas=(error,))[0]
    too_many = math.floor(exactly(error) * labels) + 1
    audited, certified = np.array(made, np.float64), np.array(shares)
    return CertificatePart(
        error=error,
        confidence=confidence,
        by=by,
        clean=fewest_audits(labels, too_many, float(1 - exactly(confidence))),
        expected=need.expected,
        audits=middle(audited),
        share=middle(certified),
        complete=float((certified == 1.0).mean()),
        price=money_range(audited * float(price)),
    )


def cascade_part(
    rehearsal: Rehearsal, runs: int, target: float, *, tell: Progress = unseen
) -> CascadePart | None:
    """Price the cheapest cascade that keeps the target; None where there is nothing to cascade."""
    staff, tasks = rehearsal.worlds.staff, rehearsal.worlds.tasks
    truths = min(CALIBRATING, tasks // 2)
    if len(staff) < 2 or truths < LEAST_TRUTHS:
        return None
    prices = np.array([float(each.price) for each in staff])
    costs, errors = [], []
    worlds = min(runs, CASCADES)
    for number in range(worlds):
        tell("pricing a cascade", number, worlds)
        world = rehearsal.bench(number).recording
        judges = PricedJudges(_ballots(world), prices, np.arange(tasks))
        rows = np.random.default_rng([rehearsal.seed, number]).permutation(tasks)
        stage = judges.choose(rows[:truths], target)
        right, cost = judges.walk(stage.order, stage.weights, rows[truths:]).ended(stage.until)
        costs.append(float(cost.mean()) * tasks)
        errors.append(1.0 - float(right.mean()))
    tell("pricing a cascade", worlds, worlds)
    return CascadePart(truths, money_range(np.array(costs)), middle(np.array(errors)))


def _ballots(world: Recording) -> Ballots:
    """A world's answers as verdicts, and its truths as one person's."""
    tasks = tuple(str(at) for at in range(world.tasks))
    return Ballots(
        task_names=tasks,
        judge_names=tuple(str(at) for at in range(world.workers)),
        human_names=("truth",),
        label_names=tuple(str(at) for at in range(world.options)),
        tasks=world.task,
        judges=world.worker,
        labels=world.label,
        orders=np.zeros(len(world.task), np.int64),
        human_tasks=np.arange(world.tasks),
        humans=np.zeros(world.tasks, np.int64),
        human_labels=world.truth,
    )
