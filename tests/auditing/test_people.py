"""How far people agree with one another."""

from __future__ import annotations

import pytest

from askwise.auditing.people import people_card
from tests.auditing.tables import ballots


def test_the_ceiling_by_hand() -> None:
    found = people_card(ballots({"f": "yyyyn"}, {"ann": "yyyy-", "bob": "yyn--", "cleo": "yn---"}))
    # t1: all agree, 1. t2: ann and bob face a tie, half each, cleo is alone: (1/2 + 1/2 + 0) / 3.
    # t3: two people who differ: 0. t4 has one person, t5 none.
    assert found.ceiling is not None
    assert found.ceiling.value == pytest.approx((1 + 1 / 3 + 0) / 3)
    # Whatever a judge says of t3 is half right at most.
    assert found.attainable == pytest.approx(3.5 / 4)
    assert (found.people, found.answers, found.tasks, found.tied, found.alone) == (3, 9, 4, 1, 1)


def test_one_person_a_task_has_no_ceiling() -> None:
    assert people_card(ballots({"f": "yn"}, {"ann": "y-", "bob": "-n"})).ceiling is None
