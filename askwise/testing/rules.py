"""What every stopping rule does: run these checks on yours.

Each check takes a rule and lets it close the tasks of small campaigns. With pytest::

    @pytest.mark.parametrize("check", rules.CHECKS, ids=lambda check: check.__name__)
    def test_my_rule_keeps_the_contract(check):
        check(MyRule())
"""

from collections.abc import Callable
from dataclasses import replace
from unittest import mock

from askwise.core.choices import Batch
from askwise.core.events import Kind
from askwise.ledger import columns as c
from askwise.policies import policies
from askwise.stopping.base import StoppingRule
from askwise.testing.scenes import POLL, RULED, Scene, ending
from askwise.testing.sessions import Session, folded, resume, same_logs, start
from askwise.testing.suite import Suite, as_bytes

Check = Callable[[StoppingRule], None]

OUTCOMES = ("confident", "low_confidence", "over_budget")

CHECKS = Suite[[StoppingRule]]()


def check_rule(rule: StoppingRule) -> None:
    """Run all checks; the first that fails raises AssertionError.

    Examples
    --------
    >>> from askwise.stopping import stopping
    >>> check_rule(stopping.make("fixed"))
    """
    CHECKS.run(rule)


def scenes_of(rule: StoppingRule) -> list[Scene]:
    """List the small campaigns that a rule is put through; each closes some task."""
    mixed = replace(POLL, workers=5, tasks=2, kinds=True)
    scenes = {"options": (POLL, mixed), "utility": (RULED,)}
    return [
        replace(scene, rule=ending(rule, 6)) for kind in rule.outcomes for scene in scenes[kind]
    ]


def _sessions(rule: StoppingRule) -> list[Session]:
    return [start(policies.make("uniform"), scene) for scene in scenes_of(rule)]


@CHECKS.each(_sessions)
def a_verdict_changes_nothing(session: Session, rule: StoppingRule) -> None:
    """Neither the rule's state nor the ledger changes by a byte, and asking again agrees."""
    state = session.state
    while isinstance(session.ask(), Batch):
        for task in range(state.ledger.total(c.TASKS)):
            arrays = (*state.ledger.book, *state.beliefs, *state.rule_state)
            before = as_bytes(arrays)
            verdict = state.verdict(task)
            assert as_bytes(arrays) == before, "a verdict wrote into ledger or state"
            assert state.verdict(task) == verdict, "a second verdict differs"
        session.tell(session.referee.out[0])


@CHECKS.each(_sessions)
def a_task_is_closed_by_an_answer_in_its_words(session: Session, rule: StoppingRule) -> None:
    """CLOSED follows an ANSWER to its task, with a known outcome and a possible option."""
    session.finish()
    options = session.state.spec.problem.options
    for before, event in zip(session.log, session.log[1:], strict=False):
        if event.kind == Kind.CLOSED:
            assert (before.kind, before.task) == (Kind.ANSWER, event.task)
            assert event.outcome in OUTCOMES, f"the outcome is {event.outcome}"
            assert event.value in options if options else isinstance(event.value, float)
            assert event.confidence is None or 0.0 <= event.confidence <= 1.0


@CHECKS
def the_same_seed_gives_the_same_verdicts(rule: StoppingRule) -> None:
    """Also when the campaign is opened again for every step."""
    for whole, session in zip(_sessions(rule), _sessions(rule), strict=True):
        whole.finish()
        while session.step():
            session = resume(session.scene, session.store)
        same_logs(session.log, whole.log, "opened again for every step")


@CHECKS.each(_sessions)
def folding_never_asks_the_rule(session: Session, rule: StoppingRule) -> None:
    """What was closed is in the log; a rule that would fail now changes nothing of it."""
    session.finish()
    with mock.patch.object(type(rule), "verdict", side_effect=AssertionError("was asked")):
        state = folded(session.state.spec, session.log)
    assert state.ledger.names() == session.state.ledger.names()


@CHECKS.each(_sessions)
def an_answer_to_a_closed_task_changes_no_verdict(session: Session, rule: StoppingRule) -> None:
    """Given in its lease it is paid and logged; the task stays closed as it was."""
    while isinstance(session.ask(limit=50), Batch):
        for seq in tuple(session.referee.out):
            closed = dict(session.state.ledger.closings)
            paid = session.referee.spent
            session.tell(seq)
            assert session.referee.spent > paid, "the answer is not paid"
            now = session.state.ledger.closings
            assert all(now[task] == closing for task, closing in closed.items())
