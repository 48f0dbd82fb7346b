"""The loop ends when the campaign is done, is alone, and outlives a server that is away."""

from __future__ import annotations

import socket
import threading
from itertools import count
from typing import Any

import httpx
import pytest

from askwise.core.errors import Conflict, InvalidParameter
from askwise.running.label_studio import LabelStudioBridge
from askwise.sources.function import Function
from askwise.sources.label_studio import LabelStudio, LabelStudioApi
from scripts.label_studio import free_port
from tests.running.label_studio.fake import ADMIN
from tests.running.label_studio.scene import WORKERS, Scene


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LABEL_STUDIO_TOKEN", ADMIN)
    monkeypatch.setenv("ASKWISE_WEBHOOK_SECRET", "a-secret-of-this-test")
    monkeypatch.setattr("askwise.sources.label_studio.api.FIRST_PAUSE", 0.0)


def bridge(scene: Scene, *, judges: Any = None, watch: Any = None, **given: Any) -> Any:
    settings = LabelStudio("http://fake", **(scene.given | {"poll": 0.1} | given))
    api = LabelStudioApi("http://fake", ADMIN, transport=scene.server)
    return LabelStudioBridge(scene.campaign, settings, judges=judges, watch=watch, api=api)


def everybody_works(scene: Scene, value: str = "yes") -> Any:
    def work(_: object) -> None:
        for who in WORKERS.values():
            task = scene.next(who)
            if task is not None:
                scene.annotate(who, task, value)

    return work


def test_it_goes_on_until_the_campaign_is_done_and_labels_are_written() -> None:
    scene = Scene(tasks=3)
    done = bridge(scene, watch=everybody_works(scene)).run()
    assert done is not None
    assert done.why == "tasks"
    assert len(scene.answers()) == 6
    assert [each["model_version"] for each in scene.server.predictions.values()] == [
        "askwise/agreement"
    ] * 3


def test_a_server_that_is_away_for_a_while_is_waited_for() -> None:
    scene, looks = Scene(tasks=2), []
    work = everybody_works(scene)

    def watch(counts: object) -> None:
        looks.append(counts)
        work(counts)
        if len(looks) == 1:
            scene.server.down = True
            threading.Timer(0.3, lambda: setattr(scene.server, "down", False)).start()

    assert bridge(scene, watch=watch).run() is not None
    assert len(scene.answers()) == 4


def test_two_for_one_campaign_are_refused() -> None:
    scene = Scene(tasks=1)
    first = bridge(scene)
    thread = threading.Thread(target=first.run)
    thread.start()
    try:
        while not scene.server.tasks:
            pass
        with pytest.raises(Conflict) as refused:
            bridge(scene).once()
        assert refused.value.reason == "already_running"
    finally:
        first.stop()
        thread.join()
    bridge(scene).once()


def test_judges_answer_beside_and_their_verdicts_are_predictions() -> None:
    scene = Scene(tasks=2)
    judge = Function(lambda question: "yes")
    scene.campaign.add(workers=[{"id": "judge", "price": "0", "kind": "model"}])
    done = bridge(scene, judges={"judge": judge}, watch=everybody_works(scene)).run()
    assert done is not None
    said = [each["model_version"] for each in scene.server.predictions.values()]
    assert said.count("askwise/agreement") == 2


def test_the_webhook_is_registered_rings_and_is_switched_off() -> None:
    scene = Scene(tasks=1)
    url = f"http://127.0.0.1:{free_port()}"
    made = bridge(scene, poll=600.0, webhook={"url": url})
    thread = threading.Thread(target=made.run)
    thread.start()
    try:
        while not scene.server.hooks:
            pass
        (hook,) = scene.server.hooks.values()
        assert hook["headers"] == {"X-Askwise-Secret": "a-secret-of-this-test"}
        for who in ("ann", "ben"):
            scene.annotate(who, "t0", "yes")
        body = {"action": "ANNOTATION_CREATED", "task": {"id": scene.place("t0")}}
        with httpx.Client(trust_env=False) as client:
            assert client.post(url, json=body, headers=hook["headers"]).status_code == 204
        thread.join(60)
        assert not thread.is_alive()
    finally:
        made.stop()
        thread.join()
    assert len(scene.answers()) == 2
    assert [each["is_active"] for each in scene.server.hooks.values()] == [False]


def test_however_often_it_is_called_all_tasks_are_looked_at_when_that_is_due(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scene, looks = Scene(tasks=2), []
    # Ten seconds pass whenever the clock is read.
    monkeypatch.setattr(
        "askwise.running.label_studio.bridge.monotonic", count(0, 10).__next__, raising=False
    )

    def watch(counts: object) -> None:
        looks.append(counts)
        if len(looks) == 1:
            scene.annotate("ann", "t1", "yes")  # of which no call tells
        made._signal.note(scene.place("t0"))
        if len(looks) == 10:
            made.stop()

    made = bridge(scene, poll=60.0, watch=watch)
    assert made.run() is None
    whole = scene.server.seen.count("GET /api/users/")
    assert 1 < whole < len(looks)
    assert scene.answers() == [("t1", "ann", "yes")]


def test_who_can_not_listen_leaves_the_campaign_to_others() -> None:
    scene = Scene(tasks=1)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(InvalidParameter) as refused:
            bridge(scene, webhook={"url": url}).run()
    assert refused.value.field == "webhook.listen"
    bridge(scene).once()


def test_an_address_that_label_studio_does_not_call_is_an_error() -> None:
    scene = Scene(tasks=1)
    hook = {"url": "http://127.0.0.9:1", "listen": f"127.0.0.1:{free_port()}"}
    with pytest.raises(InvalidParameter, match="SSRF_PROTECTION_ENABLED"):
        bridge(scene, webhook=hook).run()


def test_both_kinds_of_token_work_and_another_is_an_error() -> None:
    scene = Scene(tasks=1)
    for token in (ADMIN, "a.personal.token"):
        api = LabelStudioApi("http://fake", token, transport=scene.server)
        assert len(api.users()) == 4
    for token in ("wrong", "a.wrong.token"):
        api = LabelStudioApi("http://fake", token, transport=scene.server)
        with pytest.raises(InvalidParameter) as refused:
            api.users()
        assert (refused.value.reason, refused.value.field) == ("invalid_parameter", "token")
