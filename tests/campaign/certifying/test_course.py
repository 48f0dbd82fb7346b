"""Labels are frozen, drawn from, audited and certified, in the engine and on the log."""

from __future__ import annotations

from collections import Counter

import pytest

from askwise import Done, Wait, Worker
from askwise.auditing import AuditDraw, certify
from askwise.auditing.draws import digest_of
from askwise.core.errors import InvalidProblem
from askwise.core.events import Kind
from askwise.core.money import to_micro
from askwise.policies import policies
from askwise.testing.referee import Referee
from tests.campaign.certified import (
    JUDGES,
    MORE,
    TASKS,
    VET,
    create,
    drawn_labels,
    of_kind,
    run,
    said_by,
    truth_of,
)
from tests.policies.variants import NEEDED


def test_a_campaign_ends_certified_and_says_so() -> None:
    campaign = create()
    assert run(campaign) == Done("certified")
    assert campaign.over() == Done("certified")
    found = campaign.certificate()
    assert (found.phase, found.wrong + found.certified <= 60) == ("done", True)
    assert found.statement.startswith("At most 10% of ")
    answers = campaign.answers()
    words = Counter(each.certificate for each in answers)
    assert words["certified"] == found.certified > 30
    certified = [each for each in answers if each.certificate == "certified"]
    assert {(each.rests_on, each.confidence) for each in certified} <= {
        ("certified", 0.9), ("truth", 1.0),
    }  # fmt: skip
    assert all(each.value == truth_of(each.task or "") for each in answers if each.confidence == 1)


def test_the_policy_never_asks_those_who_audit_nor_spends_what_is_kept_back() -> None:
    campaign = create(budget="7.5", certify={"error": 0.3, "share": 0.8}, tasks=[*TASKS, *MORE])
    assert campaign.certificate().kept == 6
    run(campaign)
    log = campaign.log()
    drawn = log.index(of_kind(log, Kind.DRAWN)[0])
    before = [event for event in log[:drawn] if event.kind == Kind.ASKED]
    assert {event.worker for event in before} == {"j1", "j2", "j3"}
    assert sum(event.price or 0 for event in before) <= to_micro("1.5", "budget")
    after = [event for event in log[drawn:] if event.kind == Kind.ASKED]
    assert {event.worker for event in after} == {"vet"}
    assert len(after) <= 12
    assert campaign.status().spent <= campaign.status().budget  # type: ignore[operator]


def test_the_certificate_is_what_the_record_says_to_whoever_reads_it() -> None:
    campaign = create()
    run(campaign)
    log = campaign.log()
    labels = drawn_labels(log)
    (drawn,) = of_kind(log, Kind.DRAWN)
    assert drawn.draw is not None
    record = AuditDraw.from_record(drawn.draw)
    assert digest_of(labels) == record.digest
    truths = {event.task: str(event.value) for event in of_kind(log, Kind.TRUTH)}
    found = certify(labels, record, truths)  # type: ignore[arg-type]
    mine = campaign.certificate()
    assert (found.audited, found.wrong, found.statement) == (
        mine.audited, mine.wrong, mine.statement,
    )  # fmt: skip
    vouched = set(found.certified)
    for each in campaign.answers():
        was_right = each.value == labels[each.task or ""][0]
        assert (each.certificate == "certified") == (each.task in vouched and was_right)


def test_labels_are_frozen_and_drawn_in_one_write_before_the_first_audit() -> None:
    campaign = create()
    run(campaign)
    log = campaign.log()
    drawn = log.index(of_kind(log, Kind.DRAWN)[0])
    assert [event.kind for event in log[drawn - 60 : drawn]] == [Kind.CLOSED] * 60
    assert {event.outcome for event in log[drawn - 60 : drawn]} == {"frozen"}
    assert [event.kind for event in log[drawn + 1 : drawn + 5]] == [
        Kind.DECIDED, Kind.ASKED, Kind.ANSWER, Kind.TRUTH,
    ]  # fmt: skip
    assert log[drawn + 1].note == "audit"


def test_an_audit_says_how_probable_it_was() -> None:
    campaign = create()
    run(campaign, limit=4)
    log = campaign.log()
    (drawn,) = of_kind(log, Kind.DRAWN)
    assert drawn.draw is not None
    first = next(event for event in log[drawn.seq :] if event.kind == Kind.ASKED)
    assert first.propensity == pytest.approx(1 / drawn.draw["sizes"][0])


def test_several_audits_at_once_show_the_same_as_one_by_one() -> None:
    one, several = create(), create()
    run(one)
    run(several, limit=7)
    for campaign in (one, several):
        assert campaign.over() == Done("certified")
    assert one.certificate().blocks == several.certificate().blocks


def test_with_escalation_the_statement_is_about_all_labels() -> None:
    # The first judge alone: their labels are too often wrong for all to be certified.
    campaign = create(
        workers=[Worker("j1", "0.01"), VET],
        certify={"escalate": True, "error": 0.05},
        budget="100",
    )
    assert run(campaign, says=lambda who, task: said_by(who, task, 0.8)) == Done("certified")
    found = campaign.certificate()
    assert found.escalated > 0
    assert found.uncertified == 0
    assert found.blocks[0].missing == 0
    assert "all 60 labels" in found.statement
    wrong = [each for each in campaign.answers() if each.value != truth_of(each.task or "")]
    assert len(wrong) <= 3


def test_escalation_goes_as_far_as_the_money_and_says_what_is_missing() -> None:
    campaign = create(
        workers=[Worker("j1", "0.01"), VET],
        certify={"escalate": True, "error": 0.1, "share": 0.9},
        budget="12",
    )
    assert run(campaign, says=lambda who, task: said_by(who, task, 0.6)) == Done("budget")
    found = campaign.certificate()
    assert found.uncertified == found.blocks[0].missing > 0
    assert f"{found.blocks[0].missing} of the labels" in found.statement or (
        found.blocks[0].outcome != "certified"
    )


def test_wrong_labels_end_a_campaign_as_hopeless_before_the_money_is_spent() -> None:
    campaign = create()
    backwards = {"yes": "no", "no": "yes"}

    def says(worker: str, task: str) -> str:
        truth = truth_of(task)
        return truth if worker == "vet" else backwards[truth]

    assert run(campaign, says=says) == Done("hopeless")
    found = campaign.certificate()
    assert found.certified == 0
    assert found.audited < found.audits
    assert {each.certificate for each in campaign.answers()} == {"audited", "uncertified"}


def test_what_was_told_before_the_draw_is_not_drawn() -> None:
    campaign = create()
    campaign.truth("t0", truth_of("t0"))
    run(campaign)
    (drawn,) = of_kind(campaign.log(), Kind.DRAWN)
    assert drawn.draw is not None
    assert sorted(drawn.draw["tasks"]) == sorted(TASKS[1:])
    first = campaign.answers()[0]
    assert (first.rests_on, first.certificate) == ("truth", None)


def test_a_truth_told_by_hand_counts_as_the_audit_that_is_next() -> None:
    campaign, other = create(), create()
    run(other)
    while not (audits := campaign.assignments("vet")):
        for each in campaign.assignments():
            campaign.tell(each.id, said_by(each.worker, each.task or ""))
        campaign.ask()
    campaign.truth(audits[0].task or "", truth_of(audits[0].task or ""))
    assert campaign.certificate().audited == 1
    assert run(campaign) == Done("certified")
    assert campaign.certificate().blocks == other.certificate().blocks


def test_an_audit_that_everybody_turns_down_counts_as_wrong_until_somebody_can_say() -> None:
    campaign = create()
    while not (audits := campaign.assignments("vet")):
        for each in campaign.assignments():
            campaign.tell(each.id, said_by(each.worker, each.task or ""))
        campaign.ask()
    refused = audits[0].task or ""
    campaign.decline(audits[0].id)
    campaign.ask()
    assert (campaign.certificate().audited, campaign.certificate().wrong) == (1, 1)
    right = next(each for each in campaign.answers() if each.task == refused).value
    campaign.truth(refused, str(right))
    assert (campaign.certificate().audited, campaign.certificate().wrong) == (1, 0)


def test_an_audit_that_expires_is_put_again_and_a_late_answer_to_it_is_taken() -> None:
    now = [0.0]
    campaign = create(lease=10, clock=lambda: now[0])
    while not (audits := campaign.assignments("vet")):
        for each in campaign.assignments():
            campaign.tell(each.id, said_by(each.worker, each.task or ""))
        campaign.ask()
    now[0] = 20.0
    task = audits[0].task or ""
    campaign.tell(audits[0].id, truth_of(task))
    assert campaign.certificate().audited == 1
    assert campaign.ask()[0].task != task


def test_the_cheapest_of_those_who_audit_is_asked_within_their_limit() -> None:
    vets = [Worker("vet1", "0.5", trusted=True), Worker("vet2", "0.3", limit=3, trusted=True)]
    campaign = create(workers=[*JUDGES, *vets], certify={"by": ["vet1", "vet2"]})
    run(campaign)
    asked = [event.worker for event in of_kind(campaign.log(), Kind.ASKED)]
    audits = [worker for worker in asked if worker in ("vet1", "vet2")]
    assert audits[:3] == ["vet2"] * 3
    assert set(audits[3:]) == {"vet1"}


def test_while_those_who_audit_are_away_it_waits_for_them() -> None:
    campaign = create()
    while not isinstance(choice := campaign.ask(workers=["j1", "j2", "j3"]), Wait | Done):
        for each in choice:
            campaign.tell(each.id, said_by(each.worker, each.task or ""))
    assert choice == Wait("workers")
    assert campaign.over() is None
    campaign.leave("vet")
    assert campaign.ask() == Wait("workers")
    campaign.add(workers=[VET])
    assert run(campaign) == Done("certified")


def test_what_is_out_keeps_labels_from_being_frozen() -> None:
    campaign = create(tasks=TASKS[:40])
    out = campaign.ask()[0]
    while not isinstance(choice := campaign.ask(), Wait | Done):
        for each in choice:
            campaign.tell(each.id, said_by(each.worker, each.task or ""))
    assert choice == Wait("answers")
    assert of_kind(campaign.log(), Kind.DRAWN) == []
    campaign.tell(out.id, said_by(out.worker, out.task or ""))
    assert run(campaign) == Done("certified")


def test_blocks_share_doubt_and_money_and_each_has_its_statement() -> None:
    campaign = create(certify={"blocks": 2, "error": 0.2}, budget="100")
    assert campaign.certificate().kept == 40
    assert run(campaign) == Done("certified")
    assert campaign.certificate().kept == 20
    before = campaign.certificate().blocks[0]
    assert before.confidence == 0.95
    campaign.add(tasks=[f"u{at}" for at in range(50)])
    assert campaign.certificate().phase == "labelling"
    assert run(campaign) == Done("certified")
    found = campaign.certificate()
    assert found.blocks[0] == before
    assert found.blocks[1].tasks == 50
    assert found.statement.startswith("Block 1: At most 20%")
    campaign.add(tasks=["late"])
    run(campaign)
    assert campaign.answers()[-1].certificate == "uncertified"


def test_a_part_of_what_is_topped_up_is_kept_back_until_the_draw() -> None:
    campaign = create(budget="50")
    campaign.top_up("10")
    assert campaign.certificate().kept == 24
    assert campaign.status().budget == 60
    run(campaign)
    campaign.top_up("10")
    assert (campaign.certificate().kept, campaign.status().budget) == (0, 70)


def test_without_a_budget_the_number_of_audits_is_given() -> None:
    campaign = create(budget=None, certify={"audits": 45})
    assert campaign.certificate().audits == 45
    assert run(campaign) == Done("certified")
    assert campaign.certificate().audited <= 45


def test_a_stopping_rule_keeps_its_words() -> None:
    campaign = create(stopping={"name": "posterior", "error": 0.1}, policy="virt-ucb")
    run(campaign)
    outcomes = {each.outcome for each in campaign.answers()}
    assert "confident" in outcomes
    assert outcomes <= {"confident", "low_confidence", "over_budget", "frozen"}


@pytest.mark.parametrize("name", [n for n in policies.names() if n not in NEEDED])
def test_every_policy_for_options_can_be_certified(name: str) -> None:
    try:
        campaign = create(
            policy=name,
            tasks=TASKS[:12],
            budget="10",
            certify={"error": 0.34, "share": 0.5},
            repeat=False,
        )
    except InvalidProblem as refused:
        pytest.skip(f"no policy for this problem: {refused}")
    referee = Referee(campaign._spec.problem)
    for _ in range(400):
        for each in campaign.assignments():
            campaign.tell(each.id, said_by(each.worker, each.task or ""))
        choice = campaign.ask(3)
        if choice == Wait("truth"):
            waiting = next(
                each.task
                for each in campaign.answers()
                if each.count and each.rests_on != "truth" and each.task is not None
            )
            campaign.truth(waiting, truth_of(waiting))
        elif isinstance(choice, Done):
            break
    assert isinstance(choice, Done)
    for event in campaign.log():
        referee.see(event)
    referee.compare(campaign._writer.current().ledger)
