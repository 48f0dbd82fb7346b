"""VirtUCB against a plain reading of index (2) of paper 004, and by hand."""

from __future__ import annotations

import math
import random
from collections import defaultdict

import pytest

from askwise.core.choices import Batch
from askwise.core.errors import AskwiseError
from askwise.policies import policies
from tests.policies.crowds.polls import ask, asked_crowds, gap_of, hear, noisy, poll, say


class Reading:
    """Algorithm 1 in plain Python: one survey a question."""

    def __init__(self, prices, options, exploration=1.0, log=False, power=0.5, try_after=0.0):
        self.prices = prices
        self.options = options
        self.exploration = exploration
        self.log = log
        self.power = power
        self.try_after = try_after
        self.answers = defaultdict(str)
        self.out = defaultdict(int)

    def index(self, task, crowd):
        told = self.answers[task, crowd]
        asked = len(told) + self.out[task, crowd]
        width = self.exploration
        if self.log:
            t = 1 + sum(len(said) for (about, _), said in self.answers.items() if about == task)
            width *= math.sqrt(8 * math.log(t))
        if asked == 0:
            cheapest = min(self.prices.values())
            spent = sum(
                price * (len(self.answers[task, each]) + self.out[task, each])
                for each, price in self.prices.items()
            )
            extra = self.prices[crowd] - cheapest
            return math.inf if spent >= self.try_after * extra else -self.prices[crowd]
        gap = gap_of(told, self.options)
        term = width / math.sqrt(asked)
        return (gap ** (2 * self.power) + 2 * self.power * term) / self.prices[crowd] ** self.power

    def asked(self, task):
        return sum(len(self.answers[task, crowd]) + self.out[task, crowd] for crowd in self.prices)

    def choice(self, tasks):
        task = min(tasks, key=lambda each: (self.asked(each), tasks.index(each)))
        # max takes the first of equals.
        return task, max(self.prices, key=lambda crowd: self.index(task, crowd))


CHANCES = {
    2: [[0.8, 0.2], [0.5, 0.5], [0.6, 0.4]],
    3: [[0.5, 0.3, 0.2], [0.4, 0.35, 0.25], [0.7, 0.2, 0.1]],
}


@pytest.mark.parametrize("n", [2, 3])
@pytest.mark.parametrize("prices", [(1, 1, 1), ("0.05", "0.08", "0.30")], ids=["equal", "unequal"])
@pytest.mark.parametrize(
    "policy",
    [
        {},
        {"exploration": 0.3},
        {"exploration": 0},
        {"schedule": "log", "exploration": 0.5},
        {"power": 1.0},
        {"try_after": 3.0},
    ],
    ids=["plain", "timid", "greedy", "log", "another reward", "patient"],
)
def test_choices_follow_index_2_step_by_step(n, prices, policy):
    options, tasks = "xyz"[:n], ["p", "q"]
    campaign = poll({"name": "virt-ucb", **policy}, prices, options, tasks)
    reading = Reading(
        dict(zip("abc", map(float, prices), strict=True)),
        options,
        policy.get("exploration", 1.0),
        policy.get("schedule") == "log",
        policy.get("power", 0.5),
        policy.get("try_after", 0.0),
    )
    for _ in range(70):
        task, crowd = reading.choice(tasks)
        assignment = ask(campaign)
        assert (assignment.task, assignment.worker) == (task, crowd)
        assert assignment.propensity == 1.0
        k = len(reading.answers[task, crowd])
        answer = noisy(n, crowd, task, k, CHANCES[n]["abc".index(crowd)], options)
        campaign.tell(assignment.id, answer)
        reading.answers[task, crowd] += answer


@pytest.mark.parametrize("try_after", [0.0, 2.0])
@pytest.mark.parametrize("seed", range(4))
def test_choices_follow_index_2_with_many_answers_out_and_in_any_order(seed, try_after):
    source = random.Random(seed)
    options, tasks = "xyz", ["p", "q", "r"]
    prices = {"a": 2.0, "b": 1.0, "c": 3.0}
    policy = {"name": "virt-ucb", "try_after": try_after}
    campaign = poll(policy, tuple(map(int, prices.values())), options, tasks)
    reading = Reading(prices, options, try_after=try_after)
    out = []
    for _ in range(60):
        batch = campaign.ask(limit=source.randint(1, 5))
        assert isinstance(batch, Batch)
        for assignment in batch:
            task, crowd = reading.choice(tasks)
            assert (assignment.task, assignment.worker) == (task, crowd)
            reading.out[task, crowd] += 1
            out.append(assignment)
        source.shuffle(out)
        while len(out) > source.randint(0, 8):
            done = out.pop()
            reading.out[done.task, done.worker] -= 1
            if source.random() < 0.2:
                campaign.expire(done.id)
                continue
            k = len(reading.answers[done.task, done.worker])
            chances = CHANCES[3]["abc".index(done.worker)]
            answer = noisy(seed, done.worker, str(done.task), k, chances, options)
            campaign.tell(done.id, answer)
            reading.answers[done.task, done.worker] += answer


def test_a_survey_by_hand():
    # a and b cost the same. Both unasked: a, then b (still unasked). a said x: 1 + 1 = 2; b said
    # x: 2. A tie: a, says y: gap 0, 1/sqrt(2) = .707. b has 2: says x: gap 1, 1.707. b again,
    # says y: 1/3 + .577 = .911. b again, says y: gap 0, 1/2: now a leads with .707.
    campaign = poll("virt-ucb")
    assert hear(campaign, "xxyxyy") == "ababbb"
    assert ask(campaign).worker == "a"


def test_a_price_counts_by_its_root():
    # a costs 4, b costs 1. After one answer each: a 2/2 = 1, b 2. b says y: gap 0, .707 < 1: a.
    # a says y: (0 + .707) / 2 = .354; b has .707.
    campaign = poll("virt-ucb", (4, 1))
    assert hear(campaign, "xxyy") == "abba"
    assert ask(campaign).worker == "b"


def test_crowds_never_asked_come_first_by_their_number_at_any_price():
    campaign = poll("virt-ucb", (900, 1, 30, "0.01"), tasks=["p", "q"])
    batch = campaign.ask(limit=8)
    assert isinstance(batch, Batch)
    assert [(each.task, each.worker) for each in batch] == [
        (task, crowd) for crowd in "abcd" for task in "pq"
    ]


def test_an_expensive_crowd_is_tried_when_the_question_has_cost_enough():
    # b costs 2 more than a, so it is tried when the question has cost 4 * 2 = 8; c, at 1.50, when
    # it has cost 4 * 0.5 = 2. Then c has (1 + 1) / sqrt(1.5) = 1.633 and a, with two answers for x,
    # 1.707; with three 1.577, so c is second: (1 + .707) / 1.225 = 1.394; a with four 1.5, with
    # five 1.447. The cost is 1 + 1 + 1.5 + 1 + 1.5 + 1 + 1 = 8: b.
    campaign = poll({"name": "virt-ucb", "try_after": 4}, (1, 3, "1.5"))
    assert hear(campaign, "xxxxxxx") == "aacacaa"
    assert ask(campaign).worker == "b"


@pytest.mark.parametrize(("try_after", "free_answers"), [(0, 2), (4, 12)])
def test_a_free_crowd_is_given_as_much_patience_as_its_answers_are_ranked_at(
    try_after, free_answers
):
    # a costs 2 and ranks at 1, b costs nothing and ranks at 1/4. b is at odds with itself: after
    # x and y its index is (0 + .707) / .5 = 1.414, below the 2 of a's first answer. With try_after
    # a has to wait until answers at 1/4 have cost 4 * 3/4 = 3: twelve of them.
    campaign = poll({"name": "virt-ucb", "try_after": try_after}, (2, 0))
    assert hear(campaign, "xyxyxyxyxyxy"[:free_answers]) == "b" * free_answers
    assert ask(campaign).worker == "a"


def test_where_all_crowds_are_free_nobody_has_to_wait():
    assert hear(poll({"name": "virt-ucb", "try_after": 4}, (0, 0)), "xx") == "ab"


def test_a_crowd_whose_turn_has_not_come_is_asked_where_nobody_else_is_there():
    campaign = poll({"name": "virt-ucb", "try_after": 4}, (1, 3, 2))
    assert ask(campaign, "b", "c").worker == "c"


@pytest.mark.parametrize("seed", range(3))
def test_at_equal_prices_trying_late_is_the_algorithm_of_the_paper(seed):
    source = random.Random(seed)
    answers = "".join(source.choice("xxy") for _ in range(60))
    asked = [
        hear(poll({"name": "virt-ucb", "try_after": later}, (2, 2, 2)), answers) for later in (0, 9)
    ]
    assert asked[0] == asked[1]


def test_a_newcomer_is_asked_before_all_others():
    campaign = poll("virt-ucb")
    hear(campaign, "xxxxxx")
    campaign.add(workers=[{"id": "c", "price": 50}])
    assert ask(campaign).worker == "c"


def test_three_options_have_the_gap_of_the_first_two():
    # a: 2 x, 2 y, 1 z: gap 0, index 1/sqrt(5) = .447. b: 2 x, 1 y, 1 z, 1 y: gap 0 as well.
    # c: 3 x, 1 y, 1 z: gap .4.
    campaign = poll("virt-ucb", (1, 1, 1), "xyz")
    say(campaign, "a", "xyxyz")
    say(campaign, "b", "xzyxy")
    say(campaign, "c", "yxxzx")
    assignment = ask(campaign)
    assert assignment.worker == "c"
    index = {each.worker: each.index for each in campaign.explain(assignment.id).candidates}
    assert index["a"] == index["b"] == pytest.approx(1 / math.sqrt(5))
    assert index["c"] == pytest.approx(0.4 + 1 / math.sqrt(5))


def test_answers_that_are_out_count_in_the_confidence_term():
    # One answer each (x): both 2. The five asked at once: a (2 to 1 + .707), b, then in turns.
    campaign = poll("virt-ucb")
    hear(campaign, "xx")
    batch = campaign.ask(limit=5)
    assert isinstance(batch, Batch)
    assert "".join(each.worker for each in batch) == "ababa"
    # b, at 4 to 3 with a, is next. a: gap 1 of its one answer, 1 + 1/2 with three out.
    assignment = ask(campaign)
    index = {each.worker: each.index for each in campaign.explain(assignment.id).candidates}
    assert index == {"a": 1.5, "b": pytest.approx(1 + 1 / math.sqrt(3))}


def test_an_expired_assignment_no_longer_counts():
    campaign = poll("virt-ucb")
    hear(campaign, "xx")
    batch = campaign.ask(limit=2)
    assert isinstance(batch, Batch)
    campaign.expire(batch[0].id)
    assert ask(campaign).worker == "a"


def test_the_schedule_of_the_analysis_grows_with_the_rounds_of_the_question():
    campaign = poll({"name": "virt-ucb", "schedule": "log", "exploration": 0.5}, tasks=["p", "q"])
    for crowd in "aabb":
        say(campaign, crowd, "xx")
    # Four answers to each question: this is round 5 of p, whatever happened to q.
    assignment = ask(campaign)
    assert assignment.task == "p"
    for each in campaign.explain(assignment.id).candidates:
        assert each.index == pytest.approx(1 + 0.5 * math.sqrt(8 * math.log(5)) / math.sqrt(2))


def test_the_schedule_of_the_analysis_looks_elsewhere_while_answers_are_out():
    # In the paper the N of all crowds add up to t - 1.
    campaign = poll({"name": "virt-ucb", "schedule": "log"})
    batch = campaign.ask(limit=6)
    assert isinstance(batch, Batch)
    assert "".join(each.worker for each in batch) == "ababab"


def test_an_explanation_lists_the_crowd_that_was_never_asked_first():
    campaign = poll("virt-ucb")
    hear(campaign, "x")
    assignment = ask(campaign)
    assert assignment.worker == "b"
    assert [each.worker for each in campaign.explain(assignment.id).candidates] == ["b", "a"]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("prices", "ranked"),
    [
        ((0, 1, 3), (0.25, 1, 3)),
        (("0.30", 0, "0.05"), ("0.3", "0.0125", "0.05")),
        ((0, 0, 2), ("0.5", "0.5", 2)),
        ((0, 0, 0), (1, 1, 1)),
    ],
)
def test_what_is_free_is_ranked_at_a_quarter_of_the_cheapest(prices, ranked):
    answers = [noisy(3, "any", "q", k, [0.55, 0.45], "xy") for k in range(150)]
    free, paid = (poll("virt-ucb", each) for each in (prices, ranked))
    # All are asked first where all cost money: so each begins with one answer of each.
    for crowd in "abc":
        say(free, crowd, "x")
        say(paid, crowd, "x")
    assert hear(free, "".join(answers)) == hear(paid, "".join(answers))
    assert len(set(asked_crowds(free))) == 3


def test_a_free_crowd_by_hand():
    # a is free, ranked at .01: its index is ten times (gap + 1/sqrt(N)), b's as it is: 2 unknown,
    # and 2 when b has said x. a, always in doubt, is asked while 10/sqrt(N) > 2 at even
    # N: to N = 24; at 25, 10 * (1 + 5)/25 > 2; at 26 it is 1.96.
    campaign = poll({"name": "virt-ucb", "free_price": 0.01}, (0, 1))
    assert hear(campaign, "x" + "yx" * 12 + "y" + "x") == "a" * 26 + "b"
    assert ask(campaign).worker == "b"


def test_a_free_crowd_is_not_asked_for_long_by_default():
    # Ranked at a quarter, its index is 2 (gap + 1/sqrt(N)), and falls below 2 as soon as its two
    # first answers differ.
    campaign = poll("virt-ucb", (0, 1))
    assert hear(campaign, "xyx") == "aab"


def test_a_crowd_that_costs_money_is_not_asked_while_a_free_one_is_of_one_mind():
    # 2 (1 + 1/sqrt(N)) never falls to b's 2; among crowds that cost money all come first.
    assert hear(poll("virt-ucb", (1, 0)), "x" * 30) == "b" * 30
    assert hear(poll("virt-ucb", (1, 9)), "xx") == "ab"


def test_who_can_not_be_paid_is_left_out():
    campaign = poll("virt-ucb", (5, 1), budget=8)
    # a, b (6 spent), then only b although a, said x, has 2/sqrt(5) = .894 to b's .707.
    assert hear(campaign, "xxyy") == "abbb"


def test_who_is_at_their_limit_is_left_out():
    campaign = poll("virt-ucb", limits={"a": 1})
    assert hear(campaign, "xxyyyy") == "abbbbb"


def test_a_power_below_one_half_is_refused():
    with pytest.raises(AskwiseError, match=r"power is 0.4: give a number from 0.5 to 4"):
        policies.make({"name": "virt-ucb", "power": 0.4})
