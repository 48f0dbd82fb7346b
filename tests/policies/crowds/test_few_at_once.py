"""A limit on how many questions are under way: money that does not do for all finishes some."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askwise.core.choices import Batch
from askwise.core.events import Kind
from askwise.lab.simulate import simulate
from askwise.lab.worlds import Survey, two_options
from askwise.policies import policies
from askwise.stopping import stopping
from tests.policies.crowds.polls import ask, poll


def few(count, name="virt-ucb"):
    return {"name": name, "open_at_once": count}


def tasks_of(campaign, answers):
    """Let whoever is chosen answer; returns the questions in the order of asking."""
    asked = []
    for answer in answers:
        assignment = ask(campaign)
        campaign.tell(assignment.id, answer)
        asked.append(assignment.task)
    return "".join(map(str, asked))


RULE = {"name": "fixed", "n": 3}


@pytest.mark.parametrize(
    ("count", "order"),
    [
        (1, "pppqqqrrrsss"),
        # When p is closed the next takes its place, and catches up.
        (2, "pqpqprrqssrs"),
        (3, "pqrpqrpssqrs"),
        (None, "pqrspqrspqrs"),
        (9, "pqrspqrspqrs"),
    ],
)
def test_so_many_questions_are_asked_about_at_a_time(count, order):
    campaign = poll(few(count), tasks=list("pqrs"), stopping=RULE)
    assert tasks_of(campaign, "x" * 12) == order


@pytest.mark.parametrize(
    "name",
    ["round-robin", "rand-rr", "virt-thompson", "virt-uniform", "explore-exploit-rollback"],
)
def test_every_policy_of_the_family_has_the_limit(name):
    campaign = poll(few(1, name), tasks=list("pq"), stopping=RULE)
    assert tasks_of(campaign, "x" * 6) == "pppqqq"


def test_a_question_that_waits_for_answers_does_not_count():
    # So that many who answer at a time are not all put to one question.
    campaign = poll(few(1), tasks=list("pqrs"), stopping=RULE)
    batch = campaign.ask(limit=3)
    assert isinstance(batch, Batch)
    assert [each.task for each in batch] == ["p", "q", "r"]
    campaign.tell(batch[1].id, "x")
    assert ask(campaign).task == "q"


def test_nobody_who_is_there_waits_because_all_questions_do():
    campaign = poll(few(1), tasks=list("pq"), stopping={"name": "fixed", "n": 9})
    batch = campaign.ask(limit=5)
    assert isinstance(batch, Batch)
    assert [each.task for each in batch] == list("pqpqp")


def test_a_question_that_nobody_there_may_be_asked_is_passed_over():
    campaign = poll(
        few(1),
        workers=[{"id": "ann", "price": 1, "kind": "person"}, {"id": "panel", "price": 1}],
        tasks=list("pq"),
        stopping={"name": "fixed", "n": 9},
    )
    campaign.tell(ask(campaign, "ann").id, "x")
    assert ask(campaign, "ann").task == "q"
    assert ask(campaign, "panel").task == "p"


def closed(policy, questions, budget):
    """Questions closed, and what was spent, where each takes five answers."""
    survey = Survey(two_options(0.8, 0.6))
    world = survey.answering(5, 0, questions)
    rule = stopping.make({"name": "fixed", "n": 5})
    problem = survey.problem(questions, budget)
    done = simulate(policies.make(policy), problem, world, rule=rule, seed=5)
    return int(np.count_nonzero(done.closings[:, 2])), done.spent


def test_money_that_does_not_do_for_all_questions_finishes_some():
    # 40 questions of five answers: 80 is two fifths of what is needed.
    assert closed("virt-ucb", 40, 80) == (0, 80)
    assert closed(few(1), 40, 80) == (16, 80)


def test_60_of_the_156_needed_close_76_of_200_questions_and_not_none():
    # Three answers at .26 to each of 200 questions are 156. 60 buys 230 answers: all of 76
    # questions and two more, or one answer to every question and a second to thirty.
    survey = Survey(two_options(0.8), (26,))
    world, rule = survey.answering(5, 0, 200), stopping.make(RULE)
    for policy, questions in (("virt-ucb", 0), (few(1), 76)):
        problem = survey.problem(200, 60_00)
        done = simulate(policies.make(policy), problem, world, rule=rule, seed=5)
        assert np.count_nonzero(done.closings[:, 2]) == questions
        assert done.spent == 230 * 26


@settings(max_examples=8)
@given(st.integers(1, 6), st.integers(0, 2**32))
def test_the_question_is_the_one_that_the_words_say(count, seed):
    source = random.Random(seed)
    campaign = poll(few(count, "round-robin"), tasks=list("pqrst"), stopping={"name": "lead"})
    out = []
    for _ in range(25):
        if out and source.random() < 0.6:
            each = out.pop(source.randrange(len(out)))
            campaign.tell(each.id, source.choice("xy"))
            continue
        counts = {task: [0, 0] for task in "pqrst"}
        for event in campaign.log():
            if event.kind in (Kind.ASKED, Kind.ANSWER) and event.task:
                counts[event.task][event.kind == Kind.ANSWER] += 1
        done = {each.task for each in campaign.answers() if each.outcome != "open"}
        open_now = [task for task in "pqrst" if task not in done]
        ready = [task for task in open_now if counts[task][0] == counts[task][1]][:count]
        batch = campaign.ask()
        if not isinstance(batch, Batch):
            break
        assert batch[0].task == min(ready or open_now, key=lambda task: counts[task][0])
        out += batch


def test_a_log_without_the_limit_is_as_before_there_was_any():
    assert not {"open_at_once", "free_price"} & set(poll("virt-ucb").spec["policy"])
    assert poll(few(2)).spec["policy"]["open_at_once"] == 2
