"""How many tasks ended how."""

from __future__ import annotations

from askwise.campaign import views
from askwise.campaign.views import Answer


def test_outcomes_are_counted_by_confidence() -> None:
    sure = [0.0, 0.3, 0.29999, 0.9, 0.95, 1.0, None]
    answers = [Answer(f"t{at}", "yes", each, "confident", 3) for at, each in enumerate(sure)]
    answers += [Answer("u", None, None, "open", 0), Answer("v", "no", 0.5, "open", 1)]
    answers += [Answer("w", "no", 0.5, "of my own", 1)]
    found = views.outcomes(answers)
    assert [each.outcome for each in found.counts] == ["confident", "of my own", "open"]
    confident, _, still = found.counts
    assert (confident.tasks, confident.unanswered, confident.unknown) == (7, 0, 1)
    assert confident.bins == (1, 0, 1, 1, 0, 0, 0, 0, 0, 3)
    assert (still.tasks, still.unanswered, still.unknown, still.bins[5]) == (2, 1, 0, 1)
    assert found.edges[3] == 0.3
    assert found.to_json()["counts"][0]["bins"] == list(confident.bins)


def test_outcomes_tell_what_confidences_rest_on() -> None:
    words = ("agreement", "agreement", "truth", None)
    answers = [
        Answer(f"t{at}", "yes", 1.0, "open", 1, rests_on=word)  # type: ignore[arg-type]
        for at, word in enumerate(words)
    ]
    found = views.outcomes([*answers, Answer("u", "yes", 1.0, "open", 0, rests_on="calibrated")])
    assert found.counts[0].rests_on == {
        "agreement": 2,
        "calibrated": 0,
        "certified": 0,
        "truth": 1,
    }
    assert found.rests_on == ["agreement", "truth"]


def test_units_of_work_have_no_outcomes() -> None:
    assert views.outcomes([Answer(None, 0.5, None, "open", 3)]).counts == ()
