"""Whatever is sent again gets the first reply and changes nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from askwise.client import RemoteCampaign, Service
from tests.service.over_http.campaigns import CATS, create, new_name, only
from tests.service.served import Served


def at(campaign: RemoteCampaign) -> str:
    return f"/campaigns/{campaign.name}"


def out(campaign: RemoteCampaign) -> str:
    return f"/assignments/{only(campaign.ask()).id}"


def answered(campaign: RemoteCampaign) -> str:
    id = only(campaign.ask()).id
    campaign.tell(id, "yes")
    return f"/assignments/{id}"


def paused(campaign: RemoteCampaign) -> RemoteCampaign:
    campaign.pause()
    return campaign


def owing(campaign: RemoteCampaign) -> RemoteCampaign:
    campaign.bonus("ann", 2, "Thanks.", by="the requester")
    return campaign


def auction(service: Service) -> RemoteCampaign:
    return create(
        service,
        policy={"name": "ccb-fixed", "qualities": [0.9, 0.9], "rounds": 0, "solver": "exact",
                "error": "majority", "alpha": 0.2},
        mechanism={"name": "clarke", "c_max": 20},
        budget=None,
    )  # fmt: skip


Write = tuple[str, Any, Any]
"""A path, a body, and another body (or path) that is another request."""

WRITES: dict[str, Callable[[Service, RemoteCampaign], Write]] = {
    "ask": lambda s, c: (f"{at(c)}/ask", {"limit": 1}, {"limit": 2}),
    "answer": lambda s, c: (f"{out(c)}/answer", {"value": "no"}, {"value": "yes"}),
    "fail": lambda s, c: (
        f"{out(c)}/fail", {"why": "refused", "cost": "0.01"}, {"why": "refused", "cost": "0.02"}
    ),
    "revise": lambda s, c: (f"{answered(c)}/revise", {"value": "no"}, {"value": "yes"}),
    "withdraw": lambda s, c: (f"{answered(c)}/withdraw", {"why": "Gone."}, {"why": "Bad."}),
    "flag": lambda s, c: (f"{out(c)}/flag", {"why": "no picture"}, {"why": "no text"}),
    "comment": lambda s, c: (
        f"{at(c)}/comment", {"task": "t1", "text": "Odd."}, {"task": "t1", "text": "Even."}
    ),
    "decline": lambda s, c: (f"{out(c)}/decline", None, f"{out(c)}/decline"),
    "renew": lambda s, c: (f"{out(c)}/renew", None, f"{out(c)}/renew"),
    "expire": lambda s, c: (f"{out(c)}/expire", None, f"{out(c)}/expire"),
    "pause": lambda s, c: (f"{at(c)}/pause", None, f"{at(c)}/stop"),
    "resume": lambda s, c: (f"{at(paused(c))}/resume", None, f"{at(c)}/pause"),
    "stop": lambda s, c: (f"{at(c)}/stop", None, f"{at(c)}/pause"),
    "top-up": lambda s, c: (f"{at(c)}/top-up", {"amount": 1}, {"amount": "1.5"}),
    "add": lambda s, c: (f"{at(c)}/add", {"tasks": ["t8"]}, {"tasks": ["t9"]}),
    "close": lambda s, c: (f"{at(c)}/close", {"task": "t1"}, {"task": "t2"}),
    "label": lambda s, c: (
        f"{at(c)}/label", {"task": "t1", "value": "no"}, {"task": "t1", "value": "yes"}
    ),
    "truth": lambda s, c: (
        f"{at(c)}/truth", {"task": "t1", "option": "no"}, {"task": "t2", "option": "no"}
    ),
    "invite": lambda s, c: (f"{at(c)}/invite", {"worker": "zoe", "price": 1}, {"worker": "ann"}),
    "bid": lambda s, c: (
        f"{at(auction(s))}/bid", {"worker": "ann", "amount": 1}, {"worker": "ann", "amount": 2}
    ),
    "bonus": lambda s, c: (
        f"{at(c)}/bonus",
        {"worker": "ann", "amount": "1", "why": "Thanks."},
        {"worker": "ann", "amount": "2", "why": "Thanks."},
    ),
    "pay": lambda s, c: (
        f"{at(owing(c))}/pay", {"worker": "ann"}, {"worker": "ann", "amount": "1"}
    ),
    "pay-all": lambda s, c: (f"{at(owing(c))}/pay-all", {}, {"amounts": {"ann": "1"}}),
    "leave": lambda s, c: (f"{at(c)}/leave", {"worker": "ann"}, {"worker": "bob"}),
    "availability": lambda s, c: (
        f"{at(c)}/availability",
        {"worker": "ann", "available": False},
        {"worker": "ann", "available": True},
    ),
    "keys": lambda s, c: (
        "/keys", {"role": "viewer", "label": "x"}, {"role": "viewer", "label": "x", "lasts": 60}
    ),
    "campaigns": lambda s, c: ("/campaigns", CATS, {**CATS, "budget": "11"}),
}  # fmt: skip


@pytest.mark.parametrize("write", WRITES)
def test_a_write_sent_again_gets_the_first_reply_and_changes_nothing(
    service: Service, shared_service: Served, write: str
) -> None:
    campaign = create(service)
    path, body, other = WRITES[write](service, campaign)
    once = new_name()
    first = shared_service.call("POST", path, body, once=once)
    assert first[0] in (200, 201), first
    length, keys = len(campaign.log()), len(service.keys())
    for _ in range(2):
        assert shared_service.call("POST", path, body, once=once) == first
    status, raw = (
        shared_service.call("POST", other, once=once)
        if isinstance(other, str)
        else shared_service.call("POST", path, other, once=once)
    )
    assert (status, raw["error"]["code"], raw["error"]["field"]) == (409, "conflict", "key")
    assert len(campaign.log()) == length
    assert len(service.keys()) == keys


def test_keys_of_two_callers_do_not_meet(service: Service, shared_service: Served) -> None:
    campaign = create(service)
    other = service.new_key("requester", "another").secret
    path = f"/campaigns/{campaign.name}/ask"
    first = shared_service.call("POST", path, once="mine")
    second = shared_service.call("POST", path, once="mine", key=other)
    assert first[0] == second[0] == 200
    assert first != second


def test_a_creation_sent_again_makes_one_campaign(service: Service, shared_service: Served) -> None:
    before = service.names()
    once = new_name()
    replies = [shared_service.call("POST", "/campaigns", CATS, once=once) for _ in range(3)]
    assert replies[0][0] == 201
    assert replies[0] == replies[1] == replies[2]
    assert len(service.names()) == len(before) + 1
    # One that was refused may be mended and sent with the same key.
    once = new_name()
    wrong = {**CATS, "budget": "0.01"}
    assert shared_service.call("POST", "/campaigns", wrong, once=once)[0] == 422
    assert shared_service.call("POST", "/campaigns", CATS, once=once)[0] == 201


def test_an_absence_that_is_sent_again_does_not_undo_a_later_one(
    service: Service, shared_service: Served
) -> None:
    campaign = create(service)
    path = f"/campaigns/{campaign.name}/availability"
    away, back = ({"worker": "ann", "available": each} for each in (False, True))
    assert shared_service.call("POST", path, away, once="away")[0] == 200
    assert shared_service.call("POST", path, back, once="back")[0] == 200
    assert shared_service.call("POST", path, away, once="away")[0] == 200
    workers = {only(campaign.ask()).worker for _ in range(4)}
    assert workers == {"ann", "bob"}
