"""What every aggregator does: run these checks on yours.

Each check takes an aggregator and has it label the tasks of small campaigns. With pytest::

    @pytest.mark.parametrize("check", aggregators.CHECKS, ids=lambda check: check.__name__)
    def test_my_aggregator_keeps_the_contract(check):
        check(MyAggregator())
"""

from collections.abc import Callable
from dataclasses import replace

from askwise.aggregation.base import Aggregator
from askwise.campaign.state import CampaignState
from askwise.core import draws
from askwise.core.labels import Label, told
from askwise.ledger import columns as c
from askwise.policies import policies
from askwise.testing.scenes import LABELS, TASKS, VOTES, Scene
from askwise.testing.sessions import Session, resume, start
from askwise.testing.suite import Suite, as_bytes, check_label

Check = Callable[[Aggregator], None]

CHECKS = Suite[[Aggregator]]()


def check_aggregator(aggregator: Aggregator) -> None:
    """Run all checks; the first that fails raises AssertionError.

    Parameters
    ----------
    aggregator : Aggregator
        An instance. Its class must be registered.

    Examples
    --------
    >>> from askwise.aggregation import aggregation
    >>> check_aggregator(aggregation.make("majority"))
    """
    CHECKS.run(aggregator)


def scenes_of(aggregator: Aggregator) -> list[Scene]:
    """List the small campaigns whose tasks an aggregator labels."""
    scenes = {"options": [LABELS, VOTES], "utility": [TASKS]}
    return [scene for kind in aggregator.outcomes for scene in scenes[kind]]


def _started(aggregator: Aggregator) -> list[Session]:
    uniform = policies.make("uniform")
    return [start(uniform, scene, aggregation=aggregator) for scene in scenes_of(aggregator)]


def _under_way(aggregator: Aggregator) -> list[Session]:
    """Campaigns in which some tasks have answers and others have none."""
    return [_go_on(session) for session in _started(aggregator)]


def _go_on(session: Session) -> Session:
    session.ask(limit=7)
    for seq in tuple(session.referee.out)[:6]:
        session.tell(seq)
    return session


def _labels(
    aggregator: Aggregator, state: CampaignState, tasks: list[int] | None = None
) -> list[Label]:
    wanted = list(range(state.ledger.total(c.TASKS))) if tasks is None else tasks
    draw = state.draw(draws.AGGREGATION, 0)
    return aggregator.labels(state.spec.problem, state.ledger, wanted, draw, state.beliefs)


@CHECKS.each(_under_way)
def labelling_changes_nothing(session: Session, aggregator: Aggregator) -> None:
    """The ledger does not change by a byte, and labelling again with the same draw agrees."""
    before = as_bytes(session.state.ledger.book)
    first = _labels(aggregator, session.state)
    assert as_bytes(session.state.ledger.book) == before, "labelling wrote into the ledger"
    assert _labels(aggregator, session.state) == first, "the second labels differ"


@CHECKS.each(_under_way)
def a_label_is_a_possible_answer_with_a_probability(
    session: Session, aggregator: Aggregator
) -> None:
    """An option's index, or a utility within its range; the confidence is from 0 to 1, and says
    what it rests on.
    """
    for label in _labels(aggregator, session.state):
        check_label(label, session.state.spec.problem)


@CHECKS
def what_nobody_answered_has_no_label(aggregator: Aggregator) -> None:
    """A task without an answer or a truth gets none, also where nothing was answered at all."""
    for session in (*_started(aggregator), *_under_way(aggregator)):
        counts = session.state.ledger.book.tasks[:, c.TASK_ANSWERED]
        for task, label in enumerate(_labels(aggregator, session.state)):
            assert (label[0] is None) == (counts[task] == 0), f"task {task} is labelled {label}"


@CHECKS.each(_under_way)
def one_by_one_is_all_at_once(session: Session, aggregator: Aggregator) -> None:
    """Which tasks are labelled together, and in which order, has no bearing on the labels."""
    state = session.state
    together = _labels(aggregator, state)
    tasks = list(range(len(together)))
    assert _labels(aggregator, state, tasks[::-1]) == together[::-1], "by order"
    draw = state.draw(draws.AGGREGATION, 0)
    for task, due in zip(tasks, together, strict=True):
        found = aggregator.label(state.spec.problem, state.ledger, task, draw, state.beliefs)
        assert found == due, f"alone, task {task} is labelled {found} instead of {due}"


@CHECKS.each(_under_way)
def names_do_not_matter(plain: Session, aggregator: Aggregator) -> None:
    """With the order of workers and tasks kept, other names give the same labels."""
    scene = replace(plain.scene, renamed=True)
    tasks = [replace(task, id=f"z{99 - at}") for at, task in enumerate(scene.work())]
    named = _go_on(start(policies.make("uniform"), scene, tasks=tasks))
    assert _labels(aggregator, named.state) == _labels(aggregator, plain.state), "renamed"


@CHECKS.each(_started)
def what_everybody_says_is_the_answer(session: Session, aggregator: Aggregator) -> None:
    """Where all agree, their answer is the label."""
    options = session.scene.options
    last = options[-1] if options else 0.5
    for each in session.campaign.ask(limit=9):
        session.campaign.tell(each.id, last)
    session.catch_up()
    due = len(options) - 1 if options else 0.5
    found = {label.value for label in _labels(aggregator, session.state)} - {None}
    assert found == {due}, f"all said {due}, the labels are {found}"


@CHECKS.each(_under_way)
def a_known_truth_is_the_label(session: Session, aggregator: Aggregator) -> None:
    """Whatever was answered, a truth that was told is certain."""
    options = session.state.spec.problem.options
    if options:
        for at, option in enumerate(options):
            session.campaign.truth(f"t{at}", option)
        session.catch_up()
        found = _labels(aggregator, session.state)[: len(options)]
        assert found == [told(at) for at in range(len(options))], f"labels: {found}"


@CHECKS.each(_under_way)
def a_campaign_answers_by_it_and_opens_again(session: Session, aggregator: Aggregator) -> None:
    """The answers of a campaign are its labels, the same after the campaign is opened again."""
    answers = session.campaign.answers()
    for answer, label in zip(answers, _labels(aggregator, session.state), strict=True):
        if answer.outcome == "open":
            named = session.state.named(label.value)
            reported = answer.value, answer.confidence, answer.rests_on
            assert reported == (named, label.confidence, label.rests_on)
    assert resume(session.scene, session.store).campaign.answers() == session.campaign.answers()
