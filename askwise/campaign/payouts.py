"""The verbs of a campaign by which workers are paid out and given bonuses."""

from collections.abc import Iterable, Mapping
from datetime import date
from functools import partial
from typing import Any

from askwise.campaign import paying
from askwise.campaign.paying import check_day
from askwise.campaign.preparing import PreparingCampaign, prepared
from askwise.campaign.requests import Action, PreparedWrite
from askwise.campaign.views import Payout
from askwise.core.calls import LONGEST_REFERENCE, check_by, check_remark, check_said
from askwise.core.errors import InvalidProblem
from askwise.core.fields import as_name, by_name
from askwise.core.money import Amount, to_micro


class PayingCampaign(PreparingCampaign):
    """The verbs of a ``Campaign`` by which workers are paid out and given bonuses."""

    def pay(
        self,
        worker: str,
        amount: Amount | None = None,
        *,
        by: str,
        reference: str | None = None,
        on: date | str | None = None,
        key: str | None = None,
    ) -> Payout:
        """Mark what a worker is owed as paid; the money itself moves elsewhere.

        It changes nothing about the budget: what is paid out was spent when answers were booked.
        The log has it (event PAID), and :meth:`payments` what is owed from then on. More than is
        owed is refused, with the reason ``not_owed``.

        Parameters
        ----------
        amount : amount, optional
            What was paid; all that is owed by default.
        by : str
            Who says so.
        reference : str, optional
            What the payment is known by, such as the bank's reference, up to 500 characters.
        on : date or str, optional
            The day on which it was paid, as ``2026-11-18``; today, in UTC, by default.
        key : str, optional
            A retry with the same key changes nothing and returns the same.
        """
        return self._writer.write(self._paying([(worker, amount)], by, reference, on, key))[0]

    def pay_all(
        self,
        amounts: Mapping[str, Amount] | None = None,
        *,
        by: str,
        reference: str | None = None,
        on: date | str | None = None,
        key: str | None = None,
    ) -> list[Payout]:
        """Mark what several workers are owed as paid, all of them or none.

        Parameters
        ----------
        amounts : mapping of workers to amounts, optional
            Who was paid how much; by default everybody who is owed something is paid all of it,
            also what they have earned since you looked.
        by, reference, on, key
            As of :meth:`pay`; they hold for all.
        """
        if amounts is not None and (not isinstance(amounts, Mapping) or not amounts):
            raise InvalidProblem(
                f"amounts is {amounts!r}: give a mapping of workers to what they were paid",
                field="amounts",
            )
        given = None if amounts is None else list(by_name(amounts, "worker").items())
        return self._writer.write(self._paying(given, by, reference, on, key))

    def bonus(
        self, worker: str, amount: Amount, why: str, *, by: str, key: str | None = None
    ) -> None:
        """Give a worker money apart from what their answers are paid, and say why.

        It is spent at once, and refused if the budget does not have it: what is reserved, or kept
        back for audits, is not there to be given. Mechanisms and policies do not see it. The worker
        reads the reason, of up to 2,000 characters.
        """
        said = {"worker": worker, "amount": to_micro(amount, "amount")}
        said |= {"why": check_remark(why, "why"), "by": check_by(by)}
        self._do("bonus", key, paying.bonus, **said)

    def _paying(
        self,
        amounts: Iterable[tuple[str, Amount | None]] | None,
        by: str,
        reference: str | None,
        on: date | str | None,
        key: str | None,
    ) -> PreparedWrite[list[Payout]]:
        """Prepare to mark what workers are owed as paid."""
        said: dict[str, Any] = {"amounts": None, "by": check_by(by)}
        if amounts is not None:
            said["amounts"] = [
                (as_name(worker), None if amount is None else to_micro(amount, "amount"))
                for worker, amount in amounts
            ]
        if reference is not None:
            said["reference"] = check_said(reference, "reference", LONGEST_REFERENCE)
        if on is not None:
            said["on"] = check_day(on)
        action: Action[list[Payout]] = Action(
            partial(paying.pay, **said),
            lambda found: {"payouts": [each.to_json() for each in found]},
            lambda _, kept: [Payout.from_json(raw) for raw in kept["payouts"]],
        )
        return prepared("pay", said, key, action)
