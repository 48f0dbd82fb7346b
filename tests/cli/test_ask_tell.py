"""Asking and telling."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Call = Callable[..., Any]


def test_ask_prints_a_line_an_assignment(shop: str, call: Call) -> None:
    assert call("ask", shop, "--limit", "2").stdout == (
        "shop:2\tann\t-\t0.05\t1\nshop:3\tbob\t-\t0.1\t1\n"
    )


def test_the_task_is_in_the_line(cats: str, call: Call) -> None:
    assert call("ask", cats).stdout == "cats:2\tann\tt1\t0.05\t1\n"


def test_only_who_is_available_is_asked(cats: str, call_json: Call) -> None:
    batch = call_json("ask", cats, "--limit", "9", "--worker", "bob", "--worker", "eve")
    assert {each["worker"] for each in batch["assignments"]} == {"bob", "eve"}


def test_an_answer_is_told(shop: str, call: Call, call_json: Call) -> None:
    call("ask", shop)
    assert call_json("tell", "shop:2", "0.75")["utility"] == 0.75
    assert call_json("status", shop)["spent"] == "0.05"


def test_an_answer_may_be_negative(rated: str, call: Call, call_json: Call) -> None:
    call("ask", rated)
    assert call_json("tell", "rated:2", "-0.5")["utility"] == -0.5


def test_an_option_is_told_and_closes_its_task(cats: str, call: Call) -> None:
    call("ask", cats, "--limit", "4")
    for assignment in ("cats:2", "cats:3", "cats:4"):
        call("tell", assignment, "dog")
    assert call("answers", cats).stdout == (
        "t1\tdog\t1\tagreement\tconfident\t2\nt2\tdog\t1\tagreement\topen\t1\n"
    )


def test_an_option_that_looks_like_a_number_stays_a_name(
    workplace: Any, call: Call, call_json: Call
) -> None:
    (workplace / "spec.toml").write_text(
        'name = "n"\noptions = ["0", "1"]\npolicy = "uniform"\ntasks = ["t"]\n'
        '[[workers]]\nid = "ann"\nprice = 1\n'
    )
    call("new", "spec.toml")
    call("ask", "n")
    call("tell", "n:2", "1")
    assert call_json("answers", "n")[0]["value"] == "1"


def test_wait_and_done_have_words_and_codes_of_their_own(
    shop: str, call: Call, call_json: Call
) -> None:
    call("leave", shop, "ann")
    call("ask", shop, "--limit", "2")
    assert call("ask", shop, code=3).stdout == "wait: answers\n"
    assert call_json("ask", shop, code=3) == {"status": "wait", "what": "answers"}
    call("tell", "shop:3", "1")
    call("tell", "shop:5", "1")
    assert call("ask", shop, code=4).stdout == "done: limits\n"
    assert call_json("ask", shop, code=4) == {"status": "done", "why": "limits"}


def test_what_is_out_is_listed_until_it_is_settled_or_released(cats: str, call: Call) -> None:
    call("ask", cats, "--limit", "4")
    call("tell", "cats:2", "cat")
    call("expire", "cats:3")
    call("decline", "cats:4")
    assert [line.split("\t")[0] for line in call("assignments", cats).stdout.splitlines()] == [
        "cats:6"
    ]


def test_a_late_answer_is_taken(cats: str, call: Call, call_json: Call) -> None:
    call("ask", cats)
    call("expire", "cats:2")
    assert call_json("tell", "cats:2", "dog")["answers"] == 1


def test_the_truth_is_told(cats: str, call: Call) -> None:
    call("truth", cats, "t1", "dog")
    assert call("log", cats).stdout.endswith("\tTRUTH\ttask=t1 value=dog\n")


def test_a_retried_answer_changes_nothing(shop: str, call: Call) -> None:
    call("ask", shop)
    call("tell", "shop:2", "0.5", "--key", "k")
    log = call("log", shop).stdout
    call("tell", "shop:2", "0.5", "--key", "k")
    assert call("log", shop).stdout == log


def test_an_answer_is_changed_and_withdrawn(cats: str, call: Call, call_json: Call) -> None:
    call("ask", cats, "--limit", "2")
    call("tell", "cats:2", "dog")
    call("revise", "cats:2", "cat", "--by", "eve")
    assert call_json("answers", cats)[0]["value"] == "cat"
    assert call_json("withdraw", "cats:2", "Deleted.", "--key", "k")["answers"] == 0
    assert call_json("withdraw", "cats:2", "Deleted.", "--key", "k")["spent"] == "0.05"
    revised, withdrawn = call("log", cats).stdout.splitlines()[-2:]
    assert "by=eve" in revised
    assert "why=Deleted." in withdrawn


def test_what_a_call_cost_and_that_one_failed_is_told(
    cats: str, call: Call, call_json: Call
) -> None:
    call("ask", cats, "--limit", "2")
    told = ("--cost", "0.01", "--probability", "dog=0.75", "--probability", "cat=0.25")
    assert call_json("tell", "cats:2", "dog", *told)["spent"] == "0.01"
    assert call_json("fail", "cats:3", "refused", "--cost", "0.02")["failures"] == 1
    answer, failure = call("log", cats).stdout.splitlines()[-2:]
    assert "price=0.01 cost=0.01 probabilities=cat:0.25,dog:0.75" in answer
    assert "why=refused" in failure
    assert "\t1\t" in call("payments", cats).stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("tell", "cats:2", "dog", "--probability", "dog"), "like yes=0.8"),
        (("tell", "cats:2", "dog", "--probability", "dog=0.5"), "they have to sum to 1"),
        (("tell", "cats:2", "dog", "--cost", "much"), "cost is 'much'"),
        (("fail", "cats:2", "tired"), "give one of refused, unreadable, filtered"),
        (("revise", "cats:2", "dog"), "is out: there is no answer to change yet"),
        (("withdraw", "cats:2", " "), "why is empty"),
    ],
    ids=["no number", "no sum", "no money", "no reason", "not answered", "nothing said"],
)
def test_a_call_that_can_not_be_so_is_refused_in_one_line(
    words: tuple[str, ...], said: str, cats: str, call: Call, refusal: Call
) -> None:
    call("ask", cats)
    assert said in refusal(*words)
