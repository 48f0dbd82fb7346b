"""What can be taken back over HTTP: a real service, on SQLite and on PostgreSQL."""

from __future__ import annotations

import json

import pytest

from askwise import Wait
from askwise.client import Service
from askwise.core.errors import Conflict, UnknownName
from tests.service.over_http.campaigns import create, only


def test_a_task_and_a_title_are_changed(service: Service) -> None:
    campaign = create(service, tasks=["t1", "t2"])
    campaign.remove("t1", key="k")
    campaign.remove("t1", key="k")
    campaign.retitle("Cats")
    status = campaign.status()
    assert (status.tasks, status.title) == (1, "Cats")
    campaign.retitle(None)
    assert campaign.status().title is None
    with pytest.raises(Conflict, match="was removed"):
        campaign.close("t1")


def test_an_archived_campaign_is_listed_apart(service: Service) -> None:
    campaign = create(service)
    campaign.archive()
    assert campaign.name not in service.names()
    assert campaign.name in [each.name for each in service.campaigns(archived=True)]
    assert campaign.ask() == Wait("resume")
    with pytest.raises(Conflict) as refused:
        campaign.pause()
    assert refused.value.reason == "campaign_archived"
    campaign.unarchive()
    assert campaign.name in service.names()


def test_a_campaign_is_deleted_once(service: Service) -> None:
    campaign = create(service)
    campaign.invite("ann")
    campaign.delete(key="delete")
    campaign.delete(key="delete")
    with pytest.raises(UnknownName, match="was deleted"):
        campaign.status()
    with pytest.raises(UnknownName):
        campaign.delete()
    assert campaign.name not in service.names()


def test_a_campaign_with_answers_stays(service: Service) -> None:
    campaign = create(service)
    campaign.tell(only(campaign.ask()).id, "yes")
    with pytest.raises(Conflict) as refused:
        campaign.delete()
    assert refused.value.reason == "campaign_answered"


def test_a_worker_is_forgotten_once(service: Service) -> None:
    campaign = create(service)
    campaign.tell(only(campaign.ask(workers=["ann"])).id, "yes")
    campaign.invite("ann")
    new = campaign.forget("ann", key="forget")
    assert campaign.forget("ann", key="forget") == new
    assert campaign.forget(new, "w7") == "w7"
    seen = [event.to_json() for event in campaign.log()]
    assert "ann" not in json.dumps([seen, campaign.spec])
    assert [token.worker for token in campaign.tokens()] == ["w7"]
    assert only(campaign.ask(workers=["w7"])).worker == "w7"
