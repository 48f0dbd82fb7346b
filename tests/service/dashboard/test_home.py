"""The dashboard's home: signing in, the list of campaigns, new ones, keys."""

from __future__ import annotations

import re
from html import unescape

from askwise.core.problem import Worker
from askwise.service.pages import filters as looks
from tests.service.dashboard.site import Site, form_of, words_of, work


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
    assert f"End finished {why}" in said


def test_a_long_list_has_pages(site: Site) -> None:
    for at in range(26):
        site.create(f"c{at:02}", tasks=["t"])
    first, second = site.page("/dashboard"), site.page("/dashboard?page=2")
    assert "/dashboard/c24" in first
    assert "/dashboard/c25" not in first
    assert "1–25 of 26 campaigns" in first
    assert "/dashboard/c25" in second


def test_an_empty_service_says_how_to_begin(site: Site) -> None:
    assert "Create the first one" in site.page("/dashboard")
    site.sign_in("viewer")
    assert "Create the first one" not in site.page("/dashboard")


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
    assert "The campaign was created." in site.page(first.headers["location"])


def typed_in(page: str) -> dict[str, str]:
    """What the fields of the form for a campaign hold."""
    areas = re.findall(r'<textarea id="(\w+)".*?>\n?(.*?)</textarea>', page, re.S)
    inputs = re.findall(r'<input id="(\w+)".*? value="(.*?)">', page)
    return {name: unescape(text) for name, text in [*areas, *inputs]}


def test_the_example_in_the_form_is_a_campaign(site: Site) -> None:
    page = site.page("/dashboard/-/new")
    reply = site.send(form_of(page, "/new"), **typed_in(page))
    assert reply.headers["location"] == "/dashboard/cats?done=made"
    content = site.service.campaigns.get("cats").content
    assert content is not None
    assert content.question == "Is there a cat?"
    assert content.options[0].meaning == "A living one, or a part of it"


def test_the_form_shows_what_a_worker_will_see_and_makes_nothing(site: Site) -> None:
    page = site.page("/dashboard/-/new")
    typed = {**typed_in(page), "instructions": "Look **twice**.\r\n<script>alert(1)</script>"}
    reply = site.send(form_of(page, "/new"), **typed, do="preview")
    assert reply.status_code == 200
    assert "Look <strong>twice</strong>." in reply.text
    assert "<script>alert" not in reply.text
    assert "A tail behind a curtain" in reply.text.split("What a worker will see")[1]
    assert typed_in(reply.text)["toml"] == typed["toml"]
    assert site.service.campaigns.store.names() == []


def test_answers_of_a_question_may_be_those_of_the_toml(site: Site) -> None:
    form = form_of(site.page("/dashboard/-/new"), "/new")
    common = 'tasks = ["t"]\nworkers = [{id = "w", price = "0.1"}]\n'
    for name, toml, wanted in (
        (
            "a",
            'options = ["x", "y"]\npolicy = "random-pairs"',
            {"options": [{"name": "x"}, {"name": "y"}]},
        ),
        (
            "b",
            'outcome = {kind = "utility", low = 0, high = 5}\npolicy = "uniform"',
            {"range": [0, 5]},
        ),
        ("c", 'outcome = "utility"\npolicy = "uniform"', {"range": [0, 1]}),
    ):
        toml = f'name = "{name}"\n{common}{toml}'
        assert site.send(form, toml=toml, question="How?").status_code == 303
        spec = site.service.campaigns.get(name).spec
        assert spec["content"] == {"question": "How?", **wanted}


def test_a_question_that_is_wrong_or_given_twice_is_refused(site: Site) -> None:
    form = form_of(site.page("/dashboard/-/new"), "/new")
    rest = 'policy = "random-pairs"\ntasks = ["t"]\nworkers = [{id = "w", price = "0.1"}]\n'
    twice = rest + '[content]\nquestion = "A cat?"\noptions = ["a", "b"]\n'
    for fields, reason in (
        ({"question": "A cat?", "options": "a\nb", "toml": twice}, "give it once"),
        ({"question": "A cat?", "options": "a", "toml": rest}, "content.options"),
        ({"title": "Cats", "options": "a\nb", "toml": rest}, "content.question"),
        (
            {"question": "A cat?", "options": "a\n: nameless", "toml": rest},
            "content.options[1].name",
        ),
    ):
        for action in ("create", "preview"):
            reply = site.send(form, **fields, do=action)
            assert reply.status_code == 422
            assert reason in reply.text.split('role="alert">')[1].split("</p>")[0]
            assert typed_in(reply.text)["options"] == fields["options"]


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


def test_done_is_never_said_over_tasks_that_are_not_settled(site: Site) -> None:
    names = [f"t{at}" for at in range(4)]
    policy = {"name": "hem", "target": 0.2}
    campaign = site.create(tasks=names, workers=[Worker(f"w{at}", 1) for at in range(5)],
                           policy=policy, budget=100)  # fmt: skip
    while batch := campaign.ask():
        campaign.tell(batch[0].id, "yes")
    assert campaign.status().why == "agreement"
    assert campaign.status().open_tasks == 4
    said = words_of(site.page("/dashboard/cats"))
    assert "Done hem · sure enough by agreement alone" in said
    assert "Tasks settled 4 of 4" in said
    assert "4 of 4" in words_of(site.page("/dashboard"))
    assert "sure enough" in words_of(site.page("/dashboard/cats/tasks"))
    campaign.add(tasks=["t4"])
    said = words_of(site.page("/dashboard/cats"))
    assert "Running hem" in said
    assert "Tasks settled 4 of 5" in said
