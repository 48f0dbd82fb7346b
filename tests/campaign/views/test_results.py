"""What a campaign has come to: what labels rest on, and how many are right as far as is known."""

from __future__ import annotations

import pytest

from askwise import Batch, Campaign, Task, Worker
from askwise.campaign import views
from askwise.campaign.views.review import review
from tests.campaign.views.voting import state_of, votes

TABLE = {
    "ann": {"t1": "yes", "t2": "yes", "t3": "no", "t4": "no"},
    "bob": {"t1": "yes", "t2": "no", "t3": "no", "t4": "yes"},
    "eve": {"t1": "yes", "t2": "yes", "t3": "no"},
}


def test_labels_by_agreement_have_no_accuracy() -> None:
    found = votes({**TABLE, "eve": {"t1": "yes"}}).results()
    assert (found.tasks, found.agreed, found.calibrated, found.certified) == (4, 4, 0, 0)
    assert (found.expected, found.audited, found.known, found.target_error) == (None,) * 4
    assert sum(found.labels.values()) == 4
    assert set(found.labels) == {"no", "yes", "maybe"}


def test_each_task_is_counted_once() -> None:
    campaign = votes({"ann": {"t1": "yes", "t2": "no"}, "bob": {"t1": "yes"}})
    campaign.add(tasks=["t3", "t4"])
    campaign.truth("t2", "yes")
    campaign.set_label("t3", "no", by="vet")
    found = campaign.results()
    counts = (found.certified, found.calibrated, found.agreed, found.told, found.by_hand)
    assert (*counts, found.unlabelled) == (0, 0, 1, 1, 1, 1)
    assert sum(counts) + found.unlabelled == found.tasks == 4
    assert found.labels == {"no": 1, "yes": 2, "maybe": 0}


def test_accuracy_is_that_of_the_vote_and_a_tie_is_wrong() -> None:
    campaign = votes(TABLE)
    # Votes: t1 yes 3:0, t2 yes 2:1, t3 no 3:0, t4 1:1.
    for task, truth in {"t1": "yes", "t2": "no", "t3": "no", "t4": "no"}.items():
        campaign.truth(task, truth)
    found = campaign.results()
    assert found.known is not None
    assert (found.known.right, found.known.tasks) == (2, 4)
    # Clopper and Pearson, 2 of 4: from a table.
    assert found.known.share.value == 0.5
    assert found.known.share.low == pytest.approx(0.0676, abs=1e-4)
    assert found.known.share.high == pytest.approx(0.9324, abs=1e-4)
    # All truths are known, so the tasks in their random order are, too.
    assert found.audited == found.known


def test_only_truths_in_the_random_order_speak_for_all_tasks() -> None:
    campaign = votes(TABLE)
    order = [f"t{at + 1}" for at in review(state_of(campaign), campaign.answers(), "audit")]
    campaign.truth(order[2], "yes")
    found = campaign.results()
    assert found.audited is None
    assert found.known is not None
    assert found.known.tasks == 1
    campaign.truth(order[0], "yes")
    found = campaign.results()
    assert found.audited is not None
    assert found.known is not None
    assert (found.audited.tasks, found.known.tasks) == (1, 2)
    campaign.truth(order[1], "yes")
    found = campaign.results()
    assert found.audited is not None
    assert found.audited.tasks == 3


def test_the_trusted_do_not_vote_on_their_own_truth() -> None:
    campaign = Campaign.create(
        workers=[Worker("ann", "0.1"), Worker("vet", "1", trusted=True)],
        tasks=["t1"],
        options=["no", "yes"],
        budget="10",
        policy="hem",
        seed=1,
    )
    for worker, said in (("ann", "no"), ("vet", "yes")):
        batch = campaign.ask(workers=[worker])
        assert isinstance(batch, Batch)
        campaign.tell(batch[0].id, said)
    campaign.truth("t1", "yes")
    found = campaign.results()
    assert found.known is not None
    assert (found.known.right, found.known.tasks) == (0, 1)


def test_a_truth_of_a_task_that_nobody_answered_measures_nothing() -> None:
    campaign = votes({"ann": {"t1": "yes"}})
    campaign.add(tasks=["t2"])
    campaign.truth("t2", "yes")
    assert campaign.results().known is None


def test_what_needs_a_look_is_counted_until_it_is_decided() -> None:
    campaign = votes({"ann": {"t1": "yes", "t2": "no"}, "bob": {"t1": "no", "t2": "no"}})
    assert (campaign.results().contested, campaign.results().flagged) == (1, 0)
    campaign.add(workers=[Worker("eve", "0.1")])
    batch = campaign.ask(workers=["eve"])
    assert isinstance(batch, Batch)
    campaign.flag(batch[0].id, "no picture")
    assert campaign.results().flagged == 1
    campaign.set_label("t1", "no", by="vet")
    campaign.set_label("t2", "no", by="vet")
    assert (campaign.results().contested, campaign.results().flagged) == (0, 0)


def test_the_counts_are_those_of_the_review_queues() -> None:
    campaign = votes(TABLE)
    campaign.truth("t2", "yes")
    state, answers = state_of(campaign), campaign.answers()
    found = views.results(state, answers)
    assert found.contested == len(review(state, answers, "contested")) == 1
    assert found.flagged == len(review(state, answers, "flagged")) == 0


@pytest.mark.parametrize(
    ("fields", "target"),
    [
        ({"policy": {"name": "hem", "target": 0.05}}, 0.05),
        ({"policy": "hem"}, None),
        ({"policy": "random-pairs"}, None),
    ],
)
def test_the_target_is_what_the_campaign_was_told(
    fields: dict[str, object], target: float | None
) -> None:
    made = Campaign.create(
        workers=[Worker("ann", "0.1"), Worker("bob", "0.1")],
        tasks=["t1"],
        options=["no", "yes"],
        budget="1",
        **fields,  # type: ignore[arg-type]
    )
    assert made.results().target_error == target


def test_calibrated_labels_have_an_expected_share() -> None:
    campaign = Campaign.create(
        workers=[Worker(name, "0.01") for name in ("ann", "bob", "eve")],
        tasks=[Task(f"t{at}") for at in range(60)],
        options=["no", "yes"],
        budget="100",
        policy="hem",
        seed=1,
    )
    while isinstance(batch := campaign.ask(), Batch):
        for each in batch:
            campaign.tell(each.id, "yes" if each.worker != "eve" else "no")
    for at in range(40):
        campaign.truth(f"t{at}", "yes")
    found, answers = campaign.results(), campaign.answers()
    sure = [each.confidence for each in answers if each.rests_on == "calibrated"]
    assert found.calibrated == len(sure)
    assert found.calibrated == 20
    assert found.expected == pytest.approx(sum(map(float, filter(None, sure))) / len(sure))
    assert found.told == 40


def test_units_of_work_and_utilities_have_no_labels() -> None:
    bare = Campaign.create(
        workers=[Worker("ann", "0.5")], outcome="utility", budget="3", policy="uniform"
    )
    bare.tell(bare.ask()[0].id, 0.7)
    found = bare.results()
    assert (found.tasks, found.labels, found.known) == (0, {}, None)
    assert bare.agreement().agreement is None
    assert bare.judges().judges == ()
