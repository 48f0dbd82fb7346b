"""The whole life of campaigns over HTTP: a real service, on SQLite and on PostgreSQL."""

from __future__ import annotations

import http.client
import itertools
import json
import subprocess
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

import pytest

from askwise import Batch, Done, Wait, Worker
from askwise.client import RemoteCampaign, Service, connect
from askwise.core.errors import Conflict, InvalidAnswer
from askwise.core.events import Kind
from tests.cli.helpers import askwise, environment
from tests.service.audit import audit, everything
from tests.service.served import Served

NUMBERS = itertools.count(1)

CATS: dict[str, Any] = {
    "workers": [{"id": "ann", "price": "0.1"}, {"id": "bob", "price": "0.2", "limit": 5}],
    "tasks": ["t1", {"id": "t2", "payload": {"text": "A cat?"}}],
    "options": ["yes", "no"],
    "budget": "10",
    "policy": "random-pairs",
    "seed": 4,
}


def new_name() -> str:
    """Tests of one service leave each other alone."""
    return f"life-{next(NUMBERS)}"


@pytest.fixture
def service(shared_service: Served) -> Iterator[Service]:
    with connect(shared_service.address, shared_service.key) as connected:
        yield connected


def create(service: Service, **changes: Any) -> RemoteCampaign:
    return service.create(**{**CATS, "name": new_name(), **changes})


def kinds(campaign: RemoteCampaign) -> list[str]:
    return [event.kind.name for event in campaign.log()]


def only(choice: Any) -> Any:
    """The one assignment of a batch."""
    assert isinstance(choice, Batch)
    [assignment] = choice
    return assignment


# From the first question to the last payment.


def test_a_campaign_from_its_creation_to_its_end(service: Service, shared_service: Served) -> None:
    campaign = create(service, budget="0.5", tasks=["t1", "t2"])
    assert campaign.name in service.names()
    first = only(campaign.ask(workers=["bob"]))
    assert (first.worker, first.price) == ("bob", Decimal("0.2"))
    assert campaign.assignment(first.id).state == "out"
    status = campaign.status()
    assert (status.spent, status.reserved, status.left) == (0, Decimal("0.2"), Decimal("0.3"))
    campaign.tell(first.id, "yes")
    assert campaign.assignment(first.id).value == "yes"
    declined = only(campaign.ask(workers=["ann"]))
    campaign.decline(declined.id)
    released = only(campaign.ask(workers=["ann"]))
    assert released.task != declined.task  # the pair is not offered again
    campaign.expire(released.id)
    campaign.pause()
    assert campaign.ask() == Wait("resume")
    campaign.resume()
    again = only(campaign.ask(workers=["ann"]))
    assert again.task == released.task
    campaign.tell(again.id, "no")
    last = only(campaign.ask(workers=["bob"]))
    campaign.tell(last.id, "no")
    assert campaign.ask() == campaign.over() == Done("tasks")
    campaign.add(tasks=["t3"], workers=[Worker("eve", "0.3")])
    assert campaign.ask() == Done("budget")
    campaign.top_up("0.3")
    more = only(campaign.ask(workers=["eve"]))
    campaign.truth("t1", "yes")
    campaign.close("t2")
    campaign.leave("bob")
    campaign.stop()
    assert campaign.ask() == Done("stopped")
    campaign.tell(more.id, "yes")  # what is out may still be answered
    with pytest.raises(Conflict, match="stopped"):
        campaign.top_up(1)
    assert {each.worker: each.paid for each in campaign.payments()} == {
        "ann": Decimal("0.1"),
        "bob": Decimal("0.4"),
        "eve": Decimal("0.3"),
    }
    status = campaign.status()
    assert (status.state, status.spent, status.left) == ("stopped", Decimal("0.8"), 0)
    assert {each.task: each.outcome for each in campaign.answers()}["t2"] == "closed"
    assert kinds(campaign) == [
        *("DECIDED", "ASKED", "ANSWER", "DECIDED", "ASKED", "DECLINED", "DECIDED", "ASKED"),
        *("EXPIRED", "PAUSED", "RESUMED", "DECIDED", "ASKED", "ANSWER", "DECIDED", "ASKED"),
        *("ANSWER", "JOINED", "ADDED", "TOPPED_UP", "DECIDED", "ASKED", "TRUTH", "CLOSED"),
        *("LEFT", "STOPPED", "ANSWER"),
    ]
    audit(shared_service, campaign.name)


def test_toml_is_taken_as_json_is(shared_service: Served) -> None:
    name = new_name()
    text = f"""
        name = "{name}"
        options = ["yes", "no"]
        budget = "2.5"
        policy = {{ name = "random-pairs" }}
        stopping = {{ name = "lead", lead = 2 }}
        tasks = ["t1"]
        seed = 7
        [[workers]]
        id = "ann"
        price = 0.5
    """
    status, made = shared_service.call(
        "POST", "/campaigns", text, headers={"Content-Type": "application/toml"}
    )
    assert status == 201, made
    assert (made["budget"], made["workers"], made["tasks"]) == ("2.5", 1, 1)
    spec = shared_service.call("GET", f"/campaigns/{name}/spec")[1]
    assert (spec["stopping"]["lead"], spec["seed"]) == (2, 7)


def test_the_same_seed_and_answers_give_the_same_log_twice(service: Service) -> None:
    def run(campaign: RemoteCampaign) -> list[Any]:
        while isinstance(batch := campaign.ask(2), Batch):
            for each in batch:
                campaign.tell(each.id, "yes" if each.worker == "ann" else "no")
        return [(e.kind, e.task, e.worker, e.value, e.price, e.rows) for e in campaign.log()]

    assert run(create(service)) == run(create(service))


def test_a_lease_that_is_over_frees_the_money_and_a_late_answer_is_taken_if_it_can_be(
    service: Service, shared_service: Served
) -> None:
    worker = [{"id": "ann", "price": 1}]
    campaign = create(service, workers=worker, tasks=["t1"], budget=1, lease=3600)
    early = only(campaign.ask())
    assert early.expires is not None
    assert campaign.ask() == Wait("answers")
    shared_service.pass_by(3601)
    second = only(campaign.ask())
    with pytest.raises(InvalidAnswer, match="the pair has been asked again"):
        campaign.tell(early.id, "yes")
    shared_service.pass_by(3601)
    campaign.tell(second.id, "yes")  # late, and nobody has taken its place
    assert campaign.status().spent == 1
    assert kinds(campaign) == [
        *("DECIDED", "ASKED", "EXPIRED", "DECIDED", "ASKED", "EXPIRED", "ANSWER"),
    ]
    audit(shared_service, campaign.name)


def test_workers_bid_and_are_paid_by_the_mechanism(
    service: Service, shared_service: Served
) -> None:
    campaign = create(
        service,
        workers=[{"id": name, "price": 5} for name in ("ann", "bob", "cleo")],
        tasks=["t1", "t2", "t3"],
        budget=None,
        policy={
            "name": "ccb-fixed", "qualities": [0.9, 0.9, 0.9], "rounds": 0, "alpha": 0.2,
            "error": "majority", "solver": "exact",
        },
        mechanism={"name": "clarke", "c_max": 20},
    )  # fmt: skip
    token = campaign.invite("cleo")
    with connect(shared_service.address, token.secret) as worker:
        worker.open(campaign.name).bid("cleo", "2")
    campaign.bid("ann", 9)
    campaign.bid("ann", 3)
    batch = campaign.ask(9)
    assert isinstance(batch, Batch)
    assert {each.worker for each in batch} == {"cleo"}
    with pytest.raises(Conflict):
        campaign.bid("bob", 1)
    for each in batch:
        campaign.tell(each.id, "yes")
    [paid] = [each for each in campaign.payments() if each.answers]
    # The next lower bid decides: ann's 3.
    assert (paid.worker, paid.paid) == ("cleo", 3 * len(batch))
    audit(shared_service, campaign.name)


def test_whoever_is_away_is_not_asked_until_they_are_back(
    service: Service, shared_service: Served
) -> None:
    campaign = create(service)
    campaign.availability("ann", available=False, until=shared_service.now() + 3600)
    assert only(campaign.ask()).worker == "bob"
    assert only(campaign.ask(workers=["ann"])).worker == "ann"  # named, they are asked
    shared_service.pass_by(3601)
    assert {only(campaign.ask()).worker for _ in range(2)} == {"ann", "bob"}


def test_a_worker_does_his_work_with_his_token(service: Service, shared_service: Served) -> None:
    campaign = create(service)
    invited = campaign.invite("eve", price="0.3", limit=1)
    assert shared_service.call("GET", "/me", key=invited.secret)[1]["worker"] == "eve"
    with connect(shared_service.address, invited.secret) as worker:
        own = worker.open(campaign.name)
        mine = only(own.ask())
        assert own.assignments() == [mine]
        other = only(campaign.ask(workers=["ann"]))
        status, raw = shared_service.call(
            "POST", f"/assignments/{other.id}/answer", {"value": "yes"}, key=invited.secret
        )
        assert (status, raw["error"]["code"]) == (403, "forbidden")
        own.tell(mine.id, "no")
        assert own.ask() != mine
    assert campaign.assignment(mine.id).value == "no"
    assert campaign.assignment(other.id).state == "out"


def test_an_explanation_is_recomputed(service: Service) -> None:
    campaign = create(service)
    first = only(campaign.ask(workers=["ann"]))
    campaign.tell(first.id, "yes")
    told = campaign.explain(first.id)
    assert told.reproduced
    assert [each.worker for each in told.candidates if each.available] == ["ann"]
    assert told.budget_left == 10


# Polling and pages.


def fetch(service: Served, path: str, **headers: str) -> tuple[int, Any, bytes]:
    link = http.client.HTTPConnection("127.0.0.1", service.port, timeout=30)
    link.request("GET", path, headers={"Authorization": f"Bearer {service.key}", **headers})
    reply = link.getresponse()
    body = reply.read()
    link.close()
    return reply.status, reply.headers, body


@pytest.mark.parametrize("part", ["", "/answers", "/payments", "/log", "/assignments"])
def test_a_poll_costs_nothing_until_something_happens(
    service: Service, shared_service: Served, part: str
) -> None:
    campaign = create(service)
    campaign.ask()
    path = f"/campaigns/{campaign.name}{part}"
    status, headers, body = fetch(shared_service, path)
    assert (status, bool(body)) == (200, True)
    tag = headers["ETag"]
    for known in (tag, f'"other", {tag}', f"W/{tag}"):
        assert fetch(shared_service, path, **{"If-None-Match": known})[::2] == (304, b"")
    campaign.ask()
    status, headers, _ = fetch(shared_service, path, **{"If-None-Match": tag})
    assert status == 200
    assert headers["ETag"] != tag


def test_pages_add_up_to_the_whole(service: Service, shared_service: Served) -> None:
    campaign = create(service, tasks=[f"t{n}" for n in range(23)], budget=None)
    batch = campaign.ask(15)
    assert isinstance(batch, Batch)
    for part in ("answers", "payments", "log", "assignments"):
        path = f"/campaigns/{campaign.name}/{part}"
        whole = everything(shared_service, path)
        for limit in (1, 5, len(whole)):
            found, after = [], ""
            while after is not None:
                status, page = shared_service.call("GET", f"{path}?limit={limit}&after={after}")
                assert status == 200
                assert len(page["items"]) <= limit
                found += page["items"]
                after = page["next"]
            assert found == whole


def test_what_is_answered_between_two_pages_hides_nothing(
    service: Service, shared_service: Served
) -> None:
    campaign = create(service, tasks=[f"t{n}" for n in range(9)])
    out = campaign.ask(8)
    assert isinstance(out, Batch)
    path = f"/campaigns/{campaign.name}/assignments?limit=3"
    page = shared_service.call("GET", path)[1]
    for each in page["items"]:
        campaign.tell(each["id"], "yes")
    rest = shared_service.call("GET", f"{path}&after={page['next']}")[1]
    assert [each["id"] for each in rest["items"]] == [each.id for each in out[3:6]]


def test_campaigns_are_listed_by_name_in_pages(service: Service, shared_service: Served) -> None:
    for _ in range(3):
        create(service)
    found, after = [], ""
    while after is not None:
        page = shared_service.call("GET", f"/campaigns?limit=2&after={after}")[1]
        found += [each["name"] for each in page["items"]]
        after = page["next"]
    assert found == sorted(found) == service.names()


# Every write may be sent again.


def at(campaign: RemoteCampaign) -> str:
    return f"/campaigns/{campaign.name}"


def out(campaign: RemoteCampaign) -> str:
    return f"/assignments/{only(campaign.ask()).id}"


def paused(campaign: RemoteCampaign) -> RemoteCampaign:
    campaign.pause()
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
    "decline": lambda s, c: (f"{out(c)}/decline", None, f"{out(c)}/decline"),
    "expire": lambda s, c: (f"{out(c)}/expire", None, f"{out(c)}/expire"),
    "pause": lambda s, c: (f"{at(c)}/pause", None, f"{at(c)}/stop"),
    "resume": lambda s, c: (f"{at(paused(c))}/resume", None, f"{at(c)}/pause"),
    "stop": lambda s, c: (f"{at(c)}/stop", None, f"{at(c)}/pause"),
    "top-up": lambda s, c: (f"{at(c)}/top-up", {"amount": 1}, {"amount": "1.5"}),
    "add": lambda s, c: (f"{at(c)}/add", {"tasks": ["t8"]}, {"tasks": ["t9"]}),
    "close": lambda s, c: (f"{at(c)}/close", {"task": "t1"}, {"task": "t2"}),
    "truth": lambda s, c: (
        f"{at(c)}/truth", {"task": "t1", "option": "no"}, {"task": "t2", "option": "no"}
    ),
    "invite": lambda s, c: (f"{at(c)}/invite", {"worker": "zoe", "price": 1}, {"worker": "ann"}),
    "bid": lambda s, c: (
        f"{at(auction(s))}/bid", {"worker": "ann", "amount": 1}, {"worker": "ann", "amount": 2}
    ),
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


# Beside the shell.


def test_the_shell_works_beside_the_service(service: Service, shared_service: Served) -> None:
    campaign = create(service)

    def shell(*words: str) -> Any:
        done = subprocess.run(
            askwise(*words, "--store", shared_service.store, "--json"),
            env=environment(), capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    asked = only(campaign.ask())
    shell("tell", asked.id, "yes")
    assert campaign.assignment(asked.id).value == "yes"
    [theirs] = shell("ask", campaign.name)["assignments"]
    campaign.tell(theirs["id"], "no")
    assert campaign.status().answers == 2
    assert [event.kind for event in campaign.log()].count(Kind.ANSWER) == 2
    audit(shared_service, campaign.name)
