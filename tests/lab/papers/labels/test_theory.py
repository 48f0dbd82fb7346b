"""The bound of paper 002."""

from __future__ import annotations

import math

import pytest

from askwise.core.errors import InvalidParameter
from askwise.lab.papers.labels.theory import bbta_regret


def test_the_bound_of_theorem_1():
    # 2 sqrt((T - SKN') S K ln K) + S N'^2/4 sqrt(ln K / K) + S N'.
    found = bbta_regret(1000, contexts=3, workers=30, explore=1)
    due = 2 * math.sqrt((1000 - 90) * 3 * 30 * math.log(30)) + 0.75 * math.sqrt(math.log(30) / 30)
    assert found == pytest.approx(due + 3)
    with pytest.raises(InvalidParameter, match="answers"):
        bbta_regret(89, contexts=3, workers=30, explore=1)
