"""A run puts the pilot's questions first, and no judge who is away holds it up."""

from __future__ import annotations

from askwise.core.events import Kind
from askwise.running import run
from askwise.sources import Outage, Question, Response
from askwise.sources.function import Function
from tests.running.test_runner import CONTENT, created, even, judges


class Down(Function):
    """A judge whose endpoint is gone after some answers."""

    left = 2

    def outage(self) -> Outage | None:
        return None if self.left > 0 else Outage("gone", float("inf"))

    async def answer(self, question: Question) -> Response:
        self.left -= 1
        return await super().answer(question) if self.left >= 0 else Response(failure="unavailable")


def test_a_run_asks_the_pilot_before_anything_else() -> None:
    campaign = created(pilot=6)
    run(campaign, judges(slots=3), content=CONTENT)
    decided = [event for event in campaign.log() if event.kind == Kind.DECIDED]
    asked = [len(event.rows or ()) for event in decided if event.note == "pilot"]
    assert sum(asked) == 12
    assert {event.note for event in decided[: len(asked)]} == {"pilot"}
    # All answers of the pilot are in before the policy's first decision.
    answers = [event.seq for event in campaign.log() if event.kind == Kind.ANSWER]
    assert answers[11] < decided[len(asked)].seq
    assert campaign.pilot().phase == "done"


def test_a_judge_who_is_gone_leaves_their_questions_open_and_the_others_go_on() -> None:
    campaign = created(pilot=6)
    run(
        campaign,
        {"a": Function(even, price="0.01"), "b": Down(even, price="0.02")},
        content=CONTENT,
    )
    report = campaign.pilot()
    done = {each.id: (each.answers, each.waiting) for each in report.workers}
    assert done == {"a": (6, 0), "b": (2, 4)}
    assert (report.phase, report.policy_decides) == ("asking", True)
    assert sum(event.worker == "a" for event in campaign.log() if event.kind == Kind.ANSWER) == 12
    # Back again, they are asked what is left of the pilot first.
    run(campaign, judges(), content=CONTENT)
    assert campaign.pilot().phase == "done"
