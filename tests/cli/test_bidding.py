"""``askwise bid``."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.mechanisms.cheapest import known
from tests.schemas import faults

Call = Callable[..., Any]


AUCTION = """
name = "auction"
options = ["no", "yes"]
tasks = ["t1", "t2"]
policy = {name = "cheapest", size = 1}
mechanism = {name = "clarke", c_max = "20"}
workers = [{id = "ann", price = 3}, {id = "bob", price = 5}]
"""


@pytest.fixture
def auction(workplace: Path, call: Call) -> Iterator[str]:
    """A campaign in which workers bid, of a policy that only this test knows."""
    with known():
        (workplace / "spec.toml").write_text(AUCTION)
        yield call("new", "spec.toml").stdout.strip()


# Bidding.


def test_a_bid_counts_from_the_first_ask_on(auction: str, call: Call, call_json: Call) -> None:
    assert call("bid", auction, "bob", "2.5").stdout == ""
    (asked,) = call_json("ask", auction)["assignments"]
    assert (asked["worker"], asked["price"]) == ("bob", "3")
    bid, closing, critical = call("log", auction, "--json").stdout.splitlines()[:3]
    assert json.loads(bid)["price"] == "2.5"
    assert json.loads(closing)["workers"][1] == {
        "id": "bob",
        "bid": "2.5",
        "ranked_at": "2.5",
        "price": "20",
    }
    assert json.loads(critical)["workers"] == [
        {"id": "bob", "bid": "2.5", "ranked_at": "2.5", "price": "3"}
    ]


def test_bids_and_quotes_are_as_their_schema_says(
    auction: str, call: Call, call_json: Call
) -> None:
    call("bid", auction, "bob", "2.5", "--key", "k")
    call("ask", auction)
    events = [json.loads(line) for line in call("log", auction, "--json").stdout.splitlines()]
    assert [event["kind"] for event in events[:3]] == ["BID", "QUOTED", "QUOTED"]
    for event in events:
        assert faults("event", event) == []
    assert faults("payments", call_json("payments", auction)) == []


def test_payments_say_why(auction: str, call: Call, call_json: Call) -> None:
    assert {each["why"] for each in call_json("payments", auction)} == {"the bidding is open"}
    call("ask", auction)
    assert [each["why"] for each in call_json("payments", auction)] == [
        "Clarke payment 5 an answer",
        "c_max 20 an answer",
    ]


def test_a_bid_with_a_key_is_made_once(auction: str, call: Call, call_json: Call) -> None:
    status = call_json("bid", auction, "ann", "4", "--key", "k")
    assert (status["name"], status["seq"]) == (auction, 1)
    log = call("log", auction).stdout
    call("bid", auction, "ann", "4", "--key", "k")
    assert call("log", auction).stdout == log


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("an", "1"), "worker 'an' is not in this campaign: did you mean 'ann'?"),
        (("ann", "-1"), "amount is '-1': give an amount of 0 or more"),
        (("ann", "21"), "amount is 21: a bid of worker 'ann' may be c_max, 20, at most"),
    ],
)
def test_a_bad_bid_is_refused_in_a_line(
    words: tuple[str, ...], message: str, auction: str, refusal: Call
) -> None:
    assert refusal("bid", auction, *words) == message


def test_a_late_bid_is_refused(auction: str, call: Call, refusal: Call) -> None:
    call("ask", auction)
    assert refusal("bid", auction, "ann", "1") == "bidding closed at the first ask"


def test_a_campaign_without_bidding_refuses_bids(cats: str, refusal: Call) -> None:
    assert refusal("bid", cats, "ann", "1").startswith("mechanism 'pay-price' takes no bids")


def test_a_mechanism_without_its_highest_bid_is_refused(
    auction: str, workplace: Path, refusal: Call
) -> None:
    for given in ('mechanism = "clarke"', 'mechanism = {name = "clarke"}'):
        text = AUCTION.replace('mechanism = {name = "clarke", c_max = "20"}', given)
        (workplace / "spec.toml").write_text(text)
        assert refusal("new", "spec.toml").startswith("c_max is missing")
