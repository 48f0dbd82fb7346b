"""Workers who err together: what rules make of kinds and families, by hand, by law, by chance."""

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
from askwise.core.events import Kind
from askwise.core.registry import from_label
from askwise.kernels.calibration.evidence import WITHIN_FAMILY
from askwise.kernels.likelihood import distance_from_top
from askwise.lab.contract import a_rules_live_log_is_the_labs
from askwise.stopping import stopping
from askwise.stopping.e_process import log_e_value
from askwise.stopping.penalty import error_after, error_after_in_family
from tests.stopping.question import Question, evidence, log

Said = list[tuple[str, str]]

CREW = "abcdef"
FAMILIES = {"a": "f", "b": "f", "c": "g", "d": "g"}
"""Two families of two; e and f are on their own."""

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


def asked(rule: Any, said: Said, options: str = "xyz", **more: Any) -> Question:
    question = Question(rule, options=options, prices=dict.fromkeys(CREW, 1), **more)
    for worker, option in said:
        question.say(worker, option)
    return question


def capital(question: Question, option: int = 0, rival: int = 1) -> float:
    return math.exp(log_e_value(question.ledger.book, 0, option, rival))


SAID = st.lists(st.tuples(st.sampled_from(CREW), st.sampled_from("xyz")), min_size=1, max_size=14)
TWO = st.lists(st.tuples(st.sampled_from(CREW), st.sampled_from("xy")), min_size=1, max_size=14)


# Nothing changes where nothing is said.


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


# e-process: a family's first answer.


@given(SAID)
def test_a_family_counts_as_a_worker_who_gave_its_first_answer_only(said: Said) -> None:
    heard: set[str] = set()
    first: Said = []
    for worker, option in said:
        family = FAMILIES.get(worker)
        if family is None:
            first.append((worker, option))
        elif family not in heard:
            heard.add(family)
            first.append((worker, option))
    families = asked("e-process", said, families=FAMILIES)
    alone = asked("e-process", first)
    for option, rival in itertools.permutations(range(3), 2):
        expected = capital(alone, option, rival)
        assert capital(families, option, rival) == pytest.approx(expected, rel=1e-12)


@given(SAID, st.sampled_from(CREW), st.floats(0, 0.5))
def test_the_capital_does_not_grow_whoever_is_next(said: Said, worker: str, q: float) -> None:
    now = capital(asked("e-process", said, families=FAMILIES))
    won, lost = (
        capital(asked("e-process", [*said, (worker, option)], families=FAMILIES)) for option in "xy"
    )
    family = FAMILIES.get(worker)
    if family and any(FAMILIES.get(other) == family for other, _ in said):
        # However it depends on what its family has said, there is nothing to win.
        assert won == lost == now
    else:
        assert q * won + (1 - q) * lost <= now * (1 + 1e-11)


@given(st.lists(st.sampled_from(CREW), min_size=1, max_size=14))
def test_of_one_mind_families_are_never_more_evidence_than_none(workers: list[str]) -> None:
    said = [(worker, "x") for worker in workers]
    together = capital(asked("e-process", said, families=FAMILIES))
    assert together <= capital(asked("e-process", said)) * (1 + 1e-12)


def test_the_mean_of_a_family_would_be_a_bet_that_wins() -> None:
    """Why it is the first answer: b contradicts a, and is asked only where a was against x."""
    for_it, against = float(evidence(1, 0)), float(evidence(0, 1))
    assert (for_it + against) / 2 == 1
    assert (for_it + (against + for_it) / 2) / 2 == 1.25
    assert capital(asked("e-process", [("a", "y"), ("b", "x")], families=FAMILIES)) == against


def test_the_first_answer_is_the_first_that_came_not_the_first_that_was_asked_for() -> None:
    question = asked("e-process", [], families=FAMILIES)
    early, late = question.ask("a"), question.ask("b")
    question.tell(late, "b", "y")
    assert capital(question, 1, 0) == 1.5
    question.tell(early, "a", "x")
    assert capital(question, 1, 0) == 1.5


def test_a_crowd_with_a_family_has_one_voice_and_one_without_has_many() -> None:
    said = [("a", "x")] * 20
    kinds = {"a": "crowd"}
    alone = asked("e-process", said, "xy", kinds=kinds)
    assert alone.verdict() is not None
    kin = asked("e-process", said, "xy", kinds=kinds, families={"a": "f"})
    assert capital(kin) == 1.5
    assert kin.verdict() is None


def test_eight_families_of_one_mind_are_enough_and_seven_are_not() -> None:
    names = "abcdefgh"
    question = Question(
        "e-process", prices=dict.fromkeys(names, 1), families={name: name for name in names}
    )
    verdicts = [question.hear(name, "xxx")[-1] for name in names]
    assert verdicts[:7] == [None] * 7
    assert verdicts[7] is not None
    assert verdicts[7].outcome == "confident"
    mean = (1.5**8 + float(evidence(8, 0))) / 2
    assert verdicts[7].confidence == pytest.approx(1 - 2 / mean)


def test_the_composite_of_e_process_hears_one_answer_of_a_family() -> None:
    rule = "composite(rule=e-process)"
    said = [("a", "x")] * 20 + [("b", "x")] * 20
    assert asked(from_label(rule), said, "xy").verdict() is not None
    kin = asked(from_label(rule), said, "xy", families=FAMILIES)
    assert kin.verdict() is None
    # All together: one answer of the family and those of e, 1 + 7 of one mind.
    for _ in range(6):
        assert kin.say("e", "x") is None
    found = kin.say("e", "x")
    assert found is not None
    assert found.confidence == pytest.approx(1 - 2 / float(evidence(8, 0)))


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


# By chance: models that always say the same, and crowds that do not.

ACCURACIES = (0.9, 0.8, 0.7)


def closed(campaign: Campaign, wrong: Any) -> tuple[int, int, int]:
    """Run a campaign whose right option is "yes": tasks, those confident, and wrong among them."""
    while isinstance(batch := campaign.ask(), Batch):
        for each in batch:
            campaign.tell(each.id, "no" if wrong(each.task, each.worker) else "yes")
    answers = [event for event in campaign.log() if event.kind == Kind.CLOSED]
    sure = [event for event in answers if event.outcome == "confident"]
    tasks = campaign.status().open_tasks + len(answers)
    return tasks, len(sure), sum(event.value == "no" for event in sure)


def within(errors: int, many: int, delta: float) -> bool:
    """At most a share of delta of so many, plus three standard deviations of it."""
    return errors <= delta * many + 3 * math.sqrt(many * delta * (1 - delta))


def questions(workers: list[Worker], tasks: int, policy: str = "virt-ucb") -> Campaign:
    return Campaign.create(
        workers=workers,
        tasks=[f"t{at}" for at in range(tasks)],
        options=["no", "yes"],
        policy=policy,
        stopping={"name": "e-process", "delta": 0.05},
        repeat=True,
        seed=1,
    )


@pytest.mark.parametrize("family", ["one", "each", "none"])
def test_three_deterministic_models_are_not_confident(family: str) -> None:
    rng = np.random.default_rng(11)
    errs = {(f"t{t}", f"m{m}"): rng.random() > ACCURACIES[m] for t in range(100) for m in range(3)}
    named = {"one": lambda m: "f", "each": lambda m: f"f{m}", "none": lambda m: None}[family]
    workers = [Worker(f"m{m}", 1, kind="model", family=named(m)) for m in range(3)]
    tasks, confident, _ = closed(questions(workers, 100), lambda task, worker: errs[task, worker])
    assert (tasks, confident) == (100, 0)


def test_three_independent_crowds_close_confident_and_right() -> None:
    rng = np.random.default_rng(12)
    workers = [Worker(f"m{m}", 1, kind="crowd") for m in range(3)]
    tasks, confident, errors = closed(
        questions(workers, 60), lambda task, worker: rng.random() > ACCURACIES[int(worker[1:])]
    )
    assert confident >= 0.95 * tasks
    assert within(errors, confident, 0.05)


@pytest.mark.parametrize("kind", ["model", "crowd"])
def test_a_family_whose_members_copy_one_another_is_not_confident(kind: Any) -> None:
    rng = np.random.default_rng(13)
    errs = {f"t{t}": rng.random() > 0.7 for t in range(40)}
    workers = [Worker(f"m{m}", 1, kind=kind, family="f", limit=200) for m in range(10)]
    _, confident, errors = closed(
        questions(workers, 40, "round-robin"), lambda task, worker: errs[task]
    )
    assert (confident, errors) == (0, 0)


def test_families_of_copies_keep_the_error_that_copies_without_a_family_do_not() -> None:
    """Seven families of six, right with 0.55, who copy one another: exactly, over all minds."""
    delta, right = 0.2, 0.55
    names = [f"{family}{member}" for family in range(7) for member in "abcdef"]
    wrong, stops = {True: 0.0, False: 0.0}, {True: 0.0, False: 0.0}
    for families in ({}, {name: name[:-1] for name in names}):
        for minds in itertools.product("xy", repeat=7):
            question = Question(
                {"name": "e-process", "delta": delta},
                prices=dict.fromkeys(names, 1),
                families=families,
            )
            verdicts = (question.say(name, minds[int(name[:-1])]) for name in names)
            found = next((verdict for verdict in verdicts if verdict), None)
            chance = math.prod(right if mind == "y" else 1 - right for mind in minds)
            stops[bool(families)] += chance * (found is not None)
            wrong[bool(families)] += chance * (found is not None and found.option == 0)
    # Six copies are enough: whoever is asked first decides.
    assert (stops[False], wrong[False]) == pytest.approx((1, 0.45))
    # The first six families must be of one mind: with one against them seven are not enough.
    assert stops[True] == pytest.approx(0.55**6 + 0.45**6)
    assert wrong[True] == pytest.approx(0.45**6)


@pytest.mark.compiled
@pytest.mark.parametrize("label", ["e-process(delta=0.9)", "posterior(error=0.2)"])
def test_the_live_log_with_families_is_that_of_the_compiled_loop(label: str) -> None:
    a_rules_live_log_is_the_labs(stopping.make(from_label(label)))
