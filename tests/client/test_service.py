"""Keys, tokens, absences, long lists, and what is said where no service is."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from decimal import Decimal
from typing import Any

import pytest

from askwise import Batch
from askwise.aggregation import aggregation
from askwise.client import Refused, Service, Unreachable, connect
from askwise.core.catalogue import entries_of
from askwise.core.content import Content
from askwise.core.errors import InvalidParameter, InvalidProblem
from askwise.mechanisms import mechanisms
from askwise.policies import policies
from askwise.sources import sources
from askwise.stopping import stopping
from tests.client.twins import CATS, twins, without_times
from tests.service.local import Local


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


def test_what_can_be_named_is_listed_as_it_is_here(service: Service, local: Local) -> None:
    lists = {
        service.policies: policies,
        service.rules: stopping,
        service.aggregators: aggregation,
        service.mechanisms: mechanisms,
        service.sources: sources,
    }
    for listed, registry in lists.items():
        assert listed() == entries_of(registry)
    invited = service.create(**CATS).invite("eve", price="0.2")
    with connect(local.address, invited.secret) as worker, pytest.raises(Refused) as caught:
        worker.policies()
    assert caught.value.status == 403


def test_a_campaign_without_a_policy_gets_the_same_one_here_and_there(service: Service) -> None:
    unnamed = {name: value for name, value in CATS.items() if name != "policy"}
    here, there = twins(service, unnamed)
    assert there.status().because == here.status().because
    assert (there.status().policy, there.spec) == ("hem", here.spec)
    target = {**unnamed, "policy": {"name": "auto", "target": 0.1}}
    assert service.create(**target).spec["policy"] == {"name": "hem", "target": 0.1}
    with pytest.raises(InvalidParameter, match="target is 2: give a number between 0 and 1"):
        service.create(**{**target, "policy": {"name": "auto", "target": 2}})


def test_a_workers_token_asks_and_answers_for_that_worker(service: Service, local: Local) -> None:
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
        batch = own.ask()
        assert isinstance(batch, Batch)
        # They would set their own pay.
        with pytest.raises(Refused, match="not for its worker to say"):
            own.tell(batch[0].id, "yes", cost="2")
        with pytest.raises(Refused, match="takes a key"):
            own.fail(batch[0].id, "refused", "2")
        campaign.expire(batch[0].id)
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


def test_lists_of_many_pages_come_whole(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("askwise.client.requests.PAGE", 7)
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


QUESTION: dict[str, Any] = {
    "title": "Cats",
    "question": "Is it a cat?",
    "instructions": "Look *twice*.",
    "options": [{"name": "yes", "label": "A cat", "meaning": "It purrs."}, {"name": "no"}],
    "fields": [{"name": "text"}],
    "currency": "EUR",
}


def test_content_is_given_as_itself_or_as_a_mapping_and_read_back(service: Service) -> None:
    raw = {**CATS, "options": None, "tasks": [{"id": "t1", "payload": {"text": "Meow"}}]}
    for content in (QUESTION, Content.from_json(QUESTION)):
        campaign = service.create(**raw, content=content)
        assert campaign.content == Content.from_json(QUESTION)
        assert campaign.spec["content"] == QUESTION
        assert campaign.spec["options"] == ["yes", "no"]
    assert service.create(**CATS).content is None


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"options": ["yes", {"label": "No"}]}, "content.options[1].name"),
        ({"options": ["yes", "no", "no"]}, "content.options"),
        ({"fields": [{"name": "text", "show": "film"}]}, "content.fields[0].show"),
        ({"examples": [{"payload": {}, "answer": "no"}]}, "content.examples[0].payload"),
        ({"fields": ["picture"]}, "tasks"),
        ({"hint": "?"}, "content.hint"),
    ],
)
def test_content_that_is_wrong_is_refused_with_its_field(
    service: Service, change: dict[str, Any], field: str
) -> None:
    raw = {**CATS, "options": None, "tasks": [{"id": "t1", "payload": {"text": "Meow"}}]}
    with pytest.raises(InvalidProblem) as refused:
        service.create(**raw, content={**QUESTION, **change})
    assert refused.value.field == field
