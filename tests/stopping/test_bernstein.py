"""The empirical Bernstein rule: by the formula, and its error by a walk over all answers."""

from __future__ import annotations

import math

import pytest

from askwise.core.errors import InvalidParameter
from askwise.stopping import stopping
from tests.stopping.question import Question


def stops(lead: int, votes: int, answers: int, options: int, delta: float) -> bool:
    """The bound as the docstring has it; ``votes`` are those of the first two options."""
    mean = lead / answers
    variance = (votes - answers * mean**2) / (answers - 1)
    log = math.log(2 * (options - 1) * answers * (answers - 1) / delta)
    return mean > math.sqrt(2 * variance * log / answers) + 14 * log / (3 * (answers - 1))


@pytest.mark.parametrize("delta", [0.5, 0.05])
def test_unanimous_answers_stop_when_the_bound_says(delta: float) -> None:
    verdicts = Question({"name": "bernstein", "delta": delta}).hear("a", "y" * 70)
    first = 1 + next(at for at, verdict in enumerate(verdicts) if verdict is not None)
    assert first == next(n for n in range(2, 71) if stops(n, n, n, 2, delta))


def test_answers_for_other_options_lower_the_variance() -> None:
    word = "yyyz" * 100
    verdicts = Question({"name": "bernstein", "delta": 0.5}, options="wxyz").hear("a", word)
    found = [verdict is not None for verdict in verdicts]
    expected = [False]
    for n in range(2, len(word) + 1):
        counts = sorted((word[:n].count(letter) for letter in "wxyz"), reverse=True)
        lead, votes = counts[0] - counts[1], counts[0] + counts[1]
        expected.append(stops(lead, votes, n, 4, 0.5))
    assert found == expected
    assert any(found)


def test_its_error_is_below_delta_on_a_nearly_balanced_question() -> None:
    # Exactly, over 400 answers: the mass of each lead, what stops taken out.
    delta, p = 0.5, 0.51
    mass, error = {0: 1.0}, 0.0
    for n in range(1, 401):
        ahead: dict[int, float] = {}
        for lead, chance in mass.items():
            for step, share in ((1, p), (-1, 1 - p)):
                ahead[lead + step] = ahead.get(lead + step, 0.0) + chance * share
        ended = {lead for lead in ahead if n > 1 and lead and stops(abs(lead), n, n, 2, delta)}
        error += sum(ahead[lead] for lead in ended if lead < 0)
        mass = {lead: chance for lead, chance in ahead.items() if lead not in ended}
    assert error < delta


def test_delta_is_checked() -> None:
    with pytest.raises(InvalidParameter, match="delta is 1: give a number between 0 and 1"):
        stopping.make({"name": "bernstein", "delta": 1})
