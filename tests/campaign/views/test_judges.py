"""The models among the workers: beside people and truths, and together."""

from __future__ import annotations

from importlib import import_module

import pytest

from askwise import Batch, Campaign, Worker

TASKS = [f"t{at}" for at in range(8)]


def judged(**said: str) -> Campaign:
    """A campaign in which each worker says a letter of each task; a dot is a failure."""
    kinds = {"gpt": "model", "gemma": "model", "twin": "model"}
    families = {"gpt": "g", "gemma": "h", "twin": "g"}
    campaign = Campaign.create(
        workers=[
            Worker(name, "0.10", kind=kinds.get(name, "person"), family=families.get(name))
            for name in said
        ],
        tasks=TASKS,
        options=["n", "y"],
        budget="100",
        policy="random-pairs",
        seed=1,
    )
    for name, letters in said.items():
        while isinstance(batch := campaign.ask(workers=[name]), Batch):
            letter = letters[TASKS.index(str(batch[0].task))]
            if letter == ".":
                campaign.fail(batch[0].id, "refused", cost="0.02")
            else:
                campaign.tell(batch[0].id, letter)
    return campaign


def test_a_judge_is_held_against_people_and_truths() -> None:
    campaign = judged(ann="nnnnyyyy", bob="nnnnyyyn", gpt="nnnyyyy.")
    campaign.truth("t0", "y")
    campaign.truth("t4", "y")
    (card,) = campaign.judges().judges
    assert (card.id, card.answers, card.failed, card.failures) == ("gpt", 7, 1, {"refused": 1})
    # People are tied on t7, which gpt did not answer; they differ from gpt on t3.
    assert card.with_people is not None
    assert (card.compared, card.with_people.value) == (7, pytest.approx(6 / 7))
    assert card.accuracy is not None
    assert (card.truths, card.accuracy.value) == (2, 0.5)
    assert str(card.cost_an_answer) == "0.102857"


def test_families_and_what_they_are_worth_are_told() -> None:
    campaign = judged(ann="nnnnyyyy", gpt="nnyyyyyy", twin="nnyyyyyy", gemma="nnnnyynn")
    found = campaign.judges()
    assert found.tasks == 8
    assert found.panel is not None
    # gpt and twin err alike, and gemma elsewhere: worth less than three.
    assert found.panel.effective is not None
    assert 1.0 <= found.panel.effective.value < 3.0
    assert found.panel.within_families == pytest.approx(1.0)
    (family,) = found.families
    assert (family.family, family.workers, family.within) == ("g", ("gpt", "twin"), 1.0)
    assert family.across == 0.5


def test_without_people_and_truths_nothing_is_measured_but_families() -> None:
    found = judged(gpt="nnyyyyyy", twin="nnyyyyyy", gemma="nnnnyynn").judges()
    assert found.panel is None
    assert [each.with_people for each in found.judges] == [None] * 3
    assert len(found.families) == 1


def test_a_campaign_of_people_has_no_judges() -> None:
    assert judged(ann="nnnnyyyy").judges().judges == ()


def test_of_many_tasks_some_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    campaign = judged(ann="nnnnyyyy", gpt="nnyyyyyy")
    # By its name: the package has a function of the same name.
    monkeypatch.setattr(import_module("askwise.campaign.views.judges"), "MOST_TASKS", 5)
    found = campaign.judges()
    assert (found.tasks, found.judges[0].compared) == (5, 5)
    assert found == campaign.judges()
