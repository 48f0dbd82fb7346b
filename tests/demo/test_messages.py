"""The messages of the demonstration: the same each time, complete, and of the right kind."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from askwise.demo.messages import CONTENT, OPTIONS, make_messages
from askwise.demo.messages.texts import MANNERS

# Read by a person, each by the instructions alone: the beginning of a message, and what it is.
READ = (
    (r"I was charged twice for the \w+", "complaint"),
    (r"Great, a .* Just what I needed\.", "complaint"),
    (r"I hate to bother such a friendly shop\.", "complaint"),
    (r"Is it normal that a new ", "complaint"),
    (r"Where is my .* It was due on", "complaint"),
    (r"The .*, but it .* I would like to send it back\.", "complaint"),
    (r"Until when can I change the address", "question"),
    (r"If the .* ever breaks, who pays for the repair\? Mine is fine", "question"),
    (r"A review says that the .* Is that true of the present model\?", "question"),
    (r"I love the look of the .*! Does it ", "question"),
    (r"Please tell me whether the .* can be collected", "question"),
    (r"Just to say that the .* is excellent\.", "praise"),
    (r"I was afraid that the .* would be .*\. It is not at all\.", "praise"),
    (r"My first .* was broken\. You replaced it within two days", "praise"),
    (r"My only complaint about the .*: I did not buy two\.", "praise"),
)


def test_messages_are_the_same_for_the_same_seed_and_no_two_are_alike() -> None:
    made = make_messages(400)
    assert made == make_messages(400)
    assert made != make_messages(400, seed=2)
    assert len({message.text for message in made}) == len({each.id for each in made}) == 400


def test_all_kinds_and_manners_occur_and_hard_ones_are_a_third_to_a_half() -> None:
    made = make_messages(400)
    kinds = Counter(message.truth for message in made)
    assert set(kinds) == set(OPTIONS) == set(CONTENT.names())
    assert min(kinds.values()) > 90
    assert {message.manner for message in made} == set(MANNERS)
    assert 1 / 3 < sum(message.hard for message in made) / 400 < 1 / 2


def test_nothing_is_left_unfilled_and_sentences_begin_with_capitals() -> None:
    for message in make_messages(1000, seed=3):
        assert not re.search(r"[{}]|  ", message.text)
        assert not re.search(r"[.!?] [a-z]", message.text), message.text


@pytest.mark.parametrize(("pattern", "truth"), READ)
def test_the_truth_is_what_a_reader_says(pattern: str, truth: str) -> None:
    found = [each for each in make_messages(1500) if re.search(pattern, each.text)]
    assert found
    assert {message.truth for message in found} == {truth}


def test_what_a_message_is_mistaken_for_is_never_its_truth() -> None:
    for manner in MANNERS.values():
        assert {manner.truth, manner.mistaken_for} < set(OPTIONS)
        assert manner.truth != manner.mistaken_for
