"""On the dashboard: where workers stand, pausing one and lifting a pause, pay an hour."""

from __future__ import annotations

import pytest

from askwise import Worker
from askwise.campaign import Campaign
from tests.service.dashboard.site import Form, Site, form_of, words_of
from tests.service.dashboard.test_new_campaign import filled, step

TABLE = "/dashboard/cats/workers?sort=id&down=false"


def screened(site: Site, right: bool = True) -> Campaign:
    people = [Worker(name, "0.10", kind="person") for name in ("ann", "bob")]
    campaign = site.create(
        workers=people, tasks=[f"t{at}" for at in range(20)], screening={"qualify": 5}
    )
    for at in range(10):
        campaign.truth(f"t{at}", "yes")
    for _ in range(5):
        (each,) = campaign.ask(workers=["ann"])
        campaign.tell(each.id, "yes" if right else "no")
    return campaign


def test_the_table_says_where_workers_stand_with_numbers_and_interval(site: Site) -> None:
    screened(site)
    words = words_of(site.page(TABLE))
    assert "qualified" in words
    assert "5 of 5 gold right" in words
    assert "qualifying" in words
    assert "0 of 5 answered" in words
    assert "their 95% interval holds however often you look" in words


def test_the_page_of_a_worker_says_where_they_stand_and_lifts_their_pause(site: Site) -> None:
    campaign = screened(site, right=False)
    page = site.page("/dashboard/cats/worker?id=ann")
    assert "did not qualify" in words_of(page)
    site.send(form_of(page, "/reinstate"))
    standing = campaign.workers()[0].standing
    assert standing is not None
    assert standing.state == "good"


def test_a_pause_can_be_lifted_and_set(site: Site) -> None:
    campaign = screened(site, right=False)
    page = site.page(TABLE)
    assert "did not qualify" in words_of(page)
    reply = site.send(form_of(page, "/reinstate"))
    assert reply.headers["location"] == "/dashboard/cats/workers?done=pause-lifted"
    assert "The pause is lifted" in words_of(site.page(reply.headers["location"]))
    form = form_of(site.page(TABLE), "/suspend")
    assert form.fields["worker"] == "ann"
    reply = site.send(form)
    assert reply.headers["location"] == "/dashboard/cats/workers?done=worker-paused"
    assert "by a requester" in words_of(site.page(reply.headers["location"]))
    standing = campaign.workers()[0].standing
    assert standing is not None
    assert (standing.state, standing.suspended_for) == ("suspended", "decision")
    assert [each.by for each in campaign.log()][-2:] == ["the owner", "the owner"]


def test_a_second_pause_by_somebody_else_is_refused_in_words(site: Site) -> None:
    campaign = screened(site)
    form = form_of(site.page(TABLE), "/suspend")
    campaign.suspend("ann", by="eve")
    reply = site.send(form)
    assert reply.status_code == 409
    assert "is suspended already" in words_of(reply.text)


def test_a_viewer_has_no_buttons(site: Site) -> None:
    screened(site)
    site.sign_in("viewer")
    page = site.page(TABLE)
    assert "Pause worker" not in page
    assert "qualified" in words_of(page)


def test_a_campaign_without_screening_has_no_such_column(site: Site) -> None:
    site.create()
    assert "Standing" not in words_of(site.page(TABLE))


CSV = "id,text,gold\n" + "".join(
    f"r{at},Review number {at} is rather long,{'yes' if at % 2 else 'no'}\n" for at in range(8)
)
TYPED = {"question": "Good?", "options": "yes\nno", "people": "ann", "price": "0.1"}


def drafted(site: Site) -> Form:
    """The form that follows the file, filled in but for the gold questions."""
    made = filled(site.page(step(site, CSV.encode())))
    made.fields |= TYPED
    return made


@pytest.mark.parametrize(
    ("typed", "place", "words"),
    [
        ({"qualify": "10"}, "qualify", "8 truths are known, and screening needs 10"),
        ({"qualify": "many"}, "qualify", "give a whole number"),
        ({"qualify": "3"}, "qualify", "from 5 to 1000, or 0 for none"),
        ({"qualify": "5", "gold_rate": "80"}, "gold_rate", "a number from 0 to 0.5"),
        ({"qualify": "5", "pause_below": "90"}, "pause_below", "a warning comes first"),
        ({"qualify": "5", "pass_share": "x"}, "pass_share", "between 0 and 100"),
    ],
)
def test_what_is_wrong_with_gold_questions_is_said_beside_their_field(
    site: Site, typed: dict[str, str], place: str, words: str
) -> None:
    form = drafted(site)
    reply = site.send(form, screen="yes", do="create", **typed)
    assert reply.status_code == 422, reply.text
    found = reply.text.partition(f'id="{place}-error"')[2]
    assert words in found[:400]
    assert site.service.campaigns.store.names() == []


def test_a_campaign_with_gold_questions_is_created_in_the_browser(site: Site) -> None:
    form = drafted(site)
    assert form.fields["qualify"] == "10"
    typed = {"screen": "yes", "qualify": "5", "warn_below": "", "pause_below": ""}
    reply = site.send(form, **typed, do="create")
    assert reply.status_code == 200, reply.text
    (name,) = site.service.campaigns.store.names()
    terms = site.service.campaigns.get(name).spec["screening"]
    assert (terms["qualify"], terms["rate"], terms["pause_below"]) == (5, 0.1, None)


def test_without_the_tick_there_is_no_screening(site: Site) -> None:
    form = drafted(site)
    assert site.send(form, do="create").status_code == 200
    (name,) = site.service.campaigns.store.names()
    assert "screening" not in site.service.campaigns.get(name).spec
