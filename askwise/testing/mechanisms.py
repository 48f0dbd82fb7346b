"""What every mechanism does: run these checks on yours, with a policy that it goes with.

Each check takes a mechanism and a policy, and pays for small campaigns. With pytest::

    @pytest.mark.parametrize("check", mechanisms.CHECKS, ids=lambda check: check.__name__)
    def test_my_mechanism_keeps_the_contract(check):
        check(MyMechanism(), policies.make("ccb-fixed"))

That it pays to bid one's cost is for a proof, and for tests of your own.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from askwise.core import draws
from askwise.core.errors import Conflict, InvalidProblem
from askwise.core.events import Kind
from askwise.core.money import from_micro, to_micro
from askwise.mechanisms.base import Mechanism
from askwise.policies import Policy, policies
from askwise.testing.scenes import ASSURED
from askwise.testing.sessions import Session, resume, same_logs, start
from askwise.testing.suite import Suite, as_bytes, refused

Check = Callable[[Mechanism, Policy], None]

SCENE = replace(ASSURED, budget=None, named=False, workers=5)
BIDS = {"w1": "2.5", "w3": "4", "w0": "0.75"}
"""What some workers ask for instead of the price they joined with."""

CHECKS = Suite[[Mechanism, Policy]]()


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
    CHECKS.run(mechanism, policy)


def _start(mechanism: Mechanism, policy: Policy) -> Session:
    """A campaign with the bids that workers make, if they may."""
    session = start(policy, SCENE, mechanism=mechanism)
    if mechanism.bidding:
        for worker, amount in BIDS.items():
            session.campaign.bid(worker, amount)
    session.catch_up()
    return session


def _finished(mechanism: Mechanism, policy: Policy) -> Session:
    return _start(mechanism, policy).finish(limit=3)


@CHECKS
def every_bid_is_quoted_and_nobody_below_it(mechanism: Mechanism, policy: Policy) -> None:
    """Quotes name every worker once, in whole micro-units, and read only: again they agree."""
    if not mechanism.bidding:
        return
    session = _start(mechanism, policy)
    state, bids = session.state, session.referee.bids
    before = as_bytes(state.ledger.book)
    problem, draw = state.spec.problem, state.draw(draws.MECHANISM, 0)
    quotes = mechanism.quote(problem, state.ledger, draw)
    assert mechanism.quote(problem, state.ledger, draw) == quotes, "the second quotes differ"
    assert as_bytes(state.ledger.book) == before, "quoting wrote into the ledger"
    assert sorted(quote.worker for quote in quotes) == sorted(bids), "not every worker once"
    for quote in quotes:
        assert all(isinstance(number, int) for number in quote[1:]), f"{quote} is not in micros"
        assert quote.bid == bids[quote.worker], f"{quote.worker} bid {bids[quote.worker]}"
        assert quote.price >= quote.bid, f"{quote.worker} is quoted {quote.price} below the bid"


@CHECKS
def nobody_is_paid_below_their_bid(mechanism: Mechanism, policy: Policy) -> None:
    """Every answer is paid at least the bid, and at what its assignment had reserved."""
    session = _finished(mechanism, policy)
    answers = [event for event in session.log if event.kind == Kind.ANSWER]
    assert answers, "nobody was asked"
    for event in answers:
        paid, asked = event.price or 0, session.log[(event.assignment or 0) - 1]
        assert paid >= session.referee.bids[event.worker or ""], f"{event.worker} is paid {paid}"
        assert paid == asked.price, "paid other than reserved"


@CHECKS
def payments_add_up_to_the_log(mechanism: Mechanism, policy: Policy) -> None:
    """What is owed is what the answers cost, with a reason; in sum it is what was spent."""
    session = _finished(mechanism, policy)
    paid: Counter[str] = Counter()
    for event in session.log:
        if event.kind == Kind.ANSWER:
            paid[event.worker or ""] += event.price or 0
    payments = session.campaign.payments()
    assert [payment.worker for payment in payments] == [f"w{at}" for at in range(SCENE.workers)]
    for payment in payments:
        assert to_micro(payment.paid, "paid") == paid[payment.worker], payment
        assert payment.why, f"no reason for {payment}"
    assert session.campaign.status().spent == from_micro(sum(paid.values()))


@CHECKS
def the_same_seed_gives_the_same_log(mechanism: Mechanism, policy: Policy) -> None:
    """Also when the campaign is opened again for every step."""
    whole, session = _finished(mechanism, policy), _start(mechanism, policy)
    while session.step(limit=3):
        session = resume(SCENE, session.store)
    same_logs(session.log, whole.log, "opened again for every step")
    assert session.campaign.payments() == whole.campaign.payments()


@CHECKS
def bids_are_taken_until_the_first_ask(mechanism: Mechanism, policy: Policy) -> None:
    """Later ones are refused, and all of them where there is no bidding; nothing is logged."""
    session = _start(mechanism, policy)
    if mechanism.bidding:
        session.ask()
    refused(Conflict, session.campaign.bid, "w2", "1")
    assert len(session.campaign.log()) == len(session.log), "a refused bid left events behind"


@CHECKS
def a_promise_of_truth_is_not_made_for_any_policy(mechanism: Mechanism, policy: Policy) -> None:
    """A truthful mechanism refuses a policy that says nothing of how bids decide."""
    mechanism.check(SCENE.problem(), policy)
    if mechanism.truthful:
        refused(InvalidProblem, mechanism.check, SCENE.problem(), policies.make("uniform"))
