"""Crowds at unequal prices and at none: who is asked, and how the questions end."""

from __future__ import annotations

import logging

import numpy as np
import pytest

from askwise.lab.loop import CLOSED_CODE, CLOSED_OPTION
from askwise.lab.simulate import simulate
from askwise.lab.worlds import Survey, two_options
from askwise.ledger import columns as c
from askwise.policies import policies
from askwise.stopping import stopping
from askwise.stopping.base import CONFIDENT
from tests.policies.crowds.polls import poll


def surveyed(policy, chances, prices, rule, questions, seed=2):
    """Ask questions to their end: answers by crowd, and the share that is confident and wrong."""
    survey = Survey(two_options(*chances), prices)
    world = survey.answering(seed, 0, questions)
    done = simulate(
        policies.make(policy),
        survey.problem(questions),
        world,
        rule=stopping.make(rule),
        seed=seed,
    )
    workers = done.ledger.book.workers
    answers = [int(workers[at, c.ANSWERED]) for at in range(len(chances))]
    sure = done.closings[:, CLOSED_CODE] == CONFIDENT
    return answers, float(np.mean(sure & (done.closings[:, CLOSED_OPTION] != world.right)))


@pytest.mark.parametrize("prices", [(3, 1), (1, 0)], ids=["a third of the price", "free"])
def test_virt_thompson_leaves_a_coin_for_the_good_crowd(prices):
    # By accuracy, .5 against .9, the coin at a third of the price was asked for ever.
    never = {"name": "fixed", "n": 150}
    (good, coin), _ = surveyed("virt-thompson", (0.9, 0.5), prices, never, 3)
    assert good > coin
    by_accuracy = {"name": "virt-thompson", "reward": "accuracy", "free_price": 0.01}
    (good, coin), _ = surveyed(by_accuracy, (0.9, 0.5), prices, never, 3)
    assert coin > 2 * good


@pytest.mark.sampled(1)
@pytest.mark.parametrize("prices", [(3, 1), (1, 0)], ids=["a third of the price", "free"])
def test_virt_thompson_beside_a_coin_ends_with_few_answers_and_seldom_wrong(prices):
    # By accuracy the coin gave most of some 2,000 to 4,000 answers to these 40 questions, and five
    # and nine of them ended confident and wrong.
    rule = {"name": "composite", "rule": "gap(quality=2.0)", "horizon": 400}
    (good, coin), wrong = surveyed("virt-thompson", (0.9, 0.5), prices, rule, 40)
    assert coin < 1.5 * good < 30 * 40
    assert 40 * wrong <= 4
    by_accuracy = {"name": "virt-thompson", "reward": "accuracy"}
    (fewer, more), often = surveyed(by_accuracy, (0.9, 0.5), prices, rule, 40)
    assert fewer + more > 3 * (good + coin)
    assert more > 5 * fewer
    assert often > wrong


@pytest.mark.parametrize(
    "rule",
    [{"name": "composite", "rule": "gap(quality=2.0)"}, {"name": "posterior", "error": 0.02}],
    ids=["composite", "posterior"],
)
def test_a_free_coin_beside_a_good_crowd_misleads_seldom(rule):
    # At a hundredth of the good crowd's price it did so in 12 and 10 of these 60 questions.
    _, wrong = surveyed("virt-ucb", (0.8, 0.5), (1, 0), {**rule, "horizon": 400}, 60)
    assert 60 * wrong <= 7


def test_a_good_crowd_that_is_free_answers_nearly_everything():
    rule = {"name": "composite", "rule": "gap(quality=2.0)"}
    (paid, free), wrong = surveyed("virt-ucb", (0.6, 0.9), (1, 0), rule, 30)
    assert paid < free / 5
    assert wrong < 0.1


def test_creating_a_campaign_with_a_free_crowd_beside_paid_ones_warns(caplog):
    with caplog.at_level(logging.WARNING):
        poll("virt-ucb", (0, 1))
    (told,) = [each.getMessage() for each in caplog.records]
    assert told.startswith("worker 'a' costs nothing and is asked as if they cost 0.25 of")
    caplog.clear()
    with caplog.at_level(logging.WARNING):
        poll("virt-ucb", (0, 0))
        poll("virt-ucb", (1, 2))
        poll({"name": "virt-ucb", "free_price": 1}, (2, 2))
    assert not caplog.records
