"""Labels, and what their confidences rest on."""

from __future__ import annotations

import pytest

from askwise.core.labels import NO_LABEL, Label, as_label, reported, told


def test_a_pair_with_a_confidence_rests_on_agreement() -> None:
    assert as_label((1.0, 0.75)) == Label(1.0, 0.75, "agreement")


def test_a_label_that_does_not_say_what_it_rests_on_rests_on_agreement() -> None:
    assert as_label(Label(1.0, 0.75)) == Label(1.0, 0.75, "agreement")


@pytest.mark.parametrize("said", [(None, None), (0.5, None), NO_LABEL])
def test_without_a_confidence_nothing_is_rested_on(said: tuple[float | None, None]) -> None:
    assert as_label(said).rests_on is None


def test_what_a_label_says_of_itself_stays() -> None:
    label = Label(0.0, 0.9, "calibrated")
    assert as_label(label) == label


def test_a_told_truth_is_the_label_whatever_was_said() -> None:
    found = reported([(1.0, 0.9), Label(1.0, 0.9, "calibrated"), (None, None)], [-1, 0, 2])
    assert found == [Label(1.0, 0.9, "agreement"), told(0), Label(2.0, 1.0, "truth")]
