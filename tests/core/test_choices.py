"""What an ask comes to: a batch is a sequence, ``Wait`` and ``Done`` are empty ones."""

from __future__ import annotations

import typing
from collections.abc import Sequence
from decimal import Decimal

import pytest

from askwise.campaign import Campaign
from askwise.core.choices import Assignment, Batch, Done, DoneWhy, Wait, WaitFor, read_choice
from askwise.core.problem import Worker

EMPTY: list[Wait | Done] = [
    *(Wait(what) for what in typing.get_args(WaitFor)),
    *(Done(why) for why in typing.get_args(DoneWhy)),
]

ONE = Assignment("shop:2", None, "ann", Decimal(1), 0.5, None)


def test_a_loop_over_what_ask_returns_ends_when_there_is_nobody_to_ask() -> None:
    campaign = Campaign.create(
        workers=[Worker("ann", 1)], outcome="utility", budget=3, policy="uniform"
    )
    told = 0
    while batch := campaign.ask(5):
        for each in batch:
            campaign.tell(each.id, 0.5)
            told += 1
    assert told == 3
    assert batch == Done("budget")
    assert [each.id for each in campaign.ask(5)] == []
    campaign.top_up(1)
    campaign.pause()
    assert list(campaign.ask(5)) == []
    assert campaign.ask(5) == Wait("resume")


@pytest.mark.parametrize("choice", EMPTY, ids=repr)
def test_wait_and_done_are_empty_sequences(choice: Wait | Done) -> None:
    assert isinstance(choice, Sequence)
    assert not choice
    assert len(choice) == 0
    assert list(choice) == list(reversed(choice)) == []
    assert ONE not in choice
    assert choice[:] == choice[1:] == ()
    for index in (0, -1):
        with pytest.raises(IndexError, match="holds no assignments"):
            choice[index]


@pytest.mark.parametrize("choice", EMPTY, ids=repr)
def test_wait_and_done_are_told_apart_by_type_equality_and_json(choice: Wait | Done) -> None:
    assert [other for other in EMPTY if other == choice] == [choice]
    assert choice not in ((), [])
    assert len({hash(other) for other in (choice, read_choice(choice.to_json()))}) == 1
    assert read_choice(choice.to_json()) == choice
    assert type(read_choice(choice.to_json())) is type(choice)


def test_a_batch_is_true_and_never_empty() -> None:
    batch = Batch((ONE,))
    assert batch
    assert (len(batch), list(batch), batch[0], batch[1:]) == (1, [ONE], ONE, ())
    assert read_choice(batch.to_json()) == batch
    with pytest.raises(ValueError, match="at least one assignment"):
        Batch(())
