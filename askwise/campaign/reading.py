"""What can be read off a campaign that is held open: views, the log, what is out."""

import json
import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from askwise.campaign import views
from askwise.campaign.requests import Crew
from askwise.campaign.spec import Spec
from askwise.campaign.state import CampaignState
from askwise.campaign.views import (
    Agreement,
    Bonus,
    CampaignCertificate,
    CampaignResults,
    DuePayout,
    Explanation,
    Handed,
    JudgesReport,
    OwnStanding,
    Paces,
    Payout,
    PilotReport,
    Status,
    WorkerReport,
    WorkerSummary,
)
from askwise.campaign.views.assignments import place_of, seq_of
from askwise.campaign.views.payments import currency_of, day_of, due, seqs_of
from askwise.campaign.views.tables import AnswerTable, PaymentTable
from askwise.campaign.views.worker_pace import LATEST
from askwise.campaign.writer import Writer
from askwise.core.choices import Assignment, Done
from askwise.core.content import Content
from askwise.core.events import Event
from askwise.core.fields import as_name
from askwise.core.problem import Task
from askwise.core.shown import ShownList, as_html
from askwise.ledger import columns as c
from askwise.store import Store

EVENTS = 2000
"""Events of the log that an export reads at a time."""

SHOWN = 10
"""Answers that a notebook shows of a campaign."""


class ReadableCampaign:
    """A campaign that was opened, without its verbs."""

    def __init__(
        self,
        store: Store,
        name: str,
        spec: Spec,
        clock: Callable[[], float] | None,
        later: Callable[[Callable[[], None]], object] | None = None,
        crew: Crew | None = None,
    ) -> None:
        self.name = name
        self._store = store
        self._answers = views.KeptAnswers()
        self._paces = views.Paces()
        self._writer = Writer(store, name, spec, clock or time.time, later, crew)

    @property
    def _spec(self) -> Spec:
        return self._writer.spec

    def answers(self) -> AnswerTable:
        """Every task's answer so far; one nameless entry in a campaign without tasks."""
        with self.reading() as state:
            return AnswerTable(views.in_campaign(self._answers.of(state)))

    def payments(self) -> PaymentTable:
        """What each worker has earned, what is owed of it and what is reserved for them."""
        with self.reading() as state:
            return PaymentTable(views.payments(state))

    def due(self) -> ShownList[DuePayout]:
        """What to pay now: an entry for every worker who is owed something."""
        today = day_of(self._writer.clock())
        began = next((day_of(event.time) for event in self.events([1])), today)
        return ShownList(due(self.payments(), began, today), DuePayout)

    def payouts(self, worker: str | None = None) -> ShownList[Payout]:
        """What was marked as paid, to all or to one worker, in the order of the log."""
        with self.reading() as state:
            at = None if worker is None else state.ledger.worker_at(as_name(worker))
            seqs, currency = seqs_of(state.ledger.given.payouts, at), currency_of(state)
        return ShownList((Payout.of(event, currency) for event in self.events(seqs)), Payout)

    def bonuses(self, worker: str | None = None) -> ShownList[Bonus]:
        """What was given as a bonus, to all or to one worker, in the order of the log."""
        with self.reading() as state:
            at = None if worker is None else state.ledger.worker_at(as_name(worker))
            seqs, currency = seqs_of(state.ledger.given.bonuses, at), currency_of(state)
        return ShownList((Bonus.of(event, currency) for event in self.events(seqs)), Bonus)

    def workers(self) -> ShownList[WorkerSummary]:
        """Every worker who ever joined: their work, their money, their pace, how good they seem."""
        paces = self.paces()
        with self.reading() as state:
            return ShownList(views.workers(state, self._answers.of(state), paces), WorkerSummary)

    def standing(self, worker: str) -> OwnStanding:
        """Where a worker stands, as they may know."""
        with self.reading() as state:
            return views.own_standing(state, as_name(worker))

    def paces(self, seq: int | None = None) -> Paces:
        """How long workers take for an answer, by the log up to an event, or to its end."""
        if seq is None:
            with self.reading() as state:
                seq = state.seq
        self._paces.catch_up(self._store, self.name, seq)
        return self._paces

    def status(self) -> Status:
        """The campaign at a glance."""
        with self.reading() as state:
            return views.status(self.name, state)

    def certificate(self) -> CampaignCertificate:
        """What audits have shown of the labels so far; only where ``certify`` was given."""
        with self.reading() as state:
            return views.certificate(state)

    def pilot(self) -> PilotReport:
        """What the pilot has shown of its workers so far; only where ``pilot`` was given."""
        with self.reading() as state:
            return views.pilot(state)

    def results(self) -> CampaignResults:
        """What the labels are, what they rest on, and how many are right as far as is known."""
        with self.reading() as state:
            return views.results(state, self._answers.of(state))

    def agreement(self) -> Agreement:
        """How far answers to the same tasks agree, with 95% intervals."""
        with self.reading() as state:
            return views.agreement(state)

    def judges(self) -> JudgesReport:
        """The models among the workers, beside people and truths, and together."""
        with self.reading() as state:
            return views.judges(state)

    def worker(self, worker: str) -> WorkerReport:
        """One worker in full: quality over time, what they mix up, contexts, pace."""
        worker = as_name(worker)
        paces = self.paces()
        with self.reading() as state:
            summary = views.workers(state, self._answers.of(state), paces)[
                state.ledger.worker_at(worker)
            ]
            found, seq = views.worker_report(state, worker, summary), state.seq
        return replace(found, pace=views.worker_pace(self.log(max(0, seq - LATEST), seq), worker))

    def explain(self, assignment_id: str) -> Explanation:
        """Why an assignment was made, recomputed from the log."""
        seq = self._seq_of(assignment_id)
        with self.reading() as state:  # so that names are those of the log
            spec = state.spec
        return views.explain(self.name, seq, self._store, spec, self._writer.state_at)

    def log(self, after: int = 0, upto: int | None = None) -> ShownList[Event]:
        """The events from ``after`` (exclusive) to ``upto`` (inclusive)."""
        return ShownList(self._store.read(self.name, after, upto), Event)

    def export(self, directory: str | os.PathLike[str], format: str = "parquet") -> Path:
        """Write the whole campaign as a folder of tables, with a card that says what they hold.

        The tables are tasks, workers, decisions with their propensities, answers, payments, payouts
        and events; ``campaign.json`` has the campaign as created. All are of one moment.

        Parameters
        ----------
        directory : path
            A folder that is not there yet, or is empty.
        format : "parquet", "csv" or "jsonl"
            Of the tables. Parquet needs the extra ``tables``.
        """
        # Loaded when used: nothing else here writes files.
        from askwise.campaign.exporting import exported, write_folder

        with self.reading() as state:
            found = exported(self.name, state, self._answers.of(state))
        end = found.status.seq

        def log() -> Iterator[Event]:
            for after in range(0, end, EVENTS):
                yield from self.log(after, min(after + EVENTS, end))

        return write_folder(found, log, directory, format)

    def assignments(self, worker: str | None = None) -> ShownList[Assignment]:
        """What is out, of all or of one worker: handed out, neither answered nor released."""
        with self.reading() as state:
            return ShownList(views.outstanding(self.name, state, as_name(worker)), Assignment)

    def assignment(self, assignment_id: str) -> Handed:
        """One assignment, and what has become of it."""
        seq = self._seq_of(assignment_id)
        with self.reading() as state:
            return views.handed(self.name, state, place_of(self.name, state.ledger, seq))

    def holder(self, assignment_id: str) -> str | None:
        """Whose an assignment is, if that can be told without waiting for the store or for others.

        None says nothing: ask :meth:`assignment` then.
        """
        seq = self._seq_of(assignment_id)

        def look(state: CampaignState) -> str | None:
            at = state.ledger.assignment_at(seq)
            if at is None:
                return None
            return state.ledger.workers[int(state.ledger.book.assignments[at, c.WORKER])].id

        return self._writer.look(look)

    @property
    def bidding(self) -> bool | None:
        """Whether workers name their prices still; None where it would take time to tell."""
        if not self._spec.mechanism.bidding:
            return False
        # Only that it is closed stays true: the first decision closes it for good.
        return None if self._writer.look(lambda state: state.bidding) is not False else False

    def task(self, task: str) -> Task:
        """A task as it was added, with its payload."""
        with self.reading() as state:
            return state.ledger.tasks[state.ledger.task_at(as_name(task))]

    def over(self) -> Done | None:
        """Why there is nothing more to ask, if so, and nothing is out; changes nothing.

        Compare it with ``None``: a ``Done`` is an empty sequence, and so false.
        """
        with self.reading() as state:
            return views.over(state)

    @contextmanager
    def reading(self) -> Iterator[CampaignState]:
        """Lend the folded state, to read several things at one point of the log.

        Writes wait meanwhile; change nothing.
        """
        with self._writer.lock:
            yield self._writer.current()

    def events(self, seqs: Iterable[int]) -> list[Event]:
        """The events with these sequence numbers, in order, in one look at the store."""
        return self._store.pick(self.name, seqs)

    @property
    def spec(self) -> dict[str, Any]:
        """The campaign as created, as JSON."""
        return json.loads(self._spec.to_json())

    @property
    def store(self) -> Store:
        """Where it is kept."""
        return self._store

    @property
    def content(self) -> Content | None:
        """What workers are asked and shown, if that was given."""
        return self._spec.content

    # In a notebook.

    def to_frame(self) -> Any:
        """The answers so far as a pandas DataFrame; needs the extra ``askwise[tables]``."""
        return self.answers().to_frame()

    def plot(self) -> Any:
        """What was spent and reserved over time, of the budget if there is one.

        Needs Matplotlib, which is in the extra ``askwise[lab]``.
        """
        from askwise.campaign.views.pictures import money_figure

        return money_figure(self.name, self._spec.problem, self.log())

    def _repr_html_(self) -> str:
        now, answers = self.status(), self.answers()
        of = "" if now.budget is None else f" of {now.budget}"
        headline = (
            f"Campaign {self.name}, {now.state}: {now.answers} answers, {now.spent} spent{of}"
        )
        shown = answers[:SHOWN].to_records()
        return as_html(headline, shown, len(answers))

    def _seq_of(self, assignment_id: str) -> int:
        return seq_of(self.name, assignment_id)
