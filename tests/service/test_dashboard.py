"""The dashboard as a browser without JavaScript sees it."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from html import unescape
from html.parser import HTMLParser
from typing import Any

import pytest
from starlette.testclient import TestClient

from askwise.campaign import Campaign
from askwise.core.choices import Batch
from askwise.core.problem import Task, Worker
from askwise.service.app import make_app
from askwise.service.pages import filters as looks
from askwise.service.settings import Settings
from askwise.service.state import ServiceState

NASTY = "<script>alert(1)</script>\"'&"
TURNED = NASTY + "\u202eevil\n\t\x07"
"""Not for ids, which are printable: for payloads, contexts and labels."""


class Site:
    """A service in memory and a browser that is signed in to it."""

    def __init__(self, client: TestClient, service: ServiceState) -> None:
        self.client = client
        self.service = service

    def sign_in(self, role: str = "owner") -> None:
        secret, _ = self.service.identities.issue(role, f"the {role}")
        self.client.cookies.clear()
        reply = self.client.post("/login", data={"key": secret}, follow_redirects=False)
        assert reply.status_code == 303

    def create(self, name: str = "cats", **fields: Any) -> Campaign:
        given: dict[str, Any] = {
            "workers": [Worker("ann", "0.10"), Worker("bob", "0.25")],
            "tasks": [Task("t1", payload="A cat?"), Task("t2"), Task("t3")],
            "options": ["yes", "no"],
            "budget": "10",
            "policy": "random-pairs",
            "seed": 1,
        }
        given.update(fields)
        Campaign.create(store=self.service.campaigns.store, name=name, **given)
        return self.service.campaigns.get(name)

    def page(self, path: str, status: int = 200) -> str:
        reply = self.client.get(path)
        assert reply.status_code == status, reply.text
        return reply.text

    def send(self, form: Form, **typed: str) -> Any:
        """Send a form as it is on the page, with these fields filled in."""
        return self.client.post(form.action, data={**form.fields, **typed}, follow_redirects=False)


class Form:
    """A form of a page: where it goes and what it holds."""

    def __init__(self, action: str) -> None:
        self.action = action
        self.fields: dict[str, str] = {}


class _Forms(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[Form] = []
        self.inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "form":
            self.found.append(Form(given["action"] or ""))
            self.inside = True
        if tag == "input" and self.inside and given.get("type") == "hidden":
            self.found[-1].fields[given["name"] or ""] = given.get("value") or ""

    def handle_endtag(self, tag: str) -> None:
        self.inside = self.inside and tag != "form"


def form_of(page: str, action: str) -> Form:
    """The form of a page that goes there."""
    parser = _Forms()
    parser.feed(page)
    return next(form for form in parser.found if form.action.endswith(action))


def words_of(page: str) -> str:
    """What a page says, without its tags and on one line."""
    return " ".join(re.sub(r"<[^>]+>", " ", page).split())


@pytest.fixture
def site() -> Iterator[Site]:
    app = make_app(Settings(store="memory", address="http://testserver", private_hooks=True))
    with TestClient(app) as client:
        made = Site(client, app.state.service)
        made.sign_in()
        yield made


def work(campaign: Campaign, *values: float | str) -> None:
    """Ask for one answer after the other."""
    for value in values:
        batch = campaign.ask()
        assert isinstance(batch, Batch)
        campaign.tell(batch[0].id, value)


# All campaigns.


def test_nobody_sees_anything_without_signing_in(site: Site) -> None:
    site.create()
    site.client.cookies.clear()
    for path in ("/dashboard", "/dashboard/cats", "/dashboard/cats/live", "/dashboard/-/keys"):
        reply = site.client.get(path, follow_redirects=False)
        assert (reply.status_code, reply.headers["location"]) == (303, f"/login?next={path}")


def test_campaigns_are_listed_with_state_money_and_progress(site: Site) -> None:
    running, paused = site.create("b-running"), site.create("c-paused")
    site.create("a-done", workers=[Worker("ann", "0.10", limit=1)], tasks=["t"])
    work(running, "yes")
    running.close("t3")
    paused.pause()
    work(site.service.campaigns.get("a-done"), "no")
    said = words_of(site.page("/dashboard"))
    spent = running.status().spent
    assert re.search(r"a-done random-pairs Done 0\.10 of 10\.00 0 of 1 1 0", said)
    assert f"b-running random-pairs Running {spent:.2f} of 10.00 1 of 3 1 0" in said
    assert "c-paused random-pairs Paused 0.00 of 10.00 0 of 3 0 0" in said


def test_a_campaign_that_is_done_says_so_and_why(site: Site) -> None:
    campaign = site.create(tasks=["t"], workers=[Worker("ann", "0.10")])
    assert "Running" in words_of(site.page("/dashboard/cats"))
    work(campaign, "yes")
    said = words_of(site.page("/dashboard/cats"))
    done = campaign.over()
    assert done is not None
    why = looks.WHY_DONE[done.why]
    assert f"Done random-pairs · {why}" in said
    assert f"over {why}" in said


def test_a_long_list_has_pages(site: Site) -> None:
    for at in range(26):
        site.create(f"c{at:02}", tasks=["t"])
    first, second = site.page("/dashboard"), site.page("/dashboard?page=2")
    assert "/dashboard/c24" in first
    assert "/dashboard/c25" not in first
    assert "1–25 of 26 campaigns" in first
    assert "/dashboard/c25" in second


def test_an_empty_service_says_how_to_begin(site: Site) -> None:
    assert "Make the first one" in site.page("/dashboard")
    site.sign_in("viewer")
    assert "Make the first one" not in site.page("/dashboard")


def test_a_campaign_is_made_of_toml_once_however_often_the_form_is_sent(site: Site) -> None:
    form = form_of(site.page("/dashboard/-/new"), "/new")
    toml = (
        'budget = "5"\r\noptions = ["a", "b"]\r\npolicy = "random-pairs"\r\ntasks = ["t"]\r\n'
        'workers = [{id = "w", price = "0.1"}]\r\n'
    )
    first, second = site.send(form, toml=toml), site.send(form, toml=toml)
    assert first.status_code == second.status_code == 303
    assert first.headers["location"] == second.headers["location"]
    (name,) = site.service.campaigns.store.names()
    assert first.headers["location"] == f"/dashboard/{name}?done=made"
    assert "The campaign is there." in site.page(first.headers["location"])


def test_the_example_in_the_form_is_a_campaign(site: Site) -> None:
    page = site.page("/dashboard/-/new")
    example = unescape(page.split("<textarea")[1].split(">", 1)[1].split("</textarea>")[0])
    reply = site.send(form_of(page, "/new"), toml=example)
    assert reply.headers["location"] == "/dashboard/cats?done=made"


def test_what_is_wrong_with_a_campaign_is_said_above_what_was_typed(site: Site) -> None:
    form = form_of(site.page("/dashboard/-/new"), "/new")
    for toml, reason in (
        ("name = ", "Invalid value"),
        ('name = "x y"', "name"),
        ('workers = []\npolicy = "no-such"\noptions = ["a", "b"]\ntasks = ["t"]', "no-such"),
    ):
        reply = site.send(form, toml=toml)
        assert reply.status_code in (400, 422)
        alert = re.search(r'role="alert">([^<]+)', reply.text)
        assert alert is not None
        assert reason in alert[1]
        assert words_of(toml).replace('"', "&#34;") in words_of(reply.text)
    assert site.service.campaigns.store.names() == []


# Keys.


def test_a_key_is_shown_once_works_and_is_revoked_at_once(site: Site) -> None:
    form = form_of(site.page("/dashboard/-/keys"), "/keys")
    made = site.send(form, label="Ann <3", role="viewer", days="2")
    again = site.send(form, label="Ann <3", role="viewer", days="2")
    secret = re.search(r"awv_[\w-]+", made.text)
    assert secret is not None
    assert secret[0] in again.text
    listed = site.page("/dashboard/-/keys")
    assert secret[0] not in listed
    assert listed.count("Ann &lt;3</bdi>") == 1
    bearer = {"Authorization": f"Bearer {secret[0]}"}
    assert site.client.get("/campaigns", headers=bearer).status_code == 200
    key = site.service.identities.find(secret[0])
    gone = site.send(form_of(listed, f"{key.id}/revoke"))
    assert gone.headers["location"] == "/dashboard/-/keys?done=key-revoked"
    assert site.client.get("/campaigns", headers=bearer).status_code == 401


def test_keys_are_the_owners_affair(site: Site) -> None:
    form = form_of(site.page("/dashboard/-/keys"), "/keys")
    for role in ("requester", "viewer"):
        site.sign_in(role)
        assert "Keys" not in words_of(site.page("/dashboard"))
        site.page("/dashboard/-/keys", 403)
        assert site.send(form, label="x", role="owner").status_code == 403
    labels = [each.label for each in site.service.identities.keys()]  # noqa: SIM118
    assert "x" not in labels


def test_a_key_of_no_role_is_refused_with_what_was_typed_kept(site: Site) -> None:
    form = form_of(site.page("/dashboard/-/keys"), "/keys")
    reply = site.send(form, label="somebody", role="worker")
    assert reply.status_code == 422
    assert 'value="somebody"' in reply.text


def test_a_campaign_may_be_called_keys(site: Site) -> None:
    reply = site.client.get("/dashboard/keys", follow_redirects=False)
    assert reply.headers["location"] == "/dashboard/-/keys"
    site.create("keys")
    assert "random-pairs" in site.page("/dashboard/keys")


# One campaign.


def test_the_overview_adds_up(site: Site) -> None:
    campaign = site.create(workers=[Worker("ann", "0.10"), Worker("bob", "0.10")])
    work(campaign, "yes", "yes", "no", "yes")
    campaign.ask()
    said = words_of(site.page("/dashboard/cats"))
    assert "Spent 0.40 of 10.00 spent 4% · reserved 0.10 · left 9.50" in said
    assert "Answers 4 1 out · 5 decisions" in said
    assert "Tasks settled 0 of 3 3 open · 2 workers" in said


def test_savings_are_counted_against_a_number_of_ones_own(site: Site) -> None:
    campaign = site.create(workers=[Worker("ann", "0.10"), Worker("bob", "0.10")])
    work(campaign, "yes", "yes", "no", "yes")
    asked = {event.task for event in campaign.log() if event.kind.name == "ANSWER"}
    # At 0.10 an answer, five answers to each task that was answered would have cost
    # 0.50 a task; four answers were 0.40.
    saved = f"{0.5 * len(asked) - 0.4:.2f}"
    said = words_of(site.page("/dashboard/cats?fixed=5"))
    assert f"Saved {saved}" in said
    assert f"against 5 answers to each of {len(asked)} tasks" in said
    for odd in ("0", "-3", "x", "9999999"):
        assert "Saved –" in words_of(site.page(f"/dashboard/cats?fixed={odd}"))


def test_pausing_resuming_and_stopping(site: Site) -> None:
    campaign = site.create()
    reply = site.send(form_of(site.page("/dashboard/cats"), "/pause"))
    assert (reply.status_code, campaign.status().state) == (303, "paused")
    page = site.page(reply.headers["location"])
    assert "Paused: nothing is handed out" in page
    reply = site.send(form_of(page, "/resume"))
    assert (reply.status_code, campaign.status().state) == (303, "running")
    confirm = form_of(site.page("/dashboard/cats/stop"), "/stop")
    assert site.send(confirm).status_code == 422
    assert campaign.status().state == "running"
    assert site.send(confirm, sure="yes").status_code == 303
    assert campaign.status().state == "stopped"
    page = site.page("/dashboard/cats")
    assert "/pause" not in page
    assert "Stopped" in page


def test_a_form_sent_twice_tops_up_once_and_with_another_amount_again(site: Site) -> None:
    campaign = site.create()
    form = form_of(site.page("/dashboard/cats/manage"), "/top-up")
    for amount in ("2.50", "2.50", "1"):
        reply = site.send(form, amount=amount)
        assert reply.headers["location"] == "/dashboard/cats/manage?done=topped-up"
    assert str(campaign.status().budget) == "13.5"


def test_a_bad_amount_is_said_and_changes_nothing(site: Site) -> None:
    campaign = site.create()
    form = form_of(site.page("/dashboard/cats/manage"), "/top-up")
    for amount in ("", "-1", "1e400", "0.0000001", "many", NASTY):
        reply = site.send(form, amount=amount)
        assert reply.status_code == 422
        assert "amount" in reply.text.split('role="alert">')[1].split("<")[0]
        assert "<script>alert" not in reply.text
    assert str(campaign.status().budget) == "10"


def test_tasks_are_added_by_id_and_as_json_all_or_none(site: Site) -> None:
    campaign = site.create()
    form = form_of(site.page("/dashboard/cats/manage"), "/add")
    text = 'a new one\r\n\r\n{"id": "t5", "payload": {"text": "Dog?"}}\r\n'
    assert site.send(form, tasks=text).status_code == 303
    assert campaign.status().tasks == 5
    assert campaign.task("t5").payload == {"text": "Dog?"}
    for bad, reason in (("t6\nt1", "t1"), ('{"id": 3}', "line 1"), ("t7\n{", "line 2")):
        reply = site.send(form, tasks=bad)
        assert reply.status_code in (409, 422)
        assert reason in reply.text.split('role="alert">')[1].split("</p>")[0]
    assert campaign.status().tasks == 5


def test_a_workers_link_is_shown_once_and_can_be_revoked(site: Site) -> None:
    campaign = site.create()
    form = form_of(site.page("/dashboard/cats/manage"), "/invite")
    made = site.send(form, worker="carol", price="0.30", limit="4", days="7")
    again = site.send(form, worker="carol", price="0.30", limit="4", days="7")
    link = re.search(r"http://testserver/join/(aww_[\w-]+)", made.text)
    assert link is not None
    assert link[0] in again.text
    assert campaign.status().workers == 3
    identity = site.service.identities.find(link[1])
    assert (identity.campaign, identity.worker) == ("cats", "carol")
    listed = site.page("/dashboard/cats/manage")
    assert link[1] not in listed
    reply = site.send(form_of(listed, f"{identity.id}/revoke"))
    assert reply.headers["location"] == "/dashboard/cats/manage?done=token-revoked"
    assert site.service.identities.known(link[1]) is None


def test_somebody_unknown_is_invited_only_with_a_price(site: Site) -> None:
    site.create()
    form = form_of(site.page("/dashboard/cats/manage"), "/invite")
    reply = site.send(form, worker="carol")
    assert reply.status_code == 404
    assert 'value="carol"' in reply.text
    assert site.service.identities.tokens("cats") == []


def test_the_bidding_is_closed_by_a_button_and_no_bid_is_shown_before(site: Site) -> None:
    policy = {"name": "ccb-fixed", "qualities": [0.8] * 4, "alpha": 0.15, "solver": "exact"}
    campaign = site.create(
        workers=[Worker(name, 5) for name in ("ann", "bob", "cleo", "dan")],
        tasks=["t"],
        policy=policy,
        mechanism={"name": "clarke", "c_max": 20},
        budget=None,
    )
    campaign.bid("dan", "7.125")
    page = site.page("/dashboard/cats")
    assert "7.125" not in page
    assert "sealed" in page
    site.sign_in("viewer")
    assert "/begin" not in site.page("/dashboard/cats")
    site.sign_in("requester")
    reply = site.send(form_of(site.page("/dashboard/cats"), "/begin"))
    page = site.page(reply.headers["location"])
    assert "The bidding is closed" in page
    assert "/begin" not in page
    assert campaign.status().pending == 1


def test_a_task_shows_votes_and_answers_and_is_closed_or_told_the_truth(site: Site) -> None:
    campaign = site.create(tasks=[Task("a b/c?&", payload={"html": NASTY}, context="odd")])
    work(campaign, "yes", "no")
    listed = site.page("/dashboard/cats/tasks")
    link = re.search(r'/dashboard/cats/task\?id=[^"]+', listed)
    assert link is not None
    page = site.page(link[0])
    said = words_of(page)
    assert "yes 1 no 1" in said
    assert "Context odd" in said
    assert len(re.findall(r"/dashboard/cats/asked/\d+", page)) == 2
    told = site.send(form_of(page, "/truth"), option="no")
    page = site.page(told.headers["location"])
    assert "The truth is noted." in page
    assert "Truth no" in words_of(page)
    closed = site.send(form_of(page, "/close"))
    page = site.page(closed.headers["location"])
    assert "Outcome closed by hand" in words_of(page)
    assert "/close" not in page
    assert campaign.answers()[0].outcome == "closed"


def test_a_refused_truth_is_said_on_the_tasks_page(site: Site) -> None:
    site.create()
    form = form_of(site.page("/dashboard/cats/task?id=t1"), "/truth")
    reply = site.send(form, option="perhaps")
    assert reply.status_code == 422
    assert "perhaps" in reply.text.split('role="alert">')[1].split("<")[0]


def test_a_decision_is_explained(site: Site) -> None:
    campaign = site.create()
    work(campaign, "yes")
    page = site.page("/dashboard/cats/decisions")
    link = re.search(r"/dashboard/cats/asked/\d+", page)
    assert link is not None
    said = words_of(site.page(link[0]))
    assert "Why ann was asked" in said or "Why bob was asked" in said
    assert "gives the same decision" in said
    assert "Who could have been asked" in said
    site.page("/dashboard/cats/asked/999", 404)


def test_decisions_come_newest_first_in_pages(site: Site) -> None:
    campaign = site.create(tasks=[f"t{at}" for at in range(20)])
    work(campaign, *["yes"] * 30)
    first = re.findall(r"asked/(\d+)", site.page("/dashboard/cats/decisions"))
    second = re.findall(r"asked/(\d+)", site.page("/dashboard/cats/decisions?page=2"))
    numbers = [int(each) for each in first + second]
    asked = [event.seq for event in campaign.log() if event.kind.name == "ASKED"]
    assert numbers == asked[::-1]
    assert (len(first), len(second)) == (25, 5)


def test_workers_are_sorted_by_a_column_in_pages(site: Site) -> None:
    prices = {f"w{at:02}": f"0.{10 + at * 7 % 30}" for at in range(30)}
    site.create(workers=[Worker(name, price) for name, price in prices.items()], budget="100")
    rank = sorted(prices, key=lambda name: prices[name])
    for down, wanted in ((True, rank[::-1]), (False, rank)):
        shown = []
        for number in (1, 2):
            page = site.page(f"/dashboard/cats/workers?sort=price&down={down}&page={number}")
            shown += re.findall(r'<bdi class="id">(w\d+)</bdi>', page)
        assert shown == wanted
    assert 'aria-sort="descending"' in site.page("/dashboard/cats/workers?sort=nonsense")


def test_tasks_come_least_sure_first_and_by_outcome(site: Site) -> None:
    names = ["sure", "split", "none"]
    campaign = site.create(
        tasks=names, workers=[Worker(f"w{at}", "0.10") for at in range(4)], budget="100"
    )
    said = {"sure": iter(["yes"] * 4), "split": iter(["yes", "no"] * 2)}
    campaign.close("none")
    work_on = 0
    while work_on < 8:
        batch = campaign.ask()
        assert isinstance(batch, Batch)
        campaign.tell(batch[0].id, next(said[str(batch[0].task)]))
        work_on += 1

    def order(query: str) -> list[str]:
        page = site.page(f"/dashboard/cats/tasks{query}")
        return re.findall(r'task\?id=(\w+)"', page)

    assert order("") == ["split", "sure", "none"]
    assert order("?sort=sure") == ["sure", "split", "none"]
    assert order("?sort=added") == names
    assert order("?outcome=closed") == ["none"]
    assert order("?outcome=nonsense&sort=nonsense") == ["split", "sure", "none"]


def test_a_viewer_looks_and_changes_nothing(site: Site) -> None:
    campaign = site.create()
    work(campaign, "yes")
    forms = {
        path: form_of(site.page(page), path)
        for page, path in (
            ("/dashboard/cats", "/pause"),
            ("/dashboard/cats/stop", "/stop"),
            ("/dashboard/cats/manage", "/top-up"),
            ("/dashboard/cats/task?id=t1", "/close"),
        )
    }
    before = campaign.status()
    site.sign_in("viewer")
    for path in ("", "/tasks", "/workers", "/decisions", "/task?id=t1"):
        page = site.page(f"/dashboard/cats{path}")
        assert 'method="post"' not in page.replace('method="post" action="/logout"', "")
        assert "/manage" not in page
    for path in ("/manage", "/hooks", "/stop"):
        site.page(f"/dashboard/cats{path}", 403)
    own = form_of(site.page("/dashboard"), "/logout").fields
    for form in forms.values():
        form.fields.update(csrf=own["csrf"])
        assert site.send(form, sure="yes", amount="1").status_code == 403
    assert campaign.status() == before


def test_forms_of_others_are_refused(site: Site) -> None:
    campaign = site.create()
    form = form_of(site.page("/dashboard/cats"), "/pause")
    elsewhere = {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}
    reply = site.client.post(form.action, data=form.fields, headers=elsewhere)
    assert reply.status_code == 403
    assert site.client.post(form.action, data={**form.fields, "csrf": "0"}).status_code == 403
    assert site.client.post(form.action, data={"csrf": form.fields["csrf"]}).status_code == 422
    assert campaign.status().state == "running"


def test_notices_come_from_a_table_and_never_from_the_address(site: Site) -> None:
    site.create()
    assert "Running again." in site.page("/dashboard/cats?done=resumed")
    for odd in ("evil words", NASTY, "__class__"):
        page = site.client.get("/dashboard/cats", params={"done": odd}).text
        assert 'class="notice"' not in page
        assert "evil words" not in page


def test_webhooks_are_made_tested_and_removed(site: Site) -> None:
    site.create()
    page = site.page("/dashboard/cats/hooks")
    form = form_of(page, "/hooks")
    bad = site.send(form, url="ftp://x.example", **{"task.closed": "yes"})
    assert bad.status_code == 422
    assert 'value="ftp://x.example"' in bad.text
    made = site.send(form, url="http://127.0.0.1:9/x?y=z", label="ours", **{"task.closed": "yes"})
    secret = re.search(r"awh_[\w-]+", made.text)
    assert secret is not None
    page = site.page("/dashboard/cats/hooks")
    assert secret[0] not in page
    assert "When a task is closed." in words_of(page)
    (hook,) = site.service.webhooks.list("cats")
    assert site.send(form_of(page, "/test")).headers["location"].endswith("hook-tested")
    page = site.page("/dashboard/cats/hooks")
    assert len(site.service.webhooks.deliveries(hook.id)) == 1
    assert site.send(form_of(page, "/end")).headers["location"].endswith("hook-removed")
    assert site.service.webhooks.list("cats") == []


# Live.


@pytest.fixture
def one_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time stands still: forecasts are of the minute, and so are the parts that show them."""
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now)


@pytest.mark.usefixtures("one_moment")
def test_the_live_part_is_sent_again_only_when_the_log_has_moved(site: Site) -> None:
    campaign = site.create()
    for query in ("", "?of=tasks", "?of=workers&sort=paid", "?of=decisions", "?of=nothing"):
        reply = site.client.get(f"/dashboard/cats/live{query}")
        tag = {"If-None-Match": reply.headers["etag"]}
        again = site.client.get(f"/dashboard/cats/live{query}", headers=tag)
        assert (again.status_code, again.content) == (304, b"")
        assert 'name="csrf"' in reply.text
        work(campaign, "yes")
        moved = site.client.get(f"/dashboard/cats/live{query}", headers=tag)
        assert moved.status_code == 200
        assert "<html" not in moved.text


def tags_of(text: str) -> dict[str, str]:
    return dict(re.findall(r'id="part-(\w+)" data-tag="(\w+)"', text))


@pytest.mark.usefixtures("one_moment")
def test_only_what_has_changed_has_another_tag(site: Site) -> None:
    campaign = site.create()
    page = site.page("/dashboard/cats?done=x")
    first = tags_of(page)
    assert tags_of(site.client.get("/dashboard/cats/live").text) == first
    assert set(first) == {"head", "numbers", "charts", "contested", "workers", "decisions"}
    campaign.top_up("5")
    second = tags_of(site.page("/dashboard/cats?done=x"))
    changed = {name for name in first if first[name] != second[name]}
    assert changed == {"head", "numbers", "charts"}


def test_pages_renew_themselves_without_scripts_and_are_live_with_them(site: Site) -> None:
    site.create()
    for path in ("", "/tasks", "/workers", "/decisions"):
        page = site.page(f"/dashboard/cats{path}")
        assert '<noscript><meta http-equiv="refresh" content="15"></noscript>' in page
        live = re.search(r'data-live="([^"]+)"', page)
        assert live is not None
        assert site.client.get(live[1].replace("&amp;", "&")).status_code == 200


# Every page.


def pages(site: Site) -> Iterator[str]:
    yield from (site.page(path) for path in ("/dashboard", "/dashboard/-/new", "/dashboard/-/keys"))
    for name in site.service.campaigns.store.names():
        for path in ("", "/tasks", "/workers", "/decisions", "/manage", "/hooks", "/stop"):
            yield site.page(f"/dashboard/{name}{path}")
        for event in site.service.campaigns.get(name).log():
            if event.kind.name == "ASKED":
                yield site.page(f"/dashboard/{name}/asked/{event.seq}")
            if event.kind.name == "ASKED" and event.task is not None:
                reply = site.client.get(f"/dashboard/{name}/task", params={"id": event.task})
                yield reply.text


def test_hostile_names_and_payloads_are_shown_as_text_under_a_strict_policy(site: Site) -> None:
    campaign = site.create(
        workers=[Worker(NASTY, "0.1"), Worker("w" * 200, "0.1")],
        tasks=[
            Task(NASTY, payload=TURNED, context=TURNED),
            Task("t" * 200, payload={"text": TURNED * 1000}),
        ],
        options=[NASTY, "o" * 200],
    )
    work(campaign, NASTY, "o" * 200, NASTY)
    site.service.identities.issue("viewer", TURNED)
    site.service.identities.issue("worker", NASTY, campaign="cats", worker=NASTY)
    site.service.webhooks.make(f"http://127.0.0.1:9/{'x' * 500}", ["task.closed"], label=TURNED)
    for page in pages(site):
        assert "<script>alert" not in page
        assert not re.search(r"<[^>]+\son\w+=", page)
        assert not re.search(r"<[^>]+\sstyle=", page)
        assert "<style" not in page
        assert re.findall(r"<script[^>]*>", page) == [
            tag for tag in re.findall(r"<script[^>]*>", page) if 'src="/static/' in tag
        ]
    policy = site.client.get("/dashboard/cats").headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


def test_campaigns_without_tasks_cap_workers_or_answers_have_pages(site: Site) -> None:
    units = site.create(
        "units", tasks=None, options=None, outcome={"kind": "utility", "low": -5, "high": 5},
        policy="uniform",
    )  # fmt: skip
    work(units, -2.5, 4)
    site.create("no-cap", budget=None)
    rated = site.create("rated", options=None, outcome="utility", policy="uniform")
    work(rated, 0.5)
    site.create("nobody", workers=[], budget=None)
    names = site.service.campaigns.store.names()
    said = {name: words_of(site.page(f"/dashboard/{name}")) for name in names}
    assert "Utility 1.5" in said["units"]
    assert "no cap" in said["no-cap"]
    assert "Nobody has joined yet." in said["nobody"]
    assert "No answer yet." in said["no-cap"]
    assert sum(1 for _ in pages(site)) > 30


def test_a_name_that_is_none_is_not_found(site: Site) -> None:
    site.page("/dashboard/nothing", 404)
    site.page("/dashboard/..%2fkeys", 404)
    site.create()
    site.page("/dashboard/cats/task?id=nothing", 404)
    site.page("/dashboard/cats/export/nothing", 404)
