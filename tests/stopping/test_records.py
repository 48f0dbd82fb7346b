"""`posterior` with `learn`: what crowds have shown elsewhere, by hand and by brute force."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from askwise import Campaign, Worker
from askwise.campaign.state import CampaignState
from askwise.core.compiling import in_bulk
from askwise.core.draws import Draw
from askwise.core.errors import InvalidParameter
from askwise.core.events import Kind
from askwise.core.registry import stored_spec
from askwise.lab.loop import CLOSED_CODE, CLOSED_OPTION
from askwise.lab.simulate import simulate
from askwise.lab.worlds import Survey, two_options
from askwise.ledger import columns as c
from askwise.policies import policies
from askwise.stopping import stopping
from askwise.stopping.base import CONFIDENT
from askwise.stopping.evidence import log_evidence
from askwise.stopping.records import IN_TABLE, kinds_of_crowds, log_row
from askwise.testing.sessions import spec_of_campaign
from tests.stopping.question import KEY, Question, evidence, log

Kinds = list[tuple[int, int, Fraction]]
"""Alpha, beta and the share beforehand of each kind of crowd."""

Votes = tuple[int, ...]
"""A crowd's answers to one question, by option."""

TASKS = ("t", "u", "v", "w")


def learning(learn: int, error: float = 1e-9, **more: Any) -> dict[str, Any]:
    return {"name": "posterior", "error": error, "learn": learn, **more}


def kinds(learn: int, options: int) -> Kinds:
    """The kinds as documented: uniform, and two sizes with eleven shares of right answers each."""
    found = [(0, 0, Fraction(1, 3))]
    for size in (learn, learn // 8):
        for at in range(11):
            right = round(size * (1 / options + (1 - 1 / options) * at / 10))
            found.append((right, size - right, Fraction(1, 33)))
    return found


def speaks(votes: Votes, option: int, alpha: int, beta: int) -> Fraction:
    """M(a, b | alpha, beta) for an option."""
    a, n = votes[option], len(votes)
    b = sum(votes) - a
    return evidence(alpha + a, beta + b, n) / evidence(alpha, beta, n)


def by_brute_force(
    crowds: Sequence[Mapping[str, Votes]], learn: int, told: Mapping[str, int]
) -> list[Fraction]:
    """The probability of each option of question "t", over all kinds of crowds and all truths.

    A crowd's kind is judged by its own answers; on the questions other than "t", each combination
    of truths that agrees with what was told is as probable as any.
    """
    n = len(next(iter(crowds[0].values())))
    odds = [Fraction(1)] * n
    for crowd in crowds:
        if "t" not in crowd:
            continue
        others = [task for task in crowd if task != "t"]
        possible = [[told[task]] if task in told else range(n) for task in others]
        said = [Fraction(0)] * n
        for alpha, beta, share in kinds(learn, n):
            for truths in itertools.product(*possible):
                weight = share
                for task, truth in zip(others, truths, strict=True):
                    weight *= speaks(crowd[task], truth, alpha, beta)
                for option in range(n):
                    said[option] += weight * speaks(crowd["t"], option, alpha, beta)
        odds = [before * each for before, each in zip(odds, said, strict=True)]
    return [each / sum(odds) for each in odds]


def asked(
    crowds: Sequence[Mapping[str, Votes]], learn: int, told: Mapping[str, int], late: bool
) -> Question:
    options = "xyz"[: len(next(iter(crowds[0].values())))]
    question = Question(learning(learn), options=options, tasks=TASKS)

    def tell() -> None:
        for task, truth in told.items():
            question.add(Kind.TRUTH, task=task, value=options[truth])

    if not late:
        tell()
    for crowd, answers in zip("abc", crowds, strict=False):
        for task, votes in answers.items():
            for option, count in zip(options, votes, strict=True):
                for _ in range(count):
                    question.say(crowd, option, task)
    if late:
        tell()
    return question


CASES: list[tuple[list[dict[str, Votes]], int, dict[str, int]]] = [
    ([{"t": (2, 0)}], 8, {}),
    ([{"t": (2, 0), "u": (3, 3)}], 8, {}),
    ([{"t": (2, 0), "u": (0, 4), "v": (3, 0)}], 16, {}),
    ([{"t": (1, 2), "u": (3, 1)}, {"t": (2, 0), "u": (1, 1), "v": (2, 1)}], 24, {}),
    ([{"t": (1, 2), "u": (3, 1)}, {"t": (2, 0)}, {"u": (2, 2)}], 1, {}),
    ([{"t": (2, 0), "u": (4, 0)}], 16, {"u": 1}),
    ([{"t": (2, 0), "u": (4, 0)}], 16, {"u": 0}),
    ([{"t": (1, 0), "u": (1, 0), "v": (1, 0)}, {"t": (0, 1), "u": (0, 1)}], 16, {"u": 0, "v": 0}),
    ([{"t": (2, 0, 0), "u": (1, 1, 1)}, {"t": (0, 1, 0), "u": (3, 0, 0)}], 9, {}),
    ([{"t": (1, 1, 0), "u": (0, 2, 1), "v": (2, 0, 0)}], 40, {"v": 2}),
]


@pytest.mark.parametrize("late", [False, True], ids=["told first", "told last"])
@pytest.mark.parametrize(("crowds", "learn", "told"), CASES)
def test_the_confidence_is_the_posterior_over_all_kinds_and_truths(
    crowds: list[dict[str, Votes]], learn: int, told: dict[str, int], late: bool
) -> None:
    due = by_brute_force(crowds, learn, told)
    option, sure = asked(crowds, learn, told, late).guess()
    assert sure == pytest.approx(float(max(due)), rel=1e-11)
    assert option is not None
    assert due[option] == max(due)


def test_one_answer_by_hand() -> None:
    # Known by one answer at the most, ten kinds of crowds have (1, 0), one (0, 1), the rest (0, 0).
    # M(1, 0) = 3/2, M(0, 1) = 1/2, M(2, 0) = 7/3, M(1, 1) = 2/3, M(0, 2) = 1/3.
    question = Question(learning(1))
    question.say("a", "y")
    right = Fraction(2, 3) * Fraction(3, 2) + Fraction(10, 33) * Fraction(14, 9)
    right += Fraction(1, 33) * Fraction(4, 3)
    wrong = Fraction(2, 3) * Fraction(1, 2) + Fraction(10, 33) * Fraction(4, 9)
    wrong += Fraction(1, 33) * Fraction(2, 3)
    option, sure = question.guess()
    assert option == 1
    assert sure == pytest.approx(float(right / (right + wrong)), rel=1e-13)
    # Whichever option is right: the two are all there is.
    assert right + wrong == 2


def test_a_crowd_at_odds_with_itself_elsewhere_counts_little_where_it_is_of_one_mind() -> None:
    sure = {}
    for word in ("", "xyxyxyxyxyxy", "xxxxxxxxxxxx"):
        question = Question(learning(100), tasks=TASKS)
        for task in TASKS[1:]:
            for option in word:
                question.say("a", option, task)
        question.hear("a", "yyy")
        sure[word] = question.guess()[1] or 0.0
    # Without a record nearly as if it did not learn: 1 - 1/16.
    assert sure[""] == pytest.approx(1 - 1 / 16, abs=0.005)
    # As after one answer or two of a crowd of which nothing is known.
    assert 0.7 < sure["xyxyxyxyxyxy"] < 0.8
    assert sure["xxxxxxxxxxxx"] > 0.995


def test_what_a_crowd_says_about_the_question_itself_is_no_record() -> None:
    # All that is known of it is the question: the same as if there were only one question.
    question, alone = Question(learning(50), tasks=TASKS), Question(learning(50))
    for word in ("xy", "xxyx", "y" * 60):
        question.hear("a", word)
        alone.hear("a", word)
        assert question.guess() == alone.guess()
        due = by_brute_force([{"t": tuple(map(int, question.ledger.book.votes[0]))}], 50, {})
        assert question.guess()[1] == pytest.approx(float(max(due)), rel=1e-11)


@pytest.mark.parametrize("options", [2, 3, 5])
def test_the_tables_are_the_integrals(options: int) -> None:
    for answers in (0, 1, 2, 7, 60, 300):
        row = log_row(answers, options)
        for a in {0, answers // 3, answers // 2, answers}:
            due = log(evidence(a, answers - a, options))
            assert row[a] == pytest.approx(due, rel=1e-12, abs=1e-12)
    alphas, betas, log_shares, log_terms = kinds_of_crowds(30, options)
    assert np.exp(log_shares).sum() == pytest.approx(1)
    due_kinds = kinds(30, options)
    assert list(zip(alphas, betas, strict=True)) == [(a, b) for a, b, _ in due_kinds]
    assert np.exp(log_shares) == pytest.approx([float(share) for _, _, share in due_kinds])
    for answers in (0, 1, 5, IN_TABLE):
        for a in range(answers + 1):
            for kind, (alpha, beta) in enumerate(zip(alphas, betas, strict=True)):
                due = log_evidence(int(alpha) + a, int(beta) + answers - a, options)
                due -= log_evidence(int(alpha), int(beta), options)
                found = log_terms[answers * (answers + 1) // 2 + a, kind]
                assert found == pytest.approx(due, rel=1e-12, abs=1e-12)


def test_beyond_the_table_nothing_changes() -> None:
    question = Question(learning(20), tasks=TASKS)
    for task in ("u", "v"):
        question.tell(question.ask("a", task), "a", "x", task)
    more = IN_TABLE + 5
    question.hear("a", "xxy" * (more // 3))
    votes = tuple(map(int, question.ledger.book.votes[0]))
    due = by_brute_force([{"t": votes, "u": (1, 0), "v": (1, 0)}], 20, {})
    assert question.guess()[1] == pytest.approx(float(max(due)), rel=1e-11)


# Selection.


def walks(rule: Mapping[str, Any], most: int) -> Iterator[tuple[list[Votes], list[Any]]]:
    """All that a crowd may say of two questions, asked by turns until each is closed or has most.

    Yields the votes and the verdicts at the end of each walk.
    """
    queue = [""]
    while queue:
        word = queue.pop()
        question = Question(rule, prices={"a": 1}, tasks=("t", "u"))
        closed: dict[int, Any] = {}
        used = 0

        def due(question: Question = question, closed: dict[int, Any] = closed) -> int | None:
            counts = question.ledger.book.votes[:2].sum(axis=1)
            still = [at for at in (0, 1) if at not in closed and counts[at] < most]
            return min(still, key=lambda at: counts[at]) if still else None

        while (task := due()) is not None and used < len(word):
            name = "tu"[task]
            question.say("a", word[used], name)
            used += 1
            verdict = question.rule.verdict(
                question.problem, question.state, question.ledger, task, Draw(*KEY, used)
            )
            if verdict is not None:
                closed[task] = verdict
        if task is not None:
            queue += [word + "x", word + "y"]
            continue
        votes = [tuple(map(int, row)) for row in question.ledger.book.votes[:2]]
        yield votes, [closed.get(at) for at in (0, 1)]


def test_errors_are_at_most_the_target_on_average_whenever_questions_close() -> None:
    """Over all that a crowd may say of two questions, of which "x" is right.

    The second is asked for longer or shorter as the first and its own answers have it, and what is
    said of one is the record for the other. With a kind's accuracies averaged out, a walk has the
    probability of the sum over kinds of share * M * M / 2^answers.
    """
    error = 0.2
    closed = wrong = total = Fraction(0)
    for votes, verdicts in walks(learning(16, error), 4):
        chance = Fraction(0)
        for alpha, beta, share in kinds(16, 2):
            each = share
            for of_question in votes:
                each *= speaks(of_question, 0, alpha, beta) / 2 ** sum(of_question)
            chance += each
        total += chance
        for verdict in verdicts:
            if verdict is not None:
                closed += chance
                wrong += chance * verdict.option
    assert total == 1
    assert 0 < wrong <= Fraction(error) * closed


QUESTIONS = 400


@pytest.mark.compiled
@pytest.mark.xdist_group("loops of rules")
@pytest.mark.parametrize("policy", ["virt-ucb", "rand-rr", "virt-thompson"])
def test_a_free_coin_beside_a_good_crowd_no_longer_decides(policy: str) -> None:
    survey = Survey(two_options(0.8, 0.5), (1, 0))
    problem, world = survey.problem(QUESTIONS), survey.answering(71, 0, QUESTIONS)
    wrong, spent = {}, {}
    for learn in (0, 100):
        rule = stopping.make(learning(learn, 0.02, horizon=1000))
        with in_bulk(policy):
            run = simulate(policies.make(policy), problem, world, rule=rule, seed=72)
        sure = run.closings[:, CLOSED_CODE] == CONFIDENT
        assert sure.mean() > 0.99
        wrong[learn] = np.mean(sure & (run.closings[:, CLOSED_OPTION] != world.right))
        spent[learn] = run.spent
    # As one separate survey after the other, about 1 in 11 is wrong.
    assert wrong[0] > 0.04
    assert wrong[100] <= 0.02
    assert spent[100] < 1.1 * spent[0]


# The record.


@given(
    st.lists(
        st.tuples(st.sampled_from("ab"), st.sampled_from("xy"), st.sampled_from(TASKS)),
        min_size=1,
        max_size=14,
    ),
    st.randoms(use_true_random=False),
)
def test_a_record_does_not_depend_on_the_order_of_answers(
    answers: list[tuple[str, str, str]], random: Any
) -> None:
    shuffled = list(answers)
    random.shuffle(shuffled)
    one, other = Question(learning(40), tasks=TASKS), Question(learning(40), tasks=TASKS)
    for question, said in ((one, answers), (other, shuffled)):
        for crowd, option, task in said:
            question.say(crowd, option, task)
    assert one.state.likely == pytest.approx(other.state.likely, rel=1e-9, abs=1e-9)


def test_somebody_who_is_asked_once_about_a_question_has_a_record_by_truths_only() -> None:
    question = Question(learning(40), tasks=TASKS, kinds={"a": "person"})
    for task in TASKS:
        question.say("a", "x", task)
    assert question.state.likely[0] == pytest.approx(0, abs=1e-12)
    question.add(Kind.TRUTH, task="u", value="x")
    alphas, betas, _, _ = kinds_of_crowds(40, 2)
    due = [float(speaks((1, 0), 0, int(a), int(b))) for a, b in zip(alphas, betas, strict=True)]
    assert np.exp(question.state.likely[0]) == pytest.approx(due)


def test_a_family_has_no_record() -> None:
    question = Question(learning(40), tasks=TASKS, families={"a": "f"})
    for task in TASKS:
        for _ in range(4):
            question.say("a", "x", task)
    question.add(Kind.TRUTH, task="u", value="x")
    assert not question.state.likely.any()


# In a campaign.


def campaign_of(learn: int, **more: Any) -> Campaign:
    return Campaign.create(
        workers=[Worker("a", 1), Worker("b", 2)],
        tasks=list(TASKS),
        options=["x", "y"],
        repeat=True,
        policy="round-robin",
        stopping={"name": "posterior", "error": 0.01, "learn": learn},
        **more,
    )


def state_of(campaign: Campaign, upto: int | None = None) -> CampaignState:
    """The campaign's state as its log has it, up to an event."""
    state = CampaignState(spec_of_campaign(campaign))
    for event in campaign.log():
        if upto is None or event.seq <= upto:
            state.fold(event)
    return state


def test_the_record_is_the_same_folded_and_restored_and_has_room_for_who_joins() -> None:
    campaign = campaign_of(30)
    rng = np.random.default_rng(3)
    for turn in range(24):
        if turn == 15:
            campaign.add(workers=[Worker("c", 1)])
        if turn == 20:
            campaign.truth("u", "x")
        batch = campaign.ask()
        campaign.tell(batch[0].id, "xxxy"[rng.integers(4)])  # type: ignore[index]
    folded, late = state_of(campaign), state_of(campaign, 30)
    assert folded.rule_state.likely.shape == (3, 23)
    assert folded.rule_state.likely[2].any()
    # A snapshot before somebody joined, and the log from there on.
    restored = CampaignState.restore(late.spec, late.snapshot())
    for event in campaign.log(after=restored.seq):
        restored.fold(event)
    assert restored.rule_state.likely.tobytes() == folded.rule_state.likely.tobytes()
    for task in range(len(TASKS)):
        assert restored.guess(task) == folded.guess(task)
    closed = [event for event in campaign.log() if event.kind == Kind.CLOSED]
    # What was said when a question was closed live is what the rule says at that place of the log.
    assert closed
    for event in closed:
        before = state_of(campaign, event.seq - 1)
        verdict = before.verdict(before.ledger.task_at(event.task or ""))
        assert verdict is not None
        assert before.named(verdict.option) == event.value
        assert (verdict.outcome, verdict.confidence) == (event.outcome, event.confidence)


def test_logs_of_campaigns_that_do_not_learn_are_as_before() -> None:
    assert "learn" not in stored_spec(stopping.make("posterior"))
    assert "learn" not in campaign_of(0).spec["stopping"]
    assert campaign_of(7).spec["stopping"]["learn"] == 7
    assert state_of(campaign_of(0)).rule_state == ()


def test_learning_is_refused_beside_accuracies_and_inside_a_composite() -> None:
    for known in ({"accuracy": {"a": 0.8}}, {"kinds": [{"share": 1}]}):
        with pytest.raises(InvalidParameter, match=r"^learn is 9, and accuracy or kinds say"):
            stopping.make({**learning(9), **known})
    with pytest.raises(InvalidParameter, match="are about all workers together"):
        stopping.make({"name": "composite", "rule": "posterior(learn=9)"})


def test_judging_changes_no_record() -> None:
    question = Question(learning(30), tasks=TASKS)
    question.hear("a", "xxyx")
    before = question.state.likely.tobytes()
    question.verdict()
    question.guess()
    assert question.state.likely.tobytes() == before
    assert question.ledger.total(c.ANSWERS) == 4
