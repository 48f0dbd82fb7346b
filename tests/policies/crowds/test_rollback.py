"""ExploreExploitRollback: its three phases by hand (004, appendix F)."""

from __future__ import annotations

import math

import pytest

from askwise.core.choices import Batch
from askwise.core.draws import Draw
from askwise.core.events import Fact, Kind
from askwise.ledger import columns as c
from askwise.policies.crowds.rollback import CHOSEN, ExploreExploitRollback
from tests.policies.crowds.polls import Desk, ask, poll, say

PLAIN = {"name": "explore-exploit-rollback", "quality": 2.0, "smooth": False}


def purposes(campaign, answers, *crowds):
    """Ask and answer letter by letter; what each was for, whom it went to, its propensity."""
    found = []
    for answer in answers:
        assignment = ask(campaign, *crowds)
        purpose = campaign.explain(assignment.id).purpose
        found.append((purpose, assignment.worker, assignment.propensity))
        campaign.tell(assignment.id, answer)
    return found


def purpose_now(campaign):
    """What the next ask would be for; it is handed out and taken back."""
    assignment = ask(campaign)
    campaign.expire(assignment.id)
    return campaign.explain(assignment.id).purpose


def test_the_low_confidence_rule_is_rule_1_with_the_lower_quality():
    # C' = 1.5. Lead and 1.5 sqrt(N): 1 to 1.5, 2 to 2.12, 3 to 2.6: it stands out at three.
    campaign = poll(PLAIN)
    say(campaign, "a", "xx")
    assert [each[0] for each in purposes(campaign, "x", "a")] == ["explore"]
    assert purposes(campaign, "x") == [("exploit", "a", 1.0)]


def test_a_lead_equal_to_the_confidence_term_is_not_enough():
    # C' = 1 * 1: after one answer 1 to 1; after four of five (4 - 1 = 3 to 2.24) it is.
    campaign = poll({**PLAIN, "quality": 1.0, "low": 1.0})
    say(campaign, "a", "xy")
    assert [each[0] for each in purposes(campaign, "xx", "a")] == ["explore", "explore"]
    # Three x and a y: 2 to 2, not yet; then 3 to 2.24.
    assert [each[0] for each in purposes(campaign, "xx", "a")] == ["explore", "exploit"]


def test_each_crowd_is_judged_by_its_own_answers():
    # Together six answers for x; 2 to 2.12 for each crowd.
    campaign = poll(PLAIN, (1, 1, 1))
    for crowd in "abc":
        say(campaign, crowd, "xx")
    assert purposes(campaign, "x", "b")[0][0] == "explore"
    assert purposes(campaign, "x") == [("exploit", "b", 1.0)]


def test_exploitation_lasts_alpha_times_the_exploration_then_it_draws_for_good():
    # Five answers of exploration (b two, a three), alpha = 2: ten of a, then rand-rr.
    campaign = poll({**PLAIN, "alpha": 2.0}, (1, 3))
    say(campaign, "b", "xy")
    say(campaign, "a", "xxx")
    assert purposes(campaign, "yx" * 5) == [("exploit", "a", 1.0)] * 10
    rest = purposes(campaign, "x" * 40)
    assert {purpose for purpose, _, _ in rest} == {"roll back"}
    # Drawn by one over price, though both have stood out long since.
    assert {(crowd, chance) for _, crowd, chance in rest} == {("a", 0.75), ("b", 0.25)}


@pytest.mark.parametrize(
    ("low", "explored", "lasts"),
    # 1 / .75 times 3 is 4; 1 / .75 times 4 is 5.33: the sixth begins before that is over.
    [(0.75, 3, 4), (0.75, 4, 6), (0.5, 3, 6), (1.0, 5, 5)],
)
def test_by_default_exploitation_lasts_as_the_paper_conjectures(low, explored, lasts):
    campaign = poll({**PLAIN, "quality": 1.2 / low, "low": low})
    # C' = 1.2: 1 to 1.2, then 2 to 1.7: two answers of a will do; the rest are b's, in doubt.
    say(campaign, "b", "xyx"[: explored - 2])
    say(campaign, "a", "xx")
    found = [purpose for purpose, _, _ in purposes(campaign, "xy" * 5)]
    assert found == ["exploit"] * lasts + ["roll back"] * (10 - lasts)


def test_without_exploitation_it_rolls_back_at_once():
    campaign = poll({**PLAIN, "alpha": 0.0})
    say(campaign, "a", "xxx")
    assert purposes(campaign, "x")[0][0] == "roll back"


def test_exploring_draws_by_one_over_price():
    campaign = poll({**PLAIN, "quality": 1000.0}, (1, 3))
    found = purposes(campaign, "x" * 30)
    assert set(found) == {("explore", "a", 0.75), ("explore", "b", 0.25)}


def test_questions_have_phases_of_their_own():
    campaign = poll({**PLAIN, "alpha": 1.0}, tasks=["p", "q"])
    # Both in turn: p hears three x of a, q hears x, y, x.
    for answers in ("xx", "xy", "xx"):
        for answer in answers:
            campaign.tell(ask(campaign, "a").id, answer)
    found = []
    for _ in range(8):
        assignment = ask(campaign)
        found.append((assignment.task, campaign.explain(assignment.id).purpose))
        campaign.tell(assignment.id, "x")
    assert [why for task, why in found if task == "p"] == ["exploit"] * 3 + ["roll back"]
    assert found[1] == ("q", "explore")


def test_while_its_crowd_is_away_another_is_asked():
    campaign = poll({**PLAIN, "alpha": 3.0}, (1, 1, 1))
    say(campaign, "a", "xxx")
    assert ask(campaign, "b", "c").worker in "bc"
    campaign.leave("a")
    assert ask(campaign).worker in "bc"


def test_the_smooth_rule_stops_as_often_as_rounding_goes_down():
    # C' = 1.5, three answers for x: 1.5 * 1.732 = 2.598 is rounded down to 2 with probability
    # .402; then 3 > 2. Rounded up, 3 is not above 3.
    policy = ExploreExploitRollback()
    campaign = poll(policy)
    say(campaign, "a", "xxx")
    desk = Desk(campaign)
    ledger = desk.state.ledger
    assert ledger.book.cells[0, c.CELL_ANSWERS] == 3
    fact = Fact(int(Kind.ANSWER), 0, 0, 0.0, 0, 2)
    many, stopped = 800, 0
    for number in range(many):
        state = policy.start(ledger.problem, ledger)
        policy.absorb(ledger.problem, state, ledger, fact, Draw(3, 4, number))
        stopped += int(state.stages[0, CHOSEN] == 1)
    down = 3 - 1.5 * math.sqrt(3)
    assert abs(stopped / many - down) < 5 * math.sqrt(down * (1 - down) / many)


def test_the_smooth_rule_is_drawn_anew_at_each_answer():
    # At three answers for x 3 > 2 or 3 > 3, by the draw; at four 4 > 3 for sure.
    lasted = set()
    for seed in range(25):
        campaign = poll("explore-exploit-rollback", seed=seed)
        answers = 0
        while purpose_now(campaign) == "explore":
            say(campaign, "a", "x")
            answers += 1
        lasted.add(answers)
    assert lasted == {3, 4}


def test_exploitation_lasts_as_long_with_several_answers_out():
    # Six asked at once, all of a: exploring took six asks (or three answers, when a stood out),
    # so at least six (or three) more go to a with alpha = 1. None does.
    campaign = poll({**PLAIN, "alpha": 1.0})
    batch = campaign.ask(limit=6, workers=["a"])
    assert isinstance(batch, Batch)
    for each in batch[:3]:
        campaign.tell(each.id, "x")
    assert purposes(campaign, "xyx") == [("exploit", "a", 1.0)] * 3


def test_any_quality_that_is_taken_works():
    campaign = poll({"name": "explore-exploit-rollback", "quality": 1e6})
    say(campaign, "a", "x" * 8)
    assert purposes(campaign, "x")[0][0] == "explore"
