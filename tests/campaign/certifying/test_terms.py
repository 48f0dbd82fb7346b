"""Which terms of certificates can be kept, and that they are."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from askwise import Campaign, Done
from askwise.core.errors import AskwiseError, Conflict, InvalidProblem
from askwise.core.events import Kind
from tests.campaign.certified import (
    JUDGES,
    TASKS,
    VET,
    create,
    drawn_labels,
    of_kind,
    run,
    truth_of,
)


def test_a_campaign_without_terms_has_no_certificate() -> None:
    campaign = Campaign.create(
        workers=JUDGES, tasks=["a"], options=["n", "y"], policy="random-pairs"
    )
    assert campaign.status().certificate is None
    with pytest.raises(Conflict, match="certifies nothing") as refused:
        campaign.certificate()
    assert refused.value.reason == "not_certifying"


BAD: dict[str, tuple[dict[str, Any], str, str]] = {
    "no error": ({"certify": {"error": None}}, "certify.error", "missing"),
    "error 1": ({"certify": {"error": 1}}, "certify.error", "between 0 and 1"),
    "confidence 0": ({"certify": {"confidence": 0}}, "certify.confidence", "between 0 and 1"),
    "a share of 0": ({"certify": {"share": 0.0}}, "certify.share", "between 0 and 1"),
    "nobody": ({"certify": {"by": []}}, "certify.by", "name at least one trusted worker"),
    "a stranger": ({"certify": {"by": ["wet"]}}, "certify.by", "did you mean 'vet'"),
    "not trusted": ({"certify": {"by": ["j1"]}}, "certify.by", "trusted=True"),
    "twice": ({"certify": {"by": ["vet", "vet"]}}, "certify.by", "each worker once"),
    "everybody": ({"workers": [VET]}, "certify.by", "nobody is left"),
    "no money for an audit": ({"budget": "1"}, "certify.share", "one audit costs 0.5"),
    "no money for labels": ({"certify": {"share": 0.9999}}, "certify.share", "for labels"),
    "no audits": ({"budget": None}, "certify.audits", "say how many"),
    "too few audits": ({"budget": "10"}, "certify.share", "makes 8 audits"),
    "too few by number": ({"certify": {"audits": 5}}, "certify.audits", "makes 5 audits"),
    "an unknown field": ({"certify": {"eror": 0.1}}, "certify.eror", "did you mean 'error'"),
    "blocks": ({"certify": {"blocks": 0}}, "certify.blocks", "from 1"),
    "escalate": ({"certify": {"escalate": "yes"}}, "certify.escalate", "true or false"),
    "no name": ({"certify": {"by": True}}, "certify.by", "name at least one trusted worker"),
}


@pytest.mark.parametrize("case", BAD)
def test_terms_that_nobody_could_keep_are_refused(case: str) -> None:
    changes, field, words = BAD[case]
    with pytest.raises(AskwiseError, match=words) as refused:
        create(**changes)
    assert refused.value.field == field


def test_money_that_labelling_leaves_pays_for_audits_that_the_share_does_not() -> None:
    # All labels share the best score, so the first set holds 54 of the 60, and 17 audits certify
    # it; one of 59 would take 18. The share pays for 15.
    found = create(budget="40", certify={"share": 0.19})
    assert run(found, says=lambda _, task: truth_of(task)) == Done("certified")
    certificate = found.certificate()
    assert certificate.audits == 18
    assert certificate.certified >= 54


def test_utilities_and_auctions_are_not_certified() -> None:
    terms = {"error": 0.1, "confidence": 0.9, "by": ["vet"]}
    with pytest.raises(InvalidProblem, match="no labels"):
        Campaign.create(
            workers=[*JUDGES, VET], outcome="utility", budget=5, policy="uniform", certify=terms
        )


@pytest.mark.slow
def test_labels_that_are_wrong_together_are_certified_no_more_often_than_said() -> None:
    runs, wrong = 300, 0
    for seed in range(runs):
        chance = np.random.default_rng(seed)
        hard = {f"t{at}" for at in range(40) if chance.random() < 1 / 3}

        def says(worker: str, task: str, hard: set[str] = hard) -> str:
            truth = truth_of(task)
            fooled = worker != "vet" and task in hard
            return ("no" if truth == "yes" else "yes") if fooled else truth

        campaign = create(
            seed=seed, workers=[JUDGES[0], VET], tasks=TASKS[:40], certify={"error": 0.3}
        )
        run(campaign, says=says)
        labels = {each.task: each for each in campaign.answers() if each.certificate == "certified"}
        drawn = drawn_labels(campaign.log())
        size = campaign.certificate().blocks[0].certified
        if size:
            # Of the labels as they were drawn, before any correction.
            ranks = of_kind(campaign.log(), Kind.DRAWN)[0].draw
            assert ranks is not None
            kept = [t for t, r in zip(ranks["tasks"], ranks["ranks"], strict=True) if r < size]
            errors = sum(drawn[task][0] != truth_of(task) for task in kept)
            wrong += errors > math.floor(0.3 * size)
            assert sum(each.value != truth_of(t or "") for t, each in labels.items()) <= errors
    assert wrong / runs <= 0.1 + 3 * math.sqrt(0.1 * 0.9 / runs)


def test_no_audit_is_bought_that_the_certificate_does_not_need() -> None:
    for limit in (1, 50):
        campaign = create()
        assert run(campaign, limit=limit) == Done("certified")
        bought = [event for event in of_kind(campaign.log(), Kind.ANSWER) if event.worker == "vet"]
        assert len(bought) == campaign.certificate().audited <= campaign.certificate().audits
