"""One worker in full: quality over time, what they mix up, contexts, pace."""

from __future__ import annotations

from typing import Any

import pytest

from askwise import Batch, Campaign, Task, Worker
from askwise.campaign import views
from askwise.core.errors import UnknownName
from askwise.core.events import Event, Kind
from tests.campaign.views.voting import votes


def test_without_truths_answers_are_held_against_what_most_others_say() -> None:
    campaign = votes(
        {
            "ann": {"t1": "yes", "t2": "no", "t3": "no"},
            "bob": {"t1": "yes", "t2": "yes", "t3": "yes"},
            "eve": {"t1": "yes", "t2": "yes"},
        }
    )
    found = campaign.worker("ann")
    assert found.basis == "agreement"
    # Of t3 only bob says something, which is what most others say.
    assert {(each.expected, each.said, each.count) for each in found.confusion} == {
        ("yes", "yes", 1),
        ("yes", "no", 2),
    }
    (block,) = found.blocks
    assert (block.first, block.last) == (1, 3)
    assert block.quality.value == pytest.approx(1 / 3)
    assert found.worker == views.workers(_state(campaign))[0]
    assert found.worker.quality is not None
    assert (block.quality.low, block.quality.high) == (
        found.worker.quality.low,
        found.worker.quality.high,
    )


def test_with_ten_truths_they_are_held_against_these() -> None:
    tasks = [f"t{at}" for at in range(12)]
    campaign = votes(
        {"ann": dict.fromkeys(tasks, "yes"), "bob": dict.fromkeys(tasks, "no")}, ("no", "yes")
    )
    for at, task in enumerate(tasks[:10]):
        campaign.truth(task, "no" if at == 0 else "yes")
    found = campaign.worker("ann")
    assert found.basis == "truth"
    assert [(each.expected, each.said, each.count) for each in found.confusion] == [
        ("yes", "yes", 9),
        ("no", "yes", 1),
    ]
    assert sum(each.last - each.first + 1 for each in found.blocks) == 10


def test_blocks_are_of_ten_answers_at_least_and_ten_at_most() -> None:
    for count, pieces in ((9, 1), (19, 1), (20, 2), (35, 3), (250, 10)):
        tasks = [f"t{at}" for at in range(count)]
        said = dict.fromkeys(tasks, "yes")
        found = votes({"ann": said, "bob": said}, ("no", "yes")).worker("ann")
        assert len(found.blocks) == pieces
        assert found.blocks[0].first == 1
        assert found.blocks[-1].last == count
        for before, after in zip(found.blocks, found.blocks[1:], strict=False):
            assert after.first == before.last + 1


def test_contexts_are_told_apart() -> None:
    campaign = Campaign.create(
        workers=[Worker("ann", "0.1"), Worker("bob", "0.1")],
        tasks=[Task("t1", context="day"), Task("t2", context="night"), Task("t3")],
        options=["no", "yes"],
        budget="10",
        policy="random-pairs",
        seed=1,
    )
    while isinstance(batch := campaign.ask(), Batch):
        night = batch[0].task == "t2" and batch[0].worker == "bob"
        campaign.tell(batch[0].id, "no" if night else "yes")
    found = campaign.worker("ann").contexts
    assert [(each.context, each.answers, each.judged) for each in found] == [
        ("day", 1, 1),
        ("night", 1, 1),
        (None, 1, 1),
    ]
    values = [each.quality.value for each in found if each.quality is not None]
    assert values == [1.0, 0.0, 1.0]


def test_utilities_have_means_and_no_confusion() -> None:
    campaign = Campaign.create(
        workers=[Worker("ann", "0.5")],
        outcome={"kind": "utility", "low": 0, "high": 10},
        budget="30",
        policy="uniform",
    )
    for value in (2.0, 4.0):
        campaign.tell(campaign.ask()[0].id, value)
    found = campaign.worker("ann")
    assert (found.basis, found.confusion, found.contexts) == ("utility", (), ())
    (block,) = found.blocks
    assert block.quality.value == pytest.approx(3.0)
    assert found.worker.quality is not None
    assert block.quality.low == pytest.approx(found.worker.quality.low)
    assert block.quality.high == pytest.approx(found.worker.quality.high)


def test_somebody_without_an_answer_has_nothing_to_judge_and_a_stranger_is_refused() -> None:
    campaign = votes({"ann": {"t1": "yes"}})
    campaign.add(workers=[Worker("eve", "0.1")])
    found = campaign.worker("eve")
    assert (found.blocks, found.confusion, found.pace) == ((), (), None)
    with pytest.raises(UnknownName) as refused:
        campaign.worker("nobody")
    assert refused.value.reason == "unknown_worker"


def asked(seq: int, time: float, worker: str = "ann") -> Event:
    return Event(Kind.ASKED, seq, time, worker=worker)


def answered(seq: int, time: float, of: int) -> Event:
    return Event(Kind.ANSWER, seq, time, assignment=of)


def test_the_pace_leaves_out_breaks() -> None:
    log = [
        asked(1, 0.0), answered(2, 10.0, 1),
        asked(3, 10.0), asked(4, 12.0, "bob"), answered(5, 40.0, 3), answered(6, 41.0, 4),
        # An hour's break, of which ten minutes count.
        asked(7, 3600.0), answered(8, 3640.0, 7),
    ]  # fmt: skip
    found = views.worker_pace(log, "ann")
    assert found is not None
    assert (found.answers, found.since, found.until) == (3, 10.0, 3640.0)
    # Two answers in 30 and 600 seconds of work.
    assert found.answers_an_hour == pytest.approx(2 * 3600 / 630)


@pytest.mark.parametrize(
    ("log", "answers"),
    [([], None), ([asked(1, 0.0)], None), ([answered(2, 5.0, 1)], None),
     ([asked(1, 9.0), answered(2, 5.0, 1)], 1)],
)  # fmt: skip
def test_a_pace_needs_a_question_and_its_answer(log: list[Event], answers: int | None) -> None:
    found = views.worker_pace(log, "ann")
    assert (None if found is None else found.answers) == answers
    if found is not None:
        assert found.answers_an_hour is None


def _state(campaign: Campaign) -> Any:
    with campaign.reading() as state:
        return state
