"""Campaigns through the Model Context Protocol, by a scripted client."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from askwise.agents.allowance import Allowance
from askwise.agents.tools import READING, WRITING, Toolbox
from askwise.client import Service, connect
from tests.service.local import Local, in_thread

if TYPE_CHECKING:
    from mcp.client import Client

# The protocol is imported where it is used: it takes seconds, in every process of a run.

OPTIONS = [{"name": "spam", "meaning": "Advertising"}, {"name": "fine"}]


@pytest.fixture(scope="module")
def local() -> Iterator[Local]:
    with in_thread() as served:
        yield served


@pytest.fixture
def service(local: Local) -> Iterator[Service]:
    with connect(local.address, local.key) as connected:
        yield connected


Call = Callable[..., Awaitable[dict[str, Any]]]


def make_server(*parts: Any, **named: Any) -> Any:
    """The server of the protocol."""
    from askwise.agents import server

    return server.make_server(*parts, **named)


def talk(server: Any, script: Callable[[Client, Call], Awaitable[None]]) -> None:
    """Run a script against a server."""
    from mcp.client import Client

    async def run() -> None:
        async with Client(server) as client:

            async def call(tool: str, **arguments: Any) -> dict[str, Any]:
                reply = await client.call_tool(tool, arguments)
                if reply.is_error:
                    return {"error": reply.content[0].text}  # type: ignore[union-attr]
                assert reply.structured_content is not None
                return reply.structured_content

            await script(client, call)

    asyncio.run(run())


def ordered(name: str, budget: str = "1", items: int = 3) -> dict[str, Any]:
    return {
        "name": name,
        "question": "Is this spam?",
        "options": OPTIONS,
        "items": [{"id": f"m{at}", "payload": f"message {at}"} for at in range(items)],
        "workers": [{"id": "ann", "price": "0.1", "kind": "person"}],
        "budget": budget,
    }


async def label_all(call: Call, name: str) -> None:
    """A campaign from creation to labels."""
    made = await call("create_campaign", **ordered(name))
    assert (made["state"], made["budget"], made["tasks"]) == ("running", "1", 3)
    seen = 0
    while (asked := await call("get_questions", campaign=name, workers=["ann"]))["questions"]:
        (question,) = asked["questions"]
        why = await call("explain_question", assignment=question["id"])
        assert why["worker"] == "ann"
        told = await call("answer_question", assignment=question["id"], value="spam")
        assert told["seq"] > seen
        seen = told["seq"]
    assert asked["done"] == "tasks"
    waited = await call("wait_for_change", campaign=name, after=seen, seconds=60)
    assert (waited["state"], waited["why"]) == ("done", "tasks")
    labels = await call("get_labels", campaign=name, limit=2, offset=1)
    assert labels["total"] == 3
    assert [each["task"] for each in labels["labels"]] == ["m1", "m2"]
    assert {each["value"] for each in labels["labels"]} == {"spam"}
    assert {each["rests_on"] for each in labels["labels"]} == {"agreement"}
    await call("set_label", campaign=name, task="m0", value="fine", by="agent", why="a test")
    first = (await call("get_labels", campaign=name))["labels"][0]
    assert (first["value"], first["decided_by"]) == ("fine", "agent")
    (paid,) = (await call("get_payments", campaign=name))["payments"]
    assert (paid["worker"], paid["paid"]) == ("ann", "0.3")
    assert (await call("get_campaign", campaign=name))["content"]["question"] == "Is this spam?"


def test_a_campaign_goes_from_creation_to_labels_through_the_tools(service: Service) -> None:
    async def script(client: Client, call: Call) -> None:
        await label_all(call, "through-tools")
        listed = (await call("list_campaigns"))["campaigns"]
        assert "through-tools" in [each["name"] for each in listed]

    talk(make_server(Toolbox(service, Allowance("1"))), script)


def test_the_command_serves_the_same_over_standard_input_and_output(local: Local) -> None:
    from mcp.client.stdio import StdioServerParameters, stdio_client

    program = StdioServerParameters(
        command=sys.executable,
        args=[
            "-c",
            "from askwise.cli.main import run; run()",
            "mcp",
            "--url",
            local.address,
            "--budget",
            "1",
        ],
        env={"ASKWISE_KEY": local.key, "ASKWISE_JIT": "0"},
    )

    async def script(client: Client, call: Call) -> None:
        await label_all(call, "by-command")

    talk(stdio_client(program), script)


def test_budgets_leave_the_allowance_and_come_back_when_nothing_was_created(
    service: Service,
) -> None:
    allowance = Allowance("2")

    async def script(client: Client, call: Call) -> None:
        assert "error" not in await call("create_campaign", **ordered("first", "1.5"))
        refused = await call("create_campaign", **ordered("second", "1"))
        assert "may commit 0.5 more of 2" in refused["error"]
        twice = await call("create_campaign", **ordered("first", "0.5"))
        assert "error" in twice
        assert str(allowance.left) == "0.5"
        topped = await call("top_up", campaign="first", amount="0.5")
        assert topped["budget"] == "2"
        over = await call("top_up", campaign="first", amount="0.000001")
        assert "error" in over

    talk(make_server(Toolbox(service, allowance)), script)
    assert allowance.left == 0


def test_without_an_allowance_nothing_is_spent(service: Service) -> None:
    async def script(client: Client, call: Call) -> None:
        refused = await call("create_campaign", **ordered("never"))
        assert "--budget AMOUNT" in refused["error"]

    talk(make_server(Toolbox(service, Allowance())), script)
    assert "never" not in service.names()


def test_tools_that_change_nothing_are_marked_and_can_be_had_alone(service: Service) -> None:
    async def script(client: Client, call: Call) -> None:
        listed = (await client.list_tools()).tools
        assert [each.name for each in listed] == [*READING]
        assert all(each.annotations and each.annotations.read_only_hint for each in listed)

    talk(make_server(Toolbox(service, Allowance("1")), read_only=True), script)


def test_tools_that_cost_money_say_so_and_every_parameter_is_described_or_plain(
    service: Service,
) -> None:
    spends = {
        *("create_campaign", "top_up", "add_items", "invite_worker", "get_questions"),
        *("answer_question", "resume_campaign"),
    }

    async def script(client: Client, call: Call) -> None:
        tools = {each.name: each for each in (await client.list_tools()).tools}
        assert [*tools] == [*READING, *WRITING]
        told = {
            name
            for name, each in tools.items()
            if "SPENDS" in (each.description or "") or "RESERVES" in (each.description or "")
        }
        assert told == spends
        assert "budget" in tools["create_campaign"].input_schema["required"]
        assert tools["stop_campaign"].annotations.destructive_hint  # type: ignore[union-attr]

    talk(make_server(Toolbox(service, Allowance("1"))), script)


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("get_campaign", {"campaign": "nowhere"}, "unknown_campaign"),
        ("get_campaign", {"campaign": "no/such"}, "unknown_campaign"),
        ("answer_question", {"assignment": "what", "value": "spam"}, "NAME:12"),
        ("create_campaign", {**ordered("x"), "workers": []}, "workers and judges are empty"),
        ("create_campaign", {**ordered("x"), "budget": "much"}, "budget"),
        ("create_campaign", {**ordered("x"), "options": OPTIONS[:1]}, "options"),
        ("plan_labels", {"tasks": 5, "workers": [{"id": "ann", "price": "1"}]}, "accuracy"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(
    service: Service, tool: str, arguments: dict[str, Any], words: str
) -> None:
    async def script(client: Client, call: Call) -> None:
        assert words in (await call(tool, **arguments))["error"]

    talk(make_server(Toolbox(service, Allowance("1"))), script)


def test_a_plan_costs_nothing_and_says_what_it_cannot_know(service: Service) -> None:
    async def script(client: Client, call: Call) -> None:
        plan = await call(
            "plan_labels",
            tasks=10,
            workers=[
                {"id": "ann", "price": "0.1", "accuracy": 0.9},
                {"id": "ben", "price": "0.1", "accuracy": 0.9},
            ],
            budget="1",
        )
        assert plan["budget"] == "1"
        assert plan["cannot_know"]

    talk(make_server(Toolbox(service, Allowance())), script)


def test_waiting_ends_when_the_time_is_up(service: Service) -> None:
    passed: list[float] = []
    tools = Toolbox(service, Allowance("1"), clock=lambda: sum(passed), sleep=passed.append)
    tools.create_campaign(**_shapes(ordered("waiting")))
    seq = service.open("waiting").status().seq
    assert tools.wait_for_change("waiting", after=seq, seconds=2.5)["seq"] == seq
    assert passed == [1.0, 1.0, 0.5]


def _shapes(fields: dict[str, Any]) -> dict[str, Any]:
    from askwise.agents.tools import ItemShape, OptionShape, WorkerShape

    shapes = {"options": OptionShape, "items": ItemShape, "workers": WorkerShape}
    return {
        name: [shapes[name](**each) for each in value] if name in shapes else value
        for name, value in fields.items()
    }
