"""A campaign's page, and what is done there: pausing, topping up, inviting, webhooks."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from typing import Any

import pytest

from askwise.core.events import Kind
from askwise.core.problem import Worker
from askwise.service.dashboard.overview import Overviews
from tests.policies.wanting import wanting
from tests.service.dashboard.site import NASTY, Site, form_of, words_of, work


def test_the_overview_adds_up(site: Site) -> None:
    campaign = site.create(workers=[Worker("ann", "0.10"), Worker("bob", "0.10")])
    work(campaign, "yes", "yes", "no", "yes")
    campaign.ask()
    said = words_of(site.page("/dashboard/cats"))
    assert "Spent 0.40 of 10.00 spent 4% · reserved 0.10 · left 9.50" in said
    assert "Answers 4 1 open question · 5 decisions" in said
    assert "Tasks settled 0 of 3 3 not settled · 2 workers" in said


def test_numbers_of_before_the_last_events_are_said_to_be_old(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was worked out when somebody last looked is shown at once, and renewed meanwhile."""
    campaign = site.create()
    work(campaign, "yes")
    assert "Updating" not in site.page("/dashboard/cats")
    overviews: Overviews = site.client.app.state.overviews  # type: ignore[attr-defined]
    facts = overviews.facts("cats")
    work(campaign, "no")
    monkeypatch.setattr(overviews, "facts", lambda name, now=False: facts)
    assert "Updating" not in site.page("/dashboard/cats")  # of a moment ago
    facts = replace(facts, time=time.time() - 3600)
    said = words_of(site.page("/dashboard/cats"))
    assert "Updating: results, tasks, workers and charts are from" in said
    assert "before the last 3 events." in said


def test_the_page_says_which_policy_was_chosen_and_why(site: Site) -> None:
    site.create(policy="auto", workers=[Worker(NASTY, 1), Worker("bob", 2)])
    said = words_of(site.page("/dashboard/cats"))
    assert (
        "The policy was chosen automatically. hem: labels from several workers of unknown skill; "
        "ends when the budget is spent." in said
    )
    site.create("named")
    assert "chosen automatically" not in site.page("/dashboard/named")


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
    assert "Paused: nobody is asked" in page
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


@pytest.mark.parametrize(
    ("address", "said"), [("http://127.0.0.1:8000", True), ("https://ask.example.org", False)]
)
def test_a_link_that_works_on_this_computer_only_is_said_to(
    site: Site, monkeypatch: pytest.MonkeyPatch, address: str, said: bool
) -> None:
    site.create()
    form = form_of(site.page("/dashboard/cats/manage"), "/invite")
    changed = replace(site.service.settings, address=address)
    monkeypatch.setattr(site.service, "settings", changed)
    made = site.send(form, worker="carol", price="0.30")
    assert ("work on this computer only" in made.text) is said
    assert ("<code>--host</code>" in made.text) is said


def test_somebody_unknown_is_invited_only_with_a_price(site: Site) -> None:
    site.create()
    form = form_of(site.page("/dashboard/cats/manage"), "/invite")
    reply = site.send(form, worker="carol")
    assert reply.status_code == 422
    assert "price is empty: give a price for the new worker &#39;carol&#39;" in reply.text
    assert re.search(r'<input id="price" [^>]*aria-invalid="true"', reply.text)
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


def test_webhooks_are_made_tested_and_removed(site: Site) -> None:
    site.create()
    page = site.page("/dashboard/cats/hooks")
    form = form_of(page, "/hooks")
    bad = site.send(form, url="ftp://x.example", **{"task.closed": "yes"})
    assert bad.status_code == 422
    assert 'value="ftp://x.example"' in bad.text
    made = site.send(form, url="http://127.0.0.1:9/x?y=z", label="ours", **{"task.closed": "yes"})
    secret = re.search(r"whsec_[\w+/=]+", made.text)
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


def test_a_campaign_that_is_sure_by_agreement_alone_says_so_and_how_to_do_better(
    site: Site,
) -> None:
    with wanting():
        tasks = [f"t{at}" for at in range(60)]
        campaign = site.create(tasks=tasks, policy="wanting", workers=[Worker("ann", "0.10")])
        said = words_of(site.page("/dashboard/cats"))
        assert "Too few truths are known for confidences to be probabilities." in said
        assert "Reveal the truth of 50 tasks drawn at random" in said
        work(campaign, *["yes"] * 60)
        page = site.page("/dashboard/cats")
        said = words_of(page)
        assert "Done wanting · sure enough by agreement alone" in said
        assert "Sure enough by agreement alone. No truths were told" in said
        (need,) = campaign.status().needs_gold
        notice = page.split("confidences become probabilities: ")[1].split("</p>")[0]
        assert re.findall(r"task\?id=(\w+)", notice) == list(need.tasks)
        assert "the next are named here as you go on" in notice


def test_the_page_says_when_assurance_has_failed_and_which_audits_are_due(site: Site) -> None:
    policy = {"name": "ccb-ns", "floor": 0.95, "truth": "audited", "audits": 1.0, "alarm": 0.5}
    campaign = site.create(tasks=["t1", "t2"], policy=policy, workers=[Worker("ann", "0.10")])
    assert "No alarm: no answer that was assured has been audited yet." in words_of(
        site.page("/dashboard/cats")
    )
    work(campaign, "no")
    page = site.page("/dashboard/cats")
    said = words_of(page)
    assert "Drawn at random for audits that are due: reveal the truth of t1" in said
    due = page.split("audits that are due")[1].split("</p>")[0]
    assert re.findall(r"task\?id=(\w+)", due) == ["t1"]
    campaign.truth("t1", "yes")
    said = words_of(site.page("/dashboard/cats"))
    assert "Assurance has failed after 1 task: of 1 audited answer that was assured" in said
    work(campaign, "no")
    last = [event.seq for event in campaign.log() if event.kind == Kind.ASKED][-1]
    assert "Assurance has failed" in words_of(site.page(f"/dashboard/cats/asked/{last}"))


def test_a_worker_is_invited_with_a_kind_and_a_family(site: Site) -> None:
    campaign = site.create()
    form = form_of(site.page("/dashboard/cats/manage"), "/invite")
    typed = {"worker": "gpt", "price": "0.01", "kind": "model", "family": " maker "}
    assert "http://testserver/join/aww_" in site.send(form, **typed).text
    (joined,) = (event for event in campaign.log() if event.kind == Kind.JOINED)
    assert joined.workers == ({"id": "gpt", "price": "0.01", "kind": "model", "family": "maker"},)


def test_a_worker_may_be_invited_without_a_kind_and_a_family(site: Site) -> None:
    campaign = site.create()
    form = form_of(site.page("/dashboard/cats/manage"), "/invite")
    site.send(form, worker="carol", price="0.30", kind="", family="  ")
    (joined,) = (event for event in campaign.log() if event.kind == Kind.JOINED)
    assert joined.workers == ({"id": "carol", "price": "0.3"},)


def test_a_kind_that_is_none_is_refused_with_what_was_typed_kept(site: Site) -> None:
    campaign = site.create()
    form = form_of(site.page("/dashboard/cats/manage"), "/invite")
    reply = site.send(form, worker="r2", price="0.30", kind="robot", family="droids")
    assert reply.status_code == 422
    assert "kind is robot: give person, model, crowd" in words_of(reply.text)
    assert 'value="droids"' in reply.text
    reply = site.send(form, worker="r2", price="0.30", kind="model", family="x" * 201)
    assert reply.status_code == 422
    assert "family" in reply.text.split('role="alert">')[1].split("<")[0]
    assert re.search(r'<option value="model" selected>', reply.text)
    assert campaign.status().workers == 2


CERTIFIED: dict[str, Any] = {
    "workers": [Worker("ann", "0.10"), Worker("vet", "0.20", trusted=True)],
    "tasks": [f"t{at}" for at in range(8)],
    "certify": {"error": 0.3, "confidence": 0.9, "by": ["vet"]},
}


def test_the_overview_says_what_audits_may_cost(site: Site) -> None:
    site.create(**CERTIFIED)
    said = words_of(site.page("/dashboard/cats"))
    assert "Certificate Nothing is certified yet" in said
    assert "0 of at most 10 audits by vet" in said
    assert "2.00 kept back for them" in said


def test_the_overview_and_the_tasks_say_what_is_certified(site: Site) -> None:
    # No page is looked at before: it would be shown again for a while.
    campaign = site.create(**CERTIFIED)
    while batch := campaign.ask():
        campaign.tell(batch[0].id, "yes")
    said = words_of(site.page("/dashboard/cats"))
    assert f"Certificate {campaign.certificate().statement}" in said
    assert "certified, as far as the audits allow" in said
    assert "8 labels certified, 0 not" in said
    assert "Certificate certified" in words_of(site.page("/dashboard/cats/task?id=t0"))


def test_a_new_campaign_lists_the_first_steps_until_somebody_is_asked(site: Site) -> None:
    campaign = site.create(workers=[Worker("ann", "0.10"), Worker("gpt", "0.01", kind="model")])
    page = site.page("/dashboard/cats")
    said = words_of(page)
    assert "Before the first answer" in said
    assert "✓ Add tasks (done) 3 tasks · Add more" in said
    assert "○ Invite people (to do) 1 person, 0 with a link · Create link" in said
    assert "○ Let the judges run (to do) 1 judge: start the service with" in said
    assert "✓ Set the budget (done) 10.00 may be spent · Top up" in said
    assert "part-charts" not in page
    for place in re.findall(r'href="(/dashboard/cats/manage)#([\w-]+)"', page):
        assert f'id="{place[1]}"' in site.page(place[0])
    site.service.identities.issue("worker", "ann", campaign="cats", worker="ann")
    assert "✓ Invite people (done) 1 person, 1 with a link" in words_of(
        site.page("/dashboard/cats?done=x")
    )
    site.sign_in("viewer")
    assert "Create link" not in words_of(site.page("/dashboard/cats"))
    site.sign_in()
    work(campaign, "yes")
    page = site.page("/dashboard/cats?done=x")
    assert "Before the first answer" not in page
    assert "part-charts" in page


def test_a_pasted_table_is_shown_before_it_is_added(site: Site) -> None:
    campaign = site.create()
    form = form_of(site.page("/dashboard/cats/manage"), "/add")
    pasted = "id;text;gold\nnew-1;A tail;yes\nnew-2;A dog;\n"
    page = site.send(form, tasks=pasted).text
    said = words_of(page)
    assert "This is a table of 2 rows. Nothing is added yet" in said
    assert "new-1 A tail yes" in said
    assert campaign.status().tasks == 3
    assert site.send(form, tasks=pasted, how="table").status_code == 422  # no column is shown
    roles = {"role-0": "id", "role-1": "show", "role-2": "truth"}
    refused = site.send(form, tasks=pasted.replace("yes", "maybe"), how="table", **roles)
    assert refused.status_code == 422
    assert "the truth is &#39;maybe&#39;" in refused.text
    assert re.search(r'<select name="role-1".*?value="show" selected', refused.text, re.S)
    reply = site.send(form, tasks=pasted, how="table", **roles)
    assert (reply.status_code, campaign.status().tasks) == (303, 5)
    assert campaign.task("new-2").payload == "A dog"
    assert campaign.log()[-1].to_json()["kind"] == "TRUTH"


def test_lines_with_commas_may_be_ids_after_all(site: Site) -> None:
    campaign = site.create()
    form = form_of(site.page("/dashboard/cats/manage"), "/add")
    places = "Paris, France\nRome, Italy"
    assert "This is a table of 1 row." in words_of(site.send(form, tasks=places).text)
    assert site.send(form, tasks=places, how="lines").status_code == 303
    assert campaign.task("Rome, Italy").payload is None
