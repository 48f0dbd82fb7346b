"""Money out: what is owed, ``pay``, ``bonus``, and what was paid."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from askwise.cli import output
from askwise.cli.examples import examples
from askwise.cli.opening import change, open_campaign, signed
from askwise.cli.options import (
    DEFAULT_STORE,
    AsJson,
    Name,
    StoreUrl,
    argument,
    option,
    switch,
)
from askwise.core.errors import InvalidParameter

if TYPE_CHECKING:
    from askwise.campaign import Campaign, Payout


@examples("askwise payments cats")
def payments(name: Name, store: StoreUrl = DEFAULT_STORE, as_json: AsJson = False) -> None:
    """Show what each worker has earned, what was paid out and what is reserved for them."""
    columns = {"worker": "worker", ">answers": "answers", ">paid": "paid"}
    found = open_campaign(store, name).payments()
    if any(each.failures for each in found):
        columns |= {">failures": "failures"}
    if any(each.bonus or each.paid_out for each in found):
        columns |= {">bonus": "bonus", ">paid out": "paid_out", ">owed": "owed"}
    if any(each.overpaid for each in found):
        columns |= {">overpaid": "overpaid"}
    columns |= {">reserved": "reserved", "why": "why"}
    output.show_objects(found, as_json, columns)


@examples("askwise payouts cats --due", "askwise payouts cats --out due.csv")
def payouts(
    name: Name,
    due: bool = switch("--due", "Show what to pay now instead."),
    out: str | None = option(
        None, "FILE", "Write what to pay now to this file: .csv, .tsv, .jsonl or .parquet."
    ),
    store: StoreUrl = DEFAULT_STORE,
    as_json: AsJson = False,
) -> None:
    """Show what was marked as paid; with --due what to pay now, by worker."""
    campaign = open_campaign(store, name)
    if out is not None:
        from askwise.data.columns import check_written, write_columns

        check_written(out)
        rows = [each.to_json() for each in campaign.due()]
        heads = ("worker", "owed", "currency", "answers", "since", "until")
        write_columns(out, {head: [row[head] for row in rows] for head in heads})
        output.say(rows, as_json, f"{len(rows)} to be paid: see {out}")
    elif due:
        columns = {"worker": "worker", ">owed": "owed", "currency": "currency"}
        columns |= {">answers": "answers", "since": "since", "until": "until"}
        output.show_objects(campaign.due(), as_json, columns, nothing="nobody is owed anything")
    else:
        columns = {"paid on": "on", "worker": "worker", ">amount": "amount"}
        columns |= {"currency": "currency", "reference": "reference", "by": "by"}
        found = campaign.payouts()
        output.show_objects(found, as_json, columns, nothing="nobody has been paid yet")


_By = option(None, "NAME", "Who recorded it; your name on this machine by default.")


@examples('askwise pay cats ben --reference "SEPA 4711" --on 2026-11-18', "askwise pay cats --all")
@change
def pay(
    campaign: Campaign,
    key: str | None,
    worker: str | None = typer.Argument(
        None, metavar="WORKER", help="Who was paid; not with --all or --file."
    ),
    amount: str | None = option(
        None, "AMOUNT", "What they were paid; by default all that they are owed."
    ),
    reference: str | None = option(None, "TEXT", "The payment's reference, such as the bank's."),
    on: str | None = option(
        None, "DAY", "Date of the payment, such as 2026-11-18; today by default."
    ),
    everybody: bool = switch("--all", "Everybody was paid all they are owed."),
    file: str | None = option(
        None, "FILE", "A file with the columns worker and owed, as `payouts --out` writes it."
    ),
    by: str | None = _By,
) -> str:
    """Mark what workers are owed as paid; the money itself moves elsewhere."""
    if (worker is not None) + everybody + (file is not None) != 1:
        raise InvalidParameter("name a worker, or give --all, or --file", field="worker")
    if amount is not None and worker is None:
        raise InvalidParameter("amount is for one worker: name them", field="amount")
    said: dict[str, Any] = {"by": signed(by), "reference": reference, "on": on, "key": key}
    if worker is not None:
        return _words(campaign.pay(worker, amount, **said))
    paid = campaign.pay_all(None if file is None else _amounts(file), **said)
    return "\n".join(map(_words, paid))


@examples('askwise bonus cats ann 0.20 "careful work"')
@change
def bonus(
    campaign: Campaign,
    key: str | None,
    worker: str = argument("WORKER", "The worker."),
    amount: str = argument("AMOUNT", "Amount; the budget must have this much left."),
    why: str = argument("WHY", "The reason, in up to 2,000 characters; the worker reads it."),
    by: str | None = option(None, "NAME", "Who gives it; your name on this machine by default."),
) -> str:
    """Give a worker money on top of what their answers earn; it is spent at once."""
    campaign.bonus(worker, amount, why, by=signed(by), key=key)
    return f"{worker} is given {amount}"


def _words(payout: Payout) -> str:
    return f"{payout.worker} was paid {payout.amount} {payout.currency}".rstrip()


def _amounts(path: str) -> dict[str, str]:
    """Who was paid how much, as a file says."""
    from askwise.data.columns import read_columns

    found = read_columns(path, ("worker", "owed"))
    return found.each("worker", lambda worker, said: said["owed"])
