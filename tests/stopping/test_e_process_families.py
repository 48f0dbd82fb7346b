"""Families by e-process: their first answer counts, by hand, by law, by chance."""

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
from tests.stopping.crews import CREW, FAMILIES, SAID, Said, asked, capital
from tests.stopping.question import Question, evidence


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


def test_seven_families_of_one_mind_are_enough_and_six_are_not() -> None:
    names = "abcdefg"
    question = Question(
        "e-process", prices=dict.fromkeys(names, 1), families={name: name for name in names}
    )
    verdicts = [question.hear(name, "xxx")[-1] for name in names]
    assert verdicts[:6] == [None] * 6
    assert verdicts[6] is not None
    assert verdicts[6].outcome == "confident"
    mean = (1.5**7 + float(evidence(7, 0))) / 2
    assert verdicts[6].confidence == pytest.approx(1 - 1 / mean)


def test_the_composite_of_e_process_hears_one_answer_of_a_family() -> None:
    rule = "composite(rule=e-process)"
    said = [("a", "x")] * 20 + [("b", "x")] * 20
    assert asked(from_label(rule), said, "xy").verdict() is not None
    kin = asked(from_label(rule), said, "xy", families=FAMILIES)
    assert kin.verdict() is None
    # All together: one answer of the family and those of e, 1 + 6 of one mind.
    for _ in range(5):
        assert kin.say("e", "x") is None
    found = kin.say("e", "x")
    assert found is not None
    assert found.confidence == pytest.approx(1 - 1 / float(evidence(7, 0)))


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


@pytest.mark.sampled(1)
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


@pytest.mark.sampled(1)
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
    wrong, stops = {True: 0.0, False: 0.0}, {True: 0.0, False: 0.0}
    for kin in (False, True):
        # Named as families two of each will do: all but the first answer change nothing.
        names = [
            f"{family}{member}" for family in range(7) for member in "abcdef"[: 2 if kin else 6]
        ]
        families = {name: name[:-1] for name in names} if kin else {}
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
    # Four families of one mind are enough, (1.5^4 + 6.2) / 2 = 5.63; so are six of seven, 5.05,
    # where the one against them is among the first four.
    due = [p**4 + 4 * p**6 * (1 - p) for p in (0.55, 0.45)]
    assert stops[True] == pytest.approx(sum(due))
    assert wrong[True] == pytest.approx(due[1])
    assert wrong[True] < delta
