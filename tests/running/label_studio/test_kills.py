"""The exchange with Label Studio is killed anywhere: no answer is lost or paid twice."""

from __future__ import annotations

import contextlib
from collections import Counter

from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.running.label_studio.scene import WORKERS, Scene


class Killed(BaseException):
    """It was killed here."""


class Fuse:
    """Kills after so many steps."""

    def __init__(self, steps: int) -> None:
        self.left = steps

    def __call__(self, *_: object) -> None:
        self.left -= 1
        if self.left == 0:
            raise Killed


@settings(max_examples=12, deadline=None)
@given(st.lists(st.integers(1, 60), min_size=4, max_size=4))
@example([3, 9, 20, 40])
def test_killed_anywhere_no_answer_is_lost_or_paid_twice(kills: list[int]) -> None:
    scene = Scene(tasks=3, slots=1)
    given: Counter[tuple[str, str]] = Counter()
    for steps in [*kills, 0, 0, 0, 0]:
        fuse = Fuse(steps)
        scene.server.guard = fuse
        with contextlib.suppress(Killed):
            scene.restart(hold=fuse).whole()
        scene.server.guard = lambda what: None
        for who in WORKERS.values() if scene.server.projects else ():
            task = scene.next(who)
            if task is not None:
                scene.annotate(who, task, "yes")
                given[task, who] += 1
    scene.restart().whole()
    assert Counter((task, who) for task, who, _ in scene.answers()) == given
    assert set(given.values()) == {1}
    assert scene.overlaps() == {"t0": 2, "t1": 2, "t2": 2}
    assert str(scene.campaign.status().spent) == "0.3"
    assert scene.campaign.over() is not None
    assert len(scene.server.projects) == 1
