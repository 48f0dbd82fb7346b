"""A certificate rests on what is on record: after a restart, a kill and in every view."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections import Counter
from contextlib import closing
from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from askwise import Campaign, Done
from askwise.campaign.state import CampaignState
from askwise.campaign.views import CampaignCertificate, Status
from askwise.core.events import Kind
from askwise.store import MemoryStore, SqliteStore
from askwise.testing.sessions import comparable
from tests.campaign.certified import TASKS, create, of_kind, run, said_by
from tests.schemas import faults


@settings(max_examples=8, deadline=None)
@given(cut=st.integers(1, 10_000), limit=st.integers(1, 5), escalate=st.booleans())
def test_a_campaign_that_is_reopened_anywhere_goes_on_to_the_same_log(
    cut: int, limit: int, escalate: bool
) -> None:
    terms = {"escalate": escalate, "error": 0.25, "share": 0.5}
    whole = create(tasks=TASKS[:16], certify=terms)
    run(whole, limit=limit)
    store = MemoryStore()
    part = create(tasks=TASKS[:16], certify=terms, store=store)
    steps = cut % 60
    for _ in range(steps):
        for each in part.assignments():
            part.tell(each.id, said_by(each.worker, each.task or ""))
        if isinstance(part.ask(limit), Done):
            break
    again = Campaign.open(store, "cats")
    run(again, limit=limit)
    assert comparable(again.log()) == comparable(whole.log())
    state = again._writer.current()
    restored = CampaignState.restore(state.spec, state.snapshot())
    assert restored.ledger.names() == state.ledger.names()
    for name, array in state.ledger.arrays().items():
        assert np.array_equal(array, restored.ledger.arrays()[name], equal_nan=True), name


def test_killed_between_draw_and_audits_the_draw_on_record_is_used(tmp_path: Path) -> None:
    file = tmp_path / "certify.sqlite"
    with closing(SqliteStore(file)) as store:
        campaign = create(store=store)
        while not campaign.assignments("vet"):
            for each in campaign.assignments():
                campaign.tell(each.id, said_by(each.worker, each.task or ""))
            campaign.ask()
    forked = multiprocessing.get_context("fork")
    for kill_at in range(10):
        process = forked.Process(target=run_and_die, args=(file, kill_at))
        process.start()
        process.join(60)
        assert process.exitcode == -signal.SIGKILL
    whole = create()
    run(whole)
    with closing(SqliteStore(file)) as store:
        campaign = Campaign.open(store, "cats")
        run(campaign)
        assert len(of_kind(campaign.log(), Kind.DRAWN)) == 1
        assert comparable(campaign.log()) == comparable(whole.log())
        assert campaign.certificate() == whole.certificate()
        audits = Counter(
            event.task for event in of_kind(campaign.log(), Kind.ANSWER) if event.worker == "vet"
        )
        assert set(audits.values()) == {1}


def run_and_die(file: Path, after: int) -> None:
    """Go on for some writes, then be killed, in a different place each time."""
    writes = 0

    def count() -> None:
        nonlocal writes
        writes += 1
        if writes > after % 4:
            os.kill(os.getpid(), signal.SIGKILL)

    with closing(SqliteStore(file)) as store:
        campaign = Campaign.open(store, "cats")
        while True:
            for each in campaign.assignments():
                count()
                campaign.tell(each.id, said_by(each.worker, each.task or ""))
            count()
            campaign.ask()


def test_audits_are_explained_and_told_again() -> None:
    campaign = create()
    run(campaign, limit=3)
    audits = [event for event in of_kind(campaign.log(), Kind.ASKED) if event.worker == "vet"]
    for event in (audits[0], audits[-1]):
        found = campaign.explain(f"cats:{event.seq}")
        assert found.reproduced
        assert found.purpose == "audit"
        assert [each.worker for each in found.candidates] == ["vet"]


def test_views_and_log_are_as_their_schemas_say_and_read_back() -> None:
    campaign = create()
    for _ in range(2):
        raw = campaign.certificate().to_json()
        assert faults("campaign-certificate", raw) == []
        assert CampaignCertificate.from_json(raw) == campaign.certificate()
        status = campaign.status().to_json()
        assert faults("status", status) == []
        assert Status.from_json(status) == campaign.status()
        assert faults("answers", [each.to_json() for each in campaign.answers()]) == []
        for event in {event.kind: event for event in campaign.log()}.values():
            assert faults("event", event.to_json()) == [], event.kind
        run(campaign)
    # In a notebook, a row for each set.
    shown = campaign.certificate()._repr_html_()
    assert "<th>block</th><th>size</th><th>allowed</th>" in shown
