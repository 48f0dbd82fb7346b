"""What a campaign asks next: hands out what was decided, and lets its policy decide again."""

from collections.abc import Collection, Sequence

import numpy as np

from askwise.campaign import bidding, phases
from askwise.campaign.holding import Holding
from askwise.campaign.write import Write
from askwise.core.arrays import Array
from askwise.core.choices import Assignment, Batch, Done, Wait
from askwise.core.errors import PolicyFault
from askwise.core.events import Kind
from askwise.ledger import columns as c
from askwise.ledger import proposals, queries
from askwise.mechanisms import Quote
from askwise.policies import PlansForAll

FAULTS = {
    c.EMPTY: "nothing",
    c.ABSENT: "a worker who is not there or not available",
    c.OVER_LIMIT: "more than a worker's limit",
    c.OVER_MONEY: "more than the budget has left",
    c.BAD_TASK: "a task that is closed, unknown or was put to that worker before",
    c.BAD_ODDS: "a propensity outside (0, 1]",
}


class DecidingWrite(Write):
    """A write that can ask: takes decisions, and hands out what they propose."""

    def ask(
        self,
        limit: int,
        offered: Sequence[str] | None,
        away: Collection[str] = (),
        holding: Holding | None = None,
    ) -> Batch | Wait | Done:
        """Hand out up to ``limit``; decide again whenever nothing is left to hand out.

        ``offered`` are those who are available, by default all but those ``away``. ``holding`` is
        about the one worker who is offered, and asks for themselves.
        """
        ledger = self.ledger
        if ledger.total(c.STOPPED):
            return Done("stopped")
        if ledger.total(c.PAUSED) or ledger.archived:
            return Wait("resume")
        if holding is not None and offered is not None:
            limit = min(limit, *(holding.room(ledger, worker) for worker in offered))
            if limit < 1:
                return Wait("answers")
            self.lease = self.lease or holding.lease
        if ledger.draws and not phases.is_labelling(self):
            return phases.ask_audits(self, limit, offered, away)
        present = self._without(self.state.present(offered), offered, away)
        found = phases.ask_qualification(self, limit, present, self._is_open(offered, away))
        available = self.state.qualified(present)
        decided = False
        while len(found) < limit:
            row, task, alive = ledger.calls.with_book(queries.next_row, ledger.book, available)
            if row >= 0:
                gold = phases.mix_in_gold(self, int(ledger.book.plan[row, c.PLAN_WORKER]))
                found.append(gold or self.hand_out(int(row), int(task)))
                decided = False
                continue
            if alive and isinstance(self.state.spec.policy, PlansForAll):
                nothing: Wait | Done = Wait("workers")
                break
            if decided:
                raise self._fault(c.BAD_TASK)
            everyone = self._is_open(offered, away)
            piloted = phases.ask_pilot(self, limit - len(found), available, everyone)
            if isinstance(piloted, Wait):
                nothing = piloted
                break
            if piloted is not None:
                found += piloted
                break
            choice = self._decide(available, offered, away)
            if isinstance(choice, Assignment):
                found.append(choice)
                continue
            if choice is not None:
                nothing = choice
                break
            decided = True
        if found:
            return Batch(tuple(found))
        if isinstance(nothing, Done) and self.state.spec.problem.certify is not None:
            return phases.certify(self, nothing, limit, offered, away)
        if isinstance(nothing, Wait):
            kept = phases.what_keeps(self, present)
            return nothing if kept is None else kept
        return nothing

    def _is_open(self, offered: Sequence[str] | None, away: Collection[str]) -> bool:
        """Whether nobody was left out of an ask but by what the log says."""
        return offered is None and not (self.ledger.passed_over or away)

    def _without(self, mask: Array, offered: Sequence[str] | None, away: Collection[str]) -> Array:
        """Leave out those who are away, or just declined, unless they are offered by name."""
        ledger = self.ledger
        if offered is None:
            # A worker who just declined is not asked again before somebody has answered.
            if ledger.passed_over:
                mask[list(ledger.passed_over)] = 0
            if away:
                mask[[ledger.worker_at(worker) for worker in away if ledger.has_worker(worker)]] = 0
        return mask

    def _decide(
        self, available: Array, offered: Sequence[str] | None, away: Collection[str]
    ) -> Assignment | Wait | Done | None:
        """Let the policy choose and take its decision into the log; None when it did.

        A gold question may take the place of the decision: it is handed out then.
        """
        policy = self.state.spec.policy
        self._quote(bidding.closing_quotes(self.state))
        if isinstance(policy, PlansForAll):
            # Also of those who are suspended: what is planned for them waits, as for the absent.
            available, offered = self.state.joined(), None
        elif offered is None and (self.ledger.passed_over or away):
            offered = [self.ledger.workers[at].id for at in np.flatnonzero(available)]
        choice = self.state.choose(available)
        if isinstance(choice, Wait | Done):
            return choice
        # Before it is in the log: a worker could tell a gold question by the numbers of its events.
        gold = phases.mix_in_gold(self, int(choice.rows[0, c.PLAN_WORKER]))
        if gold is not None:
            return gold
        self._quote(bidding.new_quotes(self.state, choice))
        ledger = self.ledger
        wrong = ledger.calls.with_book(proposals.fault, ledger.book, choice, available)
        if wrong != c.FINE:
            raise self._fault(int(wrong))
        self.emit(
            Kind.DECIDED,
            decision=self.ledger.total(c.DECISIONS),
            note=policy.notes[int(choice.head[1])],
            rows=self.state.rows(choice),
            available=None if offered is None else tuple(offered),
        )
        return None

    def _quote(self, quotes: Sequence[Quote]) -> None:
        if quotes:
            self.emit(Kind.QUOTED, workers=tuple(quote.to_json() for quote in quotes))

    def _fault(self, wrong: int) -> PolicyFault:
        name = self.state.spec.policy.name
        return PolicyFault(
            f"policy {name!r} proposed {FAULTS[wrong]}; nothing was asked", field="policy"
        )
