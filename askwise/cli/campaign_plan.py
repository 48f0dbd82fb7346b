"""How the plan of a campaign of people and models is printed."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from askwise.cli import output

if TYPE_CHECKING:
    from askwise.lab.planning.plan import CrowdPart
    from askwise.lab.rehearsing.plan import CampaignPlan, WorkerPart


def print_lines(made: CampaignPlan) -> None:
    """One fact per line, for programs that read lines."""
    line = output.line
    for name in ("tasks", "options", "policy", "source"):
        line(name, getattr(made, name))
    line("lever", made.lever, made.chosen)
    for name in ("budget", "target", "target_error", "reached", "chance"):
        line(name, getattr(made, name))
    for name in ("error", "answers", "total"):
        each = getattr(made, name)
        line(name, each.mean, each.low, each.high)
    for name in ("needed", "alternative"):
        each = getattr(made, name)
        if each is not None:
            line(name, each.budget, each.target, each.total.mean, each.error.mean)
    for part in made.workers:
        line(
            *("worker", part.id, part.price, part.answers, part.cost),
            *(part.share_of_answers, part.share_of_money),
        )
    line("truths", made.truths.told, made.truths.least, made.truths.wanted, made.truths.price)
    if made.certificate is not None:
        paper = made.certificate
        line("certificate", paper.error, paper.confidence, paper.by, paper.clean, paper.expected)
        line("audits", paper.audits.mean, paper.audits.low, paper.audits.high)
        line("certified", paper.share.mean, paper.share.low, paper.share.high)
        line("audit_price", paper.price.mean, paper.price.low, paper.price.high)
    if made.cascade is not None:
        total = made.cascade.total
        line("cascade", total.mean, total.low, total.high, made.cascade.error.mean)
    for remark in made.remarks:
        line("remark", remark)
    for sentence in made.cannot_know:
        line("cannot_know", sentence)
    sys.stdout.write(f"\n{made.settings}")


def show(made: CampaignPlan) -> None:
    """What a person wants to know, in the order in which they ask."""
    from rich.text import Text

    from askwise.lab.planning.pictures import count
    from askwise.lab.rehearsing.plan import cascade_text, certificate_text, error_text

    said = f"{count(made.tasks, 'task')} with {made.options} options, asked by {made.policy}"
    output.show(Text(said, style="bold"), "", _expected(made), "", error_text(made))
    output.show(*(Text(remark, style="yellow") for remark in made.remarks))
    if made.certificate is not None:
        output.show(certificate_text(made.certificate))
    if made.cascade is not None:
        output.show(cascade_text(made.cascade))
    output.show(
        "", earners("worker", made.workers, 0), Text("\nWhat no plan can know:", style="dim")
    )
    output.show(*(Text(f"- {sentence}", style="dim") for sentence in made.cannot_know))
    output.show(Text("\nFor the campaign's file:\n", style="dim"))
    sys.stdout.write("".join(f"    {line}".rstrip() + "\n" for line in made.settings.splitlines()))
    output.show(Text(f"\nSimulated: {made.runs} campaigns, seed {made.seed}.", style="dim"))


def _expected(made: CampaignPlan) -> Any:
    from askwise.lab.planning.plan import amounts, skewed

    answers, error = made.answers, made.error
    found = [
        ("cost of the campaign", amounts(made.total.mean, made.total.low, made.total.high)),
        ("answers to a task", [f"{e:.2f}" for e in (answers.mean, answers.low, answers.high)]),
        ("share of wrong labels", [f"{e:.3f}" for e in (error.mean, error.low, error.high)]),
    ]
    rows = []
    for what, (mean, low, high) in found:
        few = skewed(mean, low, high)
        rows.append((what, mean, f"{low} to {high}" + (f" ({few})" if few else "")))
    return output.table(("", ">expected", "80% range"), rows)


def earners(word: str, parts: Sequence[CrowdPart | WorkerPart], digits: int) -> Any:
    """Who gives how many answers for which money, as a table."""
    from askwise.lab.planning.plan import amounts, percent

    prices = amounts(*(part.price for part in parts))
    costs = amounts(*(part.cost for part in parts))
    return output.table(
        (word, ">price", ">answers", ">of answers", ">cost", ">of money", ""),
        (
            (
                *(part.id, price, f"{part.answers:.{digits}f}", percent(part.share_of_answers)),
                *(cost, percent(part.share_of_money), output.bar(part.share_of_money)),
            )
            for part, price, cost in zip(parts, prices, costs, strict=True)
        ),
    )
