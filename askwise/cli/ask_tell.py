"""``ask``, ``tell`` and what may come instead of an answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from askwise.cli import output
from askwise.cli.examples import examples
from askwise.cli.exit_codes import ExitCode
from askwise.cli.opening import change, open_campaign, signed, verb
from askwise.cli.options import (
    DEFAULT_STORE,
    AsJson,
    AssignmentId,
    Key,
    Name,
    Reference,
    StoreUrl,
    argument,
    option,
    switch,
)
from askwise.core.calls import FAILURES, check_failure
from askwise.core.errors import InvalidAnswer

if TYPE_CHECKING:
    from askwise.campaign import Campaign

COLUMNS = {
    **{"assignment": "id", "worker": "worker", "task": "task"},
    **{">price": "price", ">propensity": "propensity"},
}


@examples("askwise ask cats --limit 5", "askwise ask cats --worker eve --json")
def ask(
    name: Name,
    limit: int = option(1, "N", "Maximum number of assignments to hand out."),
    workers: list[str] | None = option(
        None, "ID", "Who is available (repeatable); everyone who joined by default.", "--worker"
    ),
    key: Key = None,
    store: StoreUrl = DEFAULT_STORE,
    as_json: AsJson = False,
) -> None:
    """Decide whom to ask next. Exits with 0 (somebody to ask), 3 (wait) or 4 (done)."""
    raw = open_campaign(store, name).ask(limit, workers or None, key).to_json()
    if as_json:
        output.show_json(raw)
    elif raw["status"] == "batch":
        output.show_objects(raw["assignments"], False, COLUMNS)
    else:
        print(f"{raw['status']}: {raw.get('what') or raw.get('why')}")
        if raw.get("why") == "agreement" and output.for_people():
            print(
                "Sure enough by agreement alone: no truths were told, so this is not a "
                f"probability. `askwise status {name}` says which truths would make it one."
            )
    if raw["status"] != "batch":
        raise typer.Exit(ExitCode.WAIT if raw["status"] == "wait" else ExitCode.DONE)


@examples("askwise assignments cats")
def assignments(name: Name, store: StoreUrl = DEFAULT_STORE, as_json: AsJson = False) -> None:
    """Show open assignments: handed out, neither answered nor released."""
    found = open_campaign(store, name).assignments()
    output.show_objects(found, as_json, COLUMNS, nothing="no open assignments")


@examples(
    "askwise tell cats:2 cat --key cats:2",
    "askwise tell cats:2 cat --cost 0.03 --probability cat=0.9 --probability dog=0.1",
)
@change
def tell(
    campaign: Campaign,
    key: str | None,
    assignment: AssignmentId,
    value: str = argument("VALUE", "A number, or an option's name."),
    cost: str | None = option(
        None, "AMOUNT", "What it cost; by default the price, which is its ceiling."
    ),
    probabilities: list[str] | None = option(
        None,
        "OPTION=P",
        "How sure the source was of an option (repeatable); they sum to 1.",
        "--probability",
    ),
    rationale: str | None = option(None, "TEXT", "Why, in up to 10,000 characters."),
    reference: Reference = None,
) -> str:
    """Hand in the answer to an assignment."""
    campaign.tell(
        assignment,
        _answer(campaign, value),
        key,
        cost=cost,
        probabilities=_chances(probabilities) if probabilities else None,
        rationale=rationale,
        reference=reference,
    )
    return f"{assignment} is answered"


@examples("askwise revise cats:3 dog --by ann")
@change
def revise(
    campaign: Campaign,
    key: str | None,
    assignment: AssignmentId,
    value: str = argument("VALUE", "A number, or an option's name."),
    probabilities: list[str] | None = option(
        None,
        "OPTION=P",
        "How sure the source is of an option now (repeatable); they sum to 1.",
        "--probability",
    ),
    rationale: str | None = option(None, "TEXT", "Why, in up to 10,000 characters."),
    reference: Reference = None,
    by: str | None = option(None, "NAME", "Who changes it; your name on this machine by default."),
) -> str:
    """Change an answer; the new one counts as if it had been given in the first place."""
    campaign.revise(
        assignment,
        _answer(campaign, value),
        probabilities=_chances(probabilities) if probabilities else None,
        rationale=rationale,
        reference=reference,
        by=signed(by),
        key=key,
    )
    return f"{assignment} is answered with {value}"


@examples('askwise withdraw cats:3 "the picture was missing"')
@change
def withdraw(
    campaign: Campaign,
    key: str | None,
    assignment: AssignmentId,
    why: str = argument("WHY", "Why the answer is withdrawn."),
    by: str | None = option(None, "NAME", "Who does it; your name on this machine by default."),
) -> str:
    """Withdraw an answer: it no longer counts, and what was paid stays paid."""
    campaign.withdraw(assignment, why, by=signed(by), key=key)
    return f"the answer to {assignment} is withdrawn"


@examples("askwise fail cats:2 refused --cost 0.01")
@change
def fail(
    campaign: Campaign,
    key: str | None,
    assignment: AssignmentId,
    why: str = argument("WHY", f"Why there is no answer: {', '.join(FAILURES)}."),
    cost: str = option("0", "AMOUNT", "What the call cost anyway."),
    reference: Reference = None,
) -> str:
    """Report that a call gave no answer; the worker is not asked about the task again."""
    campaign.fail(assignment, check_failure(why), cost, reference, key)
    return f"{assignment} has failed: {why}"


@examples("askwise truth cats photo-1 cat")
@verb("the truth of {task} is {option}")
def truth(
    task: str = argument("TASK", "The task."),
    option: str = argument("OPTION", "Its true option."),
) -> None:
    """Reveal the true option of a task."""


@examples('askwise flag cats:2 "no animal in it"')
@verb("{assignment} can't be answered: {why}")
def flag(
    assignment: AssignmentId, why: str = argument("WHY", "Why the task can't be answered.")
) -> None:
    """Report that a task can't be answered; its worker is not asked about it again."""


@examples('askwise comment cats photo-1 "taken at night"')
@change
def comment(
    campaign: Campaign,
    key: str | None,
    task: str = argument("TASK", "The task."),
    text: str = argument("TEXT", "The comment, in up to 2,000 characters."),
    by: str | None = option(None, "NAME", "Who writes; your name on this machine by default."),
) -> str:
    """Write a comment on a task; workers do not see it."""
    campaign.comment(task, text, by=signed(by), key=key)
    return f"the comment on {task} is noted"


@examples('askwise set-label cats photo-1 dog --why "seen from the front"')
@change
def set_label(
    campaign: Campaign,
    key: str | None,
    task: str = argument("TASK", "The task."),
    value: str = argument("VALUE", "An option's name, or a number."),
    by: str | None = option(None, "NAME", "Who decides; your name on this machine by default."),
    why: str | None = option(None, "TEXT", "The reason, in up to 2,000 characters."),
    truth: bool = switch(
        "--truth", "The label is also the truth of the task: policies learn from it."
    ),
) -> str:
    """Set the label of a task by hand; it wins over answers, and can be set again."""
    campaign.set_label(task, _answer(campaign, value), by=signed(by), why=why, truth=truth, key=key)
    return f"the label of {task} is {value}"


@examples("askwise expire cats:2")
@verb("{assignment} is released")
def expire(assignment: AssignmentId) -> None:
    """Release an assignment that will not be answered."""


@examples("askwise renew cats:2")
@verb("the lease of {assignment} was restarted")
def renew(assignment: AssignmentId) -> None:
    """Restart the lease of an open assignment."""


@examples("askwise decline cats:2")
@verb("{assignment} is turned down")
def decline(assignment: AssignmentId) -> None:
    """Release an assignment that its worker turns down."""


def _chances(given: list[str]) -> dict[str, float]:
    """Options and their probabilities; whether they can be so is for the campaign to say."""
    found: dict[str, float] = {}
    for each in given:
        name, _, chance = each.rpartition("=")
        try:
            found[name] = float(chance)
        except ValueError:
            raise InvalidAnswer(
                f"probability is {each!r}: give an option and a number from 0 to 1, like yes=0.8",
                field="probability",
                reason="invalid_value",
            ) from None
    return found


def _answer(campaign: Campaign, text: str) -> str | float:
    """Text as the campaign takes it; the campaign refuses what is not a number."""
    if "options" in campaign.spec:
        return text
    try:
        return float(text)
    except ValueError:
        return text
