"""Webhooks, files and how the service does, over the client."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from askwise.client import Service, connect
from askwise.core.errors import UnknownName
from tests.client.twins import CATS
from tests.service.local import Local, in_thread


@pytest.fixture(scope="module")
def local() -> Iterator[Local]:
    with in_thread(private_hooks=True) as served:
        yield served


def test_webhooks_are_made_tried_and_ended(service: Service) -> None:
    made = service.new_hook("http://127.0.0.1:9/x", ["campaign.done"], label="the board")
    assert made["secret"].startswith("whsec_")
    listed = next(hook for hook in service.hooks() if hook["id"] == made["id"])
    assert "secret" not in listed
    assert listed["label"] == "the board"
    sent = service.test_hook(made["id"])
    assert [each["id"] for each in service.deliveries(made["id"])] == [sent["id"]]
    assert service.retry_delivery(made["id"], sent["id"])["id"] == sent["id"]
    assert service.end_hook(made["id"])["id"] == made["id"]
    assert made["id"] not in [hook["id"] for hook in service.hooks()]


def test_a_campaign_is_downloaded_as_a_file(service: Service) -> None:
    campaign = service.create(**CATS)
    asked = campaign.ask()[0]
    campaign.tell(asked.id, "yes")
    lines = campaign.download("log.jsonl").decode().splitlines()
    assert len(lines) == len(campaign.log())
    assert campaign.download("answers.csv").startswith(b"task,")
    with pytest.raises(UnknownName, match="no such thing"):
        campaign.download("cats.pdf")


def test_the_service_says_how_it_does(service: Service, local: Local) -> None:
    assert service.alive()
    assert service.ready()
    assert "askwise" in service.metrics()
    assert service.description()["openapi"].startswith("3.")


def test_ids_may_be_numbers_over_the_client_too(service: Service, local: Local) -> None:
    numbered = {**CATS, "tasks": [1, 2], "options": [0, 1], "policy": "hem(target=0.1)"}
    campaign = service.create(**{**numbered, "workers": [{"id": 7, "price": "0.1"}]})
    assert campaign.spec["policy"]["target"] == 0.1
    asked = campaign.ask(workers=[7])[0]
    campaign.tell(asked.id, 1, probabilities={1: 1.0})
    campaign.truths({1: 0})
    campaign.set_label(2, 1, by="me")
    assert campaign.worker(7).worker.id == "7"
    assert campaign.task(2).id == "2"
    with connect(local.address, campaign.invite(7).secret) as worker:
        assert worker.open(campaign.name).standing(7) == campaign.standing("7")
    assert {each.task: each.value for each in campaign.answers()} == {"1": "0", "2": "1"}
