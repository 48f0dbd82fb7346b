"""Persons and models are asked about a task at most once; crowds may be asked again."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askwise import Campaign, Done, Worker
from askwise.campaign import views
from askwise.core.errors import AskwiseError, InvalidProblem
from askwise.core.events import Event, Kind
from askwise.core.problem import make_problem
from askwise.ledger import vectors
from askwise.policies import AsksCrowds, Policy, policies
from askwise.testing.referee import Referee
from tests.policies.variants import NEEDED

RECORDED = Path(__file__).parent / "recorded" / "crowds.jsonl"
"""A campaign of crowds, its spec and its log, from before a worker could have a kind."""


def made(name: str, workers: int = 3, options: int = 2) -> Policy:
    """A policy, told how good crowds are if it must be."""
    truth = [[(at + 1) / (at + 2)] + [1 / (at + 2) / (options - 1)] * (options - 1)
             for at in range(workers)]  # fmt: skip
    return policies.make({"name": name, **({"truth": truth} if name in NEEDED else {})})


FOR_CROWDS = [name for name in policies.names() if isinstance(made(name), AsksCrowds)]


def crowds(**said: Any) -> list[Worker]:
    return [
        Worker("w0", "0.05", **said),
        Worker("w1", "0.04", 9, **said),
        Worker("w2", "0.02", 6, **said),
    ]


def polled(**said: Any) -> Campaign:
    """The campaign that was recorded."""
    campaign = Campaign.create(
        workers=crowds(**said),
        tasks=["t0", "t1"],
        options=["no", "yes"],
        budget="2",
        policy="virt-ucb",
        stopping={"name": "posterior", "error": 0.1},
        seed=1,
        name="polls",
        clock=lambda: 0.0,
    )
    answers = 0
    while batch := campaign.ask():
        for each in batch:
            number = 7 * int(each.worker[1:]) + 3 * int((each.task or "")[1:]) + answers * answers
            campaign.tell(each.id, "yes" if number % 5 < 3 else "no")
            answers += 1
        if answers == 5:
            campaign.add(workers=[Worker("w3", "0.03", 4, **said)])
    return campaign


def written(campaign: Campaign) -> str:
    lines = [campaign.spec, *(event.to_json() for event in campaign.log())]
    return "".join(json.dumps(line) + "\n" for line in lines)


def handed_out(log: list[Event]) -> Counter[tuple[str | None, str | None]]:
    """How often each pair is out, answered or declined: what expired does not count."""
    expired = {event.assignment for event in log if event.kind == Kind.EXPIRED}
    asked = [event for event in log if event.kind == Kind.ASKED and event.seq not in expired]
    return Counter((event.task, event.worker) for event in asked)


def work(campaign: Campaign, value: Any = "yes") -> Any:
    while batch := campaign.ask():
        for each in batch:
            campaign.tell(each.id, value)
    return batch


# As before.


def test_without_kinds_the_log_is_the_one_recorded_before_there_were_any() -> None:
    assert written(polled()) == RECORDED.read_text()


def test_crowds_that_are_said_to_be_crowds_differ_in_nothing_but_that_word() -> None:
    assert written(polled(kind="crowd")).replace(', "kind": "crowd"', "") == RECORDED.read_text()


def test_persons_that_are_said_to_be_persons_differ_in_nothing_where_no_pair_repeats() -> None:
    plain, said = (
        Campaign.create(
            workers=[Worker("a", 1, kind=kind), Worker("b", 2, kind=kind)],
            tasks=["t1", "t2"],
            options=["no", "yes"],
            policy="hem",
            seed=1,
            name="same",
            clock=lambda: 0.0,
        )
        for kind in (None, "person")
    )
    assert work(plain) == work(said)
    assert [event.to_json() for event in plain.log()] == [event.to_json() for event in said.log()]


# Once.


@pytest.mark.parametrize("name", FOR_CROWDS)
def test_a_policy_for_crowds_asks_models_once_a_task_and_then_is_at_their_limits(name: str) -> None:
    campaign = Campaign.create(
        workers=[Worker(f"m{at}", 1, kind="model", family="m") for at in range(3)],
        tasks=["t1", "t2"],
        options=["no", "yes"],
        policy=made(name),
        seed=1,
    )
    assert campaign.spec["repeat"] is True
    assert work(campaign) == Done("limits")
    counts = handed_out(campaign.log())
    assert set(counts.values()) == {1}
    assert campaign.over() == Done("limits")
    assert len(counts) == 6


def test_deterministic_models_are_bought_once_whatever_the_rule_wants() -> None:
    campaign = Campaign.create(
        workers=[Worker(f"m{at}", 1, kind="model") for at in range(3)],
        tasks=[f"t{at}" for at in range(20)],
        options=["no", "yes"],
        policy="virt-ucb",
        stopping={"name": "e-process", "delta": 0.05},
        seed=1,
    )
    assert work(campaign) == Done("limits")
    assert handed_out(campaign.log()) == {
        (f"t{task}", f"m{at}"): 1 for task in range(20) for at in range(3)
    }
    assert {answer.outcome for answer in campaign.answers()} == {"low_confidence"}


def test_a_crowd_among_persons_is_asked_on() -> None:
    campaign = Campaign.create(
        workers=[Worker("p", 1, kind="person"), Worker("c", 1, limit=5, kind="crowd")],
        tasks=["t"],
        options=["no", "yes"],
        policy="virt-ucb",
        seed=1,
    )
    assert work(campaign) == Done("limits")
    assert handed_out(campaign.log()) == {("t", "p"): 1, ("t", "c"): 5}


def test_a_crowd_does_not_repeat_where_pairs_may_not() -> None:
    campaign = Campaign.create(
        workers=[Worker("c", 1, kind="crowd")],
        tasks=["t1", "t2"],
        options=["no", "yes"],
        policy="virt-ucb",
        repeat=False,
        seed=1,
    )
    assert work(campaign) == Done("tasks")
    assert handed_out(campaign.log()) == {("t1", "c"): 1, ("t2", "c"): 1}


def test_a_new_task_is_put_to_models_that_were_asked_about_all() -> None:
    campaign = Campaign.create(
        workers=[Worker("m", 1, kind="model")],
        tasks=["t1"],
        options=["no", "yes"],
        policy="virt-ucb",
        seed=1,
    )
    assert work(campaign) == Done("limits")
    campaign.add(tasks=["t2"])
    assert campaign.ask()[0].task == "t2"


def test_units_of_work_are_never_the_same() -> None:
    campaign = Campaign.create(
        workers=[Worker("p", 1, kind="person")], outcome="utility", budget=4, policy="uniform"
    )
    assert work(campaign, 0.5) == Done("budget")
    assert campaign.status().spent == 4


def test_a_question_that_expired_may_be_put_again_and_one_declined_may_not() -> None:
    campaign = Campaign.create(
        workers=[Worker("p", 1, kind="person"), Worker("c", 1, kind="crowd")],
        tasks=["t"],
        options=["no", "yes"],
        policy="virt-ucb",
        seed=1,
    )
    campaign.expire(campaign.ask(workers=["p"])[0].id)
    campaign.decline(campaign.ask(workers=["p"])[0].id)
    assert not campaign.ask(workers=["p"])
    # A crowd is passed over for a while and then asked again.
    campaign.decline(campaign.ask()[0].id)
    assert not campaign.ask()
    assert campaign.ask(workers=["c"])[0].worker == "c"


def test_a_late_answer_is_refused_once_the_pair_was_asked_again() -> None:
    campaign = Campaign.create(
        workers=[Worker("p", 1, kind="person")],
        tasks=["t"],
        options=["no", "yes"],
        policy="virt-ucb",
        seed=1,
    )
    first = campaign.ask()[0].id
    campaign.expire(first)
    campaign.ask()
    with pytest.raises(AskwiseError) as caught:
        campaign.tell(first, "yes")
    assert caught.value.reason == "pair_asked_again"


kinds = st.sampled_from([None, "person", "model", "crowd"])


@st.composite
def problems(draw: st.DrawFn) -> dict[str, Any]:
    options = draw(st.sampled_from([None, ("no", "yes"), ("a", "b", "c")]))
    workers = [
        Worker(
            f"w{at}",
            draw(st.integers(1, 4)),
            draw(st.one_of(st.none(), st.integers(1, 6))),
            kind=draw(kinds),
            family=draw(st.sampled_from([None, "x", "y"])),
        )
        for at in range(draw(st.integers(1, 4)))
    ]
    names = [worker.id for worker in workers]
    some = st.lists(st.sampled_from(names), min_size=1, unique=True)
    tasks = [
        {"id": f"t{at}", "workers": draw(st.one_of(st.none(), some))}
        for at in range(draw(st.integers(1, 4)))
    ]
    return {
        "workers": workers,
        "tasks": tasks,
        "options": options,
        "outcome": None if options else "utility",
        "budget": draw(st.integers(4, 60)),
        "repeat": draw(st.sampled_from([None, True, True])),
        "seed": draw(st.integers(0, 9)),
    }


@pytest.mark.parametrize("name", policies.names())
@given(raw=problems(), script=st.lists(st.integers(0, 2**12), max_size=60))
@settings(max_examples=4)
def test_no_person_and_no_model_is_asked_twice(
    name: str, raw: dict[str, Any], script: list[int]
) -> None:
    try:
        policy = made(name, len(raw["workers"]), len(raw["options"] or "ab"))
        campaign = Campaign.create(policy=policy, **raw)
    except AskwiseError:
        return  # not a problem for this policy
    once = {worker.id for worker in raw["workers"] if worker.kind in ("person", "model")}
    values = raw["options"] or (0.0, 0.5, 1.0)
    for number in script:
        batch = campaign.ask(1 + number % 3)
        for at, each in enumerate(batch):
            verb = (number >> (2 * at)) % 8
            if verb < 6:
                campaign.tell(each.id, values[(number >> at) % len(values)])
            else:
                (campaign.expire if verb == 6 else campaign.decline)(each.id)
        if isinstance(batch, Done):
            break
    counts = handed_out(campaign.log())
    assert all(count == 1 for (_, worker), count in counts.items() if worker in once)
    if not campaign.spec["repeat"]:
        assert set(counts.values()) <= {1}
    referee = Referee(make_problem(**{key: raw[key] for key in raw if key != "seed"}))
    if campaign.spec["repeat"] == referee.problem.repeat:
        for event in campaign.log():
            referee.see(event)


# Joining and coming back.


def test_somebody_who_left_comes_back_with_another_family() -> None:
    campaign = polled(kind="crowd", family="x")
    campaign.leave("w0")
    campaign.add(tasks=["t9"], workers=[Worker("w0", "0.01", kind="crowd", family="y")])
    with campaign.reading() as state:
        assert vectors.families(state.ledger).tolist() == [1, 0, 0, 0]
        found = {each.id: (each.kind, each.family) for each in views.workers(state)}
    assert found["w0"] == ("crowd", "y")
    assert found["w3"] == ("crowd", "x")


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        (None, "person", "kind of worker 'w' is 'person', but they were asked as a crowd before: "
         "give 'crowd', or add them under another id"),
        ("crowd", "model", "kind of worker 'w' is 'model', but they were asked as a crowd before"),
        ("model", "crowd", "kind of worker 'w' is 'crowd', but they were asked as a model before: "
         "give 'model'"),
        ("person", None, "kind of worker 'w' is not given, but they were asked as a person before"),
    ],
)  # fmt: skip
def test_somebody_who_was_asked_does_not_come_back_as_something_else(
    before: Any, after: Any, message: str
) -> None:
    campaign = Campaign.create(
        workers=[Worker("w", 1, kind=before), Worker("v", 1)],
        tasks=["t1", "t2"],
        options=["no", "yes"],
        policy="virt-ucb",
        seed=1,
    )
    campaign.leave("w")
    campaign.add(workers=[Worker("w", 1, kind=after)])  # nobody has asked them yet
    campaign.leave("w")
    campaign.add(workers=[Worker("w", 1, kind=before)])
    campaign.tell(campaign.ask(workers=["w"])[0].id, "yes")
    campaign.leave("w")
    with pytest.raises(InvalidProblem, match=message) as caught:
        campaign.add(workers=[Worker("w", 1, kind=after)])
    assert caught.value.field == "kind"
    campaign.add(workers=[Worker("w", 2, kind=before, family="f")])


def test_a_person_may_come_back_as_a_model_and_is_not_asked_again() -> None:
    campaign = Campaign.create(
        workers=[Worker("w", 1, kind="person")],
        tasks=["t1"],
        options=["no", "yes"],
        policy="virt-ucb",
        seed=1,
    )
    assert work(campaign) == Done("limits")
    campaign.leave("w")
    campaign.add(workers=[Worker("w", 1, kind="model")])
    assert campaign.ask() == Done("limits")


@pytest.mark.parametrize("name", ["virt-ucb", "uniform", "hem", "random-pairs", "bbta", "optkg"])
def test_somebody_who_joins_later_is_what_they_are_said_to_be(name: str) -> None:
    campaign = Campaign.create(
        workers=[Worker("m", 1, kind="model")],
        tasks=["t1", "t2"],
        options=["no", "yes"],
        policy=name,
        budget=40,
        repeat=True,
        seed=1,
    )
    campaign.add(workers=[Worker("p", 1, kind="person", family="f")])
    work(campaign)
    joined = next(event for event in campaign.log() if event.kind == Kind.JOINED)
    assert joined.workers == ({"id": "p", "price": "1", "kind": "person", "family": "f"},)
    assert set(handed_out(campaign.log()).values()) == {1}
