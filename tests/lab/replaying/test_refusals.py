"""What a replay refuses, each by its field."""

from __future__ import annotations

from typing import Any

import pytest

from askwise import Worker
from askwise.core.errors import AskwiseError
from tests.lab.replaying.recordings import PRICES, Make, run

BAD: dict[str, tuple[dict[str, Any], str, str]] = {
    "no price": ({"prices": PRICES[:2]}, "worker 'eve' of .* has none; add a line", "prices"),
    "too little money": (
        {"prices": [Worker(name, 3) for name in ("ann", "bob", "eve")], "budget": "2.5"},
        "budget is 2.5: it buys nothing, the cheapest worker costs 3",
        "budget",
    ),
    "no money": ({"budget": 0}, "budget is 0: give an amount above 0", "budget"),
    "bad money": ({"budget": "some"}, "budget is 'some'", "budget"),
    "a worker without a line": (
        {"workers": PRICES[:2]},
        "workers: worker 'eve' of .* is not among them; add a line",
        "workers",
    ),
    "prices twice": (
        {"workers": PRICES, "prices": PRICES},
        "workers and prices both say what an answer costs: give one of them",
        "workers",
    ),
    "more truths than half": (
        {"truths": 2},
        "truths is 2: 3 tasks have gold, and at least half of them are needed to measure by; "
        "give 1 at most",
        "truths",
    ),
    "negative truths": ({"truths": -1}, "truths is -1", "truths"),
    "an unknown rule": ({"stop": "led"}, "stopping 'led' is not known", "stopping"),
    "a bad rule": ({"stop": "lead(margin=2)"}, "'lead' has no parameter 'margin'", "margin"),
    "a rule that costs too much": (
        {"stop": "lead(cap=1)", "prices": PRICES},
        "cap is 1: an answer of worker 'w1' costs 2",
        "cap",
    ),
    "no rule": ({"against": ["b-kube"]}, "stop is missing: policy 'b-kube' stays", "stop"),
    "no run": ({"runs": 0}, "runs is 0", "runs"),
    "no window": ({"window": 0}, "window is 0", "window"),
    "a seed": ({"seed": -1}, "seed is -1: give a whole number from 0", "seed"),
    "a rival twice": ({"against": ["hem"]}, "against names 'hem' twice", "against"),
    "an unknown policy": ({"policy": "hum"}, "policy 'hum' is not known", "policy"),
    "gold of other tasks": ({"gold": {"t77": "yes"}}, "no task in common with .*'t0'", "gold"),
    "no gold": ({"gold": {}}, "gold has no task in common", "gold"),
    "a policy for two options": (
        {"against": ["optkg"], "gold": {"t0": "maybe"}},
        "options has 3 names: policy 'optkg' works on two",
        "options",
    ),
}


@pytest.mark.parametrize("fault", BAD)
def test_what_is_wrong_is_named(fault: str, make: Make) -> None:
    changes, said, field = BAD[fault]
    with pytest.raises(AskwiseError, match=said) as caught:
        run(make(), **changes)
    assert caught.value.field == field


def test_one_label_is_nothing_to_choose_from(make: Make) -> None:
    with pytest.raises(AskwiseError, match="one label, 'yes': nothing to choose from"):
        run(make("t0 ann yes, t0 bob yes"), {"t0": "yes"})
