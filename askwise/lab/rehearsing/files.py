"""The plan of a campaign as files: its numbers, a figure of what was tried, and a page."""

from collections.abc import Iterator
from pathlib import Path

from askwise.lab import report
from askwise.lab.planning.files import listing
from askwise.lab.planning.pictures import count
from askwise.lab.planning.plan import amounts, percent
from askwise.lab.rehearsing.plan import (
    CampaignPlan,
    cascade_text,
    certificate_text,
    error_text,
)
from askwise.lab.results import Results


def write_campaign_plan(plan: CampaignPlan, directory: Path, command: str) -> Path:
    """Write plan.json, figure.png, figure.svg and report.html; returns the page."""
    report.write_json(directory, "plan.json", plan)
    picture = plan.picture()
    rows = picture.pop("results_rows")
    figure = report.draw(
        directory,
        "What campaigns cost and how many labels are wrong, for the settings that were tried; "
        "eight of ten campaigns lie in the shaded band.",
        rows,
        **picture,
    )
    assumed = {"policy": plan.policy, "source": plan.source}
    for part in plan.workers:
        assumed[f"worker {part.id}"] = f"{part.price} an answer"
    return report.write_report(
        directory,
        Results("plan", plan.seed, plan.runs, assumed, rows),
        title=plan.headline,
        summary="\n\n".join(_words(plan)),
        figures=[figure],
        command=command,
        x_label=lambda metric: "cost",
    )


def _words(plan: CampaignPlan) -> Iterator[str]:
    mean, low, high = amounts(plan.total.mean, plan.total.low, plan.total.high)
    yield (
        f"{count(plan.tasks, 'task')} with {plan.options} options each, asked by {plan.policy}. "
        f"What follows is a simulation of {plan.runs} campaigns as they may go; no money was spent."
    )
    yield (
        f"The campaign costs about {mean}, and {low} to {high} in eight cases of ten; a task takes "
        f"{plan.answers.mean:.3g} answers. {error_text(plan)}"
    )
    yield "Of the answers " + listing(
        f"{percent(part.share_of_answers)} are {part.id}'s, for {percent(part.share_of_money)} of "
        "the money"
        for part in plan.workers
    )
    if plan.certificate is not None:
        yield certificate_text(plan.certificate)
    if plan.cascade is not None:
        yield cascade_text(plan.cascade)
    yield from plan.remarks
    yield from plan.cannot_know
