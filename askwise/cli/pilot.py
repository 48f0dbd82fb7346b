"""``askwise pilot``: what the pilot of a campaign has shown of its workers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from askwise.cli import output
from askwise.cli.opening import open_campaign
from askwise.cli.options import DEFAULT_STORE, AsJson, Name, StoreUrl

if TYPE_CHECKING:
    from askwise.auditing import Interval
    from askwise.campaign.views import FamilyAgreement, PilotReport, PilotWorker

_FACTS = (
    *("phase", "policy_decides", "wanted", "drawn", "cut", "questions", "done", "waiting"),
    *("skipped", "paid", "with_truth", "n_eff", "statement"),
)


def pilot(name: Name, store: StoreUrl = DEFAULT_STORE, as_json: AsJson = False) -> None:
    """Show what the pilot has shown of its workers so far."""
    found = open_campaign(store, name).pilot()
    if as_json:
        output.show_json(found.to_json())
    elif output.for_people():
        _show(found)
    else:
        for field in _FACTS:
            output.line(field, getattr(found, field))
        for each in found.workers:
            output.line("worker", each.id, *_counts(each), *_ends(each.agreement), each.compared,
                        *_ends(each.accuracy), each.truths)  # fmt: skip
        for family in found.families:
            output.line("family", family.family, *_ends(family.excess), family.suspicious)


def _counts(worker: PilotWorker) -> tuple[Any, ...]:
    return (
        *(worker.answers, worker.failed, worker.flips, worker.declined, worker.waiting),
        *(worker.skipped, worker.cost_an_answer, worker.largest_cost),
    )


def _ends(interval: Interval | None) -> tuple[float | None, ...]:
    """An estimate and the ends of its interval."""
    return (None,) * 3 if interval is None else (interval.value, interval.low, interval.high)


def _show(found: PilotReport) -> None:
    facts: list[tuple[str, Any]] = [("pilot", found.statement), ("paid", found.paid)]
    if found.n_eff is not None:
        facts.append(("worth", f"{found.n_eff:.1f} workers who err independently"))
    facts += [("family", _about(each)) for each in found.families if each.suspicious]
    output.show(output.grid(facts))
    columns = ["worker", ">answers", ">failed", ">flips", ">waiting", ">cost an answer"]
    columns += [">largest cost", "agrees with others", "right", ">of truths"]
    rows = [
        [
            *(each.id, each.answers, each.failed, each.flips, each.waiting),
            *(each.cost_an_answer, each.largest_cost),
            *(_percent(each.agreement), _percent(each.accuracy), each.truths),
        ]
        for each in found.workers
    ]
    output.show("", output.table(columns, rows))


def _about(family: FamilyAgreement) -> str:
    return (
        f"{', '.join(family.workers)} ({family.family}) agree on {family.within:.0%} of tasks, and "
        f"on {family.across:.0%} with others: count them for less than as many others"
    )


def _percent(interval: Interval | None) -> str:
    """An estimate and its interval, in percent."""
    if interval is None:
        return ""
    return f"{interval.value:.0%} ({interval.low:.0%} to {interval.high:.0%})"
