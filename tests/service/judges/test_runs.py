"""The service runs campaigns of its operator's judges by itself."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from askwise import client
from askwise.running import RunClaim
from askwise.service.app import make_app
from askwise.service.auth.identity import Identities
from askwise.service.judges import runs
from askwise.service.settings import Settings
from askwise.store import MemoryStore
from askwise.testing.chat_server import Asked, ChatServer, Scripted
from tests.service.judges.scene import KEY, described, endpoint, judges_file, spam, until
from tests.service.local import in_thread


class Service:
    """A service of this process, and its owner."""

    def __init__(self, settings: Settings) -> None:
        self.store = MemoryStore()
        self.app = make_app(settings, self.store)
        self.owner = Identities(self.store).issue("owner", "ann")[0]
        self.client = TestClient(self.app, headers={"Authorization": f"Bearer {self.owner}"})

    def post(self, path: str, body: Any = None) -> dict[str, Any]:
        found = self.client.post(path, json=body)
        assert found.status_code < 300, found.text
        read: dict[str, Any] = found.json()
        return read

    def get(self, path: str) -> dict[str, Any]:
        found = self.client.get(path)
        assert found.status_code == 200, found.text
        read: dict[str, Any] = found.json()
        return read

    def over(self, name: str = "mail") -> Any:
        return self.get(f"/campaigns/{name}/over")["why"]


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "PAUSE", 0.02)
    monkeypatch.setattr(runs, "TAKEN", 0.02)
    monkeypatch.setenv("JUDGE_KEY", KEY)


@pytest.fixture
def model() -> Iterator[ChatServer]:
    with endpoint() as server:
        yield server


@pytest.fixture
def service(tmp_path: Path, quick: None, model: ChatServer) -> Iterator[Service]:
    file = judges_file(tmp_path, model.url)
    made = Service(Settings(store="memory", judges=file, private_judges=True))
    with made.client:
        yield made


def test_a_campaign_of_judges_is_run_by_itself(service: Service, model: ChatServer) -> None:
    service.post("/campaigns", described())
    assert until(service.over) == "tasks"
    answers = service.get("/campaigns/mail/answers")["items"]
    assert [each["value"] for each in answers] == ["spam", "ham"] * 3
    status = service.get("/campaigns/mail")
    assert float(status["spent"]) * 1e6 == pytest.approx(model.bill)
    assert len(model.asked) == 12
    run = until(lambda: not (found := service.get("/campaigns/mail/run"))["running"] and found)
    assert run["outages"] == []
    assert run["in_flight"] == 0


def test_judges_are_listed_without_address_and_key(service: Service, model: ChatServer) -> None:
    found = service.client.get("/judges")
    assert [each["id"] for each in found.json()["items"]] == ["big", "small"]
    assert found.json()["items"][0] == {
        "id": "big",
        "model": "big",
        "family": "acme",
        "price": {"input": "0.15", "output": "0.60"},
        "source": found.json()["items"][0]["source"],
    }
    assert KEY not in found.text
    assert "JUDGE_KEY" not in found.text
    assert "127.0.0.1" not in found.text


def test_a_judge_becomes_a_worker_with_a_price_that_covers_every_task(service: Service) -> None:
    long = {"id": "long", "payload": "x" * 1000}
    tasks = [*described()["tasks"], long]
    workers = [{"judge": "big", "id": "first", "limit": 3}, {"judge": "small"}]
    service.post("/campaigns", described(tasks=0) | {"tasks": tasks, "workers": workers})
    first, second = service.get("/campaigns/mail/spec")["workers"]
    assert (first["id"], first["limit"], first["kind"], first["family"]) == (
        "first", 3, "model", "acme",
    )  # fmt: skip
    assert first["source"].startswith("chat:")
    assert first["source"] != second["source"]
    assert float(first["price"]) * 1e6 > 1000 * 0.15


@pytest.mark.parametrize(
    ("changes", "field", "said"),
    [
        ({"workers": [{"judge": "bog"}]}, "judge", "did you mean 'big'?"),
        ({"content": None, "options": ["spam", "ham"]}, "content", "needs to know the question"),
    ],
)
def test_what_no_judge_can_do_is_refused(
    service: Service, changes: dict[str, Any], field: str, said: str
) -> None:
    body = {key: value for key, value in {**described(), **changes}.items() if value is not None}
    found = service.client.post("/campaigns", json=body)
    assert found.status_code == 422
    assert found.json()["error"]["field"] == field
    assert said in found.json()["error"]["message"]


def test_users_can_name_neither_an_address_nor_a_variable(service: Service) -> None:
    for more in ({"base_url": "http://x"}, {"key_env": "HOME"}, {"source": "command"}):
        body = described() | {"workers": [{"judge": "big", **more}]}
        assert service.client.post("/campaigns", json=body).status_code == 422


def test_judges_and_tasks_that_are_added_are_asked(service: Service) -> None:
    service.post("/campaigns", described(workers=[{"judge": "big"}]))
    assert until(service.over) == "tasks"
    service.post("/campaigns/mail/add", {"tasks": [{"id": "new", "payload": "You have won"}]})
    assert until(lambda: service.get("/campaigns/mail")["answers"] == 7)


def test_a_pause_is_one_of_the_run_too(service: Service, model: ChatServer) -> None:
    model.script = {"big": lambda asked: Scripted(spam(asked), latency=0.05)}
    service.post("/campaigns", described(tasks=60, workers=[{"judge": "big"}]))
    until(lambda: model.asked)
    service.post("/campaigns/mail/pause")
    run = until(lambda: not (found := service.get("/campaigns/mail/run"))["running"] and found)
    asked = len(model.asked)
    assert asked < 60
    assert run["in_flight"] == 0
    assert service.get("/campaigns/mail/assignments")["items"] == []
    time.sleep(0.2)
    assert len(model.asked) == asked
    service.post("/campaigns/mail/resume")
    assert until(lambda: len(model.asked) > asked)
    service.post("/campaigns/mail/stop")
    until(lambda: not service.get("/campaigns/mail/run")["running"])


def test_a_campaign_that_waits_for_people_goes_on_when_they_have_answered(
    service: Service, model: ChatServer
) -> None:
    workers = [{"judge": "big"}, {"id": "ann", "price": "0.01"}]
    service.post("/campaigns", described(tasks=2, workers=workers))
    until(lambda: len(model.asked) == 2)
    for _ in range(2):
        # Those whom the service asks are not handed to others.
        asked = service.post("/campaigns/mail/ask")["assignments"][0]
        assert asked["worker"] == "ann"
        service.post(f"/assignments/{asked['id']}/answer", {"value": "spam"})
    assert until(service.over) == "tasks"
    assert service.post("/campaigns/mail/ask")["status"] == "done"


def test_a_key_that_is_refused_is_seen_in_the_log_and_the_run(
    service: Service, model: ChatServer, caplog: pytest.LogCaptureFixture
) -> None:
    model.keys = frozenset({"another"})
    with caplog.at_level(logging.WARNING, "askwise.service"):
        service.post("/campaigns", described(workers=[{"judge": "big"}]))
        run = until(lambda: (found := service.get("/campaigns/mail/run"))["outages"] and found)
    [outage] = run["outages"]
    assert outage["worker"] == "big"
    assert "the key in JUDGE_KEY is refused" in outage["why"]
    assert KEY not in str(run)
    told = [record for record in caplog.records if record.message == "judges"]
    assert [record.fields["worker"] for record in told] == ["big"]  # type: ignore[attr-defined]
    until(lambda: not service.get("/campaigns/mail/run")["running"])
    browser = TestClient(service.app)
    browser.post("/login", data={"key": service.owner})
    # A run that is tried again has nothing to say at first.
    until(lambda: "the key in JUDGE_KEY is refused" in browser.get("/dashboard/mail").text)
    assert service.get("/campaigns/mail")["spent"] == "0"


def test_campaigns_share_the_slots_of_a_judge(service: Service, model: ChatServer) -> None:
    def slow(asked: Asked) -> Scripted:
        return Scripted(spam(asked), latency=0.01)

    model.script = {"small": slow}
    for name in ("one", "two", "three"):
        body = described(name, tasks=8, workers=[{"judge": "small"}])
        body["tasks"] = [{**task, "payload": f"{name} {task['payload']}"} for task in body["tasks"]]
        service.post("/campaigns", body)
    for name in ("one", "two", "three"):
        until(lambda name=name: service.over(name))  # type: ignore[misc]
    assert model.busiest == 2


def test_a_campaign_that_another_runs_is_left_to_them_and_then_taken_over(
    service: Service, model: ChatServer
) -> None:
    other = RunClaim(service.store, "mail")
    other.take()
    service.post("/campaigns", described())
    time.sleep(0.2)
    assert model.asked == []
    other.release()
    assert until(service.over) == "tasks"
    assert len(model.asked) == 12


def test_a_campaign_without_judges_is_left_alone(service: Service) -> None:
    body = described(workers=[{"id": "ann", "price": "0.01", "kind": "model"}])
    service.post("/campaigns", body)
    time.sleep(0.1)
    assert service.get("/campaigns/mail/run") == {
        "running": False, "host": None, "pid": None, "since": None, "outages": [],
    }  # fmt: skip
    assert service.post("/campaigns/mail/ask")["status"] == "batch"


def test_private_addresses_are_refused_unless_they_are_allowed(
    tmp_path: Path, quick: None, model: ChatServer
) -> None:
    file = judges_file(tmp_path, model.url)
    with pytest.raises(Exception, match=r"private address.*--private-judges"):
        make_app(Settings(store="memory", judges=file))


def test_a_stop_of_the_service_ends_what_is_under_way(
    tmp_path: Path, quick: None, model: ChatServer
) -> None:
    model.script = {"big": lambda asked: Scripted(spam(asked), latency=0.1)}
    file = judges_file(tmp_path, model.url)
    made = Service(Settings(store="memory", judges=file, private_judges=True))
    with made.client:
        made.post("/campaigns", described(tasks=60, workers=[{"judge": "big"}]))
        until(lambda: model.asked)
        campaign = made.app.state.service.campaigns.get("mail")
        made.store.close = lambda: None  # type: ignore[method-assign]
    assert campaign.assignments() == []
    assert campaign.status().answers == len(model.asked)


def test_the_client_names_judges_and_sees_the_run(
    tmp_path: Path, quick: None, model: ChatServer
) -> None:
    file = judges_file(tmp_path, model.url)
    with in_thread(judges=file, private_judges=True) as local:
        remote = client.connect(local.address, local.key)
        assert [each["id"] for each in remote.judges()] == ["big", "small"]
        campaign = remote.create(**described(workers=[{"judge": "small"}]))
        campaign.add(workers=[{"judge": "big", "limit": 2}])
        until(lambda: campaign.status().answers == 8)
        until(lambda: not campaign.run_state()["running"])
        assert campaign.run_state()["outages"] == []
        assert all("source" in worker for worker in campaign.spec["workers"])
