"""Bids and what a mechanism makes of them: checks, and the quotes that are due."""

from collections.abc import Sequence

from askwise.campaign.refusals import conflict, invalid_answer
from askwise.campaign.state import CampaignState
from askwise.core import draws
from askwise.core.errors import MechanismFault
from askwise.core.money import from_micro
from askwise.ledger import columns as c
from askwise.ledger.proposals import Proposal
from askwise.mechanisms import Quote

EXPLOIT = "exploit"
"""The note of a decision by which a policy uses what it has learned."""


def check_bid(state: CampaignState, worker: str, amount: int) -> None:
    """Refuse a bid that comes too late, is not wanted, or that the mechanism can't take."""
    mechanism = state.spec.mechanism
    at = state.ledger.worker_at(worker)
    if not state.ledger.book.workers[at, c.JOINED]:
        raise conflict("worker_left", "worker", f"worker {worker!r} has left")
    if not mechanism.bidding:
        instead = "workers have the prices they joined with"
        message = f"mechanism {mechanism.name!r} takes no bids: {instead}"
        raise conflict("no_bids", "worker", message)
    if not state.bidding:
        raise conflict("bidding_closed", "amount", "bidding closed at the first ask")
    mechanism.check_bid(worker, amount)


def closing_quotes(state: CampaignState) -> Sequence[Quote]:
    """The prices that the bids come to, when the first decision closes the bidding."""
    spec, ledger = state.spec, state.ledger
    if not state.bidding:
        return ()
    return spec.mechanism.quote(spec.problem, ledger, state.draw(draws.MECHANISM, 0))


def new_quotes(state: CampaignState, choice: Proposal) -> Sequence[Quote]:
    """The prices that change as a decision uses what was learned, before they are reserved."""
    spec = state.spec
    length, note = int(choice.head[0]), spec.policy.notes[int(choice.head[1])]
    if not spec.mechanism.bidding or note != EXPLOIT:
        return ()
    members = [int(worker) for worker in choice.rows[:length, c.PLAN_WORKER]]
    return spec.mechanism.requote(spec.problem, state.ledger, spec.policy, state.beliefs, members)


def check_cost(state: CampaignState, cost: int, due: int) -> None:
    """Refuse another cost than what bids have come to: ``due`` is the price, of a failure 0."""
    mechanism = state.spec.mechanism
    if mechanism.bidding and cost != due:
        raise invalid_answer(
            "invalid_amount",
            "cost",
            f"cost is {from_micro(cost)}: mechanism {mechanism.name!r} pays the price that bids "
            f"came to for an answer, and nothing for a failure, which is {from_micro(due)} here",
        )


def check_paid(state: CampaignState, worker: int, price: int) -> None:
    """Nobody is paid below their bid, whatever a mechanism made of it."""
    mechanism, ledger = state.spec.mechanism, state.ledger
    bid = int(ledger.book.workers[worker, c.BID])
    if mechanism.bidding and price < bid:
        raise MechanismFault(
            f"mechanism {mechanism.name!r} would pay worker {ledger.workers[worker].id!r} "
            f"{from_micro(price)} for an answer, below their bid of {from_micro(bid)}; nothing was "
            "settled",
            field="mechanism",
        )
