"""The rules that stand in for models, and the people: what they say, fail at and charge."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from askwise.demo import stand_ins
from askwise.demo.messages import OPTIONS, Message, make_messages
from askwise.demo.people import EXPERT, PEOPLE, SimulatedPerson
from askwise.demo.stand_ins import STAND_INS, StandIn, judges_file, serving
from askwise.sources.judges import read_judges

SARCASM = "love how the kettle leaks from the base. really adds some excitement to the flat."
SUPPOSED = "i have not bought it yet. what happens if the radio arrives damaged?"
IN_DISGUISE = "is it normal that a new radio hums all the time?"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        # reed-small, oak-small, reed-large, oak-large
        (SARCASM, ["praise", "praise", "praise", "complaint"]),
        (SUPPOSED, ["question", "question", "question", "question"]),
        (IN_DISGUISE, ["question", "question", "complaint", "complaint"]),
        ("no complaints whatsoever. it is easy to clean.", None),
    ],
)
def test_rules_go_wrong_where_hasty_readers_do(text: str, said: list[str] | None) -> None:
    found = [each.rule(text) for each in STAND_INS]
    if said is None:
        assert found[2] == "praise"  # a denial is one to reed-large alone
    else:
        assert found == said


def errors(rule: str, messages: list[Message]) -> np.ndarray:
    judge = next(each for each in STAND_INS if each.id == rule)
    return np.array([judge.rule(each.text.lower()) != each.truth for each in messages], float)


def test_the_dearer_judge_of_a_family_is_better_and_they_err_together() -> None:
    messages = make_messages(600, seed=5)
    found = {each.id: errors(each.id, messages) for each in STAND_INS}
    for family in ("reed", "oak"):
        small, large = found[f"{family}-small"], found[f"{family}-large"]
        assert small.mean() - large.mean() > 0.05
        assert np.corrcoef(small, large)[0, 1] > 0.2
    within = np.corrcoef(found["reed-small"], found["reed-large"])[0, 1]
    across = np.corrcoef(found["reed-large"], found["oak-large"])[0, 1]
    assert within > across + 0.2


def test_a_small_share_of_replies_are_refusals_nonsense_and_slips_the_same_each_time() -> None:
    judge = StandIn("j", "f", lambda text: "praise", {"input": "1", "output": "1"}, 0.2, 0.1)
    replies = [judge.verdict(f"text {number}") for number in range(2000)]
    assert replies == [judge.verdict(f"text {number}") for number in range(2000)]
    refused = sum(reply.refusal is not None for reply in replies) / 2000
    unreadable = sum(reply.plain for reply in replies) / 2000
    slipped = sum(reply.says in ("complaint", "question") for reply in replies) / 2000
    # Four standard errors of a share of .1 and .2 in 2000 are .027 and .036.
    assert refused == pytest.approx(0.1, abs=0.027)
    assert unreadable == pytest.approx(0.1, abs=0.027)
    assert slipped == pytest.approx(0.2, abs=0.036)


def test_their_file_names_judges_that_can_be_read(tmp_path: Path) -> None:
    with serving() as servers:
        path = tmp_path / "judges.toml"
        path.write_text(judges_file(servers))
        judges = read_judges(path)
    assert [judge.id for judge in judges] == [each.id for each in STAND_INS]
    assert [judge.family for judge in judges] == ["reed", "oak", "reed", "oak"]


def test_people_err_on_what_misleads_and_the_expert_never_does() -> None:
    messages = make_messages(400)
    assert all(EXPERT.says(message) == message.truth for message in messages)
    for person in PEOPLE:
        said = [person.says(message) for message in messages]
        assert said == [person.says(message) for message in messages]
        assert set(said) == set(OPTIONS)
    always = SimulatedPerson("eve", "0.01", 0.0, 1.0)
    for message in messages:
        assert always.says(message) == (message.mistaken_for if message.hard else message.truth)


def test_a_name_at_the_end_is_no_sentence() -> None:
    assert stand_ins.last_sentence("does it fit? thanks, ben").endswith("?")
    assert stand_ins.last_sentence("where is it? it was due.").endswith(".")
