"""Workers who err together: what rules make of kinds and families, by hand and by law."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from askwise import Campaign, Worker
from askwise.core.choices import Batch
from askwise.core.registry import from_label
from askwise.kernels.calibration.evidence import WITHIN_FAMILY
from askwise.kernels.likelihood import distance_from_top
from askwise.lab.contract import a_rules_live_log_is_the_labs
from askwise.stopping import stopping
from askwise.stopping.penalty import error_after, error_after_in_family
from tests.stopping.crews import CREW, FAMILIES, Said, asked
from tests.stopping.question import Question, evidence, log

LABELS = [
    "gap(quality=1.3)",
    "lead(lead=2.5)",
    "fixed(n=4)",
    "quorum(quorum=3,of=4)",
    "posterior(error=0.1)",
    "e-process(delta=0.4)",
    "joint-glr(beta=2)",
    "penalty(penalty=30)",
    "composite(rule=gap(quality=1.3))",
    "composite(rule=posterior(error=0.1))",
    "composite(rule=e-process(delta=0.4))",
]


TWO = st.lists(st.tuples(st.sampled_from(CREW), st.sampled_from("xy")), min_size=1, max_size=14)


# Nothing changes where nothing is said.


@pytest.mark.sampled(4)
@pytest.mark.parametrize("label", LABELS)
@given(TWO)
def test_crowds_without_a_family_are_judged_as_if_nothing_were_said(label: str, said: Said) -> None:
    plain, crowds = (
        asked(from_label(label), [], "xy", kinds=kinds)
        for kinds in ({}, dict.fromkeys(CREW, "crowd"))
    )
    for worker, option in said:
        # The same floats, not about the same.
        assert plain.say(worker, option) == crowds.say(worker, option)
        assert plain.guess() == crowds.guess()


def poll(rule: str, kind: Any) -> list[dict[str, Any]]:
    rng = np.random.default_rng(5)
    campaign = Campaign.create(
        workers=[Worker(name, 1, kind=kind) for name in "abc"],
        tasks=[f"t{at}" for at in range(4)],
        options=["no", "yes"],
        policy="virt-ucb",
        stopping=stopping.make(from_label(rule)),
        budget=60,
        seed=3,
    )
    while isinstance(batch := campaign.ask(), Batch):
        campaign.tell(batch[0].id, str(rng.choice(["no", "yes"], p=[0.25, 0.75])))
    events = [event.to_json() for event in campaign.log()]
    return [{k: v for k, v in event.items() if k != "time"} for event in events[1:]]


@pytest.mark.parametrize("label", LABELS)
def test_the_log_of_crowds_without_a_family_is_the_same_to_the_last_bit(label: str) -> None:
    assert poll(label, None) == poll(label, "crowd")


# posterior and what it is the model of.


def by_hand(cells: dict[str, tuple[int, int]]) -> float:
    """Log-odds of the first of two options: families tempered, everybody else multiplied."""
    total = 0.0
    for name in {FAMILIES.get(worker, worker) for worker in cells}:
        members = [cells[worker] for worker in cells if FAMILIES.get(worker, worker) == name]
        answers = sum(map(sum, members))
        said = sum(log(evidence(a, b)) - log(evidence(b, a)) for a, b in members)
        tempered = name in FAMILIES.values() and answers
        total += said / (1 + (answers - 1) * 0.4) if tempered else said
    return total


def tally(said: Said) -> dict[str, tuple[int, int]]:
    return {worker: (said.count((worker, "x")), said.count((worker, "y"))) for worker, _ in said}


WITHOUT_F = st.lists(
    st.tuples(st.sampled_from("abcde"), st.sampled_from("xy")), min_size=1, max_size=14
)


@given(WITHOUT_F)
def test_the_posterior_tempers_a_family_and_multiplies_the_rest(said: Said) -> None:
    assert WITHIN_FAMILY == 0.4
    odds = by_hand(tally(said))
    question = asked("posterior", said, "xy", families=FAMILIES)
    option, sure = question.guess()
    assert sure == pytest.approx(1 / (1 + math.exp(-abs(odds))), rel=1e-9)
    if abs(odds) > 1e-9:
        assert option == (0 if odds > 0 else 1)


@given(st.permutations(CREW), st.lists(st.sampled_from("xyz"), min_size=1, max_size=6))
def test_families_with_one_answer_each_change_nothing(order: list[str], word: list[str]) -> None:
    said = list(zip(order, word, strict=False))
    families = {name: f"of {name}" for name in CREW}
    for rule in ("posterior", "e-process", "joint-glr"):
        found = asked(rule, said, families=families).guess()
        assert found[1] == pytest.approx(asked(rule, said).guess()[1], rel=1e-12, abs=1e-12)


def test_one_family_alone_is_never_sure_by_the_posterior() -> None:
    # A crowd of one family: the odds tend to 2 ** (1 / 0.4) = 5.7; of members: to 3 ** 2.5 = 15.6.
    question = asked("posterior", [("a", "x")] * 300, "xy", families={"a": "f"})
    assert question.verdict() is None
    assert question.guess()[1] == pytest.approx(1 - 1 / (1 + 2**2.5), abs=0.002)
    names = [f"w{at}" for at in range(60)]
    members = Question(
        "posterior", prices=dict.fromkeys(names, 1), families=dict.fromkeys(names, "f")
    )
    assert [members.say(name, "x") for name in names] == [None] * 60
    assert members.guess()[1] == pytest.approx(1 - 1 / (1 + 3**2.5), abs=0.01)


def test_the_composite_of_posterior_tempers_each_and_all() -> None:
    rule = from_label("composite(rule=posterior(error=0.02))")
    kin = asked(rule, [("a", "x")] * 40, "xy", families=FAMILIES)
    assert kin.verdict() is None
    alone = asked(rule, [("a", "x")] * 40, "xy")
    assert alone.verdict() is not None
    # All as one crowd: 4 answers of a family count 4 / 2.2, 2 of e count 2.
    mixed = asked(
        rule, [("a", "x")] * 2 + [("b", "x")] * 2 + [("e", "x")] * 2, "xy", families=FAMILIES
    )
    share = (4 / 2.2 + 2) / 6
    odds = share * (log(evidence(6, 0)) - log(evidence(0, 6)))
    assert mixed.guess()[1] == pytest.approx(1 / (1 + math.exp(-odds)))


def test_joint_glr_tempers_a_family() -> None:
    said = [("a", "x")] * 3 + [("b", "x"), ("b", "y"), ("b", "x"), ("e", "x")]
    question = asked("joint-glr", said, "xy", families=FAMILIES)
    far = [
        distance_from_top(np.array([votes]), 0, 0, 2, 1)
        - distance_from_top(np.array([votes]), 0, 0, 2, 0)
        for votes in ((3, 0), (2, 1), (1, 0))
    ]
    margin = (far[0] + far[1]) / (1 + 5 * 0.4) + far[2]
    assert question.guess() == (0, pytest.approx(1 / (1 + math.exp(-margin))))


@given(st.integers(0, 9), st.integers(0, 9), st.floats(-9, 9), st.integers(0, 6))
def test_the_look_ahead_of_a_lone_answer_is_the_one_without_a_family(
    a: int, b: int, rest: float, more: int
) -> None:
    """Where at most one answer is there the shares are 1; else a family's are worth less."""
    if a + b + more <= 1:
        found = error_after_in_family(a, b, rest, 0.0, a + b, more)
        assert found == pytest.approx(error_after(a, b, rest, more), rel=1e-11)
    found = error_after_in_family(a, b, rest, 1.0, a + b + 1, more)
    assert 0 <= found <= 0.5


def test_without_further_answers_the_look_ahead_is_the_error_now() -> None:
    said = [("a", "x"), ("a", "y"), ("a", "x"), ("b", "x"), ("e", "x")]
    question = asked({"name": "penalty", "penalty": 9}, said, "xy", families=FAMILIES)
    kin = rest = math.log(3)
    sure = question.guess()[1]
    assert sure is not None
    assert error_after_in_family(2, 1, rest, kin, 4, 0) == pytest.approx(1 - sure)


def test_more_of_one_family_is_not_worth_a_price_that_more_of_a_crowd_is() -> None:
    rule = {"name": "penalty", "penalty": 200, "ahead": 32}
    answers = {}
    for families in ({}, {"a": "f"}):
        question = Question(rule, prices={"a": 1}, families=families)
        answers[bool(families)] = next(
            at for at in itertools.count(1) if question.say("a", "xy"[at % 2]) is not None
        )
    assert answers[True] < answers[False]


@pytest.mark.compiled
@pytest.mark.xdist_group("loops of rules")
@pytest.mark.parametrize("label", ["e-process(delta=0.9)", "posterior(error=0.2)"])
def test_the_live_log_with_families_is_that_of_the_compiled_loop(label: str) -> None:
    a_rules_live_log_is_the_labs(stopping.make(from_label(label)))
