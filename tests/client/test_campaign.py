"""A campaign of a service feels like one of this process: methods, results, classes."""

from __future__ import annotations

import inspect
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from askwise import Batch, Campaign, Done, Task, Wait, Worker
from askwise.campaign.views import Answer, Explanation, Handed, Payment, Status
from askwise.client import RemoteCampaign, Service
from askwise.core.choices import Assignment
from askwise.core.errors import AskwiseError
from askwise.core.events import Event
from askwise.policies.labels.random_pairs import RandomPairs
from tests.client.twins import CATS, twins, without_times

ELSEWHERE = {"create", "open"}
"""Of the service, which holds the store."""

NOT_REMOTE = {
    *("ask_around", "ask_for_self", "bidding", "busy", "events", "holder", "reading", "release"),
    *("store", "sweep"),
    *("settle", "paces", "plot", "to_frame", "export", "hand_over"),
}
"""They lend the state in memory, are what a service or a bridge beside the store does by itself, or
show a campaign of this process; the tables that are read over HTTP show themselves."""

PREPARED = {
    *("asking", "telling", "failing", "expiring", "renewing", "declining", "flagging", "submit"),
}
"""What is written without waiting, by an event loop in the same process."""


def public(of: type) -> dict[str, Any]:
    """What a class and its bases offer."""
    members = {name: member for base in reversed(of.__mro__) for name, member in vars(base).items()}
    return {name: member for name, member in members.items() if not name.startswith("_")}


def test_every_method_of_a_campaign_is_there_with_the_same_parameters() -> None:
    here, there = public(Campaign), public(RemoteCampaign)
    assert set(here) - set(there) == ELSEWHERE | NOT_REMOTE | PREPARED
    for name in set(here) & set(there):
        if isinstance(here[name], property):
            assert isinstance(there[name], property)
            continue
        remote, local = (inspect.signature(each[name], eval_str=True) for each in (there, here))
        # A service can let a request wait; what is in this process can be called again.
        own = [each for each in remote.parameters.values() if (name, each.name) != ("ask", "wait")]
        assert remote.replace(parameters=own) == local, name


def test_creating_takes_the_same_fields() -> None:
    here = inspect.signature(Campaign.create).parameters
    there = inspect.signature(Service.create).parameters
    left_out = {"store", "clock"}
    assert set(here) - set(there) == left_out
    assert set(there) - set(here) == {"self", "key"}
    for name in set(here) - left_out:
        assert there[name] == here[name], name


def test_a_whole_campaign_gives_the_same_results_here_and_there(service: Service) -> None:
    here, there = twins(service, CATS)
    for campaign in (here, there):
        campaign.add(tasks=["t4"], workers=[Worker("eve", 1)])
        campaign.top_up("1.5")
    turn = 0
    while True:
        first, second = here.ask(2), there.ask(2)
        assert first == second
        assert type(first) is type(second)
        if not isinstance(first, Batch):
            break
        for each in first:
            assert here.assignment(each.id) == there.assignment(each.id)
            for campaign in (here, there):
                if turn % 5 == 4:
                    campaign.decline(each.id)
                elif turn % 5 == 3:
                    campaign.fail(each.id, "unreadable", "0.01", "request 3")
                elif turn % 5 == 2:
                    sure = {"no": 0.25, "yes": 0.75}
                    said: dict[str, Any] = {
                        "probabilities": sure,
                        "rationale": "Meow.",
                        "reference": "2",
                    }
                    campaign.tell(each.id, "yes", cost="0.3", **said)
                else:
                    campaign.tell(each.id, "no" if turn % 3 == 0 else "yes")
                    campaign.revise(each.id, "yes", rationale="After all.", by="vet")
                    if turn == 5:
                        campaign.withdraw(each.id, "Deleted.", by="vet")
            turn += 1
            assert here.explain(each.id) == there.explain(each.id)
    assert isinstance(first, Done)
    for campaign in (here, there):
        campaign.truth("t2", "yes")
        campaign.close("t1")
        campaign.set_label("t3", "no", by="vet", why="No tail.")
        campaign.comment("t3", "Look again.", by="vet")
        campaign.bonus("ann", "0.1", "For the hard ones.", by="vet")
        campaign.pay("ann", "0.05", by="vet", reference="SEPA 4711", on="2024-06-02")
        campaign.leave("eve")
    assert here.status() == there.status()
    assert here.answers() == there.answers()
    assert here.payments() == there.payments()
    assert here.due() == there.due()
    mine, theirs = (campaign.pay_all(by="vet", on="2024-06-03") for campaign in (here, there))
    assert [replace(each, time=0.0) for each in mine] == [
        replace(each, time=0.0) for each in theirs
    ]
    for campaign in (here, there):
        first_payout = campaign.payouts("ann")[0]
        assert (first_payout.on, first_payout.reference) == ("2024-06-02", "SEPA 4711")
        assert [each.why for each in campaign.bonuses("ann")] == ["For the hard ones."]
        assert (campaign.bonuses("bob"), campaign.due()) == ([], [])
    assert here.payments() == there.payments()
    assert here.results() == there.results()
    assert here.agreement() == there.agreement()
    assert here.judges() == there.judges()
    one, other = here.worker("ann"), there.worker("ann")
    assert (one.worker, one.blocks, one.confusion) == (other.worker, other.blocks, other.confusion)
    assert one.contexts == other.contexts
    assert here.over() == there.over() == first
    assert here.assignments() == there.assignments() == []
    assert here.task("t2") == there.task("t2") == Task("t2", payload={"text": "A cat?"})
    assert here.spec == there.spec
    assert without_times(here.log()) == without_times(there.log())
    last = len(here.log())
    assert without_times(here.log(3, last - 2)) == without_times(there.log(3, last - 2))
    assert there.log(last) == []


def test_results_have_the_classes_of_a_campaign(service: Service) -> None:
    campaign = service.create(**CATS, lease=timedelta(minutes=5))
    batch = campaign.ask()
    assert isinstance(batch, Batch)
    assert isinstance(batch[0], Assignment)
    assert isinstance(batch[0].price, Decimal)
    assert batch[0].expires is not None
    assert isinstance(campaign.assignment(batch[0].id), Handed)
    assert isinstance(campaign.status(), Status)
    assert isinstance(campaign.answers()[0], Answer)
    assert isinstance(campaign.payments()[0], Payment)
    assert isinstance(campaign.explain(batch[0].id), Explanation)
    assert isinstance(campaign.log()[0], Event)
    assert campaign.over() is None
    campaign.pause()
    assert campaign.ask() == Wait("resume")
    campaign.resume()
    campaign.stop()
    assert campaign.ask() == Done("stopped")


def test_instances_name_a_policy_too(service: Service) -> None:
    policy = RandomPairs()
    campaign = service.create(**{**CATS, "policy": policy}, stopping={"name": "lead", "lead": 2})
    assert campaign.spec["policy"]["name"] == "random-pairs"
    assert campaign.spec["stopping"]["lead"] == 2


def test_kinds_and_families_go_there_and_back(service: Service) -> None:
    workers = [Worker("ann", 1, kind="person"), Worker("gpt", 1, kind="model", family="maker")]
    fields: dict[str, Any] = {"tasks": ["t1"], "options": ["yes", "no"], "policy": "virt-ucb"}
    campaign = service.create(workers=workers, name="kinds", **fields)
    assert campaign.spec["workers"] == [worker.to_json() for worker in workers]
    campaign.add(workers=[Worker("bob", 1, kind="crowd", family="vendor")])
    assert campaign.invite("zoe", price=1, kind="person", family="vendor").link
    joined = [event.workers[0] for event in campaign.log() if event.workers is not None]
    assert joined == [
        {"id": "bob", "price": "1", "kind": "crowd", "family": "vendor"},
        {"id": "zoe", "price": "1", "kind": "person", "family": "vendor"},
    ]
    campaign.tell(campaign.ask(workers=["ann"])[0].id, "yes")
    assert not campaign.ask(workers=["ann"])
    assert service.open("kinds").spec == campaign.spec


def test_toml_makes_a_campaign(service: Service) -> None:
    text = """
        name = "from-toml"
        options = ["yes", "no"]
        tasks = ["t1"]
        policy = "random-pairs"
        budget = 3
        workers = [{ id = "ann", price = "0.1" }]
    """
    campaign = service.create_from_toml(text)
    assert campaign.name == "from-toml"
    assert service.open("from-toml").status() == campaign.status()
    assert "from-toml" in service.names()


def test_labels_are_certified_there_as_here(service: Service) -> None:
    fields = {
        **CATS,
        "workers": [Worker("ann", "0.1"), Worker("vet", "0.2", trusted=True)],
        "tasks": [f"t{at}" for at in range(8)],
        "budget": 5,
        "certify": {"error": 0.3, "confidence": 0.9, "by": ["vet"], "share": 0.5},
    }
    here, there = twins(service, fields)
    for campaign in (here, there):
        while batch := campaign.ask():
            campaign.tell(batch[0].id, "yes")
        assert batch == Done("certified")
    assert here.certificate() == there.certificate()
    assert here.answers() == there.answers()
    assert without_times(here.log()) == without_times(there.log())
    assert there.spec["certify"]["by"] == ["vet"]


def test_a_pilot_is_reported_there_as_here(service: Service) -> None:
    fields = {
        **CATS,
        "workers": [Worker("gpt", "0.02", kind="model"), Worker("owl", "0.01", kind="model")],
        "tasks": [f"t{at}" for at in range(8)],
        "pilot": {"tasks": 5},
    }
    here, there = twins(service, fields)
    for campaign in (here, there):
        assert campaign.pilot().phase == "waiting"
        for each in campaign.ask(limit=20):
            campaign.tell(each.id, "yes" if each.worker == "gpt" else "no")
    assert here.pilot() == there.pilot()
    assert there.pilot().done == 10
    assert here.status().pilot == there.status().pilot
    assert without_times(here.log()) == without_times(there.log())
    assert there.spec["pilot"] == {"tasks": 5, "workers": ["gpt", "owl"]}
    assert service.create(**{**fields, "pilot": 6}).spec["pilot"]["tasks"] == 6


@pytest.mark.parametrize(
    ("pilot", "field"),
    [
        (3, "pilot"),
        ({"tasks": 3}, "pilot.tasks"),
        ({"tasks": 5, "workers": ["eve"]}, "pilot.workers"),
    ],
)
def test_a_pilot_that_can_not_be_is_refused_there_too(
    service: Service, pilot: Any, field: str
) -> None:
    models = [Worker("gpt", "0.02", kind="model")]
    tasks = [f"t{at}" for at in range(8)]
    with pytest.raises(AskwiseError) as refused:
        service.create(**{**CATS, "workers": models, "tasks": tasks, "pilot": pilot})
    assert refused.value.field == field
