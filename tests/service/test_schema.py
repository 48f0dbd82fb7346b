"""The API is what its description says: Schemathesis tries to prove otherwise."""

from __future__ import annotations

import json
import logging
import re
import socket
from collections.abc import Sequence
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from askwise.campaign import Campaign
from askwise.service.app import make_app
from askwise.service.auth.identity import Identities
from askwise.service.routing.application import Application
from askwise.service.settings import Settings
from askwise.service.webhooks.records import EVENTS, PING
from askwise.store import Store, open_store
from tests.schemas import undescribed

NO_LIMIT: dict[str, Any] = dict.fromkeys(
    ("key_rate", "key_burst", "address_rate", "address_burst"), 1e9
)

DECIDED_BY_CAMPAIGNS = (
    "createCampaign", "addTasksAndWorkers", "topUpCampaign", "tellTruth",
    "createInvitation", "bidPrice", "leaveCampaign", "setAvailability",
    "answerAssignment", "createHook", "tellTruths", "setTitle", "forgetWorker",
    "reviseAnswer", "giveBonus", "markAsPaid", "markAllAsPaid",
    "setLabel", "flagTask", "commentOnTask",
)  # fmt: skip
"""Operations of which a schema can't say all: which options a campaign has, which policies fit it,
how fine an amount is, whether a host exists, that a text has no NUL. Schemathesis' check that data
which fit the schema are accepted is off for these; instead `refused_for_its_shape` holds for all
operations: what fits the schema is never refused for its shape, only by a campaign, with a code of
its own.
"""


@pytest.fixture(autouse=True)
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    """Webhooks look for hosts."""

    def nobody(*_: object, **__: object) -> Any:
        raise socket.gaierror("not here")

    monkeypatch.setattr(socket, "getaddrinfo", nobody)


@pytest.fixture
def store() -> Store:
    return open_store("memory")


@pytest.fixture
def app(store: Store, caplog: pytest.LogCaptureFixture) -> Application:
    caplog.set_level(logging.ERROR)
    fill(store)
    made = make_app(Settings(store="memory", **NO_LIMIT), store)
    made.state.service.watch.end_soon()  # no ask waits for work, for up to a minute each
    return made


def fill(store: Store) -> None:
    """Campaigns of each kind, with something in every list."""
    people: list[dict[str, Any]] = [{"id": "ann", "price": "0.05"}, {"id": "bob", "price": "0.1"}]
    cats = Campaign.create(
        store=store, name="cats", workers=people, tasks=["photo-1", "photo-2", "photo-3"],
        options=["yes", "no"], budget="10", policy="random-pairs", seed=1, lease=600.0,
    )  # fmt: skip
    batch = cats.ask(3)
    assert not isinstance(batch, str)
    cats.tell(batch[0].id, "yes")  # type: ignore[index]
    cats.decline(batch[1].id)  # type: ignore[index]
    Campaign.create(
        store=store, name="units", workers=people, outcome="utility", budget="5",
        policy="bounded-epsilon-first", seed=1,
    )  # fmt: skip


def run(
    app: Application,
    key: str,
    examples: int,
    phases: tuple[str, ...],
    briefly: Sequence[str] = (),
    by_example: Sequence[str] = (),
) -> tuple[dict[int, int], set[str]]:
    """The replies by status, and which of all checks did not look at any."""
    from tests.service import trying  # when it is needed: see there

    try:
        replies, looked = trying.run(
            app, key, examples, phases, DECIDED_BY_CAMPAIGNS, briefly, by_example
        )
    finally:
        trying.shutdown_lifespans()
    return replies, trying.names_of_checks() - looked


@pytest.mark.filterwarnings("ignore:Do not use the `random` module")  # Schemathesis does
def test_the_description_promises_what_the_service_does(app: Application, store: Store) -> None:
    key, _ = Identities(store).issue("owner", "tester")
    # Values at the edges of its schema for every fifteenth operation, values of any kind for every
    # third, and those of the description for the others: the slow suite tries all on all.
    operations = [
        operation["operationId"]
        for methods in app.openapi()["paths"].values()
        for operation in methods.values()
    ]
    briefly = [each for at, each in enumerate(operations) if at % 15 and at % 3 == 0]
    by_example = [each for at, each in enumerate(operations) if at % 3]
    replies, idle = run(app, key, 2, ("examples", "coverage", "fuzzing"), briefly, by_example)
    assert idle <= {"max_response_time"}  # there is no limit
    # Nothing was hit that a tester without imagination would not reach.
    assert sum(replies.values()) > 100
    assert {200, 201, 401, 404, 405, 409, 415, 422} <= set(replies)
    assert all(status < 500 for status in replies)


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("role", ["owner", "viewer"])
def test_the_description_promises_what_the_service_does_at_length(
    app: Application, store: Store, role: str
) -> None:
    key, _ = Identities(store).issue(role, "tester")
    run(app, key, 100, ("examples", "coverage", "fuzzing", "stateful"))


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_worker_finds_nothing_that_is_not_described(app: Application, store: Store) -> None:
    key, _ = Identities(store).issue("worker", "ann", campaign="cats", worker="ann")
    run(app, key, 40, ("examples", "coverage", "fuzzing"))


def test_the_description_is_a_valid_one_and_every_example_fits_its_schema(app: Application) -> None:
    described = app.openapi()
    assert described is app.openapi()
    ids = [
        operation["operationId"]
        for methods in described["paths"].values()
        for operation in methods.values()
    ]
    assert len(set(ids)) == len(ids)
    assert set(DECIDED_BY_CAMPAIGNS) <= set(ids)
    for name, schema in described["components"]["schemas"].items():
        whole = {**schema, "components": described["components"]}
        Draft202012Validator.check_schema(schema)
        for example in schema.get("examples", ()):
            Draft202012Validator(whole).validate(example)
        if name.endswith(("Body", "Only", "Campaign")):
            assert schema.get("additionalProperties") is False, name


def test_every_property_parameter_and_operation_is_described(app: Application) -> None:
    described = app.openapi()
    assert list(undescribed(described)) == []
    operations = [
        operation
        for part in (described["paths"], described["webhooks"])
        for methods in part.values()
        for operation in methods.values()
    ]
    for operation in operations:
        assert re.fullmatch("[a-z]+([A-Z][a-z]*)+", operation["operationId"])
        assert operation["description"], operation["operationId"]
        for parameter in operation.get("parameters", ()):
            assert parameter.get("description"), (operation["operationId"], parameter["name"])


def test_every_body_has_an_example(app: Application) -> None:
    schemas = app.openapi()["components"]["schemas"]
    bodies = [
        operation["requestBody"]["content"]["application/json"]["schema"]
        for methods in app.openapi()["paths"].values()
        for operation in methods.values()
        if "requestBody" in operation
    ]
    assert len(bodies) > 10
    for body in bodies:
        (name,) = [
            each["$ref"].rpartition("/")[2] for each in body.get("anyOf", [body]) if "$ref" in each
        ]
        assert schemas[name]["examples"], name


def test_every_event_of_a_webhook_is_described(app: Application) -> None:
    described = app.openapi()
    assert set(described["webhooks"]) == {*EVENTS, PING}


def test_every_write_takes_an_idempotency_key_and_every_list_a_page(app: Application) -> None:
    for path, methods in app.openapi()["paths"].items():
        for method, operation in methods.items():
            names = {each["name"] for each in operation.get("parameters", ())}
            if method != "get":
                assert "Idempotency-Key" in names, (method, path)
            shown = json.dumps(operation["responses"].get("200", {}))
            page = app.openapi()["components"]["schemas"]
            for name, schema in page.items():
                listed = set(schema.get("properties", ())) == {"items", "next"}
                if listed and f'schemas/{name}"' in shown:
                    assert {"limit", "after"} <= names, (method, path)
