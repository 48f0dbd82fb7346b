"""Studies on Prolific: made, run, stopped; and what a person has to say about them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from askwise.cli import output
from askwise.cli.examples import examples
from askwise.cli.opening import open_campaign
from askwise.cli.options import DEFAULT_STORE, AsJson, Name, StoreUrl, argument, option, switch
from askwise.core.errors import InvalidParameter

if TYPE_CHECKING:
    from askwise.running.prolific import Recruiter, RecruitingReport

app = typer.Typer(
    help="Studies on Prolific: make one from a campaign, run it, stop it.", no_args_is_help=True
)

EVENTS = ("submission.status.change", "study.status.change")
"""What the service wants to be told of."""

_Address = option(
    ...,
    "URL",
    "Address at which participants reach the service: https://ask.example.org",
    "--address",
)


@examples(
    'askwise prolific create cats --title "Cats in pictures" --description "Do you see a cat?" '
    "--reward 1.20 --minutes 6 --questions 20 --price 0.08 --address https://ask.example.org",
    run=False,
)
@app.command("create")
def create(
    name: Name,
    title: str = option(..., "TEXT", "Title of the study on Prolific."),
    description: str = option(..., "TEXT", "Description that participants read there."),
    reward: str = option(..., "AMOUNT", "Minimum pay of a participant."),
    minutes: int = option(..., "N", "How long a participant is expected to take."),
    questions: int = option(..., "N", "Maximum number of questions per participant."),
    price: str = option(
        "0", "AMOUNT", "Pay per answer; what exceeds the reward is paid as a bonus."
    ),
    places: int = option(5, "N", "Number of participants to begin with."),
    step: int = option(5, "N", "Number of places to add at a time."),
    most: int = option(100, "N", "Maximum number of participants."),
    address: str = _Address,
    extra: str | None = option(
        None, "FILE", "Further fields of the study as JSON, such as filters or project."
    ),
    store: StoreUrl = DEFAULT_STORE,
    as_json: AsJson = False,
) -> None:
    """Draft a study for a campaign on Prolific; nobody sees it and nothing is paid before run."""
    from askwise.running.prolific import create_study
    from askwise.sources.prolific import Prolific, ProlificApi

    source = Prolific(
        title,
        description,
        reward=reward,
        minutes=minutes,
        questions=questions,
        price=price,
        places=places,
        step=step,
        most=most,
        extra={} if extra is None else _object(extra),
    )
    made = create_study(open_campaign(store, name), source, address, ProlificApi())
    shown = {"study": made.study, "internal_name": made.marker, "places": source.places}
    output.say(shown, as_json, f"study {made.study} is drafted: see it on Prolific, then run it")


@examples("askwise prolific run cats", "askwise prolific run cats --once", run=False)
@app.command("run")
def run(
    name: Name,
    every: float = option(
        60.0, "SECONDS", "How often to ask Prolific; webhook events come sooner."
    ),
    once: bool = switch("--once", "Look once, do what is due, and exit."),
    store: StoreUrl = DEFAULT_STORE,
    as_json: AsJson = False,
) -> None:
    """Publish the study, approve submissions, pay bonuses and add places until it is done.

    You can stop it at any time; started again, it continues where it stopped.
    """
    if not 1 <= every <= 86400:
        raise InvalidParameter(f"every is {every:g}: give 1 to 86400 seconds", field="every")
    recruiter = _recruiter(store, name)

    def tell(report: RecruitingReport) -> None:
        if as_json:
            output.show_json(report.to_json())
        else:
            print(_words(report), flush=True)

    if once:
        tell(recruiter.step())
    else:
        recruiter.run(every=every, watch=tell)


@examples("askwise prolific stop cats", run=False)
@app.command("stop")
def stop(name: Name, store: StoreUrl = DEFAULT_STORE, as_json: AsJson = False) -> None:
    """Permanently close the study to new participants; run it once more to pay those who came."""
    _recruiter(store, name).stop()
    output.say({"stopped": True}, as_json, "the study is closed to new participants")


@examples("askwise prolific settle cats --paid", run=False)
@app.command("settle")
def settle(
    name: Name,
    paid: bool = switch("--paid", "Prolific has paid these bonuses."),
    unpaid: bool = switch("--unpaid", "Prolific has not paid them; the next run pays them."),
    store: StoreUrl = DEFAULT_STORE,
    as_json: AsJson = False,
) -> None:
    """Record whether bonuses of unknown state were paid, after you have looked on Prolific."""
    if paid == unpaid:
        raise InvalidParameter("give --paid or --unpaid", field="paid")
    batch = _recruiter(store, name).settle(paid=paid)
    said = "paid" if paid else "not paid"
    output.say(
        {"batch": batch.batch, "paid": paid}, as_json, f"{batch.batch} is recorded as {said}"
    )


@examples("askwise prolific webhooks 60d42f4ec1 --address https://ask.example.org", run=False)
@app.command("webhooks")
def webhooks(
    workspace: str = argument("WORKSPACE", "The workspace's id on Prolific."),
    address: str = _Address,
    as_json: AsJson = False,
) -> None:
    """Have Prolific tell the service of submissions, and print the secret that it needs."""
    from askwise.sources.prolific import ProlificApi

    api = ProlificApi()
    known = api.hook_secrets(workspace)
    secret = str((known[0] if known else api.create_hook_secret(workspace))["value"])
    target = f"{address.rstrip('/')}/prolific/events"
    there = {
        (each.get("event_type"), each.get("target_url"))
        for each in api.subscriptions(workspace)
        if each.get("is_enabled")
    }
    for event in EVENTS:
        if (event, target) not in there:
            api.subscribe(workspace, event, target)
    shown = {"target": target, "events": list(EVENTS), "secret": secret}
    output.say(shown, as_json, f"PROLIFIC_HOOK_SECRET={secret}")


def _recruiter(store: str, name: str) -> Recruiter:
    from askwise.running.prolific import Recruiter
    from askwise.sources.prolific import ProlificApi

    return Recruiter(open_campaign(store, name), ProlificApi())


def _words(report: RecruitingReport) -> str:
    lines = [
        f"{report.course}: {report.taken} of {report.places} places taken, {report.under_way} at "
        f"work; {report.approved} approved, {report.bonuses} paid as bonuses, {report.added} "
        "places added"
    ]
    for each in report.matters:
        lines.append(f"  {each.what} {each.submission} {each.worker}: {each.detail}")
    return "\n".join(lines)


def _object(path: str) -> dict[str, Any]:
    try:
        found = json.loads(Path(path).read_text(encoding="utf-8"))
    except ValueError as error:
        raise InvalidParameter(f"{path} is not JSON: {error}", field="extra") from None
    if not isinstance(found, dict):
        raise InvalidParameter(f"{path} is not a JSON object", field="extra")
    return found
