"""The workers of a stored campaign: how good they are, what they earn, who is suspended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from askwise.cli import output
from askwise.cli.examples import examples
from askwise.cli.opening import change, open_campaign, signed
from askwise.cli.options import DEFAULT_STORE, AsJson, Name, StoreUrl, argument, option

if TYPE_CHECKING:
    from askwise.campaign import Campaign
    from askwise.campaign.views import WorkerSummary


@examples("askwise workers cats")
def workers(name: Name, store: StoreUrl = DEFAULT_STORE, as_json: AsJson = False) -> None:
    """Show the workers: their work, their money, how good they are."""
    found = open_campaign(store, name).workers()
    columns: dict[str, Any] = {
        "worker": "id",
        "standing": _state,
        ">gold right": _gold,
        ">quality": lambda each: None if each.quality is None else round(each.quality.value, 3),
        ">answers": "answered",
        ">out": "out",
        ">price": "price",
        ">earned": "paid",
        ">seconds per answer": _seconds,
        ">pay per hour": "pay_an_hour",
    }
    output.show_objects(found, as_json, columns)


def _state(worker: WorkerSummary) -> str | None:
    if not worker.joined:
        return "left"
    return None if worker.standing is None else worker.standing.state


def _gold(worker: WorkerSummary) -> str | None:
    """How many gold answers are right, and the interval of that share."""
    found = worker.standing
    if found is None or found.accuracy is None:
        return None
    ends = f"{found.accuracy.low:.2f}-{found.accuracy.high:.2f}"
    return f"{found.gold_right}/{found.gold_answers} ({ends})"


def _seconds(worker: WorkerSummary) -> float | None:
    return None if worker.seconds_an_answer is None else round(worker.seconds_an_answer, 1)


WHO = option(None, "NAME", "Who decides; your name on this machine by default.")
WHY = option(None, "TEXT", "The reason, in up to 2,000 characters.")


@examples('askwise suspend cats ben --why "answers at random"')
@change
def suspend(
    campaign: Campaign,
    key: str | None,
    worker: str = argument("WORKER", "The worker to suspend."),
    by: str | None = WHO,
    why: str | None = WHY,
) -> str:
    """Give a worker no work until they are reinstated; they keep their open assignments."""
    campaign.suspend(worker, by=signed(by), why=why, key=key)
    return f"{worker} is suspended"


@examples("askwise reinstate mice ben")
@change
def reinstate(
    campaign: Campaign,
    key: str | None,
    worker: str = argument("WORKER", "The worker to reinstate."),
    by: str | None = WHO,
    why: str | None = WHY,
) -> str:
    """Ask a suspended worker again."""
    campaign.reinstate(worker, by=signed(by), why=why, key=key)
    return f"{worker} is asked again"
