"""``ask``, ``tell`` and what may come instead of an answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from askwise.cli import errors, output
from askwise.cli.opening import open_campaign, open_campaign_of
from askwise.cli.options import DEFAULT_STORE, AsJson, AssignmentId, Key, Name, StoreUrl
from askwise.cli.show import after

if TYPE_CHECKING:
    from askwise.campaign import Campaign

COLUMNS = ("assignment", "worker", "task", ">price", ">propensity")


def ask(
    name: Name,
    limit: Annotated[
        int, typer.Option("--limit", metavar="N", help="The most assignments to hand out.")
    ] = 1,
    workers: Annotated[
        list[str] | None,
        typer.Option(
            "--worker",
            metavar="ID",
            help="Who is available (repeat it); everyone who joined by default.",
            show_default=False,
        ),
    ] = None,
    key: Key = None,
    store: StoreUrl = DEFAULT_STORE,
    as_json: AsJson = False,
) -> None:
    """Decide whom to ask next. Exits with 0 (somebody to ask), 3 (wait) or 4 (done)."""
    campaign = open_campaign(store, name)
    choice = campaign.ask(limit, workers or None, key)
    raw = choice.to_json()
    if as_json:
        output.show_json(raw)
    elif raw["status"] == "batch":
        output.show_records(COLUMNS, _records(raw["assignments"]))
    else:
        print(f"{raw['status']}: {raw.get('what') or raw.get('why')}")
    if raw["status"] != "batch":
        raise typer.Exit(errors.WAIT if raw["status"] == "wait" else errors.DONE)


def assignments(name: Name, store: StoreUrl = DEFAULT_STORE, as_json: AsJson = False) -> None:
    """Show what is out: handed out, neither answered nor released."""
    found = [each.to_json() for each in open_campaign(store, name).assignments()]
    if as_json:
        output.show_json(found)
    elif found or not output.for_people():
        output.show_records(COLUMNS, _records(found))
    else:
        print("nothing is out")


def tell(
    assignment: AssignmentId,
    value: Annotated[
        str,
        typer.Argument(metavar="VALUE", help="A number, or an option's name.", show_default=False),
    ],
    key: Key = None,
    store: StoreUrl = DEFAULT_STORE,
    as_json: AsJson = False,
) -> None:
    """Hand in the answer to an assignment."""
    campaign = open_campaign_of(store, assignment)
    campaign.tell(assignment, _answer(campaign, value), key)
    after(campaign, f"{assignment} is answered", as_json=as_json)


def truth(
    name: Name,
    task: Annotated[str, typer.Argument(metavar="TASK", help="The task.", show_default=False)],
    option: Annotated[
        str, typer.Argument(metavar="OPTION", help="Its true option.", show_default=False)
    ],
    key: Key = None,
    store: StoreUrl = DEFAULT_STORE,
    as_json: AsJson = False,
) -> None:
    """Reveal the true option of a task."""
    campaign = open_campaign(store, name)
    campaign.truth(task, option, key)
    after(campaign, f"the truth of {task} is {option}", as_json=as_json)


def expire(
    assignment: AssignmentId,
    key: Key = None,
    store: StoreUrl = DEFAULT_STORE,
    as_json: AsJson = False,
) -> None:
    """Release an assignment that will not be answered."""
    campaign = open_campaign_of(store, assignment)
    campaign.expire(assignment, key)
    after(campaign, f"{assignment} is released", as_json=as_json)


def decline(
    assignment: AssignmentId,
    key: Key = None,
    store: StoreUrl = DEFAULT_STORE,
    as_json: AsJson = False,
) -> None:
    """Release an assignment that its worker turns down."""
    campaign = open_campaign_of(store, assignment)
    campaign.decline(assignment, key)
    after(campaign, f"{assignment} is turned down", as_json=as_json)


def _records(assignments: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    return [
        (each["id"], each["worker"], each["task"], each["price"], each["propensity"])
        for each in assignments
    ]


def _answer(campaign: Campaign, text: str) -> str | float:
    """Text as the campaign takes it; what is no number is left to the campaign to refuse."""
    if "options" in campaign.spec:
        return text
    try:
        return float(text)
    except ValueError:
        return text
