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
        (ASKED, "nobody labels"),
        ((*ASKED, "--people", "ann"), "'ann' has no price: say what an answer is paid"),
        ((*ASKED, *PAID, "--text", "body"), "has no column 'body'"),
        ((*ASKED, *PAID, "--option", "a"), "give options or option, not both"),
        ((*ASKED, *PAID, "--certify", "0.9"), "target_error"),
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


def test_the_examples_of_the_page_print_what_it_says(workplace: Path, call: Call) -> None:
    how_to = page.PAGE.with_name("new-campaign.md")
    for name, text in page.files(how_to).items():
        (workplace / name).write_text(text)
    found = page.examples(how_to)
    assert len(found) == 2
    for command, output in found:
        assert call(*shlex.split(command)[1:]).output == output
