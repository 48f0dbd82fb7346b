"""Bonuses: what participants earned above the reward, paid in batches, each once.

To pay a batch twice pays people twice. So it is written down before Prolific is told to pay, and
who finds it written down without an outcome never tells Prolific again: either Prolific shows by
its own account that the bonuses were paid, or a person says so.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace

from askwise.campaign import Campaign
from askwise.core.errors import Conflict, UnknownName
from askwise.core.money import from_micro
from askwise.running.prolific.records import ENDED, BonusBatch, KeptStudy, StudyBook
from askwise.running.prolific.reviewing import BY, Matter, OpenMatter
from askwise.running.prolific.standing import owed_to
from askwise.sources.prolific import (
    ProlificApi,
    ProlificRefused,
    ProlificUnclear,
    ProlificUnreachable,
    Submission,
)
from askwise.sources.prolific.api import MINOR, MOST_BONUSES


class BonusPayer:
    """Pays the bonuses of a study.

    Parameters
    ----------
    campaign : Campaign
        Whose log says what is owed.
    study : KeptStudy
        The study.
    api : ProlificApi
        Prolific.
    is_held : callable
        Whether nobody else can be running the study at this moment.
    """

    def __init__(
        self,
        campaign: Campaign,
        study: KeptStudy,
        api: ProlificApi,
        is_held: Callable[[], bool],
    ) -> None:
        self.campaign, self.study, self.api = campaign, study, api
        self.is_held = is_held
        self._met: set[str] = set()
        """Submissions of batches that were taken up: what Prolific has paid them may have changed
        since it was asked, so that they are in no second batch of this look."""
        self.book = StudyBook(campaign.store, campaign.name)
        self.paid = 0
        """Millionths that were paid."""
        self.matters: list[OpenMatter] = []
        """What is left to a person."""

    def pay(self, submissions: Mapping[str, Submission]) -> None:
        """Go on with the batch that is under way, then pay what else is owed."""
        while True:
            open_batch = next((b for b in self.book.batches() if b.state not in ENDED), None)
            batch = self._planned(submissions) if open_batch is None else open_batch
            if batch is None:
                return
            if batch.state in ("planned", "created") and self._is_overtaken(batch, submissions):
                # Paid by hand meanwhile, or no longer there: another is planned, without those.
                self.book.move_batch(batch, replace(batch, state="dropped"))
                continue
            self._met.update(submission for submission, _, _ in batch.rows)
            if batch.state == "paying":
                found = self._seen_paid(batch, submissions)
                if found is None:
                    return
                batch = found
            if not self._carried_through(batch):
                return

    @property
    def is_open(self) -> bool:
        """Whether a batch is under way."""
        return any(each.state not in ENDED for each in self.book.batches())

    def _planned(self, submissions: Mapping[str, Submission]) -> BonusBatch | None:
        """Write down the next batch; None if nobody is owed a cent who can be paid."""
        batches, owed = self.book.batches(), owed_to(self.campaign)
        known: Counter[str] = Counter()
        for batch in batches:
            if batch.state == "paid":
                known.update({submission: amount for submission, _, amount in batch.rows})
        rows: list[list[object]] = []
        for session in self.book.sessions().values():
            amount = owed.get(session.worker, 0) // MINOR * MINOR
            found = submissions.get(session.submission)
            if amount <= 0 or not session.booked or found is None or found.id in self._met:
                continue
            if found.bonuses > known[session.submission]:
                more = from_micro(found.bonuses - known[session.submission])
                self._leave(
                    "bonus_elsewhere",
                    session.submission,
                    session.worker,
                    f"Prolific has paid them {more} as a bonus that the log does not have: record "
                    "it with `askwise pay`, and pay by hand what is still owed",
                )
                continue
            rows.append([session.submission, session.worker, amount])
            owed[session.worker] = 0
        if not rows:
            return None
        rows = rows[:MOST_BONUSES]
        before = {str(row[0]): submissions[str(row[0])].bonuses for row in rows}
        number = batches[-1].number + 1 if batches else 1
        return self.book.move_batch(None, BonusBatch(number, self.study.study, rows, before))

    def _is_overtaken(self, batch: BonusBatch, submissions: Mapping[str, Submission]) -> bool:
        """Whether Prolific's account of a submission is not what it was when this was planned."""
        for submission, _, _ in batch.rows:
            found = submissions.get(submission)
            if found is None or found.bonuses != batch.before[submission]:
                return True
        return False

    def _carried_through(self, batch: BonusBatch) -> bool:
        """Carry a batch to its end; false if it has to wait."""
        if batch.state == "planned":
            created = self._created(batch)
            if created is None:
                return False
            batch = created
        if batch.state == "created":
            sent = self._sent(batch)
            if sent is None:
                return False
            batch = sent
        if batch.state == "sent":
            self._mark(batch)
            self.book.move_batch(batch, replace(batch, state="paid"))
            self.paid += batch.total
        return True

    def _mark(self, batch: BonusBatch) -> None:
        """Mark a batch as paid in the log, as far as the log owes it; once."""
        if any(each.reference == batch.batch for each in self.campaign.payouts()):
            return
        owed, amounts = owed_to(self.campaign), {}
        for submission, worker, amount in batch.rows:
            due = min(amount, max(0, owed.get(worker, 0)))
            if due:
                amounts[worker] = from_micro(due)
            if due < amount:
                self._leave(
                    "overpaid",
                    submission,
                    worker,
                    f"Prolific has paid them a bonus of {from_micro(amount)}, of which the log "
                    f"still owes only {from_micro(due)}: the rest is not marked as paid",
                )
        if amounts:
            key = f"prolific:bonus:{batch.batch}"
            self.campaign.pay_all(amounts, by=BY, reference=batch.batch, key=key)

    def _created(self, batch: BonusBatch) -> BonusBatch | None:
        rows = [(submission, amount) for submission, _, amount in batch.rows]
        try:
            id, understood = self.api.create_bonuses(batch.study, rows)
        except ProlificRefused as error:
            self._refused(batch, str(error))
            self.book.move_batch(batch, replace(batch, state="dropped"))
            return None
        if understood != batch.total:
            self._refused(
                batch,
                f"Prolific understood {from_micro(understood)} instead of "
                f"{from_micro(batch.total)}: nothing is paid",
            )
            self.book.move_batch(batch, replace(batch, state="dropped", batch=id))
            return None
        return self.book.move_batch(batch, replace(batch, state="created", batch=id))

    def _sent(self, batch: BonusBatch) -> BonusBatch | None:
        """Tell Prolific to pay; None if it did not, or if that is not known."""
        owed = owed_to(self.campaign)
        if any(owed.get(worker, 0) < amount for _, worker, amount in batch.rows):
            # Answers were taken back, or somebody was paid otherwise: what is owed is another sum.
            self.book.move_batch(batch, replace(batch, state="dropped"))
            return None
        if not self.is_held():
            raise Conflict(
                f"the study of campaign {self.campaign.name!r} may now be run by another process: "
                "this run did not renew its claim in time, and pays nobody",
                field="name",
                reason="already_running",
            )
        paying = self.book.move_batch(batch, replace(batch, state="paying"))
        try:
            self.api.pay_bonuses(batch.batch)
        except (ProlificRefused, ProlificUnreachable) as error:
            self._refused(batch, str(error))
            self.book.move_batch(paying, batch)
            return None
        except ProlificUnclear:
            self._unclear(paying)
            return None
        return self.book.move_batch(paying, replace(paying, state="sent"))

    def _seen_paid(
        self, batch: BonusBatch, submissions: Mapping[str, Submission]
    ) -> BonusBatch | None:
        """The batch as paid, if Prolific's own account of every submission shows it."""
        for submission, _, amount in batch.rows:
            found = submissions.get(submission)
            if found is None or found.bonuses != batch.before[submission] + amount:
                self._unclear(batch)
                return None
        return self.book.move_batch(batch, replace(batch, state="sent"))

    def _refused(self, batch: BonusBatch, why: str) -> None:
        self._leave("bonus_refused", batch.batch or f"batch {batch.number}", "", why)

    def _unclear(self, batch: BonusBatch) -> None:
        self._leave(
            "bonus_unclear",
            batch.batch,
            "",
            f"Prolific was told to pay {from_micro(batch.total)}, and it is not known yet whether "
            "it did: askwise looks again; if the payment does not appear, look there and record it "
            f"with `askwise prolific settle {self.campaign.name}`",
        )

    def _leave(self, what: Matter, which: str, worker: str, detail: str) -> None:
        matter = OpenMatter(what, which, worker, detail)
        if matter not in self.matters:
            self.matters.append(matter)


def settle_batch(campaign: Campaign, *, paid: bool) -> BonusBatch:
    """Say what became of the batch of bonuses of which it is not known.

    Raises
    ------
    UnknownName
        There is none.
    """
    book = StudyBook(campaign.store, campaign.name)
    batch = next((each for each in book.batches() if each.state == "paying"), None)
    if batch is None:
        raise UnknownName(
            f"campaign {campaign.name!r} has no bonuses in doubt: it is known of all whether they "
            "were paid",
            field="name",
        )
    return book.move_batch(batch, replace(batch, state="sent" if paid else "dropped"))
