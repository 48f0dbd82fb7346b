"""Facts and beliefs of one campaign, folded from its log; the same at every reading."""

from __future__ import annotations

import hashlib
import heapq
import io
import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from askwise.campaign.spec import Spec
from askwise.core import book as columns
from askwise.core import draws
from askwise.core.allocation import Assurance
from askwise.core.book import Array, Proposal
from askwise.core.choices import Done, Wait
from askwise.core.draws import Draw
from askwise.core.events import Event, Kind, PlanRow
from askwise.core.ledger import Ledger
from askwise.core.registry import spec_of
from askwise.policies.base import Score
from askwise.stopping.base import Verdict

FORMAT = 4
"""Of the ledger's arrays: raised when their layout or meaning changes."""

_ROLES = (draws.POLICY, draws.ABSORB, draws.RULE, draws.AGGREGATION, draws.MECHANISM)


class Engine:
    """Ledger, beliefs and rule state at one point of the log. Only ``fold`` writes them."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self.ledger = Ledger(spec.problem)
        self.beliefs = spec.policy.start(spec.problem, self.ledger)
        self.rule_state: Any = spec.rule.start(spec.problem, self.ledger) if spec.rule else ()
        self.leases: list[tuple[float, int]] = []
        """When what is due, soonest first: a heap of (expires, seq of the ASKED)."""
        self._keys = {role: draws.stream(spec.seed, role, 0) for role in _ROLES}

    @property
    def seq(self) -> int:
        """Sequence number of the last event folded."""
        return self.ledger.seq

    def draw(self, role: int, number: int) -> Draw:
        """The draws of a role at a number: a decision's, or an event's place in the log."""
        return Draw(*self._keys[role], number)

    def fold(self, event: Event) -> None:
        """Take in one event: the ledger first, then the beliefs."""
        fact = self.ledger.apply(event)
        if event.expires is not None:
            heapq.heappush(self.leases, (event.expires, event.seq))
        if event.kind == Kind.DECIDED:
            fact = fact._replace(note=self.spec.policy.notes.index(event.note or ""))
        self.beliefs = self.spec.policy.grow(self.beliefs, self.ledger)
        problem, draw = self.spec.problem, self.draw(draws.ABSORB, event.seq)
        self.spec.policy.absorb(problem, self.beliefs, self.ledger, fact, draw)
        if self.spec.rule:
            self.spec.rule.absorb(problem, self.rule_state, self.ledger, fact, draw)

    def choose(self, available: Array) -> Proposal | Wait | Done:
        """Ask the policy; changes nothing."""
        draw = self.draw(draws.POLICY, self.ledger.total(columns.DECISIONS))
        return self.spec.policy.choose(
            self.spec.problem, self.beliefs, self.ledger, draw, available
        )

    def scores(self, available: Array) -> list[Score]:
        """What the policy thinks of each worker at this point."""
        draw = self.draw(draws.POLICY, self.ledger.total(columns.DECISIONS))
        return self.spec.policy.scores(
            self.spec.problem, self.beliefs, self.ledger, draw, available
        )

    def rows(self, proposal: Proposal) -> tuple[PlanRow, ...]:
        """A proposal in names."""
        length = int(proposal.head[0])
        odds = proposal.odds[:length]
        return tuple(
            PlanRow(
                worker=self.ledger.workers[int(worker)].id,
                task=self.ledger.task_id(int(task)),
                count=int(count),
                propensity=None if np.isnan(chance) else float(chance),
            )
            for (task, worker, count), chance in zip(proposal.rows[:length], odds, strict=True)
        )

    def verdict(self, task: int) -> Verdict | None:
        """Ask the stopping rule about an open task."""
        if self.spec.rule is None or self.ledger.book.tasks[task, columns.CLOSED]:
            return None
        draw = self.draw(draws.RULE, self.seq)
        return self.spec.rule.verdict(
            self.spec.problem, self.rule_state, self.ledger, task, draw, self.beliefs
        )

    def ran_out(self) -> str:
        """The outcome of tasks that are open: why nothing more can be asked, if so.

        They stay open: more money or workers, and the asking goes on.
        """
        if self.spec.rule is None:
            return "open"
        everyone = self.ledger.book.workers[: self.ledger.total(columns.WORKERS), columns.JOINED]
        code = columns.idle(self.ledger.book, everyone.astype(np.int8))
        if code == columns.DONE_BUDGET:
            return "over_budget"
        return "low_confidence" if code in (columns.DONE_LIMITS, columns.DONE_TASKS) else "open"

    def guess(self, task: int) -> tuple[float | None, float | None]:
        """What the rule would name now, before it is sure."""
        assert self.spec.rule is not None
        return self.spec.rule.guess(
            self.spec.problem, self.rule_state, self.ledger, task, self.draw(draws.RULE, self.seq)
        )

    def label(self, task: int) -> tuple[float | None, float | None]:
        """The aggregator's answer to a task and its confidence."""
        return self.labels([task])[0]

    def labels(self, tasks: Sequence[int]) -> list[tuple[float | None, float | None]]:
        """The answers to tasks and their confidence: the aggregator's, or the policy's own."""
        draw, problem = self.draw(draws.AGGREGATION, 0), self.spec.problem
        if self.spec.aggregator is None:
            return self.spec.policy.labels(problem, self.beliefs, self.ledger, tasks, draw)
        return self.spec.aggregator.labels(problem, self.ledger, tasks, draw, self.beliefs)

    def assurances(self, tasks: Sequence[int]) -> dict[int, Assurance] | None:
        """How sure the policy is of each task's answer, if it keeps bounds."""
        policy = self.spec.policy
        found = policy.assurances(self.spec.problem, self.beliefs, self.ledger, tasks)
        return None if found is None else dict(zip(tasks, found, strict=True))

    # Snapshots: arrays and JSON, no pickle.

    @property
    def version(self) -> str:
        """What a snapshot depends on; one of another version is refolded from the log."""
        rule = self.spec.rule
        parts = [FORMAT, self.spec.policy.version, spec_of(self.spec.policy)]
        parts.append([rule.version, spec_of(rule)] if rule else None)
        return hashlib.sha256(json.dumps(parts, default=str).encode()).hexdigest()[:16]

    def snapshot(self) -> bytes:
        """The engine as bytes."""
        return self.freeze()()

    def freeze(self) -> Callable[[], bytes]:
        """Copy the engine as it is now; what is returned packs the copy, whenever it is called."""
        held = {f"ledger.{name}": array for name, array in self.ledger.arrays().items()}
        kept = self.spec.policy.used(self.beliefs, self.ledger)
        held.update({f"beliefs.{name}": array for name, array in kept.items()})
        if self.rule_state:
            held.update({f"rule.{name}": a for name, a in self.rule_state._asdict().items()})
        held["names"] = np.frombuffer(self.ledger.names().encode(), np.uint8)
        copies = {name: np.array(array) for name, array in held.items()}

        def pack() -> bytes:
            buffer = io.BytesIO()
            np.savez_compressed(buffer, allow_pickle=False, **copies)
            return buffer.getvalue()

        return pack

    @classmethod
    def restore(cls, spec: Spec, blob: bytes) -> Engine:
        """The engine that a snapshot was taken of."""
        engine = cls(spec)
        with np.load(io.BytesIO(blob), allow_pickle=False) as held:
            groups: dict[str, dict[str, Any]] = {"ledger": {}, "beliefs": {}, "rule": {}}
            for name in held.files:
                group, _, field = name.partition(".")
                if field:
                    groups[group][field] = held[name]
            names = held["names"].tobytes().decode()
        engine.ledger = Ledger.restore(spec.problem, groups["ledger"], names)
        engine.beliefs = spec.policy.restore(spec.problem, engine.ledger, groups["beliefs"])
        rows, marks = engine.ledger.book.assignments, engine.ledger.book.marks
        for at in range(engine.ledger.total(columns.ASSIGNMENTS)):
            if rows[at, columns.STATUS] == columns.OUT and np.isfinite(marks[at, columns.EXPIRES]):
                engine.leases.append(
                    (float(marks[at, columns.EXPIRES]), int(rows[at, columns.SEQ]))
                )
        heapq.heapify(engine.leases)
        if groups["rule"]:
            engine.rule_state = type(engine.rule_state)(**groups["rule"])
        return engine
