"""A new campaign in the browser: a file, its columns, the form, the cost, and what is created."""

from __future__ import annotations

import io
import re
from html import unescape
from typing import Any

import pytest

from askwise.aggregation import aggregation
from askwise.core.catalogue import entries_of
from askwise.mechanisms import mechanisms
from askwise.policies import policies
from askwise.service.dashboard import drafts, order_form
from askwise.service.judges import JudgePanel
from askwise.service.pages.base import NEW_TABLE
from askwise.sources.function import Function
from askwise.sources.judges import Judge
from askwise.stopping import stopping
from tests.service.dashboard.site import Form, Site, form_of, words_of

REVIEWS = b"id,review,stars,gold\nr1,Lovely,5,\nr2,It broke,1,bad\nr3,It is a chair,3,\n"

FILLED = {
    "question": "Is this review good?",
    "options": "good: They like it\nbad",
    "people": "ann\nben",
    "price": "0.05",
    "budget": "0.20",
    "currency": "USD",
}


def upload(site: Site, raw: bytes = REVIEWS, name: str = "reviews.csv") -> Any:
    """Choose a file on the page of a new campaign."""
    form = form_of(site.page("/dashboard/-/new"), "/new/table")
    return site.client.post(
        form.action, data=form.fields, files={"file": (name, raw)}, follow_redirects=False
    )


def step(site: Site, raw: bytes = REVIEWS, name: str = "reviews.csv") -> str:
    """The address of the page that a file leads to."""
    reply = upload(site, raw, name)
    assert reply.status_code == 303, reply.text
    return str(reply.headers["location"])


def filled(page: str) -> Form:
    """The form of the second step, with all that it holds."""
    form = form_of(page, page_action(page))
    for tag in re.findall(r"<select name=.*?</select>", page, re.S):
        name = re.search(r'name="(.*?)"', tag)[1]  # type: ignore[index]
        chosen = re.search(r'value="(\w*)" selected', tag)
        form.fields[name] = "" if chosen is None else chosen[1]
    for name, value in re.findall(r'<input id="(\w+)" name="\w+".*? value="(.*?)"', page):
        form.fields[name] = unescape(value)
    for name, value in re.findall(r'<textarea id="(\w+)".*?>\n?(.*?)</textarea>', page, re.S):
        form.fields[name] = unescape(value)
    return form


def page_action(page: str) -> str:
    found = re.search(r'action="(/dashboard/-/new/table/\w+)"', page)
    assert found is not None
    return found[1]


@pytest.fixture
def form(site: Site) -> Form:
    """The second step for three reviews, filled in."""
    made = filled(site.page(step(site)))
    made.fields |= FILLED
    return made


def test_a_file_is_shown_with_its_first_rows_and_a_guess_of_what_its_columns_are(
    site: Site,
) -> None:
    page = site.page(step(site))
    said = words_of(page)
    assert "reviews.csv: 3 rows" in said
    assert "r2 It broke 1 bad" in said
    chosen = filled(page).fields
    assert [chosen[f"role-{at}"] for at in range(4)] == ["id", "show", "", "truth"]
    assert (chosen["title"], chosen["name"]) == ("Reviews", "reviews")


@pytest.mark.parametrize(
    ("name", "raw"),
    [
        ("reviews.tsv", REVIEWS.replace(b",", b"\t")),
        ("reviews.csv", REVIEWS.replace(b",", b";")),
        ("reviews.csv", b"\xef\xbb\xbf" + REVIEWS),
        (
            "reviews.jsonl",
            b'{"id": "r1", "review": "Lovely", "stars": 5}\n{"id": "r2", "review": "x"}',
        ),
    ],
)
def test_tables_of_every_kind_are_read(site: Site, name: str, raw: bytes) -> None:
    said = words_of(site.page(step(site, raw, name)))
    assert "r1 Lovely 5" in said


def test_parquet_is_read(site: Site) -> None:
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    held = io.BytesIO()
    parquet.write_table(arrow.table({"id": ["a", "b"], "text": ["One", "Two"]}), held)
    assert "b Two" in words_of(site.page(step(site, held.getvalue(), "items.parquet")))


@pytest.mark.parametrize(
    ("name", "raw", "said"),
    [
        ("", b"", "choose a file first"),
        ("a.csv.gz", b"x", "a.csv.gz is compressed: unpack it first"),
        ("a.xlsx", b"x", "give a file that ends in .csv"),
        ("a.csv", b"", "a.csv is empty"),
        ("a.csv", b"id,text\n", "has no row below its columns"),
        ("a.csv", b"id,text\n1,a,b\n", "line 2: 3 values for the 2 columns id, text"),
        ("a.csv", b"id,text\n1,caf\xe9\n", "line 2: byte 0xe9 is not UTF-8"),
        ("a.jsonl", b"nonsense", "line 1: not JSON"),
        ("a.parquet", b"nonsense", "can&#39;t be read as Parquet"),
    ],
)
def test_a_file_that_is_no_table_is_refused_beside_the_field(
    site: Site, name: str, raw: bytes, said: str
) -> None:
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    reply = upload(site, raw, name)
    assert reply.status_code == 422
    wrong = re.search(r'<p class="wrong" id="file-error" role="alert">(.*?)</p>', reply.text)
    assert wrong is not None
    assert said in wrong[1]
    assert not site.service.campaigns.store.records("drafts")


def test_a_campaign_is_created_with_tasks_truths_people_and_their_links(
    site: Site, form: Form
) -> None:
    reply = site.send(form, do="create")
    assert reply.status_code == 200, words_of(reply.text)
    said = words_of(reply.text)
    assert "The campaign is created, with 3 tasks and 1 known answer." in said
    links = re.findall(r'value="(http://testserver/join/[\w-]+)"', reply.text)
    assert len(set(links)) == 2
    campaign = site.service.campaigns.get("reviews")
    assert campaign.task("r2").payload == "It broke"
    told = [each.to_json() for each in campaign.log() if each.to_json()["kind"] == "TRUTH"]
    assert [(each["task"], each["value"]) for each in told] == [("r2", "bad")]
    content = campaign.content
    assert content is not None
    assert (content.title, content.currency) == ("Reviews", "USD")
    assert [(each.name, each.meaning) for each in content.options] == [
        ("good", "They like it"),
        ("bad", ""),
    ]
    assert {each.id: each.kind for each in site_workers(campaign)} == {
        "ann": "person",
        "ben": "person",
    }
    assert site.client.get(links[0], follow_redirects=False).status_code == 303


def site_workers(campaign: Any) -> list[Any]:
    with campaign.reading() as state:
        return list(state.ledger.workers)


def test_a_form_that_is_sent_twice_creates_one_campaign_with_the_same_links(
    site: Site, form: Form
) -> None:
    links = [
        re.findall(r'value="(http://testserver/join/[\w-]+)"', site.send(form, do="create").text)
        for _ in range(2)
    ]
    assert links[0] == links[1]
    assert len(links[0]) == 2
    assert site.service.campaigns.store.names() == ["reviews"]


def test_a_taken_name_gets_a_number_and_is_refused_where_it_is_typed(
    site: Site, form: Form
) -> None:
    site.create("reviews")
    reply = site.send(form, do="create")
    assert reply.status_code == 409
    assert 'id="name-error"' in reply.text or "reviews" in words_of(reply.text)
    assert filled(site.page(step(site))).fields["name"] == "reviews-2"


@pytest.mark.parametrize(
    ("typed", "place", "said"),
    [
        ({"question": " "}, "question", "question is missing"),
        ({"options": "good"}, "options", "name at least two options"),
        ({"options": "good\ngood"}, "options", "appears twice"),
        ({"people": ""}, "people", "name at least one person"),
        ({"people": "ann\nann"}, "people", "line 2: &#39;ann&#39; is named twice"),
        ({"price": ""}, "price", "&#39;ann&#39; has no price"),
        ({"price": "-1"}, "price", "price"),
        ({"limit": "some"}, "limit", "limit of worker"),
        ({"budget": "lots"}, "budget", "budget"),
        ({"currency": "a very long currency"}, "currency", "currency"),
        ({"target": "200"}, "target", "give a number between 0 and 100"),
        ({"confidence": "90"}, "target", "say what share of the labels may be wrong"),
        ({"confidence": "90", "target": "5"}, "by", "name the people who audit"),
        ({"by": "ann"}, "confidence", "say how sure"),
        ({"confidence": "90", "target": "5", "by": "zoe"}, "by", "not among the people"),
        ({"role-1": ""}, "columns", "choose a column that is shown"),
        ({"role-2": "id"}, "columns", "are both the id"),
        ({"role-0": "truth", "role-3": ""}, "columns", "the truth is &#39;r1&#39;"),
        ({"role-0": "", "role-3": "id"}, "columns", "the id is empty"),
        ({"role-1": "nonsense"}, "columns", "choose again"),
        ({"name": "a b"}, "name", "name"),
    ],
)
def test_an_error_is_shown_beside_its_field_and_nothing_typed_is_lost(
    site: Site, form: Form, typed: dict[str, str], place: str, said: str
) -> None:
    reply = site.send(form, **typed, do="create")
    assert reply.status_code == 422
    wrong = re.search(r'<p class="wrong" id="(\w+)-error" role="alert">(.*?)</p>', reply.text)
    assert wrong is not None, words_of(reply.text)
    assert re.search(r"Nothing was created\. Check [a-zA-Z ]+ below\.", words_of(reply.text))
    assert (wrong[1], said in wrong[2]) == (place, True), wrong[2]
    kept = filled(reply.text).fields
    for name, value in {**FILLED, **typed}.items():
        if value != "nonsense":
            assert kept.get(name, "").strip() == value.strip(), name
    assert site.service.campaigns.store.names() == []


def test_the_cost_is_said_before_anything_is_created(site: Site, form: Form) -> None:
    reply = site.send(form, do="cost")
    # Two people at 0.05 about three items are 0.30; the budget of 0.20 pays for four answers.
    said = words_of(reply.text)
    assert "0.20 USD at most" in said
    assert "up to 4 answers: 1.3 answers per item on average." in said
    assert "ends when the budget is spent." in said
    assert "get fewer answers" in words_of(site.send(form, do="cost", target="5").text)
    unbound = words_of(site.send(form, do="cost", budget="1").text)
    assert "ends when everybody has answered every item." in unbound
    assert "0.30 USD at most" in words_of(site.send(form, do="cost", budget="").text)
    assert "once there are options" in words_of(site.send(form, do="cost", options="").text)
    whole = words_of(site.send(form, do="preview").text)
    assert "0.20 USD at most" in whole
    assert "What a worker will see" in whole
    assert "Lovely" in whole
    assert site.service.campaigns.store.names() == []


def test_columns_become_fields_kinds_and_made_ids(site: Site, form: Form) -> None:
    site.send(form, **{"role-0": "", "role-2": "show", "role-3": "kind"}, do="create")
    task = site.service.campaigns.get("reviews").task("item-2")
    assert (task.payload, task.context) == ({"review": "It broke", "stars": "1"}, "bad")


def test_a_table_of_people_brings_its_own_prices_and_limits(site: Site, form: Form) -> None:
    site.send(form, people="name,price,limit\nann,0.10,2\nben,,", do="create")
    workers = {each.id: each for each in site_workers(site.service.campaigns.get("reviews"))}
    assert (workers["ann"].micro, workers["ann"].limit) == (100_000, 2)
    assert (workers["ben"].micro, workers["ben"].limit) == (50_000, None)


def test_a_certificate_is_ordered_with_who_audits(site: Site, form: Form) -> None:
    typed = {"people": "ann\nben\nvet", "target": "5", "confidence": "90", "by": "vet"}
    refused = site.send(form, **typed, do="create").text
    assert re.search(r'id="budget-error" role="alert">.*one audit costs 0.05', refused)
    typed["budget"] = "3"
    # A fifth of the budget.
    assert "0.60 USD of it is kept back for audits" in words_of(
        site.send(form, **typed, do="cost").text
    )
    reply = site.send(form, **typed, do="create")
    assert reply.status_code == 200, words_of(reply.text)
    status = site.service.campaigns.get("reviews").status()
    assert status.certificate is not None
    assert tuple(status.certificate.by) == ("vet",)


def test_a_file_is_for_the_one_who_sent_it_and_is_given_up_after_a_day(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = step(site)
    site.sign_in("requester")
    assert "is no longer kept" in words_of(site.page(place, 404))
    assert "is no longer kept" in words_of(site.page(f"{place[:-32]}{'0' * 32}", 404))
    store = site.service.campaigns.store
    (old,) = store.records("drafts")
    monkeypatch.setattr(drafts, "LASTS", -1.0)
    step(site)
    assert old.id not in [each.id for each in store.records("drafts")]
    assert len(store.records("draft-files")) == 1


def test_only_the_newest_files_of_a_caller_are_kept(site: Site) -> None:
    places = [step(site) for _ in range(drafts.MOST + 2)]
    kept = [each.id for each in site.service.campaigns.store.records("drafts")]
    assert sorted(kept) == sorted(place.rpartition("/")[2] for place in places[2:])


def test_too_many_rows_are_sent_to_the_command_line(
    site: Site, form: Form, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(order_form, "MOST_ITEMS", 2)
    assert "run askwise new reviews.csv" in words_of(site.send(form, do="create").text)


def test_a_file_above_the_limit_of_the_service_gets_a_page_that_names_the_command(
    site: Site,
) -> None:
    size = site.service.settings.largest_body + 1
    reply = site.client.post(NEW_TABLE, content=b"", headers={"Content-Length": str(size)})
    assert reply.status_code == 413
    assert reply.headers["content-type"].startswith("text/html")
    assert "create the campaign with askwise new FILE" in words_of(reply.text)
    assert site.client.post("/campaigns", headers={"Content-Length": str(size)}).json()


def test_a_viewer_creates_nothing(site: Site) -> None:
    place = step(site)
    site.sign_in("viewer")
    for path in ("/dashboard/-/new", place):
        assert site.client.get(path).status_code == 403


def test_an_error_in_toml_names_its_line(site: Site) -> None:
    form = form_of(site.page("/dashboard/-/new"), "/new")
    toml = 'tasks = ["t"]\nbudget = "lots"\n[[workers]]\nid = "w"\nprice = "0.1"\n'
    reply = site.send(form, toml=toml, question="Is it?", options="a\nb", title="", instructions="")
    assert re.search(r'id="toml-error" class="alert" role="alert">Line 2: budget is', reply.text), (
        words_of(reply.text)
    )
    toml = 'tasks = ["t"]\n[[workers]]\nid = "w"\nprice = "much"\n'
    assert "Line 4: workers.0.price" in site.send(form, toml=toml, question="Is it?").text


def test_judges_of_the_service_can_be_ticked_and_their_price_counts(site: Site) -> None:
    source = Function(price="0.01", call="tests.service.dashboard.site:words_of")
    site.service.judges = JudgePanel([Judge("rule", source)])
    page = site.page(step(site))
    assert 'name="judge-0" value="rule"' in page
    form = filled(page)
    form.fields |= {**FILLED, "budget": "", "judge-0": "rule"}
    # Three items: two people at 0.05 and a judge at 0.01.
    assert "0.33 USD at most" in words_of(site.send(form, do="cost").text)
    assert site.send(form, do="create").status_code == 200
    workers = {each.id: each.micro for each in site_workers(site.service.campaigns.get("reviews"))}
    assert workers == {"rule": 10_000, "ann": 50_000, "ben": 50_000}


def test_every_part_of_the_catalogue_can_be_chosen_with_its_parameters(
    site: Site, form: Form
) -> None:
    page = site.page(form.action)
    for registry in (policies, stopping, aggregation, mechanisms):
        for entry in entries_of(registry):
            offered = f'<option value="{entry.name}">' in page
            assert offered == ("options" in (entry.outcomes or ("options",))), entry.name
    shown = site.send(form, do="parts", stopping="fixed", policy="random-pairs").text
    (entry,) = [each for each in entries_of(stopping) if each.name == "fixed"]
    assert entry.parameters
    assert entry.summary in unescape(shown)
    for parameter in entry.parameters:
        assert f'name="stopping.{parameter.name}"' in shown
        assert " ".join(parameter.description.split()).rstrip(".") in unescape(shown)
    typed = {"policy": "random-pairs", "stopping": "fixed", "stopping.n": "2"}
    assert site.send(form, do="create", **typed).status_code == 200
    spec = site.service.campaigns.get("reviews").spec
    assert (spec["policy"]["name"], spec["stopping"]["name"]) == ("random-pairs", "fixed")
    assert spec["stopping"]["n"] == 2


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ({"policy": "nothing"}, "there is no policy 'nothing': choose again"),
        ({"policy": "random-pairs", "target": "5"}, "give no target, or no policy"),
        ({"stopping": "fixed", "stopping.n": "many"}, "n is 'many'"),
        ({"stopping": "fixed", "stopping.n": "-3"}, "n is -3"),
        ({"mechanism": "[["}, "there is no prices '[['"),
    ],
)
def test_parts_that_do_not_go_are_refused_before_anything_is_created(
    site: Site, form: Form, typed: dict[str, str], told: str
) -> None:
    reply = site.send(form, do="create", **typed)
    assert reply.status_code == 422
    assert told in unescape(words_of(reply.text))
    assert site.service.campaigns.store.names() == []
