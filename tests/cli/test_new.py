"""``askwise new`` with a table of items."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from askwise.campaign import Campaign
from askwise.store import open_store
from tests.cli import page

Call = Callable[..., Any]

REVIEWS = "id;review;stars;gold\nr1;Lovely;5;\nr2;It broke;1;no\nr3;It is a chair;3;\n"
ASKED = ("--question", "Is it good?", "--options", "yes,no")
PAID = ("--people", "ann,ben", "--price", "0.05", "--budget", "60")


@pytest.fixture
def reviews(workplace: Path) -> str:
    (workplace / "my reviews.csv").write_text(REVIEWS)
    return "my reviews.csv"


def opened(workplace: Path, name: str) -> Campaign:
    return Campaign.open(open_store(f"sqlite:///{workplace}/askwise.sqlite"), name)


def test_a_table_becomes_a_campaign_named_after_it(
    workplace: Path, reviews: str, call: Call
) -> None:
    made = call("new", reviews, *ASKED, *PAID, "--truth", "gold", "--kind", "stars")
    assert made.stdout == "my-reviews\n"
    assert "3 tasks; it can't cost more than 0.3" in made.stderr
    campaign = opened(workplace, "my-reviews")
    task = campaign.task("r2")
    assert (task.payload, task.context) == ("It broke", "1")
    assert campaign.status().budget == 60
    with campaign.reading() as state:
        assert [(each.id, each.micro, each.kind) for each in state.ledger.workers] == [
            ("ann", 50_000, "person"),
            ("ben", 50_000, "person"),
        ]
    truths = [each.to_json() for each in campaign.log() if each.to_json()["kind"] == "TRUTH"]
    assert [(each["task"], each["value"]) for each in truths] == [("r2", "no")]


def test_a_file_may_name_a_campaign_that_knows_the_workers(workplace: Path, call: Call) -> None:
    pets = [
        'options = ["cat", "dog"]',
        'tasks = ["t1", "t2"]',
        'workers = [{id = "ann", price = 0.05}]',
    ]
    (workplace / "first.toml").write_text("\n".join(['policy = "random-pairs"', *pets]))
    call("new", "first.toml", "--name", "first")
    first = opened(workplace, "first")
    first.tell(first.ask()[0].id, "dog")
    told = next(event.task for event in first.log() if event.task is not None)
    first.truth(told, "cat")
    for name, code in (("first", 0), ("none", 2)):
        policy = f'policy = {{name = "ccb-ns", earlier = "campaign:{name}"}}'
        (workplace / "second.toml").write_text("\n".join([policy, *pets]))
        made = call("new", "second.toml", "--name", "second", code=code)
        assert code == 0 or "there is no campaign 'none' in this store" in made.stderr
    assert opened(workplace, "second").spec["policy"]["earlier"] == [["ann", 0, 1]]


def test_people_may_be_a_table_and_options_have_meanings(
    workplace: Path, reviews: str, call: Call
) -> None:
    (workplace / "people.csv").write_text("id,price,limit\nann,0.10,2\nben,,\n")
    call(
        *("new", reviews, "--question", "Good?", "--option", "yes: They like it"),
        *("--option", "no", "--people", "people.csv", "--price", "0.2", "--name", "other"),
        *("--currency", "EUR", "--title", "Chairs"),
    )
    campaign = opened(workplace, "other")
    content = campaign.content
    assert content is not None
    assert content.options[0].meaning == "They like it"
    assert (content.title, content.currency) == ("Chairs", "EUR")
    with campaign.reading() as state:
        found = [(each.micro, each.limit) for each in state.ledger.workers]
    assert found == [(100_000, 2), (200_000, None)]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ((*PAID, "--options", "yes,no"), "question is missing"),
        ((*PAID, "--question", "Good?"), "options is missing"),
        (ASKED, "no one is left to label"),
        ((*ASKED, "--people", "ann"), "'ann' has no price: give the price of an answer"),
        ((*ASKED, *PAID, "--text", "body"), "has no column 'body'"),
        ((*ASKED, *PAID, "--option", "a"), "give options or option, not both"),
        ((*ASKED, *PAID, "--certify", "0.9"), "target_error"),
        ((*ASKED, *PAID, "--qualify", "5"), "0 truths are known, and screening needs 5"),
        ((*ASKED, *PAID, "--gold", "my reviews.csv"), "has no column 'truth'"),
        (
            (*ASKED, *PAID, "--gold", "my reviews.csv", "--truth", "gold"),
            "'r1' has no truth in column 'gold'",
        ),
        ((*ASKED, *PAID, "--gold-rate", "0.9"), "screening.rate is 0.9"),
    ],
)
def test_what_is_missing_is_named_and_nothing_is_created(
    workplace: Path, reviews: str, call: Call, given: tuple[str, ...], said: str
) -> None:
    refused = call("new", reviews, *given, code=2)
    assert said in refused.stderr
    assert open_store(f"sqlite:///{workplace}/askwise.sqlite").names() == []


def test_what_a_toml_file_says_itself_is_refused_beside_it(workplace: Path, call: Call) -> None:
    (workplace / "spec.toml").write_text("")
    refused = call("new", "spec.toml", "--question", "Good?", code=2)
    assert "--question is for a table of items" in refused.stderr


KNOWN = "review;gold\nIt fell apart;no\nGreat;yes\nBad;no\nFine;yes\nSo so;no\n"


def test_gold_questions_come_from_a_table_of_their_own(
    workplace: Path, reviews: str, call: Call
) -> None:
    (workplace / "known.csv").write_text(KNOWN)
    made = call(
        *("new", reviews, *ASKED, *PAID, "--id", "", "--truth", "gold", "--gold", "known.csv"),
        *("--qualify", "5", "--unpaid", "--gold-rate", "0.2", "--name", "screened"),
        *("--text", "review"),
    )
    assert "3 tasks; it can't cost more than 0.8" in made.stderr
    assert "6 gold questions" in made.stderr
    campaign = opened(workplace, "screened")
    terms = campaign.spec["screening"]
    assert (terms["qualify"], terms["paid"], terms["rate"]) == (5, False, 0.2)
    # Numbered on, as if they were more of the same; the second row of the table is known, too.
    closed = [each.task for each in campaign.answers() if each.rests_on == "truth"]
    assert closed == ["item-2", "item-4", "item-5", "item-6", "item-7", "item-8"]
    assert campaign.task("item-4").payload == "It fell apart"


def test_gold_questions_have_ids_of_their_own(workplace: Path, reviews: str, call: Call) -> None:
    (workplace / "known.csv").write_text("id;review;gold\nr1;Great;yes\n")
    refused = call("new", reviews, *ASKED, *PAID, "--truth", "gold", "--gold", "known.csv", code=2)
    assert "'r1' is also an item of my reviews.csv" in refused.stderr


@pytest.mark.parametrize(("how_to", "count"), [("new-campaign.md", 2), ("screening.md", 4)])
def test_the_examples_of_the_page_print_what_it_says(
    workplace: Path, call: Call, how_to: str, count: int
) -> None:
    shown = page.PAGE.with_name(how_to)
    for name, text in page.files(shown).items():
        (workplace / name).write_text(text)
    found = page.examples(shown)
    assert len(found) == count
    for command, output in found:
        assert call(*shlex.split(command)[1:]).output == output
