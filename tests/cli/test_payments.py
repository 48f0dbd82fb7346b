"""Paying workers from the shell."""

from __future__ import annotations

import getpass
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from askwise import Campaign

Call = Callable[..., Any]

SHOP = """
name = "shop"
budget = "10"
policy = "random-pairs"
tasks = ["a", "b"]
workers = [{id = "ann", price = "1"}, {id = "=bob", price = "0.5"}]

[content]
question = "Is it?"
options = ["yes", "no"]
currency = "EUR"
"""


@pytest.fixture
def shop(workplace: Path, call: Call) -> Campaign:
    """Ann is owed 2, and a worker whose name is a formula 1."""
    (workplace / "shop.toml").write_text(SHOP)
    call("new", "shop.toml")
    campaign = Campaign.open("sqlite:///askwise.sqlite", "shop")
    while batch := campaign.ask():
        for each in batch:
            campaign.tell(each.id, "yes")
    return campaign


def test_a_worker_is_paid_and_the_columns_follow(shop: Campaign, call: Call) -> None:
    assert "\t2\t0\tprice per answer" in call("payments", "shop").stdout.splitlines()[0]
    words = ("--amount", "1.5", "--reference", "SEPA 4711", "--on", "2024-06-03", "--by", "eve")
    call("pay", "shop", "ann", *words, "--key", "k")
    call("pay", "shop", "ann", *words, "--key", "k")
    assert call("payouts", "shop").stdout == "2024-06-03\tann\t1.5\tEUR\tSEPA 4711\teve\n"
    assert call("payments", "shop").stdout.splitlines() == [
        "ann\t2\t2\t0\t1.5\t0.5\t0\tprice per answer",
        "=bob\t2\t1\t0\t0\t1\t0\tprice per answer",
    ]
    call("pay", "shop", "ann")
    assert shop.payouts()[-1].by == getpass.getuser()
    assert [str(each.owed) for each in shop.payments()] == ["0", "1"]


def test_what_a_file_says_is_paid_even_if_more_was_earned_since(shop: Campaign, call: Call) -> None:
    said = call("payouts", "shop", "--out", "due.csv").stdout
    assert said == "2 to be paid: see due.csv\n"
    shop.bonus("ann", 1, "Thanks.", by="eve")
    call("pay", "shop", "--file", "due.csv")
    assert [(each.worker, str(each.amount)) for each in shop.payouts()] == [
        ("ann", "2"),
        ("=bob", "1"),
    ]
    assert call("payouts", "shop", "--due").stdout.startswith("ann\t1\tEUR\t0\t")


def test_everybody_is_paid(shop: Campaign, call: Call, refusal: Call) -> None:
    call("bonus", "shop", "ann", "0.5", "For the hard ones.", "--by", "eve")
    assert shop.bonuses()[0].why == "For the hard ones."
    call("pay", "shop", "--all")
    assert not shop.due()
    assert "nobody is owed anything" in refusal("pay", "shop", "--all")


def test_what_can_not_be_is_refused_in_a_line(
    shop: Campaign, workplace: Path, refusal: Call
) -> None:
    (workplace / "twice.csv").write_text("worker,owed\nann,1\nann,1\n")
    (workplace / "other.csv").write_text("worker,sum\nann,1\n")
    for words, said in (
        (("pay", "shop"), "name a worker, or give --all, or --file"),
        (("pay", "shop", "ann", "--all"), "name a worker, or give --all, or --file"),
        (("pay", "shop", "--all", "--amount", "1"), "amount is for one worker"),
        (("pay", "shop", "ann", "--amount", "3"), "worker 'ann' is owed 2"),
        (("pay", "shop", "eve"), "worker 'eve' is not in this campaign"),
        (("pay", "shop", "ann", "--on", "June"), "on is 'June'"),
        (("pay", "shop", "--file", "twice.csv"), "line 3: worker 'ann' appears twice"),
        (("pay", "shop", "--file", "other.csv"), "owed"),
        (("bonus", "shop", "ann", "8", "Thanks."), "the budget has 7 left"),
        (("bonus", "shop", "ann", "-1", "Thanks."), "amount is '-1'"),
        (("bonus", "shop", "ann", "1", ""), "why is empty"),
    ):
        assert said in refusal(*words)
    assert shop.payouts() == shop.bonuses() == []
