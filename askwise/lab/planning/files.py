"""A plan as files: its numbers, a figure of the cost, and a page."""

from collections.abc import Iterator
from pathlib import Path

from askwise.data import Beliefs
from askwise.figures import Row
from askwise.lab import report
from askwise.lab.planning.pictures import count
from askwise.lab.planning.plan import Plan, amount, amounts, interval, percent
from askwise.lab.results import Results


def write_plan(plan: Plan, beliefs: Beliefs, directory: Path, command: str) -> Path:
    """Write plan.json, figure.png, figure.svg and report.html; returns the page."""
    report.write_json(directory, "plan.json", plan)
    picture = plan.picture()
    figure = report.draw(
        directory,
        "Cost of campaigns by number of questions; eight of ten are in the shaded band.",
        picture.pop("results_rows"),
        **picture,
    )
    errors = [("all questions", plan.error, 1.0)]
    errors += [(kind.name, kind.error, kind.share) for kind in plan.kinds]
    rows = [
        Row("", name, plan.questions, "error", e.mean, e.low, e.high, round(share * plan.runs))
        for name, e, share in errors
    ]
    return report.write_report(
        directory,
        Results("plan", plan.seed, plan.runs, _assumed(plan, beliefs), rows),
        title=plan.headline,
        summary="\n\n".join(_words(plan)),
        figures=[figure],
        command=command,
        x_label=lambda metric: "questions",
    )


def _words(plan: Plan) -> Iterator[str]:
    yield (
        f"{count(plan.questions, 'question')} with {plan.options} options each, asked by "
        f"{plan.policy} and stopped by {plan.rule}. What follows is a simulation of "
        f"{plan.runs} questions as they are believed to be; no money was spent."
    )
    answers = plan.answers
    total, cost = (amounts(each.mean, each.low, each.high) for each in (plan.total, plan.cost))
    yield (
        f"The campaign costs about {total[0]}, and {total[1]} to {total[2]} in eight cases of ten. "
        f"A question takes {answers.mean:.3g} answers ({answers.low:g} to {answers.high:g}) and "
        f"costs {cost[0]} ({cost[1]} to {cost[2]}). {plan.found}"
    )
    if plan.funds is not None:
        yield funds_text(plan)
    if plan.kinds:
        yield "Of the money " + listing(
            f"{percent(kind.share_of_money)} goes to the {kind.name} questions "
            f"({percent(kind.share)} of all; {kind.answers:.3g} answers, {amount(kind.cost)} each)"
            for kind in plan.kinds
        )
    yield "Of the answers " + listing(
        f"{percent(crowd.share_of_answers)} are {crowd.id}'s, for "
        f"{percent(crowd.share_of_money)} of the money"
        for crowd in plan.crowds
    )
    yield f"{error_text(plan).capitalize()}."
    yield from plan.remarks
    yield f"What the rule promises: {plan.promise}"


def error_text(plan: Plan) -> str:
    """The error beside its target."""
    text = "error {} {}".format(*interval(plan.error))
    if plan.target_error is None:
        return text
    relation = "within" if plan.reached else "above"
    return f"{text}, {relation} the target of {plan.target_error:g}"


def funds_text(plan: Plan) -> str:
    """How far the budget goes, in a sentence."""
    assert plan.funds is not None
    funds, finished = plan.funds, plan.funds.finished
    chance = percent(funds.chance)
    if plan.total.low < plan.total.high:
        # Drawn a thousand times: never and always mean hardly ever and nearly always.
        chance = {0.0: "under 0.1%", 1.0: "over 99.5%"}.get(funds.chance, chance)
    ends = [f"{end:.0f}" for end in (finished.low, finished.high)]
    between = "" if ends[0] == ends[1] else f", {ends[0]} to {ends[1]} in eight cases of ten"
    return (
        f"A budget of {funds.amount} suffices with a chance of {chance}; it finishes about "
        f"{finished.mean:.0f} of {count(plan.questions, 'question')}{between}."
    )


def listing(parts: Iterator[str]) -> str:
    """Parts of a sentence, with its full stop."""
    return "; ".join(parts) + "."


def _assumed(plan: Plan, beliefs: Beliefs) -> dict[str, str]:
    """What was put in: rule, policy, crowds with prices and accuracies."""
    found = {"policy": plan.policy, "rule": plan.rule}
    kinds = [kind.name for kind in beliefs.kinds] or [""]
    for at, (crowd, price) in enumerate(zip(beliefs.crowds, beliefs.prices, strict=True)):
        said = [
            f"{_range(*beliefs.ranges[place][at])}{f' on {kind}' if kind else ''}"
            for place, kind in enumerate(kinds)
        ]
        found[f"crowd {crowd.id}"] = f"{price} per answer, right {', '.join(said)}"
    for kind, share in zip(beliefs.kinds, beliefs.shares, strict=False):
        found[f"kind {kind.name}"] = f"{percent(share)} of the questions"
    return found


def _range(low: float, high: float) -> str:
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"
