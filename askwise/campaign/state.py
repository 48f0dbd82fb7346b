"""Facts and beliefs of one campaign, folded from its log; the same at every reading."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from askwise.campaign import packing
from askwise.campaign.certifying import Certification
from askwise.campaign.leases import Leases
from askwise.campaign.piloting import OWN_RULES, PilotPhase
from askwise.campaign.revisions import (
    Outdated,
    Substitutes,
    is_answered,
    substitute_of,
    substituted,
)
from askwise.campaign.screening import Screening
from askwise.campaign.slow_kernels import tell_if_slow
from askwise.campaign.spec import Spec
from askwise.core import draws
from askwise.core.allocation import Assurance, Watch
from askwise.core.choices import Done, Wait
from askwise.core.events import Event, Kind, PlanRow
from askwise.core.labels import Label, as_label, reported
from askwise.core.registry import spec_of
from askwise.kernels import Array, Draw
from askwise.ledger import Ledger, Proposal, queries
from askwise.ledger import columns as c
from askwise.ledger.entries import REVISES, TEACHES_NOTHING
from askwise.ledger.stretches import OWN, StretchReader
from askwise.policies.base import KernelPolicy
from askwise.policies.capabilities import (
    Assures,
    BoundsCost,
    Explains,
    GoldRequest,
    LabelsItself,
    Score,
    Settles,
    SuggestsGold,
)
from askwise.stopping.base import Verdict

FORMAT = 14
"""Of the ledger's arrays: raised when their layout or meaning changes."""

AS_WANTED = (Done("target"), Done("agreement"))
"""The ends of a campaign in which every task is settled."""

_ROLES = (
    *(draws.POLICY, draws.ABSORB, draws.RULE, draws.AGGREGATION, draws.MECHANISM),
    draws.GOLD,
)


class CampaignState:
    """Ledger, beliefs and rule state at one point of the log. Only ``fold`` writes them."""

    def __init__(self, spec: Spec) -> None:
        ledger = Ledger(spec.problem)
        self._set(spec, ledger, spec.policy.start(spec.problem, ledger))

    def _set(self, spec: Spec, ledger: Ledger, beliefs: Any) -> None:
        self.spec = spec
        self.lineage = object()
        """Shared with its copies: what was worked out of one holds for what it has grown to."""
        self.ledger = ledger
        self.beliefs = beliefs
        rule = spec.rule
        self.rule_state: Any = rule.start(spec.problem, ledger) if rule else ()
        self._rule_learns = rule is not None and rule.learns
        self.substitutes: Substitutes = {}
        """What stands in place of answers that are changed later in the log."""
        self.leases = Leases()
        self._keys = {role: draws.stream(spec.seed, role, 0) for role in _ROLES}
        self._certification: Certification | None = None
        self._pilot: PilotPhase | None = None
        terms = spec.screening
        self.screening = None if terms is None else Screening(terms, spec.seed)
        self._reader: StretchReader | None = None
        self.known_end: tuple[int, Done | None] | None = None
        """Whether it was over after an event: to find out takes a decision."""

    @property
    def seq(self) -> int:
        """Sequence number of the last event folded."""
        return self.ledger.seq

    @property
    def bidding(self) -> bool:
        """Whether workers name their prices still: the first decision closes the bidding."""
        return self.spec.mechanism.bidding and not self.ledger.total(c.QUOTED)

    @property
    def in_kernels(self) -> bool:
        """Whether all that learns from events is in kernels."""
        policy = self.spec.policy
        return isinstance(policy, KernelPolicy) and policy.compiles and not self._rule_learns

    @property
    def reader(self) -> StretchReader:
        """Reads long stretches of the log, for ``folding``."""
        if self._reader is None:
            notes = {note: at for at, note in reversed([*enumerate(self.spec.policy.notes)])}
            own = dict.fromkeys(OWN_RULES, OWN)
            self._reader = StretchReader(self.ledger, {**notes, **own})
        return self._reader

    def key(self, role: int) -> tuple[int, int]:
        """The key of a role's draws."""
        return self._keys[role]

    def draw(self, role: int, number: int) -> Draw:
        """The draws of a role at a number: a decision's, or an event's place in the log."""
        return Draw(*self._keys[role], number)

    def fold(self, event: Event) -> None:
        """Take in one event: the ledger first, then the beliefs.

        Raises Outdated, and changes nothing, if it changes an answer that was taken in before.
        """
        ledger, before = self.ledger, self.ledger.book
        if event.kind in REVISES:
            self.expect(event)
        elif self.substitutes:
            event = substituted(event, self.substitutes)
        kind = event.kind
        # The verdict on a task whose answer was changed: the policy has learned that it is closed.
        again = kind == Kind.CLOSED and before.tasks[ledger.task_at(event.task), c.CLOSED]
        fact = ledger.apply(event)
        if event.expires is not None:
            self.leases.add(ledger, event.expires, event.assignment or event.seq, fact.assignment)
        if kind in TEACHES_NOTHING or again:
            return
        if kind == Kind.DECIDED and event.note not in OWN_RULES:
            fact = fact._replace(note=self.spec.policy.notes.index(event.note or ""))
        # Only larger arrays, or more tasks or workers, need larger beliefs.
        if ledger.book is not before or kind in (Kind.ADDED, Kind.JOINED):
            self.beliefs = self.spec.policy.grow(self.beliefs, ledger)
            if self.spec.rule is not None:
                self.rule_state = self.spec.rule.grow(self.rule_state, ledger)
        audits = fact.worker >= 0 and ledger.book.workers[fact.worker, c.AUDITS]
        if event.note in OWN_RULES or audits:
            # Audits are none of the policy's business; it learns the truths that they bring, and
            # the answers of a pilot, though not why they were asked for.
            return
        problem, draw = self.spec.problem, self.draw(draws.ABSORB, event.seq)
        self.spec.policy.absorb(problem, self.beliefs, ledger, fact, draw)
        if self._rule_learns:
            assert self.spec.rule is not None
            self.spec.rule.absorb(problem, self.rule_state, ledger, fact, draw)

    def expect(self, change: Event) -> None:
        """Be ready for an answer that is changed later; Outdated if it was taken in before."""
        assert change.assignment is not None
        known = self.substitutes.get(change.assignment)
        if known is None or known.seq < change.seq:
            if is_answered(self.ledger, change.assignment):
                raise Outdated
            self.substitutes[change.assignment] = substitute_of(change)

    def become(self, other: CampaignState) -> None:
        """Take the place of another state of the same campaign, which is not used any more."""
        self.__dict__.update(other.__dict__)

    def soonest(self) -> float:
        """When the next of what is out is due; infinite if nothing is."""
        return self.leases.soonest(self.ledger)

    def overdue(self, now: float) -> int | None:
        """The ASKED of what has been overdue longest; None if nothing is."""
        return self.leases.overdue(self.ledger, now)

    # Who is here.

    def available(self, offered: Iterable[str] | None = None) -> Array:
        """Who can be asked, a cell per worker: everyone who joined, or those of them on offer.

        Those who are suspended, or have to qualify first, can't be.
        """
        return self.qualified(self.present(offered))

    def qualified(self, here: Array) -> Array:
        """Those of a mask who have not to qualify first; the mask itself if nobody has to."""
        if self.screening is None:
            return here
        found = here.copy()
        found[self.screening.unqualified(self.ledger)] = 0
        return found

    def joined(self) -> Array:
        """Who joined and has not left, a cell per worker, without those kept for audits."""
        rows = self.ledger.book.workers[: self.ledger.total(c.WORKERS)]
        return rows[:, c.JOINED].astype(np.int8)

    def present(self, offered: Iterable[str] | None = None) -> Array:
        """Who joined and is not suspended, a cell per worker, of all or of those on offer."""
        ledger, joined = self.ledger, self.joined()
        suspended = ledger.standings.suspended()
        if suspended:
            joined[suspended] = 0
        if offered is None:
            return joined
        mask, places = np.zeros_like(joined), [ledger.worker_at(worker) for worker in offered]
        mask[places] = joined[places]
        return mask

    def auditors(self, offered: Iterable[str] | None = None) -> Array:
        """Who can be asked for audits, a cell per worker: everyone present, or those on offer."""
        ledger = self.ledger
        here = (ledger.book.workers[: ledger.total(c.WORKERS), c.AUDITS] == 1).astype(np.int8)
        here[ledger.standings.suspended()] = 0
        if offered is None:
            return here
        mask, places = np.zeros_like(here), [ledger.worker_at(worker) for worker in offered]
        mask[places] = here[places]
        return mask

    @property
    def certification(self) -> Certification | None:
        """The audits so far; None in a campaign that certifies nothing."""
        if self.spec.problem.certify is None:
            return None
        if self._certification is None:
            self._certification = Certification(self.spec.problem)
        self._certification.catch_up(self.ledger)
        return self._certification

    @property
    def pilot(self) -> PilotPhase | None:
        """The questions of the pilot; None while its tasks are not drawn, or without one."""
        if self.ledger.pilot is None:
            return None
        if self._pilot is None:
            self._pilot = PilotPhase(self.ledger)
        return self._pilot

    def is_piloted(self, task: int, worker: int) -> bool:
        """Whether an answer is one of the pilot, and other questions about its task are open.

        Then its verdict is put off, unless the task may cost no more.
        """
        if self.ledger.pilot is None or self.ledger.pilot.over:
            return False
        pilot = self.pilot
        assert pilot is not None
        return worker in pilot.workers and pilot.holds(self.ledger, task) and not self.at_cap(task)

    def named(self, value: float | None) -> str | float | None:
        """An answer as workers give it: an option by its name, a utility as it is."""
        options = self.spec.problem.options
        return options[int(value)] if options and value is not None else value

    def choose(self, available: Array) -> Proposal | Wait | Done:
        """Ask the policy; changes nothing."""
        draw = self.draw(draws.POLICY, self.ledger.total(c.DECISIONS))
        policy = self.spec.policy
        choice = policy.choose(self.spec.problem, self.beliefs, self.ledger, draw, available)
        if isinstance(policy, KernelPolicy):
            tell_if_slow(policy)
        if choice in AS_WANTED and isinstance(policy, Settles) and not self.settled().all():
            return Done("tasks")
        return choice

    @property
    def title(self) -> str | None:
        """What the campaign is called, if it was given a title."""
        content = self.spec.content
        return self.ledger.title or (content.title if content is not None else None) or None

    def settled(self) -> Array:
        """Whether each task has its answer, a cell per task: nobody has to be asked about it again.

        It is closed, as it is once its label was set, its truth was told, or the policy is as sure
        of it as was wanted.
        """
        rows, policy = self.ledger.book.tasks[: self.ledger.total(c.TASKS)], self.spec.policy
        found = (rows[:, c.CLOSED] == 1) | (rows[:, c.TRUTH] >= 0)
        if isinstance(policy, Settles):
            found |= policy.settled(self.spec.problem, self.beliefs, self.ledger)
        return found

    def scores(self, available: Array) -> list[Score]:
        """What the policy thinks of each worker at this point."""
        draw = self.draw(draws.POLICY, self.ledger.total(c.DECISIONS))
        policy = self.spec.policy
        if not isinstance(policy, Explains):
            return []
        return policy.scores(self.spec.problem, self.beliefs, self.ledger, draw, available)

    def rows(self, proposal: Proposal) -> tuple[PlanRow, ...]:
        """A proposal in names."""
        length = int(proposal.head[0])
        rows, odds = proposal.rows[:length].tolist(), proposal.odds[:length].tolist()
        return tuple(
            PlanRow(
                worker=self.ledger.workers[worker].id,
                task=self.ledger.task_id(task),
                count=count,
                propensity=None if math.isnan(chance) else chance,
            )
            for (task, worker, count), chance in zip(rows, odds, strict=True)
        )

    def verdict(self, task: int) -> Verdict | None:
        """Ask the stopping rule about an open task."""
        return None if self.ledger.book.tasks[task, c.CLOSED] else self.verdict_again(task)

    def verdict_again(self, task: int) -> Verdict | None:
        """Ask the stopping rule about a task, whether it is open or not."""
        if self.spec.rule is None:
            return None
        draw = self.draw(draws.RULE, self.seq)
        return self.spec.rule.verdict(
            self.spec.problem, self.rule_state, self.ledger, task, draw, self.beliefs
        )

    def at_cap(self, task: int) -> bool:
        """Whether an open task may cost no more: failures cost money that no verdict has seen."""
        rule = self.spec.rule
        closed = self.ledger.book.tasks[task, c.CLOSED]
        return rule is not None and not closed and rule.at_cap(self.ledger, task)

    def ran_out(self) -> str:
        """The outcome of tasks that are open: why nothing more can be asked, if so.

        They stay open: more money or workers, and the asking goes on.
        """
        if self.spec.rule is None:
            return "open"
        code = queries.idle(self.ledger.book, self.available())
        if code == c.DONE_BUDGET:
            return "over_budget"
        return "low_confidence" if code in (c.DONE_LIMITS, c.DONE_TASKS) else "open"

    def guess(self, task: int) -> Label:
        """What the rule would name now, before it is sure."""
        assert self.spec.rule is not None
        draw = self.draw(draws.RULE, self.seq)
        return as_label(
            self.spec.rule.guess(self.spec.problem, self.rule_state, self.ledger, task, draw)
        )

    def label(self, task: int) -> Label:
        """The answer to a task, and how sure it is."""
        return self.labels([task])[0]

    def labels(self, tasks: Sequence[int]) -> list[Label]:
        """The answers to tasks, and how sure each is: truths that were told, and for the rest the
        aggregator's labels, or the policy's own.
        """
        draw, problem, ledger = self.draw(draws.AGGREGATION, 0), self.spec.problem, self.ledger
        if self.spec.aggregator is None:
            policy = self.spec.policy
            assert isinstance(policy, LabelsItself)
            said = policy.labels(problem, self.beliefs, ledger, tasks, draw)
        else:
            said = self.spec.aggregator.labels(problem, ledger, tasks, draw, self.beliefs)
        return reported(said, ledger.book.tasks[list(tasks), c.TRUTH].tolist())

    def needs_gold(self) -> list[GoldRequest]:
        """The truths that the policy wants to be told."""
        policy = self.spec.policy
        if not isinstance(policy, SuggestsGold):
            return []
        draw = self.draw(draws.GOLD, 0)
        return policy.needs_gold(self.spec.problem, self.beliefs, self.ledger, draw)

    def assurances(self, tasks: Sequence[int]) -> dict[int, Assurance] | None:
        """How sure the policy is of each task's answer, if it keeps bounds."""
        policy = self.spec.policy
        if not isinstance(policy, Assures):
            return None
        found = policy.assurances(self.spec.problem, self.beliefs, self.ledger, tasks)
        return dict(zip(tasks, found, strict=True))

    def watch(self) -> Watch | None:
        """What audits say of the policy's assurances, if it keeps a watch on them."""
        policy = self.spec.policy
        return policy.watch(self.beliefs, self.ledger) if isinstance(policy, Assures) else None

    def set_gap(self) -> float | None:
        """By what share a cheaper set may do for the tasks to come, if the policy knows."""
        policy = self.spec.policy
        return policy.gap(self.beliefs, self.ledger) if isinstance(policy, BoundsCost) else None

    # Snapshots: arrays and JSON, no pickle.

    @property
    def version(self) -> str:
        """What a snapshot depends on; one of another version is refolded from the log."""
        return version_of(self.spec)

    def snapshot(self) -> bytes:
        """The state as bytes."""
        return self.freeze()()

    def freeze(self) -> Callable[[], bytes]:
        """Copy the state as it is now; what is returned packs the copy, whenever it is called."""
        held = {f"ledger.{name}": array for name, array in self.ledger.arrays().items()}
        kept = self.spec.policy.used(self.beliefs, self.ledger)
        held.update({f"beliefs.{name}": array for name, array in kept.items()})
        if self.rule_state:
            held.update({f"rule.{name}": a for name, a in self.rule_state._asdict().items()})
        copies = {name: np.array(array) for name, array in held.items()}
        names = self.ledger.freeze_names()
        return lambda: packing.pack(copies, names())

    @classmethod
    def restore(cls, spec: Spec, blob: bytes) -> CampaignState:
        """The state that a snapshot was taken of."""
        held, names = packing.unpack(blob)
        groups: dict[str, dict[str, Any]] = {"ledger": {}, "beliefs": {}, "rule": {}}
        for name, array in held.items():
            group, _, field = name.partition(".")
            groups[group][field] = array
        ledger = Ledger.restore(spec.problem, groups["ledger"], names)
        # Not by way of a new state, which would read all tasks for nothing.
        state = cls.__new__(cls)
        state._set(spec, ledger, spec.policy.restore(spec.problem, ledger, groups["beliefs"]))
        state.leases.take(ledger, 0)
        if groups["rule"]:
            state.rule_state = type(state.rule_state)(**groups["rule"])
        return state


def version_of(spec: Spec) -> str:
    """What a campaign's snapshots depend on."""
    rule = spec.rule
    parts = [FORMAT, spec.policy.version, spec_of(spec.policy)]
    parts.append([rule.version, spec_of(rule)] if rule else None)
    return hashlib.sha256(json.dumps(parts, default=str).encode()).hexdigest()[:16]
