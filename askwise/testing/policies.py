"""What every policy does: run these checks on yours.

A check takes a policy, puts it through small campaigns and raises AssertionError where it breaks
the contract. With pytest::

    @pytest.mark.parametrize("check", policies.CHECKS, ids=lambda check: check.__name__)
    def test_my_policy_keeps_the_contract(check):
        check(MyPolicy())

``play`` takes a script, any list of whole numbers, so that hypothesis can look for a short one
that fails.
"""

import json
import random
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, get_args
from unittest import mock

import numpy as np

from askwise.campaign import Campaign, cached
from askwise.campaign.state import CampaignState
from askwise.core import draws
from askwise.core.choices import Batch, Done, Wait
from askwise.core.events import Event, Kind, PlanRow
from askwise.ledger import Ledger, Proposal
from askwise.ledger import columns as c
from askwise.policies import (
    FixedWorkers,
    GoldFor,
    GoldRequest,
    LabelsItself,
    Policy,
    SuggestsGold,
)
from askwise.store import MemoryStore
from askwise.testing.scenes import Scene, scenes_for
from askwise.testing.sessions import MOST_STEPS, folded, play, resume, same_logs, start
from askwise.testing.suite import Suite, as_bytes, check_label

Check = Callable[[Policy], None]

CHECKS = Suite[[Policy]]()


def check_policy(policy: Policy) -> None:
    """Run all checks; the first that fails raises AssertionError.

    Parameters
    ----------
    policy : Policy
        An instance. Its class must be importable and registered.

    Examples
    --------
    >>> from askwise.policies import policies
    >>> check_policy(policies.make("trialsourcing"))
    """
    CHECKS.run(policy)


@CHECKS.each(scenes_for)
def choosing_changes_nothing(scene: Scene, policy: Policy) -> None:
    """Neither beliefs nor ledger change by a byte, and choosing again gives the same."""
    session = start(policy, scene, seed=3)
    state = session.state
    for _ in range(12):
        everyone = _available(state)
        for mask in (everyone, everyone * (np.arange(len(everyone)) % 2 == 0), everyone * 0):
            arrays = (*state.ledger.book, *state.beliefs)
            before = as_bytes(arrays)
            one = _written(state.choose(mask.astype(np.int8)))
            state.scores(mask.astype(np.int8))
            assert as_bytes(arrays) == before, "choosing wrote into the ledger or the beliefs"
            again = _written(state.choose(mask.astype(np.int8)))
            assert one == again, f"choosing again gave {again} instead of {one}"
        session.ask(limit=2)
        if session.referee.out:
            session.tell(session.referee.out[0])


@CHECKS.each(scenes_for)
def its_labels_say_what_they_rest_on(scene: Scene, policy: Policy) -> None:
    """Where it names the answers itself, each is a Label, one for each task that was asked for."""
    if not isinstance(policy, LabelsItself):
        return
    session = start(policy, scene, seed=3)
    for _ in range(8):
        state = session.state
        tasks, draw = range(state.ledger.total(c.TASKS)), state.draw(draws.AGGREGATION, 0)
        labels = policy.labels(state.spec.problem, state.beliefs, state.ledger, tasks, draw)
        assert len(labels) == len(tasks), f"{len(labels)} labels for {len(tasks)} tasks"
        for label in labels:
            check_label(label, state.spec.problem)
        session.ask(limit=2)
        if session.referee.out:
            session.tell(session.referee.out[0])


@CHECKS.each(scenes_for)
def the_truths_that_it_wants_are_not_told_yet(scene: Scene, policy: Policy) -> None:
    """Where it suggests gold, every request names tasks of the campaign whose truth is unknown.

    Asking what it wants changes nothing, and asking again gives the same.
    """
    if not isinstance(policy, SuggestsGold):
        return
    session = start(policy, scene, seed=3)
    tasks, options = session.state.ledger.tasks, session.state.spec.problem.options
    for told in range(min(8, len(tasks))):
        state = session.state
        arrays = (*state.ledger.book, *state.beliefs)
        before = as_bytes(arrays)
        requests = state.needs_gold()
        assert as_bytes(arrays) == before, "naming tasks wrote into the ledger or the beliefs"
        assert state.needs_gold() == requests, "the second requests differ"
        for request in requests:
            _check_request(request, state)
        if options:
            session.campaign.truth(tasks[told].id, options[told % len(options)])
            session.catch_up()
        session.ask(limit=2)
        if session.referee.out:
            session.tell(session.referee.out[0])


def _check_request(request: object, state: CampaignState) -> None:
    assert isinstance(request, GoldRequest), f"{request!r} is no GoldRequest"
    assert request.why in get_args(GoldFor), f"why is {request.why!r}"
    assert request.tasks, "no task is named"
    assert len(set(request.tasks)) == len(request.tasks), "a task is named twice"
    assert request.count is None or request.count >= 1, f"count is {request.count}"
    for task in request.tasks:
        known = state.ledger.book.tasks[state.ledger.task_at(task), c.TRUTH]
        assert known < 0, f"the truth of {task} is known"


@CHECKS.each(scenes_for)
def the_same_seed_gives_the_same_log(scene: Scene, policy: Policy) -> None:
    """Two runs with the same seed and answers have the same log, whatever the clock."""
    script = random.Random(11).choices(range(4096), k=40)
    one, other = (play(policy, scene, script, seed=9) for _ in range(2))
    same_logs(one.log, other.log, "the second run")


@CHECKS.each(scenes_for)
def it_ends_properly(scene: Scene, policy: Policy) -> None:
    """Answered one by one, every scene ends in Done; nothing stays reserved."""
    session = start(policy, scene, seed=1).finish()
    reserved = session.campaign.status().reserved
    assert reserved == 0, f"{reserved} stays reserved though nothing is out"


@CHECKS
def a_crash_after_any_event_is_survived(policy: Policy) -> None:
    """A log that is cut off anywhere goes on as it would have gone on."""
    for scene in (scene for scene in scenes_for(policy) if scene.rule is None):
        whole = start(policy, scene, seed=4).finish()
        for cut in range(0, len(whole.log), max(1, len(whole.log) // 6)):
            crash_after(policy, scene, whole.log, cut)


def crash_after(policy: Policy, scene: Scene, log: Sequence[Event], cut: int) -> None:
    """Open a campaign whose log has only the first ``cut`` events, and let it go on."""
    store = MemoryStore()
    store.create("scene", json.dumps(scene.create(policy, seed=4).spec), 0.0)
    with store.write("scene") as transaction:
        transaction.append(list(log[:cut]), 0)
    session = resume(scene, store).finish()
    same_logs(session.log, log, f"after a crash at event {cut}")


@CHECKS.each(scenes_for)
def snapshots_change_nothing(scene: Scene, policy: Policy) -> None:
    """Reopened from snapshots again and again, a campaign has the log of one never closed."""
    whole = start(policy, scene, seed=4).finish()
    session = start(policy, scene, seed=4)
    step, going = 0, True
    with mock.patch.object(cached, "FIRST_SNAPSHOT", 2):
        while going:
            step += 1
            if step % 3 == 0:
                session.campaign = Campaign.open(session.store, "scene")
            going = session.step()
            if step % 5 == 0:
                session.campaign = Campaign.open(session.store, "scene")
                restored = CampaignState.restore(session.state.spec, session.state.snapshot())
                _same_state(restored, session.state)
    same_logs(session.log, whole.log, "with snapshots")


@CHECKS.each(scenes_for)
def odd_answers_are_survived(scene: Scene, policy: Policy) -> None:
    """Out of order, twice, expired and late, declined: the campaign goes on to its end."""
    session = start(policy, scene, seed=6)
    campaign, referee = session.campaign, session.referee
    for turn in range(8):
        if not isinstance(session.ask(limit=4), Batch):
            break
        seqs = list(reversed(referee.out))
        session.tell(seqs[0])
        session.tell_in_vain(seqs[0])
        if len(seqs) > 1 and turn % 2:
            campaign.expire(f"scene:{seqs[1]}")
            session.catch_up()
            if referee.takes_late(seqs[1]):
                session.tell(seqs[1])
        elif len(seqs) > 1:
            campaign.decline(f"scene:{seqs[1]}")
            session.catch_up()
            session.tell_in_vain(seqs[1])
    session.finish()


@CHECKS.each(scenes_for)
def offers_are_honoured(scene: Scene, policy: Policy) -> None:
    """Only workers on offer are asked; the campaign ends all the same when all had their turn."""
    session = start(policy, scene, seed=7)
    waits = 0
    for turn in range(MOST_STEPS):
        worker = f"w{turn % scene.workers}"
        choice = session.ask(limit=2, workers=[worker])
        waits = 0 if isinstance(choice, Batch) else waits + 1
        session.tell_all()
        if waits > scene.workers:
            break
    assert isinstance(session.ask(workers=[]), Wait | Done)
    session.finish()


@CHECKS
def any_script_is_legal(policy: Policy) -> None:
    """Whatever happens, money, limits, pairs, offers and closed tasks are respected."""
    for number, scene in enumerate(scenes_for(policy)):
        for seed in range(2):
            script = random.Random(100 * number + seed).choices(range(2**16), k=60)
            play(policy, scene, script, seed)


@CHECKS.each(scenes_for)
def renaming_workers_renames_the_decisions(scene: Scene, policy: Policy) -> None:
    """With the workers' order kept, their names have no bearing on what is decided."""
    plain = start(policy, scene, seed=8)
    named = start(policy, replace(scene, renamed=True), seed=8)
    new = dict(zip(scene.names, named.scene.names, strict=True))
    for offer in (["w0", "w1"], None, ["w1", "w2"], None, ["w2"], ["w0"], None):
        plain.ask(2, offer)
        named.ask(2, None if offer is None else [new[one] for one in offer])
        same_logs(_renamed(named.log), _renamed(plain.log, new), "renamed")
        plain.tell_all()
        named.tell_all()
    plain.finish()
    named.finish()
    same_logs(_renamed(named.log), _renamed(plain.log, new), "renamed")


@CHECKS.each(scenes_for)
def growing_changes_nothing(scene: Scene, policy: Policy) -> None:
    """Arrays that grew as workers and tasks came hold what roomy ones hold."""
    session = start(policy, scene, seed=2)
    for at in range(scene.workers, 45, 5):
        newcomers = [scene.worker(each) for each in range(at, min(45, at + 5))]
        newcomers = [] if isinstance(policy, FixedWorkers) else newcomers
        tasks = [f"t{len(session.referee.numbers)}"] if scene.tasks else []
        session.campaign.add(workers=newcomers, tasks=tasks)
        session.catch_up()
        session.ask(limit=3)
        session.tell_all()
    roomy = CampaignState(session.state.spec)
    roomy.ledger = Ledger(roomy.spec.problem, spare=512)
    roomy.beliefs = policy.start(roomy.spec.problem, roomy.ledger)
    for event in session.log:
        roomy.fold(event)
    _same_state(session.state, roomy)
    everyone = _available(roomy)
    one, other = _written(session.state.choose(everyone)), _written(roomy.choose(everyone))
    assert one == other, f"grown it chooses {one}, with room from the start {other}"


@CHECKS.each(scenes_for)
def decisions_can_be_reproduced(scene: Scene, policy: Policy) -> None:
    """Every assignment is explained by choosing again, with the same result."""
    script = random.Random(50 + scenes_for(policy).index(scene)).choices(range(2**16), k=30)
    session = play(policy, scene, script)
    # To explain folds the log again: some of them, over the whole of it.
    work = list(session.referee.work)
    for seq in work[:: max(1, len(work) // 6)]:
        explanation = session.campaign.explain(f"scene:{seq}")
        assert explanation.reproduced, f"assignment {seq} is not reproduced: {explanation}"


DRAWS = 1500
MARGIN = 5.0
"""In standard deviations: with fixed seeds a right policy passes for good, and of those that
are off by eight deviations or more 998 in 1000 fail."""


@CHECKS
def propensities_are_frequencies(policy: Policy) -> None:
    """A stated propensity is how often the choice falls so, over many draws."""
    session = start(policy, scenes_for(policy)[0], seed=5).finish()
    decided = [event for event in session.log if event.kind == Kind.DECIDED]
    for event in decided[:: max(1, len(decided) // 3)]:
        stated = _stated(event.rows or ())
        if stated is not None:
            before = folded(session.state.spec, session.log[: event.seq - 1])
            _compare_frequencies(before, stated)


def _compare_frequencies(state: CampaignState, stated: dict[Any, float]) -> None:
    drawn: Counter[Any] = Counter()
    odds: dict[Any, float] = {}
    count = DRAWS if min(stated.values()) < 1.0 else 20
    for number in range(count):
        draw, spec = state.draw(draws.POLICY, number), state.spec
        known = (spec.problem, state.beliefs, state.ledger)
        choice = spec.policy.choose(*known, draw, _available(state))
        assert not isinstance(choice, Wait | Done), f"another draw says {choice}"
        for what, chance in (_stated(state.rows(choice)) or {}).items():
            assert odds.setdefault(what, chance) == chance, f"{what} has two propensities"
            drawn[what] += 1
    for what, chance in odds.items():
        margin = MARGIN * (chance * (1.0 - chance) / count) ** 0.5
        found = drawn[what] / count
        assert abs(found - chance) <= margin, f"{what} is drawn at {found}, stated is {chance}"


def _stated(rows: Sequence[PlanRow]) -> dict[Any, float] | None:
    """Propensities by what is asked; None where a policy states none."""
    if any(row.propensity is None for row in rows):
        return None
    return {(row.task, row.worker): row.propensity or 0.0 for row in rows}


def _available(state: CampaignState) -> Any:
    ledger = state.ledger
    return ledger.book.workers[: ledger.total(c.WORKERS), c.JOINED].astype(np.int8)


def _written(choice: Proposal | Wait | Done) -> Any:
    """A choice as something that can be compared."""
    if isinstance(choice, Wait | Done):
        return choice
    length = int(choice.head[0])
    return choice.rows[:length].tolist(), repr(choice.odds[:length].tolist()), int(choice.head[1])


def _same_state(one: CampaignState, other: CampaignState) -> None:
    """Compare the used part of ledger and beliefs, and the names."""
    policy = one.spec.policy
    for mine, theirs in (
        (one.ledger.arrays(), other.ledger.arrays()),
        (policy.used(one.beliefs, one.ledger), policy.used(other.beliefs, other.ledger)),
    ):
        assert mine.keys() == theirs.keys()
        for name in mine:
            np.testing.assert_array_equal(mine[name], theirs[name], err_msg=name)
    assert one.ledger.names() == other.ledger.names()


def _renamed(log: Iterable[Event], new: dict[str, str] | None = None) -> list[Event]:
    """Rename the workers of a log; of those available it counts who they are, not their order."""
    names = new or {}
    found = []
    for event in log:
        changes: dict[str, Any] = {}
        if event.worker is not None:
            changes["worker"] = names.get(event.worker, event.worker)
        if event.rows is not None:
            changes["rows"] = tuple(
                replace(row, worker=names.get(row.worker, row.worker)) for row in event.rows
            )
        if event.available is not None:
            changes["available"] = tuple(sorted(names.get(one, one) for one in event.available))
        found.append(replace(event, **changes))
    return found
