"""Handing a question over: the one who answers is another than the one who was chosen."""

from typing import Any

from askwise.campaign.own_decisions import OwnAsk, OwnDecision
from askwise.campaign.payouts import PayingCampaign
from askwise.campaign.phases import hand_all_out
from askwise.campaign.preparing import prepared
from askwise.campaign.refusals import conflict
from askwise.campaign.requests import Action
from askwise.campaign.screening import check_takes_questions
from askwise.campaign.spec import Spec
from askwise.campaign.verbs import Verbs
from askwise.campaign.views.assignments import assignment_id, place_of, recalled
from askwise.core.choices import Assignment, Batch
from askwise.core.errors import OverBudget
from askwise.core.events import HANDED_OVER
from askwise.core.fields import as_name
from askwise.core.money import from_micro
from askwise.ledger import columns as c
from askwise.ledger import queries


class HandingCampaign(PayingCampaign):
    """A campaign whose questions can be handed from one worker to another."""

    def hand_over(self, assignment_id: str, worker: str, key: str | None = None) -> Assignment:
        """Give a question that is out to another worker, who answers it at their own price.

        For places where the policy chooses the question and somebody else chooses who answers it,
        such as an annotation tool. The assignment is released as by :meth:`Campaign.expire` and
        the task put to ``worker``, in one write. The log says that this was no choice of the policy
        (the DECIDED is called ``handed over`` and its propensity is not set).

        Refused where the worker could not have been asked: they are not there, suspended or at
        their limit (``worker_left``, ``worker_suspended``, ``worker_limit_reached``), the task was
        put to them before or is not for them (``not_for_worker``), is closed (``task_closed``), or
        the budget does not have their price (``over_budget``). Gold questions and audits stay with
        those they were put to; a question of a pilot may be handed over, and is put to its own
        worker again. Policies that count on having chosen every question refuse all.

        Parameters
        ----------
        worker : str
            Who answers.
        key : str, optional
            A retry with the same key changes nothing and returns the same.

        Returns
        -------
        Assignment
            The worker's.
        """
        said = {"assignment": self._seq_of(assignment_id), "worker": as_name(worker)}
        action: Action[Any] = Action(
            lambda verbs: Batch((hand_over(verbs, **said),)),
            lambda batch: batch.to_json(),
            recalled,
        )
        return self._writer.write(prepared("hand_over", said, key, action))[0]


def check_hands_over(spec: Spec) -> None:
    """Refuse a campaign in which no question can be handed over, whatever its state."""
    check_takes_questions(spec.policy, "hand_over")
    if spec.mechanism.bidding:
        message = "workers bid in this campaign, and what they are paid follows from who was chosen"
        raise conflict("workers_bid", "worker", message)


def hand_over(verbs: Verbs, assignment: int, worker: str) -> Assignment:
    """Release an assignment and put its task to another worker."""
    state, ledger = verbs.state, verbs.ledger
    check_hands_over(state.spec)
    if ledger.total(c.STOPPED):
        raise conflict("campaign_stopped", "state", "the campaign was stopped: nobody is asked")
    if ledger.total(c.PAUSED):
        raise conflict("campaign_paused", "state", "the campaign is paused: nobody is asked")
    at = ledger.worker_at(worker)
    verbs.about_out(assignment)  # refuses what is not out
    row = ledger.book.assignments[place_of(verbs.name, ledger, assignment)]
    task, giver, reserved = (int(row[column]) for column in (c.TASK, c.WORKER, c.COST))
    _check_question(verbs, assignment, giver, at)
    _check_taker(verbs, task, at, reserved)
    verbs.expire(assignment)
    step = OwnDecision(HANDED_OVER, [OwnAsk(task, at, None)])
    return hand_all_out(verbs, step, state.present([worker]))[0]


def _check_question(verbs: Verbs, assignment: int, giver: int, taker: int) -> None:
    """Refuse to hand over what is about its worker: an audit, a gold question."""
    ledger = verbs.ledger
    audits = any(ledger.book.workers[each, c.AUDITS] for each in (giver, taker))
    if audits or assignment in ledger.standings.of(giver).gold:
        raise conflict(
            "not_for_worker",
            "worker",
            f"assignment {assignment_id(verbs.name, assignment)!r} stays with worker "
            f"{ledger.workers[giver].id!r}: audits and gold questions are not handed over",
        )


def _check_taker(verbs: Verbs, task: int, taker: int, freed: int) -> None:
    """Refuse somebody who could not have been asked; ``freed`` is what the release brings back."""
    state, ledger = verbs.state, verbs.ledger
    book, name, about = ledger.book, ledger.workers[taker].id, ledger.task_id(task)
    if not ledger.is_here(taker):
        raise conflict("worker_left", "worker", f"worker {name!r} has left")
    if not state.available([name])[taker]:
        message = f"worker {name!r} is suspended, or has to qualify first"
        raise conflict("worker_suspended", "worker", message)
    if book.tasks[task, c.CLOSED]:
        raise conflict("task_closed", "task", f"task {about!r} is closed: nobody is asked about it")
    if not queries.may_put(book, task, taker):
        message = f"task {about!r} was put to worker {name!r} before, or is for others"
        raise conflict("not_for_worker", "worker", message)
    if not queries.can_be_asked(book, taker):
        message = f"worker {name!r} has reached their limit"
        raise conflict("worker_limit_reached", "worker", message)
    left, price = int(queries.money_left(book.totals)) + freed, int(book.workers[taker, c.PRICE])
    if price > left:
        raise OverBudget(
            f"worker {name!r} costs {from_micro(price)}, and the budget has "
            f"{from_micro(max(0, left))} left",
            field="worker",
        )
