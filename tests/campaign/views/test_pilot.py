"""What a pilot shows of its workers."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from askwise import Batch, Campaign
from askwise.auditing.intervals import share
from askwise.campaign.views import PilotReport, PilotWorker, Status
from askwise.core.errors import Conflict
from tests.campaign.piloted import GPT, JUDGES, MINI, OWL, TASKS, create
from tests.schemas import faults


def told(
    said: dict[str, str], *, truths: str = "", **changes: object
) -> tuple[PilotReport, dict[str, PilotWorker]]:
    """The report on workers who said y, n or - (an order that contradicts) of tasks in turn."""
    tasks = TASKS[: len(next(iter(said.values())))]
    campaign = create(tasks=tasks, pilot={"tasks": len(tasks), "workers": list(said)}, **changes)
    words = {"y": "yes", "n": "no"}
    for task, truth in zip(tasks, truths, strict=False):
        if truth in words:
            campaign.truth(task, words[truth])
    batch = campaign.ask(limit=100)
    assert isinstance(batch, Batch)
    for each in batch:
        word = said[each.worker][tasks.index(each.task or "")]
        if word == "-":
            campaign.fail(each.id, "orders", "0.001")
        elif word == "?":
            campaign.fail(each.id, "refused", "0.004")
        else:
            campaign.tell(each.id, words[word], cost="0.006")
    report = campaign.pilot()
    return report, {each.id: each for each in report.workers}


def test_before_it_begins_it_says_what_is_to_come() -> None:
    report = create().pilot()
    assert (report.phase, report.tasks, report.questions, report.panel) == ("waiting", (), 0, None)
    assert [each.id for each in report.workers] == ["gpt", "mini", "owl"]
    assert faults("pilot", report.to_json()) == []


def test_a_campaign_without_a_pilot_has_no_report() -> None:
    campaign = Campaign.create(
        workers=JUDGES, tasks=["a"], options=["n", "y"], policy="random-pairs"
    )
    assert campaign.status().pilot is None
    with pytest.raises(Conflict, match="has no pilot") as refused:
        campaign.pilot()
    assert refused.value.reason == "no_pilot"


def test_it_counts_answers_failures_and_flips_and_what_they_cost() -> None:
    report, found = told({"gpt": "yyy-?-", "mini": "yyyyyy", "owl": "nyyyyy"})
    gpt = found["gpt"]
    assert (gpt.answers, gpt.failed, gpt.flips) == (3, 3, 2)
    assert gpt.failures == {"orders": 2, "refused": 1}
    # Three answers at 0.006, two flips at 0.001 and a refusal at 0.004.
    assert (gpt.paid, gpt.cost_an_answer) == (Decimal("0.024"), Decimal("0.008"))
    assert gpt.largest_cost == Decimal("0.006")
    assert report.paid == Decimal("0.024") + 12 * Decimal("0.006")
    assert (report.phase, report.done) == ("done", 18)


def test_agreement_is_with_the_vote_of_the_others() -> None:
    _, found = told({"gpt": "yyynnn", "mini": "yyyynn", "owl": "yynyny"})
    # mini and owl: yy yy yn yy nn ny. gpt says y y y n n n: 1 + 1 + 1/2 + 0 + 1 + 1/2 = 4 of 6.
    assert found["gpt"].agreement == share(4, 6)
    assert found["gpt"].compared == 6


def test_accuracy_is_on_tasks_with_a_known_truth_and_says_how_many() -> None:
    report, found = told({"gpt": "yyynnn", "mini": "nnnnnn", "owl": "yyyyyy"}, truths="yyn...")
    assert (report.with_truth, found["gpt"].truths) == (3, 3)
    assert found["gpt"].accuracy == share(2, 3)
    assert found["mini"].accuracy == share(1, 3)
    assert found["owl"].accuracy == share(2, 3)


def test_without_a_truth_nothing_is_said_of_errors() -> None:
    report, found = told({"gpt": "yyynnn", "mini": "nnnnnn", "owl": "yyyyyy"})
    assert report.panel is None
    assert report.n_eff is None
    assert all(each.accuracy is None for each in found.values())


def test_judges_who_err_alike_are_worth_one() -> None:
    report, _ = told({"gpt": "yynnyn", "mini": "yynnyn", "owl": "yynnyn"}, truths="yyyyyy")
    assert report.n_eff == pytest.approx(1.0)
    assert report.panel is not None
    assert report.panel.correlation is not None
    assert report.panel.correlation.value == pytest.approx(1.0)


def test_judges_who_err_apart_are_worth_as_many_as_they_are() -> None:
    # Each is wrong on two tasks, and no two on the same: the correlation is below 0.
    report, _ = told({"gpt": "nnyyyy", "mini": "yynnyy", "owl": "yyyynn"}, truths="yyyyyy")
    assert report.n_eff == pytest.approx(3.0)


def test_a_family_that_agrees_beyond_others_is_suspicious() -> None:
    same, other = "ynynynynynyn", "yyyyyynnnnnn"
    report, _ = told({"gpt": same, "mini": same, "owl": other}, budget="20")
    (family,) = report.families
    assert (family.family, family.workers) == ("open", ("gpt", "mini"))
    assert (family.within, family.across, family.tasks) == (1.0, 0.5, 12)
    assert family.suspicious


def test_a_family_that_agrees_as_others_do_is_not() -> None:
    report, _ = told({"gpt": "yyyyyynnnnnn", "mini": "ynynynynynyn", "owl": "yyynnnyyynnn"})
    (family,) = report.families
    assert not family.suspicious


def test_a_family_alone_has_nobody_to_be_compared_with() -> None:
    workers = [GPT, MINI, replace(OWL, family="open")]
    report, _ = told({"gpt": "yyyyy", "mini": "yyyyy", "owl": "yyyyy"}, workers=workers)
    assert report.families == ()


def test_it_is_as_its_schema_says_and_reads_back() -> None:
    said = {"gpt": "yy-nnn", "mini": "yyyyn?", "owl": "nyynyn"}
    report, _ = told(said, truths="yynn..", budget="20")
    raw = report.to_json()
    assert faults("pilot", raw) == []
    assert PilotReport.from_json(raw) == report
    campaign = create()
    campaign.ask(limit=5)
    status = campaign.status()
    assert faults("status", status.to_json()) == []
    assert Status.from_json(status.to_json()) == status
    for event in campaign.log():
        assert faults("event", event.to_json()) == [], event.kind
    fields = ("workers", "tasks", "policy", "options", "pilot")
    assert faults("campaign", {field: campaign.spec[field] for field in fields}) == []
