"""Assured accuracy with more than two options, and with options of unequal frequency."""

import numpy as np
import pytest

from askwise import Campaign, Worker
from askwise.core.choices import Done, Wait
from askwise.core.errors import InvalidProblem
from askwise.policies.assured.watching import wrong_share

OPTIONS = ("cat", "dog", "fox", "owl")


def campaign_of(policy, workers=5, tasks=4, options=OPTIONS, **more):
    return Campaign.create(
        workers=[Worker(f"w{at}", 1 + at) for at in range(workers)],
        tasks=[f"t{at}" for at in range(tasks)],
        options=list(options),
        policy=policy,
        **more,
    )


def test_four_options_are_assured_by_the_bound_that_holds_whatever_is_wrong():
    policy = {"name": "ccb-fixed", "qualities": (0.95, 0.8, 0.8, 0.8, 0.7), "alpha": 0.11}
    campaign = campaign_of(policy)
    batch = campaign.ask(limit=5)
    for each in batch:
        campaign.tell(each.id, "fox")
    answer = campaign.answers()[0]
    assert (answer.value, answer.outcome) == ("fox", "assured")
    assert answer.assured_error == pytest.approx(0.05)


def test_even_errors_make_smaller_sets_enough():
    known = {"name": "ccb-fixed", "qualities": (0.7,) * 5, "alpha": 0.2}
    by_bound = campaign_of(known).ask(limit=5)
    by_plurality = campaign_of({**known, "error": "plurality(options=4)"}).ask(limit=5)
    # Four are wrong together at most in .348 of tasks, five in .163. If errors spread evenly, two
    # wrong ones of four agree in a third of cases: 1 - .6517 - .2646 * 2/3 = .172.
    assert [sum(each.task == "t0" for each in batch) for batch in (by_bound, by_plurality)] == [
        5,
        4,
    ]


def test_truths_of_four_options_teach_and_end_exploration():
    policy = {"name": "ccb-ns", "alpha": 0.2, "floor": 0.6, "bounds": "paper", "mu": 0.9}
    campaign = campaign_of(policy, tasks=40)
    told = 0
    while not isinstance(choice := campaign.ask(limit=5), Done):
        if choice == Wait("truth"):
            campaign.truth(f"t{told}", "owl")
            told += 1
            continue
        for each in choice:
            campaign.tell(each.id, "cat" if each.worker == "w4" and told % 2 else "owl")
    assert 0 < told < 40
    assert all(answer.value == "owl" for answer in campaign.answers())
    assert campaign.answers()[-1].outcome == "assured"


def test_a_plurality_made_for_another_number_of_options_is_refused():
    with pytest.raises(InvalidProblem, match=r"give 'plurality\(options=4\)'") as caught:
        campaign_of({"name": "ccb-ns", "error": "plurality(options=3)"})
    assert caught.value.field == "options"


@pytest.mark.parametrize("more", [{"name": "ccb-fixed", "rounds": 0}, {"name": "cucb"}])
def test_an_error_that_nobody_need_be_asked_for_is_refused(more):
    # Else every task would be done with nobody asked, and without a label.
    def ask(error):
        return campaign_of({"alpha": 0.1, "error": error, **more}, 2, 1, ("no", "yes")).ask(limit=5)

    assert len(ask("likeliest(prior=0.6)")) >= 1
    with pytest.raises(InvalidProblem, match=r"is 0\.05 if nobody is asked; give less") as caught:
        ask("likeliest(prior=0.95)")
    assert caught.value.field == "alpha"


def answered(error, qualities, alpha, prior, aggregation=None, tasks=1500):
    """Labels of tasks of which a share has the truth "no", and how many of them are right."""
    campaign = Campaign.create(
        workers=[Worker(f"w{at}", 1) for at in range(len(qualities))],
        tasks=[f"t{at}" for at in range(tasks)],
        options=["no", "yes"],
        policy={"name": "ccb-fixed", "alpha": alpha, "error": error, "qualities": qualities},
        aggregation=aggregation,
        seed=1,
    )
    dice = np.random.default_rng(3)
    truths = {f"t{at}": "no" if dice.random() < prior else "yes" for at in range(tasks)}
    while not isinstance(choice := campaign.ask(limit=50), Done):
        for each in choice:
            right = dice.random() < qualities[int(each.worker[1:])]
            other = {"no": "yes", "yes": "no"}[truths[each.task]]
            campaign.tell(each.id, truths[each.task] if right else other)
    answers = campaign.answers()
    return answers, sum(each.value == truths[each.task] for each in answers) / tasks


def test_where_ties_go_to_the_first_option_labels_err_as_the_function_says():
    # Both of two workers at .8, or a tie that goes to an option true of .9 of the tasks: they err
    # in .04 + .32 * .1 = .072. A random tie would make it .2. Four deviations of 1,500 are .027.
    answers, right = answered("majority-first(prior=0.9)", (0.8, 0.8), 0.08, 0.9)
    assert {each.outcome for each in answers} == {"assured"}
    assert answers[0].assured_error == pytest.approx(0.072)
    assert right == pytest.approx(1 - 0.072, abs=0.027)
    with pytest.raises(InvalidProblem, match=r"is of labels by 'majority\(ties=first\)'") as caught:
        answered("majority-first(prior=0.9)", (0.8, 0.8), 0.08, 0.9, "majority", 1)
    assert caught.value.field == "aggregation"


def test_labels_that_do_not_know_how_frequent_options_are_are_not_assured_by_that():
    # The likeliest option given both answers and a prior of .8 is wrong in .088 of the tasks, but
    # a majority of .85 and .8 in .175.
    answers, right = answered("likeliest(prior=0.8)", (0.85, 0.8), 0.1, 0.8)
    assert {each.outcome for each in answers} == {"everyone_asked"}
    assert right == pytest.approx(1 - 0.175, abs=0.04)


@pytest.mark.parametrize("error", ["weighted-majority", "likeliest(prior=0.6)"])
def test_who_is_surely_worse_than_a_coin_assures_nothing_though_they_are_believed_the_opposite(
    error,
):
    # 2 of 12 are right: the upper bound is below 1/2, and the lower one, near 0, would be as good
    # as near 1. What is known is only that they are no better than the upper bound.
    policy = {"name": "ccb-fixed", "alpha": 0.2, "error": error, "earlier": [("w0", 2, 12)]}
    made = campaign_of({**policy, "bounds": "paper", "mu": 0.9, "rounds": 0}, 1, 1, ("no", "yes"))
    for each in made.ask(limit=1):
        made.tell(each.id, "no")
    (answer,) = made.answers()
    assert answer.outcome == "target_not_reachable"
    assert answer.assured_error == pytest.approx(0.5 if error == "weighted-majority" else 0.4)


@pytest.mark.parametrize("name", ["ccb-ns", "ccb-s", "ccb-se", "ccb-fixed", "multiple-pull-ucb"])
@pytest.mark.parametrize("error", ["majority-first(prior=0.7)", "likeliest(prior=0.7)"])
def test_every_policy_takes_errors_that_know_how_frequent_options_are(name, error):
    policy = {"name": name, "alpha": 0.25, "floor": 0.7, "error": error}
    made = campaign_of(policy, workers=3, tasks=3, options=("no", "yes"))
    told = 0
    while not isinstance(choice := made.ask(limit=5), Done):
        if choice == Wait("truth"):
            made.truth(f"t{told}", "yes")
            told += 1
        for each in choice:
            made.tell(each.id, "yes")
    assert all(answer.value == "yes" for answer in made.answers())


def test_bids_go_with_more_than_two_options():
    mechanism = {"name": "fixed-exploration", "c_max": 9}
    policy = {"name": "ccb-fixed", "rounds": 1, "solver": "classes", "alpha": 0.3, "floor": 0.7}
    campaign = campaign_of(policy, mechanism=mechanism)
    assert len(campaign.ask(limit=9)) == 5


def test_a_tie_is_wrong_as_often_as_a_draw_among_those_tied():
    votes = np.array([[2, 2, 1, 0], [1, 1, 1, 1], [0, 3, 0, 0], [3, 1, 1, 1]])
    assert [wrong_share(votes, task, 0) for task in range(4)] == [0.5, 0.75, 1.0, 0.0]
