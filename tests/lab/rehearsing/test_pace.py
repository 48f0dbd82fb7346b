"""What is told of a search while it goes on."""

from __future__ import annotations

import re

from askwise.lab.rehearsing.pace import ALL, SearchPace
from askwise.lab.rehearsing.planner import plan_campaign
from tests.lab.rehearsing.test_campaign_planner import worlds


class Clock:
    """Seconds that pass when they are told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_the_rest_takes_as_long_as_campaigns_took_apart_from_the_one_that_compiled() -> None:
    clock, said = Clock(), list[str]()
    pace = SearchPace(doing=said.append, last=[10], clock=clock)
    pace.expect([4, 6])
    pace.begin("trying budget 8")
    for done, seconds in enumerate((100, 2, 2, 2, 2)):
        pace.campaign("", done, 4)
        clock.now += seconds
    assert said[0] == (
        "step 1 of at most 3: trying budget 8, campaign 1 of 4; "
        "the first campaigns show how long it takes"
    )
    # One left here, six and ten to come, each 2 seconds.
    assert said[3].endswith("campaign 4 of 4; at most about 34 s left")
    pace.skip(1)
    pace.begin("trying budget 4")
    pace.campaign("", 0, 10)
    assert said[-1].startswith("step 2 of at most 2: trying budget 4, campaign 1 of 10; at most ")
    pace.begin("trying budget 6", expected=False)
    pace.campaign("", 0, 10)
    assert "step 3 of at most 3: trying budget 6" in said[-1]


def test_a_long_search_says_what_would_take_less() -> None:
    clock, said = Clock(), list[str]()
    pace = SearchPace(doing=said.append, clock=clock)
    pace.expect([40, 100])
    pace.begin("trying budget 363")
    for done in range(4):
        pace.campaign("", done, 40)
        clock.now += 3
    assert said[-1].endswith("at most about 7 minutes left (fewer --runs take less)")


def test_steps_are_numbered_to_the_last_which_is_within_what_was_said() -> None:
    said, bars = list[str](), dict[str, list[tuple[int, int]]]()
    plan_campaign(
        worlds((0.9, 0.95), (0.9, 0.95), tasks=8),
        target_error=0.15,
        budget=3,
        runs=10,
        progress=lambda what, done, total: bars.setdefault(what, []).append((done, total)),
        doing=said.append,
    )
    steps = [re.match(r"step (\d+) of at most (\d+): trying ", each) for each in said]
    pairs = [(int(each[1]), int(each[2])) for each in steps if each]
    numbers = sorted({number for number, _ in pairs})
    assert numbers == list(range(1, len(numbers) + 1))
    assert all(number <= most for number, most in pairs)
    assert pairs[-1][0] == pairs[-1][1] == numbers[-1]
    # The bar of the whole search never goes back, and ends full.
    done = [at for at, _ in bars[ALL]]
    assert done == sorted(done)
    assert bars[ALL][-1][0] == bars[ALL][-1][1]
