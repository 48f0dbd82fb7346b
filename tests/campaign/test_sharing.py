"""One campaign, held several times: by two objects, by two processes, by threads."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from askwise import Campaign, Worker
from askwise.core.choices import Batch
from askwise.core.errors import AskwiseError
from askwise.core.events import Event, Kind
from askwise.store import SqliteStore
from askwise.testing.referee import Referee
from askwise.testing.sessions import spec_of_campaign
from tests.processes import let_go, start, wait_until_ready


def referee(campaign: Campaign) -> list[Event]:
    """The log, after every event was checked: money, limits, presence."""
    judge = Referee(spec_of_campaign(campaign).problem)
    log = campaign.log()
    for event in log:
        judge.see(event)
    status = campaign.status()
    assert status.spent * 1_000_000 == judge.spent
    return log


@pytest.mark.parametrize("policy", ["thompson-knapsack", "bounded-epsilon-first"])
def test_two_objects_on_one_file_stay_correct(policy: str, tmp_path: Path) -> None:
    file = tmp_path / "campaigns.sqlite"
    workers = [Worker("a", 2, limit=8), Worker("b", 3), Worker("c", 1, limit=5)]
    first = Campaign.create(
        workers=workers,
        outcome="utility",
        budget=60,
        policy=policy,
        seed=4,
        store=SqliteStore(file),
        name="cats",
    )
    twin = Campaign.create(
        workers=workers, outcome="utility", budget=60, policy=policy, seed=4, name="cats"
    )
    both = [first, Campaign.open(SqliteStore(file), "cats")]
    chance = random.Random(8)
    out: list[str] = []
    for _ in range(40):
        one = chance.choice(both)
        if out and chance.random() < 0.5:
            told = out.pop(chance.randrange(len(out)))
            value = chance.random()
            one.tell(told, value)
            twin.tell(told, value)
        else:
            limit = chance.randrange(1, 3)
            choice = one.ask(limit)
            # Whoever asks gets what a single campaign would have given.
            assert twin.ask(limit) == choice
            out += [each.id for each in choice] if isinstance(choice, Batch) else []
        assert both[0].status() == both[1].status() == twin.status()
    referee(both[0])


def test_threads_share_a_campaign(tmp_path: Path) -> None:
    campaign = Campaign.create(
        workers=[Worker("a", 2, limit=9), Worker("b", 3)],
        outcome="utility",
        budget=90,
        policy="thompson-knapsack",
        seed=4,
        store=SqliteStore(tmp_path / "file.sqlite"),
        name="cats",
    )

    def work(number: int) -> int:
        done = 0
        while isinstance(batch := campaign.ask(), Batch):
            for each in batch:
                campaign.tell(each.id, 0.5)
                done += 1
        return done

    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(work, range(4)))
    assert sum(done) == campaign.status().answers
    referee(campaign)


def test_two_processes_share_a_campaign(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/campaigns.sqlite"
    runners = [start("tests.campaign.runner", url, "share") for _ in range(2)]
    for runner in runners:
        wait_until_ready(runner)
    for runner in runners:
        let_go(runner)
    told: list[str] = []
    for runner in runners:
        printed, _ = runner.communicate(timeout=120)
        assert runner.returncode == 0
        lines = printed.splitlines()
        assert lines[-1] == "done"
        told += [line.split()[1] for line in lines if line.startswith("told")]
    log = referee(Campaign.open(url, "cats"))
    asked = [f"cats:{event.seq}" for event in log if event.kind == Kind.ASKED]
    answered = [f"cats:{event.assignment}" for event in log if event.kind == Kind.ANSWER]
    assert sorted(told) == sorted(answered) == sorted(asked)


def test_somebody_else_may_change_a_campaign_at_any_time(tmp_path: Path) -> None:
    file = tmp_path / "campaigns.sqlite"
    mine = Campaign.create(
        workers=[Worker("a", 2)],
        outcome="utility",
        budget=20,
        policy="uniform",
        store=f"sqlite:///{file}",
        name="cats",
    )
    theirs = Campaign.open(f"sqlite:///{file}", "cats")
    batch = mine.ask()
    assert isinstance(batch, Batch)
    theirs.tell(batch[0].id, 0.5)
    with pytest.raises(AskwiseError, match="answered already"):
        mine.tell(batch[0].id, 0.5)
    theirs.add(workers=[Worker("b", 1)])
    theirs.leave("a")
    again = mine.ask(2)
    assert isinstance(again, Batch)
    assert {each.worker for each in again} == {"b"}
    theirs.stop()
    assert mine.status().state == "stopped"
