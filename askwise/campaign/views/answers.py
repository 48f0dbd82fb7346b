"""What a campaign says about its tasks."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from askwise.campaign.certifying import FROZEN
from askwise.campaign.state import CampaignState
from askwise.campaign.views.certificate import Certified, certified_words
from askwise.core.arrays import Array
from askwise.core.json_types import Count, Id, JsonLimits, Share
from askwise.core.jsonable import Jsonable
from askwise.core.labels import NO_LABEL, RestsOn, told
from askwise.ledger import columns as c
from askwise.ledger.entries import REMOVED, SetLabel
from askwise.policies.capabilities import Assures, Settles

RAN_OUT = ("over_budget", "low_confidence")
"""Outcomes of tasks that a stopping rule has not closed when there is nothing more to ask."""

OUTCOMES = (
    *("open", "confident", "low_confidence", "over_budget", "closed", "frozen", "assured"),
    *("everyone_asked", "not_assured", "assurance_failed", "target_not_reachable"),
    *("sure_enough", "labelled", REMOVED),
)
"""What may be said of how a task stands or ended."""

_MARKS = [c.CLOSED, c.TASK_ANSWERED, c.TRUTH]
"""What changes when anything happens to a task that its answer depends on."""


@dataclass(frozen=True, slots=True)
class Answer(Jsonable):
    """What the campaign says about a task so far.

    Attributes
    ----------
    task : str or None
        The task; None for the one entry of a campaign without tasks.
    value : str or float or None
        An option, or the mean utility; None while there is no answer.
    confidence : float or None
        How sure the answer is; ``rests_on`` says whether that is a probability. None where
        nothing is known.
    outcome : str
        ``open``; ``sure_enough`` where it is at its target, so that the policy asks no more
        about it though nothing has closed it; or, once closed, the word of the stopping rule
        (``closed`` when closed by hand, ``frozen`` when it was open as labels were frozen for
        their audit); or ``labelled``, where the label was set by hand. Under a
        policy that assures an accuracy also ``assured``, ``everyone_asked``,
        ``not_assured``, ``target_not_reachable``, or ``assurance_failed`` where audits have
        shown that answers such as this one are wrong more often than was assured.
    count : int
        The number of answers received.
    assured_error : float or None
        The probability of a wrong answer at the lower bounds of the qualities of those who
        answered, by the policy's error function, with what audits have shown it to be
        exceeded by. None where the policy assures nothing.
    majority_error : float or None
        The same by the exact error of the majority.
    rests_on : RestsOn or None
        What the confidence is: ``agreement`` of votes under a model of workers, which is not a
        probability; ``calibrated``, agreement that known truths have mapped to a probability;
        ``certified``, where a certificate vouches for the label, and the confidence is the share of
        such labels that are right; or ``truth``, where the truth of the task was told and is the
        answer. None where nobody has answered and in utility campaigns.
    certificate : Certified or None
        Once labels were drawn for audits: ``certified``; ``audited`` (the label was wrong
        or is not among those that are certified, and the audit is the answer);
        ``escalated`` (to a trusted worker, whose answer it is); or ``uncertified``. None
        before, and where the truth was known before or the label was set by hand.
    decided_by : str or None
        Who set the label by hand; None where it was not.
    """

    task: Id | None
    value: str | float | None
    confidence: Share | None
    outcome: Annotated[str, JsonLimits(enum=[*OUTCOMES])]
    count: Count
    assured_error: Share | None = None
    majority_error: Share | None = None
    rests_on: RestsOn | None = None
    certificate: Certified | None = None
    decided_by: Id | None = None


_UNKNOWN = Answer(None, None, None, "open", 0)
"""Holds the place of an answer."""


def answers(state: CampaignState) -> list[Answer]:
    """Every task's answer: its truth where that was told, the rule's where it closed the task or
    came to no end, else the aggregator's or the policy's.

    They stand at the places of their tasks; :func:`in_campaign` leaves out those that were removed.
    """
    return answers_about(state, range(state.ledger.total(c.TASKS)))


def answers_about(state: CampaignState, tasks: Sequence[int]) -> list[Answer]:
    """What ``answers`` says of some tasks."""
    ledger = state.ledger
    ran_out = state.ran_out()
    places = np.asarray(tasks, np.int64)
    sure_enough = _sure_enough(state)
    named = []
    for task, truth in zip(tasks, ledger.book.tasks[places, c.TRUTH].tolist(), strict=True):
        label, outcome = ledger.closings.get(task, (NO_LABEL, ran_out))
        if truth >= 0:
            label = told(truth)
        elif label.value is None and outcome in RAN_OUT:
            label = state.guess(task)
        if sure_enough[task] and outcome != REMOVED:
            outcome = "sure_enough"
        named.append((label, outcome))
    # All at once: an aggregator may have to learn from every answer there is.
    rest = [at for at, (label, _) in enumerate(named) if label.value is None]
    for at, label in zip(rest, state.labels([tasks[at] for at in rest]), strict=True):
        named[at] = (label, named[at][1])
    assured = state.assurances(list(tasks))
    counts = ledger.book.tasks[places, c.TASK_ANSWERED].tolist()
    audits = state.certification
    words: list[tuple[Certified | None, float | None]] = [(None, None)] * len(tasks)
    if audits is not None:
        every = certified_words(ledger, audits)
        words = [every[task] for task in tasks]
    found = []
    for at, ((value, sure, rests_on), outcome) in enumerate(named):
        task, count = tasks[at], counts[at]
        worth = None if assured is None or count == 0 else assured[task]
        if count == 0 and rests_on == "agreement":
            # A prior: nobody has agreed with anybody.
            rests_on = None
        unruled = outcome in ("open", FROZEN)
        word, share = words[at]
        if word == "certified" and rests_on != "truth":
            sure, rests_on = share, "certified"
        by_hand = ledger.labels.get(task)
        if by_hand is not None:
            # Nothing says how sure somebody was; only a truth is certain.
            is_true = ledger.book.tasks[task, c.TRUTH] == by_hand.value
            value, sure, rests_on = (
                told(int(by_hand.value)) if is_true else (by_hand.value, None, None)
            )
            outcome, worth, word = "labelled", None, None
        found.append(
            Answer(
                task=ledger.task_id(task),
                value=state.named(value),
                confidence=sure,
                outcome=worth.outcome if worth is not None and unruled else outcome,
                count=count,
                assured_error=None if worth is None else worth.error,
                majority_error=None if worth is None else worth.majority,
                rests_on=rests_on,
                certificate=word,
                decided_by=None if by_hand is None else by_hand.by,
            )
        )
    return found


def in_campaign(found: Sequence[Answer]) -> list[Answer]:
    """The answers without those of tasks that were removed."""
    return [answer for answer in found if answer.outcome != REMOVED]


def _sure_enough(state: CampaignState) -> Array:
    """The open tasks that the policy is as sure of as was wanted; their truths are not known."""
    rows, policy = state.ledger.book.tasks[: state.ledger.total(c.TASKS)], state.spec.policy
    if not isinstance(policy, Settles):
        return np.zeros(len(rows), np.bool_)
    return state.settled() & (rows[:, c.CLOSED] == 0) & (rows[:, c.TRUTH] < 0)


class KeptAnswers:
    """The answers of one campaign, worked out again where something has changed since.

    An answer stays what it is while nobody answers, closes, labels or tells the truth of its task,
    if nothing but that can change it. Where a policy or an aggregator learns from all answers, that
    holds for the tasks that are closed; where audits or assurances speak of all tasks, for none.
    """

    def __init__(self) -> None:
        self._lineage: object = None
        self._said: tuple[str, bool] = ("", False)
        """Why nothing more can be asked, and whether labels were by task, the last time."""
        self._marks = np.empty((0, len(_MARKS)), np.int64)
        self._unnamed = np.empty(0, np.bool_)
        """Tasks that were closed without a name for their answer."""
        self._found: list[Answer] = []
        self._labels: dict[int, SetLabel] = {}
        self._removed: set[int] = set()

    def of(self, state: CampaignState) -> list[Answer]:
        """The answers now; the list is the caller's own."""
        ledger, spec = state.ledger, state.spec
        marks = ledger.book.tasks[: ledger.total(c.TASKS), _MARKS]
        known, by_task = len(self._marks), False
        if spec.aggregator is not None:
            by_task = spec.aggregator.is_by_task(ledger)
        said = state.ran_out(), by_task
        changed = np.ones(len(marks), np.bool_)
        in_all = spec.problem.certify is not None or isinstance(spec.policy, Assures)
        if state.lineage is self._lineage and known <= len(marks) and not in_all:
            changed[:known] = (marks[:known] != self._marks).any(axis=1) | self._unnamed
            learns = isinstance(spec.policy, Settles)
            if learns or said != ("open", True) or said != self._said:
                # What a rule would name is drawn again at each event; a policy grows surer.
                changed |= marks[:, 0] == 0
            for task, label in ledger.labels.items():
                changed[task] |= self._labels.get(task) != label
            # One that was closed before is closed still.
            changed[list(ledger.removed - self._removed)] = True
        tasks = np.flatnonzero(changed).tolist()
        found = [*self._found[: len(marks)], *[_UNKNOWN] * (len(marks) - len(self._found))]
        self._unnamed = np.append(self._unnamed[: len(marks)], changed[len(self._unnamed) :])
        for task, answer in zip(tasks, answers_about(state, tasks), strict=True):
            found[task] = answer
            closing = ledger.closings.get(task)
            self._unnamed[task] = closing is not None and closing[0].value is None
        self._labels, self._removed = dict(ledger.labels), set(ledger.removed)
        self._lineage, self._said, self._marks, self._found = state.lineage, said, marks, found
        return list(found)
