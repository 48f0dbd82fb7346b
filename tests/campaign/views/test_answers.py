"""Every answer says what its confidence rests on."""

from __future__ import annotations

import random
from typing import Any, ClassVar
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askwise import Campaign, Worker
from askwise.aggregation import aggregation
from askwise.aggregation.majority import Majority
from askwise.campaign.state import CampaignState
from askwise.campaign.views import Answer, KeptAnswers, answers
from askwise.core.errors import InvalidProblem
from askwise.core.events import Kind
from askwise.core.labels import Label
from askwise.policies import LabelsItself, Policy, policies
from askwise.store import MemoryStore
from askwise.testing.scenes import Scene, scenes_for
from askwise.testing.sessions import play, spec_of_campaign
from tests.policies.variants import variants_of
from tests.schemas import schema


def campaign_of(policy: str = "uniform", **more: Any) -> Campaign:
    return Campaign.create(
        workers=[Worker(name, 1) for name in "abc"],
        tasks=["t1", "t2", "t3"],
        options=["no", "yes"],
        budget=30,
        policy=policy,
        seed=1,
        **more,
    )


def answer_all(campaign: Campaign, value: str = "yes") -> None:
    while batch := campaign.ask():
        for each in batch:
            campaign.tell(each.id, value)


def found(campaign: Campaign, task: str = "t1") -> Answer:
    return next(each for each in campaign.answers() if each.task == task)


def test_votes_are_agreement() -> None:
    campaign = campaign_of()
    answer_all(campaign)
    assert {each.rests_on for each in campaign.answers()} == {"agreement"}


def test_an_unanswered_task_rests_on_nothing() -> None:
    for policy in ("uniform", "hem", "optkg"):
        assert {each.rests_on for each in campaign_of(policy).answers()} == {None}


def test_a_closing_rule_rests_on_agreement() -> None:
    campaign = campaign_of(stopping={"name": "lead", "lead": 2})
    answer_all(campaign)
    answer = found(campaign)
    assert (answer.outcome, answer.rests_on) == ("confident", "agreement")


def test_what_a_rule_would_name_at_the_end_rests_on_agreement() -> None:
    campaign = campaign_of(stopping={"name": "lead", "lead": 5})
    answer_all(campaign)
    answer = found(campaign)
    assert (answer.outcome, answer.rests_on) == ("low_confidence", "agreement")


@pytest.mark.parametrize(
    "policy",
    [name for name in policies.names() if issubclass(policies.get(name), LabelsItself)],
)
def test_a_told_truth_is_the_answer_whatever_the_policy_says(policy: str) -> None:
    try:
        campaign = campaign_of(policy)
    except InvalidProblem as refused:
        pytest.skip(f"no policy for these workers: {refused}")
    answer_all(campaign)
    for task in ("t1", "t2"):
        campaign.truth(task, "no")
    answer = found(campaign)
    assert (answer.value, answer.confidence, answer.rests_on) == ("no", 1.0, "truth")
    assert found(campaign, "t3").rests_on == "agreement"


def test_a_told_truth_of_a_task_that_nobody_answered_is_its_answer() -> None:
    campaign = campaign_of()
    campaign.truth("t1", "no")
    answer = found(campaign)
    assert (answer.value, answer.rests_on, answer.count) == ("no", "truth", 0)


def test_a_told_truth_is_the_answer_of_a_task_that_a_rule_closed_otherwise() -> None:
    campaign = campaign_of(stopping={"name": "lead", "lead": 2})
    answer_all(campaign)
    campaign.truth("t1", "no")
    answer = found(campaign)
    assert (answer.value, answer.confidence) == ("no", 1.0)
    assert (answer.outcome, answer.rests_on) == ("confident", "truth")


def test_utilities_rest_on_nothing() -> None:
    campaign = Campaign.create(
        workers=[Worker("a", 1)],
        tasks=["t"],
        outcome="utility",
        policy="uniform",
        aggregation="mean",
        budget=3,
    )
    answer_all(campaign, 0.5)  # type: ignore[arg-type]
    (answer,) = campaign.answers()
    assert (answer.value, answer.confidence, answer.rests_on) == (0.5, None, None)


class Calibrated(Majority):
    """Majority that takes its shares for probabilities."""

    name: ClassVar[str] = "calibrated"

    def labels(self, *arguments: Any, **named: Any) -> list[Label]:
        return [
            label if label.value is None else label._replace(rests_on="calibrated")
            for label in super().labels(*arguments, **named)
        ]


class Pairs(Majority):
    """Majority as aggregators were written before labels said what they rest on."""

    name: ClassVar[str] = "pairs"

    def label(self, *arguments: Any, **named: Any) -> Any:
        return super().label(*arguments, **named)[:2]


def test_a_plug_in_that_gives_pairs_still_works() -> None:
    with mock.patch.dict(aggregation._entries, {"pairs": Pairs}):
        campaign = campaign_of(aggregation="pairs")
        answer_all(campaign)
        answer = found(campaign)
        assert (answer.value, answer.confidence, answer.rests_on) == ("yes", 1.0, "agreement")
        campaign.close("t1")
        assert found(campaign).rests_on == "agreement"


def test_a_task_closed_by_hand_keeps_what_its_confidence_rested_on() -> None:
    with mock.patch.dict(aggregation._entries, {"calibrated": Calibrated}):
        store = MemoryStore()
        campaign = campaign_of(aggregation="calibrated", store=store, name="kept")
        (work,) = campaign.ask()
        campaign.tell(work.id, "yes")
        assert work.task is not None
        campaign.close(work.task)
        assert found(campaign, work.task).rests_on == "calibrated"
        assert campaign.log()[-1].kind == Kind.CLOSED
        assert campaign.log()[-1].rests_on == "calibrated"
        assert Campaign.open(store, "kept").answers() == campaign.answers()


def test_what_rests_on_agreement_is_logged_as_it_always_was() -> None:
    campaign = campaign_of(stopping={"name": "lead", "lead": 2})
    answer_all(campaign)
    closed = [event for event in campaign.log() if event.kind == Kind.CLOSED]
    assert closed
    assert all("rests_on" not in event.to_json() for event in closed)


def test_answers_from_an_older_service_say_nothing_of_what_they_rest_on() -> None:
    raw = found(campaign_of()).to_json()
    del raw["rests_on"]
    assert Answer.from_json(raw).rests_on is None


def test_the_schema_has_every_field() -> None:
    answer = schema("answers")["$defs"]["Answer"]
    fields = set(found(campaign_of()).to_json())
    assert set(answer["properties"]) == set(answer["required"]) == fields


def check_kept(policy: Policy, scene: Scene, script: list[int], stride: int) -> None:
    """Compare what is kept with what is worked out anew, as the log is folded."""
    session = play(policy, scene, script)
    state = CampaignState(spec_of_campaign(session.campaign))
    kept = KeptAnswers()
    for number, event in enumerate(session.log):
        state.fold(event)
        if number % stride == 0:
            assert kept.of(state) == answers(state)
    assert kept.of(state) == answers(state)


@pytest.mark.parametrize(
    "name", ["random-pairs", "hem", "uniform", "b-kube", "cascade", "virt-ucb"]
)
@given(st.data(), st.lists(st.integers(0, 60), min_size=5, max_size=30), st.integers(1, 9))
@settings(max_examples=4, deadline=None)
def test_kept_answers_are_those_worked_out_anew(
    name: str, data: st.DataObject, script: list[int], stride: int
) -> None:
    policy = policies.make(name)
    check_kept(policy, data.draw(st.sampled_from(scenes_for(policy))), script, stride)


@pytest.mark.slow
@pytest.mark.parametrize("name", policies.names())
def test_kept_answers_are_those_worked_out_anew_in_every_scene(name: str) -> None:
    policy = variants_of(name)[0]
    for number, scene in enumerate(scenes_for(policy)):
        script = random.Random(number).choices(range(2**16), k=60)
        check_kept(policy, scene, script, 1 + number % 3)
