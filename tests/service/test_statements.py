"""How many SQL statements a request takes: as many for fifty assignments as for one."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import psycopg
import pytest
from starlette.testclient import TestClient

from askwise.campaign import Campaign
from askwise.core.problem import Task, Worker
from askwise.service.app import make_app
from askwise.service.settings import Settings
from askwise.service.state import ServiceState
from askwise.store import open_store
from askwise.store.postgres.news import SENDER
from askwise.store.sqlite.connections import SqliteConnection
from tests.service.work.visiting import Bench

T = TypeVar("T")

FEW, MANY = 1, 50


class Site:
    """A service on a store, without what it does in the background."""

    def __init__(self, bench: Bench, kind: str) -> None:
        self.bench = bench
        self.kind = kind
        self.service: ServiceState = bench.service
        self.client = TestClient(bench.app)

    def create(self, *, tasks: int = MANY, workers: int = 1) -> Campaign:
        """A campaign that is open in the service, its state folded."""
        self.bench.name = f"c{len(self.service.campaigns.store.names())}"
        campaign = self.bench.campaign(
            workers=[Worker(f"w{at}", "0.10") for at in range(workers)],
            tasks=[Task(f"t{at}", payload={"text": f"Is t{at} a cat?"}) for at in range(tasks)],
        )
        campaign.status()
        return campaign

    def headers(self, **more: str) -> dict[str, str]:
        """A key that nobody has used: for how long one is remembered is a matter of time."""
        secret, _ = self.service.identities.issue("owner", "the owner")
        return {"Authorization": f"Bearer {secret}", **more}

    def ask(self, campaign: Campaign, limit: int, headers: dict[str, str]) -> dict[str, Any]:
        path = f"/campaigns/{campaign.name}/ask"
        reply = self.client.post(path, json={"limit": limit}, headers=headers)
        assert reply.status_code == 200, reply.text
        found: dict[str, Any] = reply.json()
        return found

    def get(self, path: str, headers: dict[str, str] | None = None) -> Any:
        reply = self.client.get(path, headers=headers)
        assert reply.status_code == 200, reply.text
        return reply


@pytest.fixture
def site(store_url: str) -> Iterator[Site]:
    store = open_store(store_url)
    app = make_app(Settings(store=store_url), store)
    yield Site(Bench(app), "sqlite" if store_url.startswith("sqlite") else "postgres")
    app.state.overviews.close()
    store.close()


class Counter:
    """Hears every statement; the rows that one statement writes are one."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    def listen(self, monkeypatch: pytest.MonkeyPatch, owner: type, method: str) -> None:
        plain = getattr(owner, method)

        def hear(link: Any, statement: str | bytes, *values: Any, **how: Any) -> Any:
            # News of a log goes out a moment later, in a thread of its own, whatever is asked.
            if threading.current_thread().name != SENDER:
                text = statement if isinstance(statement, str) else statement.decode()
                self.heard.extend(" ".join(each.split()) for each in text.split(";"))
            return plain(link, statement, *values, **how)

        monkeypatch.setattr(owner, method, hear)

    def run(self, do: Callable[..., T], *values: Any) -> tuple[list[str], T]:
        """Tell the statements that something takes, and what it returns."""
        self.heard.clear()
        found = do(*values)
        return self.heard.copy(), found


@pytest.fixture
def counter(monkeypatch: pytest.MonkeyPatch) -> Counter:
    made = Counter()
    made.listen(monkeypatch, SqliteConnection, "run")
    made.listen(monkeypatch, SqliteConnection, "insert")
    made.listen(monkeypatch, psycopg.Cursor, "execute")
    return made


def about_campaigns(statements: list[str]) -> list[str]:
    """Without those about records: whether one is remembered is a matter of time."""
    return [each for each in statements if "records " not in each]


def check_payloads(questions: list[dict[str, Any]], count: int) -> None:
    assert len(questions) == count
    for each in questions:
        assert each["payload"] == {"text": f"Is {each['task']} a cat?"}


@pytest.mark.parametrize("limit", [FEW, MANY])
def test_an_ask_takes_as_many_statements_for_fifty_as_for_one(
    site: Site, counter: Counter, limit: int
) -> None:
    campaign, headers = site.create(), site.headers()
    statements, reply = counter.run(site.ask, campaign, limit, headers)
    # The key, who is away, begin, where the log ends, whether it is archived, insert, commit;
    # PostgreSQL takes one statement for the last five.
    assert len(statements) == {"sqlite": 7, "postgres": 3}[site.kind], statements
    check_payloads(reply["assignments"], limit)


@pytest.mark.parametrize("limit", [FEW, MANY])
def test_a_retry_takes_no_more_statements_and_gets_the_same_payloads(
    site: Site, counter: Counter, limit: int
) -> None:
    campaign, headers = site.create(), site.headers(**{"Idempotency-Key": "once"})
    first = site.ask(campaign, limit, headers)
    check_payloads(first["assignments"], limit)
    campaign.tell(first["assignments"][0]["id"], "yes")
    statements, again = counter.run(site.ask, campaign, limit, headers)
    assert again == first
    # What is new in the log, and the reply: there is nothing to write.
    assert len(about_campaigns(statements)) == 2, statements


@pytest.mark.parametrize("limit", [FEW, MANY])
def test_a_retry_after_a_restart_gets_the_same_payloads(
    store_url: str, site: Site, limit: int
) -> None:
    campaign, headers = site.create(), site.headers(**{"Idempotency-Key": "once"})
    first = site.ask(campaign, limit, headers)
    store = open_store(store_url)
    other = Site(Bench(make_app(Settings(store=store_url), store)), site.kind)
    assert other.ask(campaign, limit, headers) == first
    store.close()


@pytest.mark.parametrize("out", [FEW, MANY])
def test_listing_what_is_out_takes_three_statements_however_much_that_is(
    site: Site, counter: Counter, out: int
) -> None:
    campaign, headers = site.create(), site.headers()
    campaign.ask(out)
    path = f"/campaigns/{campaign.name}/assignments"
    statements, reply = counter.run(site.get, path, headers)
    # The key, where the log ends (for the ETag), what is new in it.
    assert len(statements) == 3, statements
    check_payloads(reply.json()["items"], out)


@pytest.mark.parametrize("out", [FEW, MANY])
def test_the_workers_page_takes_four_statements_however_much_they_have_out(
    site: Site, counter: Counter, out: int
) -> None:
    campaign = site.create()
    campaign.ask(out)
    cookie = f"askwise_work_{campaign.name}={site.bench.token('w0')}"
    path = f"/work/{campaign.name}"
    statements, reply = counter.run(site.get, path, {"Cookie": cookie})
    # The token, what is new in the log, the times of that, who is away.
    assert len(statements) == 4, statements
    assert "a cat?" in reply.text


@pytest.mark.parametrize("out", [FEW, MANY])
def test_a_worker_who_takes_a_break_gives_all_back_in_one_transaction(
    site: Site, counter: Counter, out: int
) -> None:
    campaign = site.create()
    campaign.ask(out)
    visitor = site.bench.visitor("w0")
    visitor.look()
    statements, _ = counter.run(visitor.send, "away")
    assert campaign.assignments() == []
    # Begin, where the log ends, insert, commit (one statement in PostgreSQL), and what is new for
    # the page, with its times; in SQLite the absence is noted in a transaction as well.
    due = {"sqlite": 8, "postgres": 3}[site.kind]
    assert len(about_campaigns(statements)) == due, statements


@pytest.mark.parametrize("path", ["/campaigns", "/dashboard"])
@pytest.mark.parametrize("count", [FEW, MANY])
def test_a_list_of_campaigns_takes_as_many_statements_for_fifty_as_for_one(
    site: Site, counter: Counter, path: str, count: int
) -> None:
    headers = site.headers()
    secret = headers["Authorization"].split()[1]
    site.client.post("/login", data={"key": secret}, follow_redirects=False)
    made = [site.create(tasks=1).name for _ in range(count)]
    site.get(path, headers)  # A glance is worked out once.
    statements, reply = counter.run(site.get, path, headers)
    assert made[0] in reply.text
    # Which were put away, all names, where their logs end; the dashboard counts the others too.
    due = {"/campaigns": 3, "/dashboard": 5}[path]
    assert len(about_campaigns(statements)) == due, statements


@pytest.mark.parametrize(
    ("page", "due"), [("decisions", 7), ("tasks", 6), ("live", 14), ("task?id=t0", 9)]
)
def test_a_page_of_the_dashboard_takes_as_many_statements_for_a_long_table_as_for_a_short_one(
    site: Site, counter: Counter, page: str, due: int
) -> None:
    secret, _ = site.service.identities.issue("owner", "the owner")
    site.client.post("/login", data={"key": secret}, follow_redirects=False)
    for rows in (FEW, MANY):
        # A task's own page shows its answers, of which each is another worker's.
        size = {"tasks": 1, "workers": rows} if page.startswith("task?") else {"tasks": rows}
        campaign = site.create(**size)
        for each in campaign.ask(2 * MANY):
            campaign.tell(each.id, "yes")
        path = f"/dashboard/{campaign.name}/{page}"
        site.get(path)  # What is worked out once for all who look is no matter here.
        statements, _ = counter.run(site.get, path)
        assert len(statements) == due, (rows, statements)
