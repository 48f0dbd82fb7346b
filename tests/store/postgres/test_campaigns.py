"""Campaigns on PostgreSQL: processes that share one, processes and sessions that are killed."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest

from askwise import Campaign
from askwise.core.choices import Batch, Done
from askwise.core.errors import StoreError
from askwise.core.events import Event, Kind
from askwise.store import Reply, Transaction
from askwise.store.errors import in_doubt
from askwise.store.postgres.store import PostgresStore
from askwise.testing.referee import Referee
from askwise.testing.sessions import comparable, spec_of_campaign
from tests.campaign.killing import Said, check_log, run_with_kills, start_running
from tests.campaign.runner import create, run, value_of


@pytest.fixture(scope="module")
def uninterrupted() -> list[Event]:
    """The log of a campaign that nothing happens to."""
    campaign = create("memory")
    run(campaign, alone=True)
    return campaign.log()


def checked_log(url: str, said: Said) -> list[Event]:
    """The log, after a check of every event: order, money, limits, and nothing lost."""
    campaign = Campaign.open(url, "cats")
    log = campaign.log()
    judge = Referee(spec_of_campaign(campaign).problem)
    for event in log:
        judge.see(event)
    assert campaign.status().spent * 1_000_000 == judge.spent
    check_log(log, said)
    return log


def test_a_campaign_that_was_killed_goes_on_to_the_same_log(
    postgres_url: str, uninterrupted: list[Event]
) -> None:
    log = run_with_kills(postgres_url, 1, random.Random(5), checked_log)
    assert comparable(log) == comparable(uninterrupted)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_a_campaign_outlives_many_kills(
    seed: int, postgres_url: str, uninterrupted: list[Event]
) -> None:
    log = run_with_kills(postgres_url, 15, random.Random(seed), checked_log)
    assert comparable(log) == comparable(uninterrupted)


def test_two_processes_share_a_campaign(postgres_url: str) -> None:
    processes = [start_running(postgres_url, "share") for _ in range(2)]
    told: list[str] = []
    for process in processes:
        printed, _ = process.communicate(timeout=120)
        assert process.returncode == 0
        assert printed.endswith("done\n")
        told += [line.split()[1] for line in printed.splitlines() if line.startswith("told")]
    log = checked_log(postgres_url, set())
    asked = [f"cats:{event.seq}" for event in log if event.kind == Kind.ASKED]
    answered = [f"cats:{event.assignment}" for event in log if event.kind == Kind.ANSWER]
    assert sorted(told) == sorted(answered) == sorted(asked)


def test_threads_share_a_campaign(postgres_url: str) -> None:
    campaign = create(postgres_url)
    others = [Campaign.open(postgres_url, "cats") for _ in range(2)]

    def work(held: Campaign) -> int:
        done = 0
        while not isinstance(choice := held.ask(), Done):
            for each in choice if isinstance(choice, Batch) else ():
                held.tell(each.id, value_of(each.id))
                done += 1
        return done

    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(work, [campaign, campaign, *others]))
    assert sum(done) == campaign.status().answers
    checked_log(postgres_url, set())


def test_a_campaign_whose_sessions_are_ended_all_the_time_goes_on_to_the_same_log(
    postgres_url: str, postgres_raw: psycopg.Connection[Any], uninterrupted: list[Event]
) -> None:
    chance = random.Random(3)

    class Cut(PostgresStore):
        """Loses its connection inside every tenth write."""

        @contextmanager
        def write(self, name: str) -> Iterator[Transaction]:
            with super().write(name) as transaction:
                self.maybe_cut()
                yield transaction
                self.maybe_cut()

        def append(
            self, name: str, events: Sequence[Event], seq: int, replies: Sequence[Reply] = ()
        ) -> None:
            with self._connections.use():  # what is appended goes over this connection
                self.maybe_cut()
                super().append(name, events, seq, replies)
            if self.maybe_cut():
                raise in_doubt("the reply was lost")

        def maybe_cut(self) -> bool:
            cut = chance.random() < 0.05
            if cut:
                postgres_raw.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                    "WHERE datname = current_database() AND application_name = 'askwise'"
                )
            return cut

    create(postgres_url)
    campaign, lost = Campaign.open(Cut(postgres_url), "cats"), 0
    while True:
        try:
            for each in campaign.assignments():
                campaign.tell(each.id, value_of(each.id))
            if isinstance(campaign.ask(), Done):
                break
        except StoreError:
            # Done or not, the log says: what is out is answered, else it is asked again.
            lost += 1
    assert lost > 3
    assert comparable(checked_log(postgres_url, set())) == comparable(uninterrupted)
