"""The whole life of campaigns over HTTP: a real service, on SQLite and on PostgreSQL."""

from __future__ import annotations

import json
import subprocess
from decimal import Decimal
from typing import Any

import pytest

from askwise import Batch, Done, Wait, Worker
from askwise.client import RemoteCampaign, Service, connect
from askwise.core.errors import Conflict, InvalidAnswer
from askwise.core.events import Kind
from tests.cli.helpers import askwise, environment
from tests.service.audit import audit
from tests.service.over_http.campaigns import create, kinds, new_name, only
from tests.service.served import Served


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


def test_a_worker_does_their_work_with_a_token(service: Service, shared_service: Served) -> None:
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
