"""Certificates while auditors come, go and refuse, truths are told by hand and money is added."""

from __future__ import annotations

from askwise import Batch, Campaign, Done, Wait, Worker
from askwise.core.choices import Assignment
from askwise.core.events import Kind
from askwise.store import MemoryStore
from tests.campaign.certified import JUDGES, TASKS, VET, create, run, said_by, truth_of


def first_audit(campaign: Campaign, right: float = 0.9) -> Assignment:
    """Label up to the draw, and hand out the first audit."""
    while True:
        for each in campaign.assignments():
            if each.worker.startswith("vet"):
                return each
            campaign.tell(each.id, said_by(each.worker, each.task or "", right))
        campaign.ask()


def test_what_is_certified_does_not_depend_on_who_is_there_when_somebody_looks() -> None:
    store = MemoryStore()
    campaign = create(store=store, certify={"error": 0.2})
    campaign.decline(first_audit(campaign).id)
    assert run(campaign) == Done("certified")
    campaign.leave("vet")
    again = Campaign.open(store, "cats")
    assert again.certificate() == campaign.certificate()
    assert again.ask() == campaign.ask() == Done("certified")


def test_a_refusal_waits_for_an_auditor_who_left_and_is_the_same_to_every_reader() -> None:
    store = MemoryStore()
    vets = [Worker("vet", "0.5", trusted=True), Worker("vet2", "0.6", trusted=True)]
    campaign = create(workers=[*JUDGES, *vets], certify={"by": ["vet", "vet2"]}, store=store)
    audit = first_audit(campaign)
    campaign.leave("vet2")
    campaign.decline(audit.id)
    assert campaign.certificate().audited == 0
    assert campaign.ask() == Wait("workers")
    campaign.add(workers=[vets[1]])
    again = Campaign.open(store, "cats")
    assert again.certificate() == campaign.certificate()
    assert campaign.ask()[0].worker == "vet2"


def test_with_escalation_a_label_is_called_certified_only_by_audits() -> None:
    for right, certifies in ((0.3, False), (0.5, False), (0.97, True)):
        campaign = create(
            workers=[JUDGES[0], VET], certify={"escalate": True, "error": 0.2}, budget="100"
        )
        first_audit(campaign, right)
        assert {each.certificate for each in campaign.answers()} == {"uncertified"}
        assert campaign.certificate().blocks[0].outcome == "open"
        run(campaign)
        answers = campaign.answers()
        assert sum(each.value != truth_of(each.task or "") for each in answers) <= 12
        claimed = {each.confidence or 0.0 for each in answers if each.rests_on == "certified"}
        # A fifth of all 60 labels may be wrong: 12 of those that are certified, however few.
        size = campaign.certificate().blocks[0].certified
        assert claimed <= {1 - 12 / size}
        # Where half of the labels or more are wrong, no more than 24 hold at most 12 wrong ones.
        sure = max(claimed, default=0.0)
        assert sure >= 0.75 if certifies else sure <= 0.5


def test_a_statement_that_is_true_because_labels_were_replaced_is_made() -> None:
    campaign = create(
        workers=[JUDGES[0], VET], certify={"escalate": True, "error": 0.2}, budget="100"
    )
    assert run(campaign, says=lambda who, task: said_by(who, task, 0.1)) == Done("certified")
    found = campaign.certificate()
    assert found.blocks[0].missing == 0
    assert found.statement.startswith("At most 20% of all 60 labels")
    replaced = 60 - found.blocks[0].certified
    assert f", counting the {replaced} that the trusted source replaced. " in found.statement


def test_truths_that_refute_a_certificate_withdraw_it() -> None:
    campaign = create(certify={"error": 0.2})
    assert run(campaign) == Done("certified")
    assert campaign.certificate().certified > 40
    for each in campaign.answers():
        if each.rests_on != "truth":
            campaign.truth(each.task or "", "no" if each.value == "yes" else "yes")
    assert campaign.certificate().certified == 0
    assert campaign.certificate().statement.startswith("Of no set")


def test_labels_are_not_frozen_before_somebody_who_audits_is_there() -> None:
    campaign = create()
    campaign.leave("vet")
    assert run(campaign) == Wait("workers")
    assert not [event for event in campaign.log() if event.kind == Kind.DRAWN]
    campaign.add(workers=[VET])
    assert run(campaign) == Done("certified")


def test_no_audit_is_bought_beyond_one_that_nobody_can_make() -> None:
    vets = [Worker("vet", "0.5", trusted=True), Worker("vet2", "0.6", limit=1, trusted=True)]
    campaign = create(workers=[*JUDGES, *vets], certify={"by": ["vet", "vet2"]})
    audit = first_audit(campaign)
    campaign.decline(audit.id)
    second = campaign.ask()[0]
    assert (second.task, second.worker) == (audit.task, "vet2")
    campaign.tell(second.id, truth_of(second.task or ""))
    third = campaign.ask()[0]
    campaign.decline(third.id)
    # Only vet2 could audit it, and has reached their limit.
    before = campaign.status().spent
    assert campaign.ask(5) == Done("limits")
    assert campaign.status().spent == before


def test_who_audits_is_asked_once_about_a_task_also_where_workers_are_asked_again() -> None:
    campaign = create(
        policy="round-robin", stopping={"name": "fixed", "n": 2}, repeat=True, tasks=TASKS[:40]
    )
    audit = first_audit(campaign)
    campaign.decline(audit.id)
    following = campaign.ask()
    assert isinstance(following, Batch)
    assert following[0].task != audit.task
    assert campaign.certificate().wrong == 1


def test_a_task_that_was_closed_without_a_label_is_not_drawn() -> None:
    campaign = create()
    out = campaign.ask(10)
    closed = {each.task for each in out}
    for task in sorted(closed, key=str):
        campaign.close(task or "")
    for each in out:
        campaign.tell(each.id, said_by(each.worker, each.task or ""))
    run(campaign)
    (drawn,) = (event for event in campaign.log() if event.kind == Kind.DRAWN)
    assert drawn.draw is not None
    assert not closed & set(drawn.draw["tasks"])


def test_money_that_comes_later_finishes_the_first_block_too() -> None:
    terms = {"escalate": True, "error": 0.05, "blocks": 2, "share": 0.5}
    campaign = create(workers=[JUDGES[0], VET], certify=terms, budget="30")
    assert run(campaign, says=lambda who, task: said_by(who, task, 0.6)) == Done("budget")
    missing = campaign.certificate().blocks[0].missing
    assert missing > 0
    campaign.top_up("100")
    assert run(campaign, says=lambda who, task: said_by(who, task, 0.6)) == Done("certified")
    assert campaign.certificate().blocks[0].missing == 0
