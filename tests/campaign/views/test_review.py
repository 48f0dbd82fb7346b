"""Which tasks are to be looked at, and in which order."""

from __future__ import annotations

from typing import Any

from askwise import Campaign, Worker
from askwise.campaign.views import answers
from askwise.campaign.views.review import ReviewQueue, review


def campaign_of(votes: dict[str, str], seed: int = 1) -> Campaign:
    """Tasks and who said what about them: a letter an answer, of worker a, b, c and so on."""
    most = max(map(len, votes.values()))
    campaign = Campaign.create(
        workers=[Worker("abcdefgh"[at], 1) for at in range(most)],
        tasks=list(votes),
        options=["n", "y"],
        policy="random-pairs",
        seed=seed,
    )
    while batch := campaign.ask():
        for each in batch:
            place = "abcdefgh".index(each.worker)
            said = votes[str(each.task)]
            if place < len(said):
                campaign.tell(each.id, said[place])
            else:
                campaign.decline(each.id)
    return campaign


def queued(campaign: Campaign, queue: ReviewQueue) -> list[Any]:
    with campaign.reading() as state:
        found = answers(state)
        return [found[at].task for at in review(state, found, queue).tolist()]


VOTES = {"sure": "yyyy", "split": "yyyn", "even": "ynyn", "few": "y", "none": ""}


def test_the_least_sure_come_first_and_unanswered_tasks_are_left_out() -> None:
    campaign = campaign_of(VOTES)
    assert queued(campaign, "unsure") == ["even", "split", "few", "sure"]


def test_contested_are_the_tasks_whose_votes_differ_the_closest_first() -> None:
    campaign = campaign_of(VOTES)
    assert queued(campaign, "contested") == ["even", "split"]


def test_audits_are_in_one_random_order_that_labels_do_not_change() -> None:
    votes = {f"t{at}": "y" for at in range(20)}
    campaign = campaign_of(votes)
    drawn = queued(campaign, "audit")
    assert sorted(drawn) == sorted(votes)
    assert drawn != list(votes)
    assert drawn != queued(campaign_of(votes, seed=2), "audit")
    campaign.set_label(drawn[0], "n", by="ann")
    campaign.truth(drawn[3], "y")
    assert queued(campaign, "audit") == [*drawn[1:3], *drawn[4:]]


def test_what_was_decided_is_in_no_queue() -> None:
    campaign = campaign_of(VOTES)
    campaign.set_label("even", "y", by="ann")
    campaign.truth("split", "y")
    assert queued(campaign, "contested") == []
    assert queued(campaign, "unsure") == ["few", "sure"]


def test_answers_of_a_moment_ago_will_do() -> None:
    campaign = campaign_of(VOTES)
    with campaign.reading() as state:
        before = answers(state)
    campaign.add(tasks=["new"])
    campaign.set_label("new", "y", by="ann")
    campaign.set_label("even", "y", by="ann")
    with campaign.reading() as state:
        found = review(state, before, "unsure").tolist()
    assert [before[at].task for at in found] == ["split", "few", "sure"]
