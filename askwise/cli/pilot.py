"""``askwise pilot``: what the pilot of a campaign has shown of its workers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from askwise.cli import output
from askwise.cli.examples import examples
from askwise.cli.opening import open_campaign
from askwise.cli.options import DEFAULT_STORE, AsJson, Name, StoreUrl
from askwise.cli.results import percents

if TYPE_CHECKING:
    from askwise.campaign.views import FamilyAgreement, PilotReport, PilotWorker

_FACTS = (
    *("phase", "policy_decides", "wanted", "drawn", "cut", "questions", "done", "waiting"),
    *("skipped", "paid", "with_truth", "n_eff", "statement"),
)


@examples("askwise pilot panel")
def pilot(name: Name, store: StoreUrl = DEFAULT_STORE, as_json: AsJson = False) -> None:
    """Show what the pilot has shown of its workers so far."""
    found = open_campaign(store, name).pilot()
    output.show_found(found, as_json, screen=_show, lines=_print_lines)


def _print_lines(found: PilotReport) -> None:
    line, ends_of = output.line, output.ends_of
    for field in _FACTS:
        line(field, getattr(found, field))
    for each in found.workers:
        line("worker", each.id, *_counts(each), *ends_of(each.agreement), each.compared,
             *ends_of(each.accuracy), each.truths)  # fmt: skip
    for family in found.families:
        line("family", family.family, *ends_of(family.excess), family.suspicious)


def _counts(worker: PilotWorker) -> tuple[Any, ...]:
    return (
        *(worker.answers, worker.failed, worker.flips, worker.declined, worker.waiting),
        *(worker.skipped, worker.cost_an_answer, worker.largest_cost),
    )


def _show(found: PilotReport) -> None:
    facts: list[tuple[str, Any]] = [("pilot", found.statement), ("paid", found.paid)]
    if found.n_eff is not None:
        facts.append(("worth", f"{found.n_eff:.1f} workers who err independently"))
    facts += [("family", _about(each)) for each in found.families if each.suspicious]
    output.show(output.grid(facts))
    columns = ["worker", ">answers", ">failed", ">flips", ">waiting", ">cost per answer"]
    columns += [">largest cost", "agrees with others", "right", ">of truths"]
    rows = [
        [
            *(each.id, each.answers, each.failed, each.flips, each.waiting),
            *(each.cost_an_answer, each.largest_cost),
            *(percents(each.agreement), percents(each.accuracy), each.truths),
        ]
        for each in found.workers
    ]
    output.show("", output.table(columns, rows))


def _about(family: FamilyAgreement) -> str:
    return (
        f"{', '.join(family.workers)} ({family.family}) agree with each other on "
        f"{family.within:.0%} of tasks, and with others on {family.across:.0%}: count them for "
        "less than the same number of others"
    )
