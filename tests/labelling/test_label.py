"""Items in, labels out: within the budget, resumed where it was, honest about what it knows."""

from __future__ import annotations

import asyncio
import csv
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import askwise
from askwise import Campaign, Done, Wait, Worker
from askwise.core.content import Content
from askwise.core.errors import AskwiseError, Conflict, InvalidParameter, InvalidProblem
from askwise.core.events import Kind
from askwise.data.orders import read_order
from askwise.labelling import (
    LabelJob,
    LabelOrder,
    LabelProgress,
    forecast,
    label,
    with_judges,
    words,
)
from askwise.sources import Outage, Question, Response
from askwise.sources.function import Function
from askwise.sources.judges import Judge
from tests.labelling.judged import TEXTS, TRUTHS, careful, certified, judges, order


def ordered(
    *, judges: Any, sources: Any = None, pilot: int | None = None, **said: Any
) -> LabelOrder:
    return with_judges(read_order(TEXTS, **said), judges, sources=sources, pilot=pilot)


def test_every_item_gets_a_label_and_money_is_what_calls_cost() -> None:
    found = askwise.label(TEXTS, **order())
    assert [each.id for each in found.labels] == list(TRUTHS)
    assert found.end == Done("tasks")
    assert found.cost == 60 * (Decimal("0.003") + Decimal("0.0005"))
    assert found.counts().keys() == {"spam", "ham"}
    assert found.rests_on() == {"agreement": 60}
    assert [each.id for each in found.judges] == ["careful", "hasty"]


def test_a_certificate_is_ordered_with_those_who_audit() -> None:
    found = label(TEXTS, **certified())
    assert found.end == Done("certified")
    assert found.certificate is not None
    assert found.certificate.certified > 0
    wrong = sum(each.label != TRUTHS[each.id] for each in found.labels)
    assert wrong <= 0.2 * 60
    assert found.certificate.statement.startswith("At most 20%")


def test_known_truths_are_told_and_weigh_in() -> None:
    rows = [
        {"text": text, "gold": TRUTHS[f"item-{at + 1:02}"] if at < 30 else ""}
        for at, text in enumerate(TEXTS)
    ]
    found = label(rows, truth="gold", text="text", **order())
    assert found.rests_on()["truth"] == 30
    assert all(each.label == TRUTHS[each.id] for each in found.labels)
    assert found.judges[0].quality is not None
    assert found.judges[0].quality.basis == "truth"


def test_the_budget_is_never_exceeded_and_the_rest_of_the_items_has_no_answer() -> None:
    found = label(TEXTS, **order(budget="0.05", pilot=0))
    assert found.cost <= Decimal("0.05")
    assert any(each.label is None for each in found.labels)
    assert found.end == Done("budget")


def test_a_pilot_puts_items_to_every_judge_first_unless_there_is_one_judge() -> None:
    found = label(TEXTS, **order(pilot=10))
    asked = [event for event in found.campaign.log() if event.kind == Kind.ASKED]
    pairs: dict[str | None, set[str | None]] = {}
    for event in asked[:20]:
        pairs.setdefault(event.task, set()).add(event.worker)
    assert len(pairs) == 10
    assert all(who == {"careful", "hasty"} for who in pairs.values())
    alone = label(TEXTS, **order(judges=judges()[:1], pilot=10))
    assert "pilot" not in alone.campaign.spec


def test_what_the_pilot_shows_is_told_once_and_progress_now_and_then() -> None:
    told: list[Any] = []
    seen: list[LabelProgress] = []
    job = LabelJob(ordered(**order(pilot=10)))
    found = job.run(watch=seen.append, on_pilot=told.append)
    assert [len(each.tasks) for each in told] == [10]
    assert seen[-1].labelled == 60
    assert seen[-1].spent == found.cost


def test_a_job_that_is_to_end_with_its_pilot_does() -> None:
    job = LabelJob(ordered(**order(pilot=10, judges=judges(slots=1))))
    told: list[Any] = []
    found = job.run(pilot_only=True, on_pilot=told.append)
    assert found.end is None
    assert job.campaign.pilot().phase == "done"
    assert [len(each.tasks) for each in told] == [10]
    # The last answer of the pilot may come between the look and the next ask: one more goes out.
    assert found.status.answers - 10 * len(found.judges) in (0, 1)


@pytest.mark.parametrize("without", [{"pilot": 0}, {"policy": "bbta"}])
def test_a_job_without_a_pilot_can_not_end_with_it(without: dict[str, Any]) -> None:
    job = LabelJob(ordered(**order(**without)))
    with pytest.raises(InvalidParameter, match="has no pilot"):
        job.run(pilot_only=True)
    assert job.campaign.status().spent == 0


def test_a_policy_that_takes_no_pilot_goes_without_one_unless_it_was_asked_for() -> None:
    job = LabelJob(ordered(**order(policy="bbta")))
    assert job.without_pilot is not None
    assert "bbta" in job.without_pilot
    assert "pilot" not in job.campaign.spec
    with pytest.raises(InvalidProblem, match="bbta"):
        LabelJob(ordered(**order(policy="bbta", pilot=10)))


class Tired(Function):
    """A judge that is out for good after some answers."""

    answered = 0

    async def answer(self, question: Question) -> Response:
        self.answered += 1
        return await super().answer(question)

    def outage(self) -> Outage | None:
        return Outage("it is tired") if self.answered >= 20 else None


def test_a_job_goes_on_where_it_was_and_pays_nothing_twice(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/labels.sqlite"
    tired = [Judge("careful", Tired(careful, price="0.004"))]
    first = label(TEXTS, store=store, **order(judges=tired))
    assert isinstance(first.end, Wait)
    assert first.outages == {"careful": "it is tired"}
    assert first.cost == 20 * Decimal("0.003")
    rested = [Judge("careful", Function(careful, price="0.004"))]
    found = label(TEXTS, store=store, resume=True, **order(judges=rested))
    answers = [event.task for event in found.campaign.log() if event.kind == Kind.ANSWER]
    assert sorted(answers) == sorted(TRUTHS)  # each once
    assert found.cost == 60 * Decimal("0.003")
    assert found.end == Done("tasks")


def test_a_job_is_not_begun_twice_nor_resumed_with_other_items(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/labels.sqlite"
    label(TEXTS, store=store, **order())
    with pytest.raises(Conflict, match="started before") as refused:
        label(TEXTS, store=store, **order())
    assert refused.value.reason == "campaign_exists"
    with pytest.raises(Conflict, match="other items"):
        label(TEXTS[:-1], store=store, resume=True, **order())
    with pytest.raises(AskwiseError, match="no job 'label' to resume"):
        label(TEXTS, resume=True, **order())


def test_a_campaign_that_is_no_job_is_left_alone(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/labels.sqlite"
    Campaign.create(workers=[Worker("a", 1)], outcome="utility", store=store, name="label")
    with pytest.raises(Conflict, match="not a labelling job"):
        label(TEXTS, store=store, **order())


class Unreachable(Function):
    """A judge that can't be asked."""

    def outage(self) -> Outage | None:
        return Outage("the key is refused")


def test_where_no_judge_can_be_asked_nothing_is_spent_and_the_next_try_begins_anew(
    tmp_path: Path,
) -> None:
    store = f"sqlite:///{tmp_path}/labels.sqlite"
    out = [Judge("careful", Unreachable(careful, price="0.004"))]
    with pytest.raises(InvalidParameter, match="careful: the key is refused") as refused:
        label(TEXTS, store=store, **order(judges=out))
    assert refused.value.reason == "judges_unavailable"
    found = label(TEXTS, store=store, **order())
    assert found.campaign.name == "label-2"
    assert found.end == Done("tasks")


def test_labels_are_written_beside_the_items_own_columns(tmp_path: Path) -> None:
    rows = [{"id": f"m{at}", "text": text, "label": "old"} for at, text in enumerate(TEXTS)]
    found = label(rows, text="text", **order())
    with found.write(tmp_path / "out.csv").open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    assert list(lines[0]) == ["id", "label", "confidence", "rests_on", "text", "item_label"]
    assert lines[0]["item_label"] == "old"
    assert [each["id"] for each in lines] == [f"m{at}" for at in range(60)]


def test_no_column_of_the_items_takes_the_place_of_another() -> None:
    own = {"label": "first", "item_label": "second", "item_item_label": "third"}
    columns = label([{"text": text, **own} for text in TEXTS[:2]], text="text", **order()).columns()
    assert {name: cells[0] for name, cells in columns.items() if name not in ("id", "text")} == {
        "label": columns["label"][0],
        "confidence": columns["confidence"][0],
        "rests_on": "agreement",
        "item_item_item_label": "first",
        "item_label": "second",
        "item_item_label": "third",
    }


def test_the_report_is_one_page_that_loads_nothing(tmp_path: Path) -> None:
    found = label(["<script>alert(1)</script>", *TEXTS[1:]], **certified())
    page = found.report(tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<script" not in page
    assert "At most 20%" in page
    for each in (*found.judges, *found.people):
        assert f'<th scope="row">{each.id}</th>' in page
    assert not (tmp_path / "report.html").exists()


def test_two_columns_are_compared_as_a_pair_whose_sides_the_options_name() -> None:
    rows = [{"left": "short", "right": "much longer text"}, {"left": "long indeed", "right": "s"}]
    seen: list[Any] = []

    def longer(question: Question) -> str:
        seen.append(question.content.parts(question.payload)[0].value)
        payload = question.payload
        return "first" if len(payload["left"]) > len(payload["right"]) else "second"

    found = label(
        rows,
        pair=("left", "right"),
        question="Which is longer?",
        options="first,second",
        judges=[Judge("length", Function(longer))],
    )
    assert [each.label for each in found.labels] == ["second", "first"]
    content = found.campaign.content
    assert content is not None
    assert [option.side for option in content.options] == ["first", "second"]
    assert seen[0] in [("short", "much longer text"), ("long indeed", "s")]


def test_it_runs_where_an_event_loop_is_running_already() -> None:
    async def in_a_notebook() -> Any:
        return label(TEXTS[:6], **order(pilot=0))

    assert asyncio.run(in_a_notebook()).end == Done("tasks")


def test_replacements_by_trusted_answers_are_in_what_it_may_cost() -> None:
    costs = forecast(ordered(**certified(budget="100", escalate=True)))
    assert costs.replacements == 60 * Decimal("0.02")
    judged = 60 * (Decimal("0.004") + Decimal("0.001"))
    # Twenty of a hundred are kept for audits: more than to replace every label.
    assert costs.most == judged + Decimal(20)
    within = forecast(ordered(**certified(budget="3", escalate=True)))
    assert within.most == judged + costs.replacements


def test_judges_may_be_given_by_the_fields_of_a_file() -> None:
    fields = {"source": "function", "call": "tests.labelling.judged:careful", "price": "0.004"}
    found = label(TEXTS[:6], **order(judges=[{"id": "careful", **fields}], pilot=0))
    assert [each.id for each in found.judges] == ["careful"]
    assert found.cost == 6 * Decimal("0.003")
    with pytest.raises(InvalidProblem, match="judge 'x': source 'chat' lacks 'model'"):
        label(TEXTS, **order(judges=[{"id": "x"}]))


def test_what_more_money_would_buy_counts_answers_that_nobody_gave() -> None:
    found = label(TEXTS, **order(budget="0.05", pilot=0))
    more = found.more_money()
    asked = sum(event.kind == Kind.ASKED for event in found.campaign.log())
    unsure = {each.id for each in found.labels if (each.confidence or 0) < more.below}
    assert more.unsure == len(unsure)
    assert more.answers >= 2 * len(unsure) - asked
    assert more.cost > 0


@pytest.mark.parametrize(
    ("changes", "field", "words"),
    [
        ({"question": ""}, "question", "question is missing"),
        ({"options": ""}, "options", "options is missing"),
        ({"options": "spam"}, "options", "name two or more"),
        ({"judges": None}, "judges", "no one is left to label"),
        ({"judges": ["gpt"]}, "judges", "give a judges.toml"),
        ({"target_error": 2}, "target_error", "between 0 and 1"),
        ({"certify": 0.9}, "target_error", "target_error .* is missing"),
        ({"certify": 0.9, "target_error": 0.1}, "by", "name the people who audit"),
        ({"certify": 0.9, "target_error": 0.1, "by": "vet"}, "by", "not among the people"),
        ({"by": "vet"}, "by", "given without certify"),
        ({"escalate": True}, "escalate", "given without certify"),
        ({"content": Content("Ok?", ["a", "b"])}, "question", "beside content"),
        ({"people": [{"id": "careful", "price": 1}]}, "id", "names two"),
        ({"sources": {"eve": Function(careful)}}, "sources", "sources names 'eve'"),
        ({"pilot": -1}, "pilot", "from 0"),
        ({"pilot": 3}, "pilot.tasks", "from 5"),
        ({"pair": ["text"]}, "pair", "two columns"),
        ({"budget": "much"}, "budget", "budget"),
    ],
)
def test_an_order_that_can_not_work_is_refused_before_anything_is_asked(
    changes: dict[str, Any], field: str, words: str
) -> None:
    def never(question: Question) -> str:
        raise AssertionError("it was asked")

    asked = [Judge("careful", Function(never)), Judge("hasty", Function(never))]
    with pytest.raises(AskwiseError, match=words) as refused:
        label(TEXTS, **{**order(judges=asked), **changes})
    assert refused.value.field == field


def test_the_forecast_adds_up_prices_and_never_exceeds_the_budget() -> None:
    costs = forecast(ordered(**order(budget=None)))
    assert costs.everybody == 60 * (Decimal("0.004") + Decimal("0.001"))
    assert costs.most == costs.everybody
    within = forecast(ordered(**order(budget="0.1")))
    assert within.most == within.likely == Decimal("0.1")
    audited = forecast(ordered(**certified(budget="1")))
    assert audited.audits == Decimal("0.2")


def test_a_certificate_that_is_not_reached_is_not_talked_round() -> None:
    # Both judges err alike: they agree on everything, and the first audits show that it is wrong.
    alike = [Judge(name, Function(lambda _: "spam", price="0.001")) for name in ("one", "two")]
    found = label(TEXTS[:20], **certified(judges=alike, pilot=0))
    assert found.end == Done("hopeless")
    assert found.uncertified
    assert "labels are drawn and final" in words.uncertified(found)
    known = found.rests_on()["truth"]
    assert words.more_money(found, words.money) == (
        f"No label is certified. Of 20 labels, {known} are known, {20 - known} rest on agreement "
        "alone, at least 90% (not a probability)."
    )


def test_truths_are_not_wanted_for_agreement_that_no_label_rests_on() -> None:
    found = label(TEXTS[:30], **certified(escalate=True, pilot=0))
    assert not found.uncertified
    assert "agreement" not in found.rests_on()
    assert [each.why for each in found.status.needs_gold] == ["calibration"]
    assert words.wanted_truths(found) == []


def test_labels_that_answers_leave_undecided_are_counted_and_said(tmp_path: Path) -> None:
    found = label(TEXTS, **order(pilot=0))
    # Of each six messages three have "won" and no "!", or the other way round: one after the other
    # judge says spam of them.
    assert (found.contested, found.undecided) == (30, 30)
    assert found.contested == found.campaign.results().contested
    assert (found.to_json()["contested"], found.to_json()["undecided"]) == (30, 30)
    said = words.undecided(found)
    assert said == (
        "30 of 60 labels are undecided: their answers differ, and no option has more of them. What "
        "such a label says is little more than a guess, and all of them may say the same. Another "
        "judge, or people, would decide them."
    )
    page = found.report(tmp_path / "report.html").read_text()
    assert "30, 30 of them undecided" in page
    assert said in page


def test_a_third_judge_leaves_labels_contested_but_not_undecided() -> None:
    third = Judge("third", Function(careful, price="0.004"))
    found = label(TEXTS, **order(judges=[*judges(), third], pilot=0, policy="random-pairs"))
    assert found.undecided == 0
    assert words.undecided(found) == (
        f"{found.contested} of 60 labels are contested: their answers differ, but one option has "
        "more of them."
    )
    alike = label(TEXTS[:6], **order(judges=[judges()[0], third], pilot=0))
    assert words.undecided(alike) == ""


def test_items_without_a_label_are_not_called_labels() -> None:
    found = label(TEXTS, **order(budget="0.05", pilot=0))
    without = sum(each.label is None for each in found.labels)
    doubtful = found.more_money().unsure - without
    said = words.more_money(found, words.money)
    assert without > 1
    assert said.startswith(
        f"{doubtful} labels are less than 90% sure and not certified, and {without} items have no "
        "label. "
    )
    one = label(TEXTS[:1], **order(pilot=0))
    assert words.more_money(one, words.money).startswith("1 label is less than 90% sure")
