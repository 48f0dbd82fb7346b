"""Looking at a stored campaign: status, answers, log, explanations."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from askwise.cli import output
from askwise.cli.examples import examples
from askwise.cli.opening import open_campaign, open_campaign_of, open_store
from askwise.cli.options import DEFAULT_STORE, AsJson, AssignmentId, Name, StoreUrl, option
from askwise.core.choices import WHY_DONE
from askwise.core.errors import InvalidParameter

if TYPE_CHECKING:
    from askwise.campaign import Explanation, Status
    from askwise.campaign.views import CampaignCertificate, NeedsGold
    from askwise.core.allocation import Watch
    from askwise.core.content import Content
    from askwise.core.events import Event

CHUNK = 2_000
"""Events of a log read at a time."""


@examples("askwise status cats", "askwise status cats --json")
def status(name: Name, store: StoreUrl = DEFAULT_STORE, as_json: AsJson = False) -> None:
    """Show a campaign at a glance."""
    campaign = open_campaign(store, name)
    found, content = campaign.status(), campaign.content
    if as_json:
        output.show_json(found.to_json())
    elif output.for_people():
        _show_status(found, content)
    else:
        for field, value in found.to_json().items():
            if field not in ("needs_gold", "certificate", "watch", "because", "pilot", "title"):
                # In full: a program may add it up.
                output.line(field, repr(value) if isinstance(value, float) else value)
        for need in found.needs_gold:
            output.line("needs_gold", need.context, ",".join(need.tasks), need.why, need.count)
        if found.certificate is not None:
            output.line("certificate", found.certificate.statement)
        if found.pilot is not None:
            output.line("pilot", found.pilot.statement)
        _tell_watch(found.watch)
        if found.because is not None:
            output.line("because", found.chosen_because)
        if content is not None or found.title is not None:
            output.line("title", found.title)
        if content is not None:
            output.line("question", content.question)


@examples("askwise answers cats", "askwise answers cats --json")
def answers(name: Name, store: StoreUrl = DEFAULT_STORE, as_json: AsJson = False) -> None:
    """Show every task's answer so far."""
    campaign = open_campaign(store, name)
    found = campaign.answers()
    columns = {"task": "task", "answer": "value", ">confidence": "confidence"}
    columns |= {"rests on": "rests_on", "outcome": "outcome", ">answers": "count"}
    if any(each.certificate is not None for each in found):
        columns |= {"certificate": "certificate"}
    if any(each.assured_error is not None for each in found):
        columns |= {">assured error": "assured_error", ">majority error": "majority_error"}
    if any(each.decided_by is not None for each in found):
        columns |= {"decided by": "decided_by"}
    output.show_objects(found, as_json, columns)
    if any(each.outcome == "assurance_failed" for each in found) and not as_json:
        watch = campaign.status().watch
        print(watch.statement if watch else "", file=sys.stderr)


@examples("askwise certificate mails")
def certificate(name: Name, store: StoreUrl = DEFAULT_STORE, as_json: AsJson = False) -> None:
    """Show what audits have shown of the labels so far."""
    found = open_campaign(store, name).certificate()
    output.show_found(found, as_json, screen=_show_certificate, lines=_print_certificate)


def _print_certificate(found: CampaignCertificate) -> None:
    for field, value in found.to_json().items():
        if field not in ("by", "blocks"):
            output.line(field, value)


def _show_certificate(found: CampaignCertificate) -> None:
    labels = f"{found.certified} certified, {found.escalated} replaced, {found.uncertified} neither"
    facts: list[tuple[str, Any]] = [
        ("statement", found.statement),
        ("phase", found.phase),
        ("audits", f"{found.audited} of at most {found.audits}, {found.wrong} found a wrong label"),
        ("labels", labels),
        ("by", ", ".join(found.by)),
        ("money", f"{found.spent} spent on them, {found.kept} kept back for more"),
    ]
    output.show(output.grid(facts))
    for block in found.blocks:
        columns = [">surest labels", ">may be wrong", ">audited", ">found wrong", "certified"]
        rows = [
            [each.size, each.allowed, each.audited, each.wrong, each.certified]
            for each in block.sets
        ]
        output.show("", output.table(columns, rows))


@examples("askwise log cats --after 4", "askwise log cats --json")
def log(
    name: Name,
    first: int = option(0, "N", "Only events after this number.", "--after"),
    last: int | None = option(None, "N", "Only events up to this number.", "--upto"),
    store: StoreUrl = DEFAULT_STORE,
    as_json: AsJson = False,
) -> None:
    """Print the log, one event per line (with --json: JSON Lines)."""
    for field, value in (("after", first), ("upto", last)):
        if value is not None and value < 0:
            raise InvalidParameter(
                f"{field} is {value}: give the number of an event, from 0", field=field
            )
    for event in _events(store, name, first, last):
        if as_json:
            raw = json.dumps(event.to_json(), ensure_ascii=False, allow_nan=False)
            sys.stdout.write(raw + "\n")
            continue
        moment = datetime.fromtimestamp(event.time, UTC).isoformat(timespec="seconds")
        moment = moment.replace("+00:00", "Z")
        if output.for_people():
            print(f"{event.seq:>6}  {moment}  {event.kind.name:<9}  {_details(event)}")
        else:
            output.line(event.seq, moment, event.kind.name, _details(event) or None)


@examples("askwise explain cats:3")
def explain(
    assignment: AssignmentId, store: StoreUrl = DEFAULT_STORE, as_json: AsJson = False
) -> None:
    """Tell why an assignment was made, recomputed from the log."""
    campaign = open_campaign_of(store, assignment)
    found = campaign.explain(assignment)
    certifies = campaign.spec.get("certify") is not None
    output.show_found(
        found,
        as_json,
        screen=partial(_show_explanation, certifies=certifies),
        lines=_print_explanation,
    )


def _print_explanation(found: Explanation) -> None:
    for field, value in found.to_json().items():
        if field not in ("rows", "candidates", "watch"):
            output.line(field, value)
    _tell_watch(found.watch)
    for row in found.rows:
        output.line("row", *row)
    for each in found.candidates:
        details = " ".join(f"{name}={output.cell(value)}" for name, value in each.details.items())
        about = (each.worker, each.available, each.room, each.index)
        output.line("candidate", *about, details or None)


def _tell_watch(watch: Watch | None) -> None:
    """Say in a line what audits say of answers that are assured."""
    if watch is not None:
        numbers = (watch.judged, watch.wrong, watch.allowed, watch.alarms, watch.widened)
        output.line("watch", watch.state, *numbers, watch.statement)


def _events(store: str, name: str, first: int, last: int | None) -> Iterator[Event]:
    """Read the log in pieces: the store alone can do it, without the campaign."""
    opened = open_store(store)
    while last is None or first < last:
        upto = first + CHUNK if last is None else min(first + CHUNK, last)
        found = opened.read(name, first, upto)
        yield from found
        if len(found) < upto - first:
            return
        first = upto


def _details(event: Event) -> str:
    """What an event says, beyond its number, time and kind."""
    raw = event.to_json()
    for field in ("seq", "time", "kind"):
        del raw[field]
    if event.rows is not None:
        rows = (
            (f"{row.count}*" if row.count != 1 else "")
            + row.worker
            + (f"/{row.task}" if row.task is not None else "")
            for row in event.rows
        )
        raw["rows"] = ",".join(rows)
    if event.draw is not None:
        raw["draw"] = (
            f"{len(event.draw['tasks'])} labels, up to {event.draw['audits']} audits, "
            f"digest {event.draw['digest'][:12]}"
        )
    if event.available is not None:
        raw["available"] = ",".join(event.available)
    if event.probabilities is not None:
        chances = event.probabilities.items()
        raw["probabilities"] = ",".join(f"{name}:{chance:g}" for name, chance in chances)
    if event.kind.name == "BID":
        raw["price"] = "sealed"
    if event.kind.name == "QUOTED":
        raw["workers"] = ",".join(f"{each['id']}:{each['price']}" for each in raw["workers"])
        return f"prices={output.cell(raw['workers'])}"
    for field in ("tasks", "workers"):
        if field in raw:
            raw[field] = ",".join(each["id"] for each in raw[field])
    return " ".join(f"{field}={output.cell(value)}" for field, value in raw.items())


def _show_status(found: Status, content: Content | None) -> None:
    from rich.text import Text

    why = "" if found.why in (None, found.state) else f": {WHY_DONE.get(found.why, found.why)}"
    output.console().print(Text(found.name, style="bold"), Text(f"{found.state}{why}"))
    spent = f"{found.spent} spent, {found.reserved} reserved"
    money: Any = Text(f"{spent}, no cap")
    if found.budget is not None:
        whole = float(found.budget) or 1.0
        money = output.bar(float(found.spent) / whole, second=float(found.reserved) / whole)
        money.append(f"  {spent}, {found.left} left of {found.budget}")
    decisions = "1 decision" if found.decisions == 1 else f"{found.decisions} decisions"
    asked = [("title", found.title), ("question", None if content is None else content.question)]
    facts: list[tuple[str, Any]] = [
        *((field, words) for field, words in asked if words),
        ("policy", found.policy if found.because is None else f"auto chose {found.chosen_because}"),
        ("money", money),
        ("answers", f"{found.answers}, and {found.pending} pending, after {decisions}"),
    ]
    if found.failures:
        facts.append(("failures", f"{found.failures} calls gave no answer"))
    if found.unbooked:
        facts.append(("unbooked", f"{found.unbooked} that calls cost beyond the budget"))
    facts.append(("workers", found.workers))
    if found.tasks:
        settled = f"{found.settled} of {found.tasks} settled, {found.open_tasks} open"
        facts.append(("tasks", settled))
    if found.utility is not None:
        facts.append(("utility", found.utility))
    if found.certificate is not None:
        facts.append(("certificate", found.certificate.statement))
    if found.pilot is not None:
        facts.append(("pilot", found.pilot.statement))
    facts.append(("log", f"{found.seq} events"))
    # Certified labels rest on audits: truths would not change what is known of them.
    for need in found.needs_gold if found.why != "certified" else ():
        facts.append(("needs truths", _reason(need)))
    if found.watch is not None:
        facts.append(("assurance", found.watch.statement))
    if found.set_statement is not None:
        facts.append(("set", found.set_statement))
    output.show(output.grid(facts))


def _reason(need: NeedsGold) -> str:
    """What truths are wanted for, and of which tasks."""
    where = "" if need.context is None else f" in {need.context}"
    tasks = ", ".join(need.tasks)
    if need.why == "side":
        return f"answers{where} can't tell who is right: askwise truth for {tasks}"
    if need.why == "audit":
        return f"drawn at random to be audited, and waited for: askwise truth for {tasks}"
    more = ", then the next that are named here" if need.count > len(need.tasks) else ""
    return (
        f"too few truths are known for confidences{where} to be probabilities: the truths of "
        f"{need.count} tasks drawn at random would be enough; askwise truth for {tasks}{more}"
    )


def _show_explanation(found: Explanation, *, certifies: bool) -> None:
    from rich.text import Text

    from askwise.campaign.certifying import AUDIT, ESCALATE

    about = "" if found.task is None else f" about {found.task}"
    chance = "unknown" if found.propensity is None else output.cell(found.propensity)
    left = "no cap" if found.budget_left is None else str(found.budget_left)
    # What audits are paid with is kept back: the policy never has it to spend.
    by_audits = certifies and found.purpose not in (AUDIT, ESCALATE)
    if by_audits and found.budget_left is not None:
        left += ", without what is kept back for audits"
    plan = ", ".join(
        (f"{task}: " if task is not None else "") + worker + (f" ×{count}" if count > 1 else "")
        for task, worker, count, _ in found.rows
    )
    again = "gives the same" if found.reproduced else "gives ANOTHER decision"
    screen = output.console()
    screen.print(
        Text(found.assignment, style="bold"), Text(f"{found.worker}{about}, at {found.price}")
    )
    facts = {
        "policy": found.policy,
        "rule": found.rule or None,
        "decision": f"number {found.decision}, to {found.purpose}: {plan}",
        "probability": chance,
        "budget left": left,
        "certificate": "audits see to its target, not this rule" if by_audits else None,
        "checked": f"choosing again from the log {again}",
    }
    if found.watch is not None:
        facts["assurance"] = found.watch.statement
    output.show(output.grid(facts.items()), "")
    candidates = _candidates(found, bars=True)
    if not output.fits(screen, candidates):
        candidates = _candidates(found, bars=False)
    screen.print(candidates)


def _candidates(found: Explanation, *, bars: bool) -> Any:
    """The workers as the policy saw them; columns that say nothing are left out."""
    best = max((each.index for each in found.candidates if each.index is not None), default=0.0)
    details = list(dict.fromkeys(name for each in found.candidates for name in each.details))
    absent = not all(each.available for each in found.candidates)
    columns = ["worker", ">index", *([""] if bars else []), *(["available"] if absent else [])]
    columns += [">room", *(f">{name}" for name in details)]
    records = []
    for each in found.candidates:
        record: list[Any] = [each.worker, each.index]
        if bars:
            share = each.index / best if each.index is not None and best > 0 else 0.0
            record.append(output.bar(share, 12))
        if absent:
            record.append(each.available)
        record.append(each.room)
        records.append(record + [each.details.get(name) for name in details])
    return output.table(columns, records)
