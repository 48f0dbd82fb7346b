"""The client: a campaign of a service feels like one of this process."""

from __future__ import annotations

import inspect
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from decimal import Decimal
from typing import Any

import httpx
import pytest

from askwise import Batch, Campaign, Done, Task, Wait, Worker
from askwise.campaign.views import Answer, Explanation, Handed, Payment, Status
from askwise.client import Refused, RemoteCampaign, Service, Unreachable, connect
from askwise.client.transport import LONGEST_WAIT, Transport
from askwise.core.choices import Assignment
from askwise.core.errors import (
    AskwiseError,
    Conflict,
    InvalidAnswer,
    InvalidParameter,
    InvalidProblem,
    OverBudget,
    StoreError,
    UnknownName,
    UnknownPolicy,
)
from askwise.core.events import Event
from askwise.policies.labels.random_pairs import RandomPairs
from tests.service.local import Local, in_thread

CATS: dict[str, Any] = {
    "workers": [Worker("ann", "0.1"), {"id": "bob", "price": Decimal("0.25"), "limit": 9}],
    "tasks": ["t1", Task("t2", payload={"text": "A cat?"}), {"id": "t3", "context": "night"}],
    "options": ["yes", "no"],
    "budget": Decimal("2.5"),
    "policy": "random-pairs",
    "seed": 3,
}


@pytest.fixture(scope="module")
def local() -> Iterator[Local]:
    with in_thread() as served:
        yield served


@pytest.fixture
def service(local: Local) -> Iterator[Service]:
    with connect(local.address, local.key) as connected:
        yield connected


# It is a Campaign's likeness.

ELSEWHERE = {"create", "open"}
"""Of the service, which holds the store."""

NOT_REMOTE = {"ask_around", "busy", "events", "reading", "release", "sweep", "settle"}
"""They lend the state in memory, or are what a service does by itself."""


def public(of: type) -> dict[str, Any]:
    return {name: member for name, member in vars(of).items() if not name.startswith("_")}


def test_every_method_of_a_campaign_is_there_with_the_same_parameters() -> None:
    here, there = public(Campaign), public(RemoteCampaign)
    assert set(here) - set(there) == ELSEWHERE | NOT_REMOTE
    for name in set(here) - ELSEWHERE - NOT_REMOTE:
        if isinstance(here[name], property):
            assert isinstance(there[name], property)
            continue
        assert inspect.signature(there[name]) == inspect.signature(here[name]), name


def test_creating_takes_the_same_fields() -> None:
    here = inspect.signature(Campaign.create).parameters
    there = inspect.signature(Service.create).parameters
    left_out = {"store", "clock"}
    assert set(here) - set(there) == left_out
    assert set(there) - set(here) == {"self", "key"}
    for name in set(here) - left_out:
        assert there[name] == here[name], name


def twins(service: Service, fields: dict[str, Any]) -> tuple[Campaign, RemoteCampaign]:
    """The same campaign here and there."""
    remote = service.create(**fields)
    return Campaign.create(**fields, name=remote.name), remote


def without_times(events: list[Event]) -> list[dict[str, Any]]:
    return [
        {k: v for k, v in event.to_json().items() if k not in ("time", "key")} for event in events
    ]


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
                else:
                    campaign.tell(each.id, "no" if turn % 3 == 0 else "yes")
            turn += 1
            assert here.explain(each.id) == there.explain(each.id)
    assert isinstance(first, Done)
    for campaign in (here, there):
        campaign.truth("t2", "yes")
        campaign.close("t1")
        campaign.leave("eve")
    assert here.status() == there.status()
    assert here.answers() == there.answers()
    assert here.payments() == there.payments()
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


# Errors are of the same classes.

REFUSED: dict[str, tuple[type[AskwiseError], str | None, Callable[[Any], object]]] = {
    "an unknown assignment": (UnknownName, "assignment", lambda c: c.tell(f"{c.name}:99", "yes")),
    "another campaign's": (UnknownName, "assignment", lambda c: c.tell("dogs:1", "yes")),
    "no id at all": (UnknownName, "assignment", lambda c: c.decline("1")),
    "a wrong answer": (InvalidAnswer, "value", lambda c: c.tell(c.ask()[0].id, "perhaps")),
    "an answer out of nothing": (InvalidAnswer, "value", lambda c: c.tell(c.ask()[0].id, 0.5)),
    "a strange worker": (UnknownName, "worker", lambda c: c.ask(workers=["zoe"])),
    "a wrong limit": (InvalidProblem, "limit", lambda c: c.ask(0)),
    "an unknown task": (UnknownName, "task", lambda c: c.close("t9")),
    "a task twice": (Conflict, "tasks", lambda c: c.add(tasks=["t1"])),
    "a worker without price": (InvalidProblem, "price", lambda c: c.add(workers=[{"id": "x"}])),
    "less than nothing": (InvalidProblem, "amount", lambda c: c.top_up(-1)),
    "too fine": (InvalidProblem, "amount", lambda c: c.top_up("0.0000001")),
    "not paused": (Conflict, "state", lambda c: c.resume()),
    "a bid in no auction": (Conflict, None, lambda c: c.bid("ann", "0.1")),
    "an empty key": (InvalidProblem, "key", lambda c: c.pause(key="")),
    "workers as text": (InvalidProblem, "workers", lambda c: c.ask(workers="ann")),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_refusal_is_the_same_here_and_there(service: Service, case: str) -> None:
    kind, field, act = REFUSED[case]
    said = []
    for campaign in twins(service, CATS):
        with pytest.raises(AskwiseError) as caught:
            act(campaign)
        assert type(caught.value) is kind
        said.append((caught.value.code, caught.value.field, str(caught.value)))
    assert said[0] == said[1]
    if field is not None:
        assert said[0][1] == field


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ({"policy": "random-pear"}, UnknownPolicy),
        ({"policy": {"name": "random-pairs", "pace": 3}}, InvalidParameter),
        ({"budget": "0.01"}, InvalidProblem),
        ({"budget": "much"}, InvalidProblem),
        ({"options": ["yes"]}, InvalidProblem),
        ({"lease": -1}, InvalidProblem),
        ({"workers": [{"id": "ann"}]}, InvalidProblem),
        ({"tasks": [Task("t1", payload={1, 2})]}, InvalidProblem),
    ],
)
def test_a_creation_is_refused_as_here(
    service: Service, change: dict[str, Any], kind: type[AskwiseError]
) -> None:
    said = []
    for create in (Campaign.create, service.create):
        with pytest.raises(kind) as caught:
            create(**{**CATS, **change})
        said.append((type(caught.value), caught.value.field))
    assert said[0] == said[1]


def test_an_answer_beyond_the_budget_is_over_budget(service: Service) -> None:
    campaign = service.create(
        workers=[Worker("ann", 1), Worker("bob", 1)], tasks=["t1", "t2"], options=["yes", "no"],
        budget=1, policy="random-pairs",
    )  # fmt: skip
    late = campaign.ask()
    assert isinstance(late, Batch)
    campaign.expire(late[0].id)
    other = "bob" if late[0].worker == "ann" else "ann"
    assert isinstance(campaign.ask(workers=[other]), Batch)
    with pytest.raises(OverBudget, match="has expired and the budget has 0 left"):
        campaign.tell(late[0].id, "yes")


def test_a_campaign_that_is_not_there_is_an_unknown_name(service: Service) -> None:
    for name in ("nowhere", "..", "a/b", ""):
        with pytest.raises(UnknownName):
            service.open(name)


# Keys, invitations, workers' tokens.


def test_keys_are_made_listed_and_revoked(service: Service, local: Local) -> None:
    made = service.new_key("viewer", "the board", lasts=3600)
    assert made.secret not in repr(made)
    listed = service.keys()
    assert made.id in [key.id for key in listed]
    with connect(local.address, made.secret) as viewer:
        assert viewer.me().role == "viewer"
        assert viewer.names() == service.names()
        with pytest.raises(Refused, match="takes a requester's") as caught:
            viewer.create(**CATS)
        assert (caught.value.status, caught.value.code) == (403, "forbidden")
        assert service.revoke_key(made.id).revoked is not None
        with pytest.raises(Refused) as caught:
            viewer.names()
        assert caught.value.status == 401
        assert made.secret not in str(caught.value)


def test_a_workers_token_asks_and_answers_for_himself(service: Service, local: Local) -> None:
    campaign = service.create(**CATS)
    invited = campaign.invite("eve", price="0.2", limit=4)
    assert invited.secret not in repr(invited)
    assert invited.link == f"{local.address}/join/{invited.secret}"
    assert [key.worker for key in campaign.tokens()] == ["eve"]
    with connect(local.address, invited.secret) as worker:
        own = worker.open(campaign.name)
        with pytest.raises(Refused, match="another campaign"):
            worker.open("elsewhere")
        seen = []
        while isinstance(batch := own.ask(), Batch):
            assert batch[0].worker == "eve"
            assert own.assignments() == list(batch)
            seen.append((batch[0].task, batch[0].payload))
            if batch[0].task == "t1":
                own.decline(batch[0].id)
            else:
                own.tell(batch[0].id, "yes")
        assert dict(seen) == {"t1": None, "t2": {"text": "A cat?"}, "t3": None}
        with pytest.raises(Refused, match="takes a key"):
            own.status()
        campaign.revoke_token(invited.id)
        with pytest.raises(Refused, match="unknown, expired or revoked"):
            own.ask()
    assert {p.worker: p.paid for p in campaign.payments()}["eve"] == Decimal("0.4")


def test_what_was_handed_out_carries_its_payload_and_needs_no_request_for_it(
    service: Service,
) -> None:
    campaign = service.create(**CATS)
    due = {"t1": None, "t2": {"text": "A cat?"}, "t3": None}
    batch = campaign.ask(9, key="once")
    assert isinstance(batch, Batch)
    for found in (batch, campaign.assignments(), campaign.ask(9, key="once")):
        assert isinstance(found, Batch | list)
        assert {each.task: each.payload for each in found} == due
    for each in batch:
        assert campaign.assignment(each.id).assignment.payload == due[str(each.task)]


def test_one_who_is_away_is_not_asked(service: Service) -> None:
    campaign = service.create(**CATS)
    campaign.availability("ann", available=False)
    batch = campaign.ask(3)
    assert isinstance(batch, Batch)
    assert {each.worker for each in batch} == {"bob"}
    campaign.availability("ann", available=True)
    rest = campaign.ask(9)
    assert isinstance(rest, Batch)
    assert "ann" in {each.worker for each in rest}


# Pages.


def test_lists_of_many_pages_come_whole(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("askwise.client.transport.PAGE", 7)
    monkeypatch.setattr("askwise.client.campaign.PAGE", 7)
    many = {**CATS, "tasks": [f"t{n}" for n in range(30)], "budget": None}
    here, there = twins(service, many)
    for campaign in (here, there):
        campaign.ask(25)
    assert here.answers() == there.answers()
    assert here.assignments() == there.assignments()
    assert here.assignments("ann") == there.assignments("ann")
    assert len(there.assignments()) == 25
    for after, upto in ((0, None), (3, 12), (0, 7), (0, 14), (45, 99), (5, 5)):
        assert without_times(here.log(after, upto)) == without_times(there.log(after, upto))


# Writes that get lost.


class Flaky(httpx.HTTPTransport):
    """A network that fails as told: before a request is sent, after, or with a reply of its own."""

    def __init__(self, *troubles: str) -> None:
        super().__init__()
        self.troubles = list(troubles)
        self.sent: list[httpx.Request] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.sent.append(request)
        trouble = self.troubles.pop(0) if self.troubles else ""
        if trouble == "refused":
            raise httpx.ConnectError("connection refused")
        if trouble.isdecimal():
            return httpx.Response(int(trouble), headers={"Retry-After": "3"}, json={})
        reply = super().handle_request(request)
        if trouble == "lost":
            reply.read()
            raise httpx.ReadError("connection reset")
        if trouble == "slow":
            reply.read()
            raise httpx.ReadTimeout("timed out")
        return reply


def flaky(local: Local, *troubles: str, retries: int = 4) -> tuple[Service, Flaky, list[float]]:
    network, waits = Flaky(*troubles), []
    transport = Transport(
        local.address, local.key, timeout=30, retries=retries, transport=network,
        sleep=waits.append, draw=lambda: 1.0,
    )  # fmt: skip
    return Service(transport), network, waits


def test_a_write_that_gets_lost_is_sent_again_and_happens_once(
    service: Service, local: Local
) -> None:
    name = service.create(**CATS).name
    shaky, network, waits = flaky(local, "refused", "lost", "slow")
    with shaky:
        campaign = RemoteCampaign(shaky._transport, name)
        batch = campaign.ask()
        assert isinstance(batch, Batch)
        assert len(network.sent) == 4
        assert len({request.headers["Idempotency-Key"] for request in network.sent}) == 1
        assert waits == [0.2, 0.4, 0.8]
        network.troubles = ["lost"]
        campaign.tell(batch[0].id, "yes")
        network.troubles = ["lost", "lost"]
        campaign.top_up(1)
    status = service.open(name).status()
    assert (status.answers, status.decisions, status.budget) == (1, 1, Decimal("3.5"))


def test_a_creation_that_gets_lost_makes_one_campaign(service: Service, local: Local) -> None:
    before = set(service.names())
    shaky, _, _ = flaky(local, "lost", "lost")
    with shaky:
        campaign = shaky.create(**CATS)
    assert set(service.names()) - before == {campaign.name}


def test_a_key_and_an_invitation_that_get_lost_are_made_once(
    service: Service, local: Local
) -> None:
    campaign = service.create(**CATS)
    shaky, network, _ = flaky(local, "lost")
    with shaky:
        made = shaky.new_key("viewer", "lost once")
        listed = service.keys()
        assert [key.label for key in listed].count("lost once") == 1
        network.troubles = ["lost"]
        invited = RemoteCampaign(shaky._transport, campaign.name).invite("ann")
    assert [token.id for token in campaign.tokens()] == [invited.id]
    with connect(local.address, made.secret) as viewer:
        assert viewer.me().id == made.id


def test_the_service_says_how_long_to_wait(local: Local) -> None:
    shaky, network, waits = flaky(local, "429", "503")
    with shaky:
        assert shaky.me().role == "owner"
    assert waits == [3.0, 3.0]
    assert len(network.sent) == 3


def test_waits_grow_to_a_bound_and_end(local: Local) -> None:
    shaky, network, waits = flaky(local, *["refused"] * 9, retries=8)
    with shaky, pytest.raises(Unreachable) as caught:
        shaky.me()
    assert len(network.sent) == 9
    assert waits == [0.2, 0.4, 0.8, 1.6, 3.2, 6.4, LONGEST_WAIT, LONGEST_WAIT]
    assert isinstance(caught.value, StoreError)
    assert "\n" not in str(caught.value)
    assert local.address in str(caught.value)
    assert local.key not in str(caught.value)


def test_what_the_campaign_refuses_is_not_sent_again(service: Service, local: Local) -> None:
    name = service.create(**CATS).name
    shaky, network, waits = flaky(local)
    with shaky, pytest.raises(Conflict):
        RemoteCampaign(shaky._transport, name).resume()
    assert (len(network.sent), waits) == (1, [])


def test_a_key_of_the_callers_is_kept_whatever_is_in_it(service: Service) -> None:
    campaign = service.create(**CATS)
    for key in ("plain", "two words", "ключ", "x" * 200, "a\r\nb", "\ud800"):
        assert campaign.ask(key=key) == campaign.ask(key=key)
    assert campaign.status().decisions == 6
    with pytest.raises(Conflict):
        campaign.ask(2, key="plain")


# What can be given wrongly.


@pytest.mark.parametrize(
    "wrong",
    [
        {"url": "127.0.0.1:8000"},
        {"url": "ftp://host"},
        {"url": "http://name:secret@host"},
        {"url": 3},
        {"key": ""},
        {"key": "awo_a\nb"},
        {"key": None},
        {"timeout": 0},
        {"retries": -1},
        {"retries": True},
    ],
    ids=str,
)
def test_a_wrong_argument_is_named(wrong: dict[str, Any]) -> None:
    given: dict[str, Any] = {"url": "http://127.0.0.1:1", "key": "awo_x", **wrong}
    with pytest.raises(InvalidParameter) as caught:
        connect(given.pop("url"), given.pop("key"), **given)
    assert caught.value.field == next(iter(wrong))
    assert "secret" not in str(caught.value)


def test_nothing_there_is_one_clear_line() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        with connect(url, "awo_secret", retries=0) as nowhere, pytest.raises(Unreachable) as caught:
            nowhere.names()
    assert str(caught.value).startswith(f"can't reach the service at {url}: ")
    assert "awo_secret" not in str(caught.value) + repr(nowhere)


def test_another_server_is_told_from_a_service() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()

        def reply() -> None:
            link, _ = other.accept()
            with link:
                link.recv(10_000)
                link.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")

        thread = threading.Thread(target=reply)
        thread.start()
        url = f"http://127.0.0.1:{other.getsockname()[1]}"
        with connect(url, "awo_x", retries=0) as strange, pytest.raises(Refused, match="askwise"):
            strange.names()
        thread.join()


def test_without_httpx_the_extra_is_named() -> None:
    script = (
        "import sys; sys.modules['httpx'] = None\n"
        "import askwise.client as c\n"
        "try: c.connect('http://127.0.0.1:1', 'awo_x')\n"
        "except c.Refused.__mro__[1] as e: print(e)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout == "the client needs httpx: pip install 'askwise[client]'\n", done.stderr


def test_importing_the_client_does_not_import_httpx() -> None:
    script = "import sys, askwise.client; print('httpx' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60
    )
    assert done.stdout == "False\n"
