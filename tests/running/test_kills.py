"""Runs that are killed with calls in flight pay nothing twice and keep within the budget."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.running.killing import Killed, kill_again_and_again


@pytest.fixture
def scenes(tmp_path: Path) -> Iterator[Any]:
    made: list[Killed] = []

    def make(**fields: Any) -> Killed:
        directory = tmp_path / str(len(made))
        directory.mkdir()
        made.append(Killed(directory, **fields))
        return made[-1]

    yield make
    for each in made:
        each.end()


def test_two_kills_with_sixteen_calls_in_flight(scenes: Any) -> None:
    scene = scenes(judges=4, slots=4, tasks=20, policy="random-pairs")
    kill_again_and_again(scene, 2, seed=1, within=lambda draw: draw.randrange(4, 24))
    found = scene.check()
    assert found["kills"] == 2
    assert found["calls"] == 80
    assert found["unseen"] <= 2 * 16 + 4


def test_one_call_at_a_time_ends_with_the_labels_of_a_run_that_was_not_killed(scenes: Any) -> None:
    fields = {"judges": 1, "slots": 1, "tasks": 20, "policy": "random-pairs", "latency": 0.001}
    whole, killed = scenes(**fields), scenes(**fields)
    whole.run()
    kill_again_and_again(killed, 2, seed=2, within=lambda draw: draw.randrange(2, 8))
    assert killed.check()["kills"] == 2
    assert killed.labels() == whole.labels()


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["random-pairs", "hem"])
def test_ten_kills_with_sixteen_calls_in_flight(scenes: Any, policy: str) -> None:
    scene = scenes(judges=4, slots=4, tasks=300, policy=policy, budget="1.5")
    kill_again_and_again(scene, 10, seed=3, within=lambda draw: draw.randrange(1, 90))
    found = scene.check()
    print(policy, json.dumps(found))
    assert found["kills"] == 10
    assert found["unseen"] <= 10 * 16 + found["requests"] // 10


@pytest.mark.slow
def test_ten_kills_one_call_at_a_time_end_with_the_same_labels(scenes: Any) -> None:
    fields = {"judges": 3, "slots": 1, "tasks": 100, "policy": "hem", "latency": 0.001}
    whole, killed = scenes(**{**fields, "judges": 1}), scenes(**{**fields, "judges": 1})
    whole.run()
    kill_again_and_again(killed, 10, seed=4, within=lambda draw: draw.randrange(1, 9))
    assert killed.check()["kills"] == 10
    assert killed.labels() == whole.labels()
