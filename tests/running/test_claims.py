"""One runner a campaign: a claim is refused to others, renewed, taken over, released."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import signal
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from askwise import Campaign, Done, Worker
from askwise.core.content import Content
from askwise.core.errors import Conflict
from askwise.running import RunClaim, RunHolder, arun, holder_of, last_run, run, runner
from askwise.running.claims import EXPIRY
from askwise.sources import Question, Response
from askwise.sources.function import Function
from askwise.store import Change, MemoryStore, SqliteStore, Store
from askwise.store.records import RUNS
from tests.clock import Clock

CONTENT = Content("Is it even?", options=["no", "yes"])
FORKED = multiprocessing.get_context("fork")


def created(store: Store | str = "memory", tasks: int = 6) -> Campaign:
    return Campaign.create(
        workers=[Worker("a", "0.01", kind="model")],
        tasks=[{"id": f"t{at}", "payload": at} for at in range(tasks)],
        content=CONTENT,
        budget="10",
        policy="random-pairs",
        store=store,
        seed=1,
        name="even",
    )


def even(question: Question) -> Response:
    return Response("yes" if question.payload % 2 == 0 else "no", cost=4000)


def elsewhere(store: Store, until: float, process: str = "") -> None:
    """Let somebody on another machine hold the claim."""
    found = store.record(RUNS, "even")
    holder = RunHolder("other", "far", 7, process, until - EXPIRY, until)
    body = None if found is None else found.body
    assert store.change([Change(RUNS, "even", body, holder.written())])


def test_a_second_run_is_refused_and_told_who_runs_it_and_until_when() -> None:
    campaign = created()
    elsewhere(campaign.store, time.time() + 100)
    with pytest.raises(Conflict, match=r"is run by process 7 on far, until 20.* UTC") as refused:
        run(campaign, {"a": Function(even, price="0.01")})
    assert refused.value.reason == "already_running"
    assert campaign.log() == []


def test_a_claim_is_there_while_a_run_goes_on_and_gone_afterwards() -> None:
    campaign, seen = created(), []

    def noted(question: Question) -> Response:
        seen.append(holder_of(campaign.store, "even"))
        return even(question)

    run(campaign, {"a": Function(noted, price="0.01")})
    assert {holder.pid for holder in seen if holder is not None} == {os.getpid()}
    assert len({holder.token for holder in seen if holder is not None}) == 1
    assert holder_of(campaign.store, "even") is None


def test_a_claim_is_given_back_by_a_run_that_fails() -> None:
    campaign = created()

    def broken(progress: object) -> None:
        raise RuntimeError("the watch is broken")

    with pytest.raises(RuntimeError, match="the watch is broken"):
        run(campaign, {"a": Function(even, price="0.01")}, watch=broken)
    assert holder_of(campaign.store, "even") is None


def test_a_claim_that_has_lapsed_is_taken_over_and_its_holder_loses_it() -> None:
    store, clock = MemoryStore(), Clock(1_000_000.0)
    first, second = RunClaim(store, "even", clock=clock), RunClaim(store, "even", clock=clock)
    first.take()
    clock.now += EXPIRY - 1
    first.renew({"in_flight": 3})
    assert first.is_held
    clock.now += EXPIRY - 1
    holder = holder_of(store, "even", clock.now)
    assert holder is not None
    assert holder.report == {"in_flight": 3}
    with pytest.raises(Conflict):
        second.take()
    clock.now += 1
    assert not first.is_held
    second.take()
    with pytest.raises(Conflict, match="now run by another process"):
        first.renew()
    first.release()
    assert second.is_held
    held = store.record(RUNS, "even")
    assert held is not None
    second.release({"in_flight": 0})
    assert holder_of(store, "even", clock.now) is None
    last = last_run(store, "even")
    assert last is not None
    assert last.report == {"in_flight": 0}


def test_a_claim_that_lapsed_and_that_nobody_took_is_renewed() -> None:
    store, clock = MemoryStore(), Clock(1_000_000.0)
    claim = RunClaim(store, "even", clock=clock)
    claim.take()
    clock.now += 10 * EXPIRY
    claim.renew()
    assert claim.is_held


def test_a_renewal_of_which_nobody_heard_is_no_loss() -> None:
    store, clock = MemoryStore(), Clock(1_000_000.0)
    claim = RunClaim(store, "even", clock=clock)
    claim.take()
    found = store.record(RUNS, "even")
    assert found is not None
    later = {**json.loads(found.body), "until": clock.now + 2 * EXPIRY}
    store.change([Change(RUNS, "even", found.body, json.dumps(later, sort_keys=True))])
    claim.renew()
    assert claim.is_held


def test_of_two_who_take_it_at_once_one_has_it(tmp_path: Path) -> None:
    with closing(SqliteStore(tmp_path / "even.sqlite")) as store:
        taken: list[bool] = []
        start = threading.Barrier(8)

        def take() -> None:
            start.wait()
            try:
                RunClaim(store, "even").take()
            except Conflict:
                taken.append(False)
            else:
                taken.append(True)

        threads = [threading.Thread(target=take) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(taken) == [False] * 7 + [True]


def test_a_run_that_waits_begins_when_the_other_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "POLL", 0.01)
    campaign = created()
    other = RunClaim(campaign.store, "even")
    other.take()
    threading.Timer(0.05, other.release).start()
    assert run(campaign, {"a": Function(even, price="0.01")}, claim="wait").end == Done("tasks")


def test_a_run_that_waits_can_be_stopped() -> None:
    campaign = created()
    RunClaim(campaign.store, "even").take()

    async def whole() -> Any:
        stop = asyncio.Event()
        asyncio.get_running_loop().call_later(0.02, stop.set)
        sources = {"a": Function(even, price="0.01")}
        return await arun(campaign, sources, claim="wait", stop=stop)

    assert asyncio.run(whole()).end is None
    assert campaign.log() == []


def test_a_run_that_lost_its_claim_calls_nobody_any_more() -> None:
    campaign, called = created(tasks=20), []

    class Stalled(Function):
        async def answer(self, question: Question) -> Response:
            called.append(question.task)
            if len(called) == 3:
                # As if the process had been stopped for longer than the expiry.
                running._claim._until = 0.0
                elsewhere(campaign.store, time.time() + 100)
            return await super().answer(question)

    async def whole() -> None:
        nonlocal running
        running = runner.Runner(campaign, {"a": Stalled(even, price="0.01")})
        await running.run()

    running: runner.Runner
    with pytest.raises(Conflict, match="now run by another process"):
        asyncio.run(whole())
    assert len(called) == 3
    assert campaign.status().answers == 3
    holder = holder_of(campaign.store, "even")
    assert holder is not None
    assert holder.host == "far"


def ends_at_once(file: Path, told: Any) -> None:
    with closing(SqliteStore(file)) as store:
        RunClaim(store, "even").take()
        told.put(True)
        time.sleep(60)


def test_the_claim_of_a_process_that_was_killed_on_this_machine_is_taken_over_at_once(
    tmp_path: Path,
) -> None:
    file = tmp_path / "even.sqlite"
    with closing(SqliteStore(file)) as store:
        created(store)
        told = FORKED.Queue()
        process = FORKED.Process(target=ends_at_once, args=(file, told))
        process.start()
        told.get(timeout=30)
        with pytest.raises(Conflict, match=f"run by process {process.pid}"):
            RunClaim(store, "even").take()
        assert process.pid is not None
        os.kill(process.pid, signal.SIGKILL)
        # Not waited for: a process that nobody has buried yet is gone too.
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        RunClaim(store, "even").take()
        process.join()


def racing(file: Path, calls: Path, start: Any, ended: Any) -> None:
    def noted(question: Question) -> Response:
        with calls.open("a") as out:
            out.write(f"{question.task}\n")
        return even(question)

    runner.POLL = 0.02
    with closing(SqliteStore(file)) as store:
        campaign = Campaign.open(store, "even")
        start.wait()
        try:
            run(campaign, {"a": Function(noted, price="0.01", slots=2)}, claim="wait")
        finally:
            ended.put(True)


def test_of_two_processes_that_run_a_campaign_each_call_is_made_once(tmp_path: Path) -> None:
    file, calls = tmp_path / "even.sqlite", tmp_path / "calls"
    with closing(SqliteStore(file)) as store:
        created(store, tasks=30)
    start, ended = FORKED.Barrier(2), FORKED.Queue()
    processes = [FORKED.Process(target=racing, args=(file, calls, start, ended)) for _ in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
        assert process.exitcode == 0
    assert sorted(calls.read_text().split()) == sorted(f"t{at}" for at in range(30))
