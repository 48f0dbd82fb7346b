"""What every mechanism does: run these checks on yours, with a policy that it goes with.

Each check takes a mechanism and a policy, and pays for small campaigns. With pytest::

    @pytest.mark.parametrize("check", mechanisms.CHECKS, ids=lambda check: check.__name__)
    def test_my_mechanism_keeps_the_contract(check):
        check(MyMechanism(), policies.make("ccb-fixed"))

That it pays to bid one's cost is for a proof, and for tests of your own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from askwise.campaign import Campaign
from askwise.campaign.state import CampaignState
from askwise.core import draws
from askwise.core.choices import Batch, Done, Wait
from askwise.core.errors import Conflict, InvalidProblem
from askwise.core.events import Event, Kind
from askwise.core.money import from_micro, to_micro
from askwise.mechanisms.base import Mechanism
from askwise.policies import Policy, policies
from askwise.store import MemoryStore, Store
from askwise.testing.scenes import ASSURED, Scene
from askwise.testing.sessions import MOST_STEPS, comparable, spec_of_campaign

Check = Callable[[Mechanism, Policy], None]

SCENE = replace(ASSURED, budget=None, named=False, workers=5)
BIDS = {"w1": "2.5", "w3": "4", "w0": "0.75"}
"""What some workers ask for instead of the price they joined with."""

_checks: list[Check] = []


def check_mechanism(mechanism: Mechanism, policy: Policy) -> None:
    """Run all checks; the first that fails raises AssertionError.

    Parameters
    ----------
    mechanism : Mechanism
        An instance that takes bids of up to 11. Its class must be registered.
    policy : Policy
        One with which it may be used, for two options and without a budget.

    Examples
    --------
    >>> from askwise.mechanisms import mechanisms
    >>> check_mechanism(mechanisms.make("pay-price"), policies.make("uniform"))
    """
    for check in CHECKS:
        check(mechanism, policy)


def _listed(check: Check) -> Check:
    _checks.append(check)
    return check


def _start(mechanism: Mechanism, policy: Policy, store: Store | None = None) -> Campaign:
    """A campaign with the bids that workers make, if they may."""
    campaign = SCENE.create(policy, mechanism=mechanism, store=store or MemoryStore())
    if mechanism.bidding:
        for worker, amount in BIDS.items():
            campaign.bid(worker, amount)
    return campaign


def _step(campaign: Campaign, scene: Scene = SCENE) -> bool:
    """Ask and answer once, or tell a truth; False at the end."""
    choice = campaign.ask(limit=3)
    if isinstance(choice, Batch):
        for each in choice:
            worker, task = int(each.worker[1:]), int((each.task or "t0")[1:])
            campaign.tell(each.id, scene.answer(worker, task, 0))
    elif choice == Wait("truth"):
        log = campaign.log()
        told = {event.task for event in log if event.kind == Kind.TRUTH}
        answered = [event.task for event in log if event.kind == Kind.ANSWER]
        due = next(each for each in answered if each not in told)
        campaign.truth(due or "", scene.truth(int((due or "t0")[1:])))
    else:
        assert isinstance(choice, Done), f"with nothing out: {choice}"
        return False
    return True


def _finished(mechanism: Mechanism, policy: Policy) -> Campaign:
    campaign = _start(mechanism, policy)
    for _ in range(MOST_STEPS):
        if not _step(campaign):
            return campaign
    raise AssertionError(f"the campaign does not end within {MOST_STEPS} steps")


def _bids(campaign: Campaign) -> dict[str, int]:
    """The bid of each worker, or else the price they joined with."""
    found = {worker.id: worker.micro for worker in spec_of_campaign(campaign).problem.workers}
    for event in campaign.log():
        if event.kind == Kind.BID:
            assert event.worker is not None
            found[event.worker] = event.price or 0
    return found


def _answers(campaign: Campaign) -> list[Event]:
    return [event for event in campaign.log() if event.kind == Kind.ANSWER]


@_listed
def every_bid_is_quoted_and_nobody_below_it(mechanism: Mechanism, policy: Policy) -> None:
    """Quotes name every worker once, in whole micro-units, and read only: again they agree."""
    if not mechanism.bidding:
        return
    campaign = _start(mechanism, policy)
    state = CampaignState(spec_of_campaign(campaign))
    for event in campaign.log():
        state.fold(event)
    before = [np.asarray(array).tobytes() for array in state.ledger.book]
    problem, draw = state.spec.problem, state.draw(draws.MECHANISM, 0)
    quotes = mechanism.quote(problem, state.ledger, draw)
    assert mechanism.quote(problem, state.ledger, draw) == quotes, "the second quotes differ"
    assert [np.asarray(array).tobytes() for array in state.ledger.book] == before
    bids = _bids(campaign)
    assert sorted(quote.worker for quote in quotes) == sorted(bids), "not every worker once"
    for quote in quotes:
        assert all(isinstance(number, int) for number in quote[1:]), f"{quote} is not in micros"
        assert quote.bid == bids[quote.worker], f"{quote.worker} bid {bids[quote.worker]}"
        assert quote.price >= quote.bid, f"{quote.worker} is quoted {quote.price} below the bid"


@_listed
def nobody_is_paid_below_their_bid(mechanism: Mechanism, policy: Policy) -> None:
    """Every answer is paid at least the bid, and at what its assignment had reserved."""
    campaign = _finished(mechanism, policy)
    bids = _bids(campaign)
    asked = {event.seq: event.price for event in campaign.log() if event.kind == Kind.ASKED}
    answers = _answers(campaign)
    assert answers, "nobody was asked"
    for event in answers:
        assert event.worker is not None
        assert event.price is not None
        assert event.price >= bids[event.worker], f"{event.worker} is paid {event.price}"
        assert event.price == asked[event.assignment or 0], "paid other than reserved"


@_listed
def payments_add_up_to_the_log(mechanism: Mechanism, policy: Policy) -> None:
    """What is owed is what the answers cost, with a reason; in sum it is what was spent."""
    campaign = _finished(mechanism, policy)
    paid: Counter[str] = Counter()
    for event in _answers(campaign):
        paid[event.worker or ""] += event.price or 0
    payments = campaign.payments()
    assert [payment.worker for payment in payments] == [f"w{at}" for at in range(SCENE.workers)]
    for payment in payments:
        assert to_micro(payment.paid, "paid") == paid[payment.worker], payment
        assert payment.why, f"no reason for {payment}"
    assert campaign.status().spent == from_micro(sum(paid.values()))


@_listed
def the_same_seed_gives_the_same_log(mechanism: Mechanism, policy: Policy) -> None:
    """Also when the campaign is opened anew for every step."""
    whole = _finished(mechanism, policy)
    store = MemoryStore()
    _start(mechanism, policy, store)
    for _ in range(MOST_STEPS):
        if not _step(Campaign.open(store, "scene")):
            break
    again = Campaign.open(store, "scene")
    assert comparable(again.log()) == comparable(whole.log()), "the logs differ"
    assert again.payments() == whole.payments()


@_listed
def bids_are_taken_until_the_first_ask(mechanism: Mechanism, policy: Policy) -> None:
    """Later ones are refused, and all of them where there is no bidding; nothing is logged."""
    campaign = _start(mechanism, policy)
    if mechanism.bidding:
        campaign.ask()
    length = len(campaign.log())
    try:
        campaign.bid("w2", "1")
    except Conflict:
        assert len(campaign.log()) == length, "a refused bid left events behind"
    else:
        raise AssertionError("the bid was to be refused")


@_listed
def a_promise_of_truth_is_not_made_for_any_policy(mechanism: Mechanism, policy: Policy) -> None:
    """A truthful mechanism refuses a policy that says nothing of how bids decide."""
    mechanism.check(SCENE.problem(), policy)
    if mechanism.truthful:
        try:
            mechanism.check(SCENE.problem(), policies.make("uniform"))
        except InvalidProblem:
            return
        raise AssertionError("it promises truthful bids with policy 'uniform'")


CHECKS = tuple(_checks)
"""All checks, in the order in which to read a failing run."""
