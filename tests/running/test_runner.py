"""A run asks whoever is free, tells what came back, and goes on where it was left."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import random
import signal
import threading
import time
from collections import Counter
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from askwise import Campaign, Done, Wait, Worker
from askwise.core.content import Content
from askwise.core.errors import InvalidProblem
from askwise.core.events import Kind
from askwise.running import RunProgress, arun, run
from askwise.sources import Outage, Question, Response, Source
from askwise.sources.function import Function
from askwise.sources.people import People
from askwise.store import SqliteStore
from askwise.testing.sessions import comparable

CONTENT = Content("Is it even?", options=["no", "yes"])


def created(tasks: int = 12, **changes: Any) -> Campaign:
    raw: dict[str, Any] = {
        "workers": [Worker("a", "0.01", kind="model"), Worker("b", "0.02", kind="model")],
        "tasks": [{"id": f"t{at}", "payload": at} for at in range(tasks)],
        "options": ["no", "yes"],
        "budget": "10",
        "policy": "random-pairs",
        "seed": 1,
        "name": "even",
    }
    return Campaign.create(**{**raw, **changes})


def even(question: Question) -> Response:
    return Response("yes" if question.payload % 2 == 0 else "no", cost=4000)


def judges(call: Any = even, **settings: Any) -> dict[str, Function]:
    return {
        "a": Function(call, price="0.01", **settings),
        "b": Function(call, price="0.02", **settings),
    }


def test_a_run_goes_to_the_end_and_bills_what_calls_cost() -> None:
    campaign = created()
    found = run(campaign, judges(), content=CONTENT)
    assert found.end == Done("tasks")
    assert found.progress.answered == 24
    assert campaign.status().spent == found.progress.cost == Decimal("0.096")
    assert [each.value for each in campaign.answers()] == ["yes", "no"] * 6


def test_an_answer_told_while_the_campaign_says_wait_lets_the_run_go_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # The second question is affordable only with what the first call leaves of its price.
    campaign = created(budget="0.015")
    ask, said_wait, told = campaign.ask, threading.Event(), threading.Event()

    def slow_to_say_wait(*given: Any) -> Any:
        choice = ask(*given)
        if choice == Wait("answers"):
            said_wait.set()
            assert told.wait(20)
        return choice

    async def after_the_wait(question: Question) -> Response:
        assert await asyncio.to_thread(said_wait.wait, 20)
        return even(question)

    monkeypatch.setattr(campaign, "ask", slow_to_say_wait)
    sources = {"a": Function(after_the_wait, price="0.01", slots=2)}
    found = run(campaign, sources, content=CONTENT, watch=lambda progress: told.set())
    assert found.end == Done("budget")
    assert found.progress.answered == 2


def test_as_many_calls_are_under_way_as_sources_take_and_no_more() -> None:
    under_way, most = Counter[str](), Counter[str]()

    async def slow(question: Question) -> Response:
        under_way[question.worker] += 1
        most[question.worker] = max(most[question.worker], under_way[question.worker])
        await asyncio.sleep(0.001)
        under_way[question.worker] -= 1
        return even(question)

    sources = {"a": Function(slow, slots=3), "b": Function(slow, slots=2)}
    run(created(40), sources, content=CONTENT)
    assert most == {"a": 3, "b": 2}


def test_a_source_of_several_workers_shares_its_slots() -> None:
    under_way = most = 0

    async def slow(question: Question) -> Response:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(0.001)
        under_way -= 1
        return even(question)

    shared = Function(slow, slots=2)
    run(created(), {"a": shared, "b": shared}, content=CONTENT)
    assert most == 2


def test_failures_are_booked_and_the_pair_is_not_asked_again() -> None:
    def moody(question: Question) -> Response:
        if question.worker == "b":
            return Response(failure="refused", cost=1000)
        return even(question)

    campaign = created()
    found = run(campaign, judges(moody), content=CONTENT)
    assert found.progress.workers["b"].failed == {"refused": 12}
    failed = [event for event in campaign.log() if event.kind == Kind.FAILED]
    assert len({event.task for event in failed}) == len(failed) == 12
    assert campaign.status().spent == found.progress.cost


def test_a_source_that_breaks_is_billed_at_most_and_the_run_goes_on() -> None:
    class Broken(Function):
        async def answer(self, question: Question) -> Response:
            raise RuntimeError("no")

    campaign = created()
    sources: dict[str, Source] = {"a": judges()["a"], "b": Broken(even, price="0.02")}
    found = run(campaign, sources, content=CONTENT)
    assert found.progress.workers["b"].failed == {"error": 12}
    assert found.progress.workers["b"].cost == Decimal("0.24")
    assert found.progress.workers["a"].answered == 12


def test_a_question_above_its_price_is_not_put() -> None:
    asked = []

    def dear(question: Question) -> Response:
        asked.append(question.task)
        return even(question)

    campaign = created()
    sources = {"a": Function(dear, price="0.05"), "b": judges()["b"]}
    found = run(campaign, sources, content=CONTENT)
    assert asked == []
    assert found.progress.workers["a"].failed == {"too_long": 12}
    assert found.progress.workers["a"].cost == 0


def test_who_is_unavailable_costs_nothing_and_is_asked_when_back() -> None:
    class Flaky(Function):
        down = 3

        async def answer(self, question: Question) -> Response:
            if Flaky.down:
                Flaky.down -= 1
                return Response(failure="unavailable")
            return await super().answer(question)

        def outage(self) -> Outage | None:
            return Outage("busy", 0.001) if Flaky.down else None

    Flaky.down = 1
    campaign = created(4)
    sources = {"a": Flaky(even, price="0.01"), "b": judges()["b"]}

    async def whole() -> Any:
        task = asyncio.create_task(arun(campaign, sources, content=CONTENT))
        await asyncio.sleep(0.05)
        Flaky.down = 0
        return await task

    found = asyncio.run(whole())
    assert found.progress.workers["a"].answered == 4
    assert found.end == Done("tasks")


def test_with_everybody_out_for_good_a_run_says_that_it_waits_for_workers() -> None:
    class Gone(Function):
        def outage(self) -> Outage | None:
            return Outage("no key")

    found = run(created(), {"a": Gone(even, price="0.01")}, content=CONTENT)
    assert found.end == Wait("workers")


def test_people_are_not_called_and_the_run_waits_for_them_if_told_to() -> None:
    campaign = created(3)
    sources = {"a": judges()["a"], "b": People(price="0.02")}
    found = run(campaign, sources, content=CONTENT)
    assert found.end == Wait("workers")
    assert found.progress.answered == 3

    def answer() -> None:
        while batch := campaign.ask(workers=["b"]):
            campaign.tell(batch[0].id, "yes")

    person = threading.Thread(target=answer)
    person.start()
    assert run(campaign, sources, content=CONTENT, wait=True).end == Done("tasks")
    person.join()


def test_a_run_that_is_stopped_finishes_what_is_under_way() -> None:
    campaign = created(40)

    async def whole() -> Any:
        stop = asyncio.Event()

        async def slow(question: Question) -> Response:
            stop.set()
            await asyncio.sleep(0.01)
            return even(question)

        return await arun(campaign, judges(slow, slots=2), content=CONTENT, stop=stop)

    found = asyncio.run(whole())
    assert found.end is None
    assert 1 <= found.progress.answered <= 4
    assert campaign.assignments() == []


def test_what_is_not_finished_in_time_is_booked_as_if_it_was_paid() -> None:
    campaign = created(40)

    async def whole() -> Any:
        stop = asyncio.Event()

        async def endless(question: Question) -> Response:
            stop.set()
            await asyncio.sleep(60)
            return even(question)

        sources = judges(endless, slots=2)
        return await arun(campaign, sources, content=CONTENT, stop=stop, grace=0.01)

    found = asyncio.run(whole())
    assert found.progress.failed >= 1
    assert {why for each in found.progress.workers.values() for why in each.failed} == {"lost"}
    assert campaign.assignments() == []
    assert campaign.status().reserved == 0
    assert campaign.status().spent == found.progress.cost > 0


def test_what_is_out_is_put_again_first() -> None:
    campaign = created()
    out = campaign.ask(3)
    asked = []

    def noted(question: Question) -> Response:
        asked.append(question.assignment)
        return even(question)

    run(campaign, judges(noted), content=CONTENT)
    assert {each.id for each in out} <= set(asked)
    assert len(asked) == len(set(asked)) == 24


def test_progress_is_told_as_it_comes() -> None:
    seen: list[int] = []
    in_flight: list[int] = []

    def watch(progress: RunProgress) -> None:
        seen.append(progress.answered + progress.failed)
        in_flight.append(progress.in_flight)

    run(created(5), judges(), content=CONTENT, watch=watch)
    assert seen[-1] == 10
    assert sorted(seen) == seen
    assert in_flight[-1] == 0  # the last call has ended


def test_a_crowd_that_is_asked_again_is_told_how_often_before() -> None:
    draws = []

    def noted(question: Question) -> Response:
        draws.append((question.task, question.draw))
        return even(question)

    campaign = created(
        1, workers=[Worker("a", "0.01", limit=4)], policy="round-robin", repeat=True,
        stopping={"name": "fixed", "n": 4},
    )  # fmt: skip
    run(campaign, {"a": Function(noted, price="0.01")}, content=CONTENT)
    assert draws == [("t0", 0), ("t0", 1), ("t0", 2), ("t0", 3)]


def test_other_options_than_the_campaigns_are_refused() -> None:
    other = Content("Odd?", options=["odd", "even"])
    with pytest.raises(InvalidProblem, match="content has the options odd, even"):
        run(created(), judges(), content=other)


def killed_run(file: Path, seed: int) -> None:
    chance = random.Random(seed)
    left = chance.randrange(3, 12)

    def mortal(question: Question) -> Response:
        nonlocal left
        left -= 1
        time.sleep(0.001)
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return even(question)

    with closing(SqliteStore(file)) as store:
        run(Campaign.open(store, "even"), judges(mortal), content=CONTENT)


def test_a_run_that_is_killed_again_and_again_ends_as_one_that_was_not(tmp_path: Path) -> None:
    whole = created(30)
    run(whole, judges(), content=CONTENT)
    file = tmp_path / "even.sqlite"
    with closing(SqliteStore(file)) as store:
        created(30, store=store)
    forked = multiprocessing.get_context("fork")
    for seed in range(5):
        process = forked.Process(target=killed_run, args=(file, seed))
        process.start()
        process.join(60)
        assert process.exitcode in (-signal.SIGKILL, 0)
    with closing(SqliteStore(file)) as store:
        campaign = Campaign.open(store, "even")
        assert run(campaign, judges(), content=CONTENT).end == Done("tasks")
        assert [each.value for each in campaign.answers()] == [
            each.value for each in whole.answers()
        ]
        answered = [event.assignment for event in campaign.log() if event.kind == Kind.ANSWER]
        assert len(answered) == len(set(answered)) == 60
        assert campaign.status().spent == whole.status().spent
        assert len(comparable(campaign.log())) >= len(whole.log())


def test_a_campaign_knows_what_is_asked_and_a_run_needs_to_be_told_nothing() -> None:
    campaign = created(3, content=CONTENT, options=None)
    assert campaign.content == CONTENT
    assert run(campaign, judges()).end == Done("tasks")
    with pytest.raises(InvalidProblem, match="content is missing"):
        run(created(3), judges())


def test_what_was_out_waits_for_its_source() -> None:
    campaign = created()
    out = campaign.ask(8, workers=["a"])
    under_way = most = 0

    async def slow(question: Question) -> Response:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(0.001)
        under_way -= 1
        return even(question)

    assert len(out) == 8
    assert run(campaign, {"a": Function(slow, price="0.01")}, content=CONTENT).end == Wait(
        "workers"
    )
    assert most == 1
    assert campaign.assignments() == []


def test_what_a_campaign_can_not_keep_is_cut_or_left_out() -> None:
    def wordy(question: Question) -> Response:
        said = even(question)
        return Response(said.value, cost=4000, rationale="x" * 12_000, reference="a\0b")

    campaign = created(2)
    found = run(campaign, judges(wordy), content=CONTENT)
    assert found.progress.answered == 4
    event = next(event for event in campaign.log() if event.kind == Kind.ANSWER)
    assert len(event.rationale or "") == 10_000
    assert event.reference is None


def test_an_answer_that_is_none_is_a_failure_that_is_booked() -> None:
    class Odd(Function):
        async def answer(self, question: Question) -> Response:
            return Response("perhaps", cost=5000)

    campaign = created(3)
    found = run(campaign, {"a": Odd(even, price="0.01")}, content=CONTENT)
    assert found.progress.workers["a"].failed == {"unreadable": 3}
    assert campaign.status().spent == Decimal("0.015")
    assert campaign.assignments() == []


def test_a_source_that_answers_with_something_else_has_failed() -> None:
    class Wrong(Function):
        async def answer(self, question: Question) -> Any:
            return "yes"

    found = run(created(2), {"a": Wrong(even, price="0.01")}, content=CONTENT)
    assert found.progress.workers["a"].failed == {"error": 2}


def test_a_source_that_is_not_there_and_does_not_say_for_how_long_is_left_alone() -> None:
    class Shy(Function):
        async def answer(self, question: Question) -> Response:
            return Response(failure="unavailable")

    campaign = created(2)

    async def whole() -> None:
        stop = asyncio.Event()
        asyncio.get_running_loop().call_later(0.5, stop.set)
        await arun(campaign, {"a": Shy(even, price="0.01")}, content=CONTENT, stop=stop)

    asyncio.run(whole())
    assert len(campaign.log()) <= 12


def test_leases_of_what_is_out_are_renewed_however_long_a_call_takes() -> None:
    async def slow(question: Question) -> Response:
        await asyncio.sleep(0.5)
        return even(question)

    campaign = created(2, lease=0.2)
    found = run(campaign, judges(slow, slots=2), content=CONTENT)
    assert found.end == Done("tasks")
    assert found.progress.answered == 4
    kinds = [event.kind for event in campaign.log()]
    assert kinds.count(Kind.ASKED) == kinds.count(Kind.ANSWER) == 4
    assert Kind.RENEWED in kinds
    assert Kind.EXPIRED not in kinds


def test_a_source_that_has_changed_since_a_worker_was_created_is_refused() -> None:
    class Prompted(Function):
        name = "prompted"
        prompt = "Is it even?"

        def identity(self) -> dict[str, Any]:
            return {"prompt": self.prompt}

    judge = Prompted(even, price="0.01")
    worker = Worker("a", "0.01", kind="model", source=judge.signature())
    campaign = created(3, workers=[worker])
    assert run(campaign, {"a": judge}, content=CONTENT).end == Done("tasks")
    judge.prompt = "Can it be halved?"
    with pytest.raises(InvalidProblem, match="restore it, or give the judge another id") as refused:
        run(campaign, {"a": judge}, content=CONTENT)
    assert refused.value.field == "source"
    assert worker.source in str(refused.value)
    assert judge.signature() in str(refused.value)
