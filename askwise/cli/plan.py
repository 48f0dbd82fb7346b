"""``askwise plan``: what a campaign will cost, before any money is spent."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from askwise.cli import output
from askwise.cli.options import AsJson, Seed, option
from askwise.cli.outputs import command_line, pages, progress, show_found

if TYPE_CHECKING:
    from askwise.lab.planning.plan import Plan


def plan(
    crowds: Path = option(..., "FILE", "A TOML file with the crowds, their prices and accuracies."),
    options: int = option(2, "N", "Options of a question."),
    target_error: float | None = option(
        None,
        "SHARE",
        "The share of questions that may end wrong; 0.05 unless the rule sets its dial.",
    ),
    questions: int = option(100, "N", "Questions in the campaign."),
    policy: str = option("virt-ucb", "LABEL", "Who is asked: NAME or NAME(KEY=VALUE)."),
    rule: str = option("posterior", "LABEL", "When to stop: NAME or NAME(KEY=VALUE); see rules."),
    budget: str | None = option(
        None, "AMOUNT", "See whether it suffices, and how many questions it finishes."
    ),
    horizon: int | None = option(
        None, "N", "The most answers to a question; 1000 for rules that could go on for ever."
    ),
    runs: int = option(5000, "N", "Questions to simulate."),
    seed: Seed = 0,
    out: Path | None = option(
        None, "DIR", "Write plan.json, figure.png, figure.svg and report.html there."
    ),
    as_json: AsJson = False,
) -> None:
    """Tell what a campaign of questions will cost, by simulation; spends nothing."""
    from askwise.data import read_crowds
    from askwise.lab.planning import planner
    from askwise.lab.planning.files import write_plan

    beliefs = read_crowds(crowds, options=options)
    asked: dict[str, Any] = {
        **{"target_error": target_error, "questions": questions, "policy": policy, "rule": rule},
        **{"budget": budget, "horizon": horizon, "runs": runs, "seed": seed},
    }
    with progress(quiet=as_json) as tell, pages(out) as place:
        made = planner.plan(beliefs, progress=tell, **asked)
        if place is not None:
            tell("drawing", 0, 1)
            command = command_line("plan", crowds=crowds, options=options, **asked)
            write_plan(made, beliefs, place, command)
            tell("drawing", 1, 1)
    files = [] if out is None else [out / "report.html"]
    show_found(made, as_json, screen=_show, lines=_print_lines, files=files)


def _print_lines(made: Plan) -> None:
    """One fact a line, for programs that read lines."""
    line = output.line
    for name in ("questions", "options", "policy", "rule"):
        line(name, getattr(made, name))
    if made.dial is not None:
        line("dial", made.dial.name, made.dial.value, made.dial.chosen)
    line("target_error", made.target_error)
    line("reached", made.reached)
    for name in ("error", "answers", "cost", "total"):
        each = getattr(made, name)
        line(name, each.mean, each.low, each.high)
    line("unsure", made.unsure)
    if made.funds is not None:
        finished = made.funds.finished
        line("budget", made.funds.amount, made.funds.chance)
        line("finished", finished.mean, finished.low, finished.high)
    for kind in made.kinds:
        error = kind.error
        line(
            *("kind", kind.name, kind.share, kind.answers, kind.cost, kind.share_of_money),
            *(error.mean, error.low, error.high),
        )
    for crowd in made.crowds:
        line(
            *("crowd", crowd.id, crowd.price, crowd.answers, crowd.cost),
            *(crowd.share_of_answers, crowd.share_of_money),
        )
    for remark in made.remarks:
        line("remark", remark)
    sys.stdout.write(f"\n{made.settings}")


def _show(made: Plan) -> None:
    """What a person wants to know, in the order in which he asks."""
    from rich.text import Text

    from askwise.lab.planning.files import count, error_text, funds_text

    questions = count(made.questions, "question")
    said = (
        f"{questions} with {made.options} options, asked by {made.policy}, stopped by {made.rule}"
    )
    funds = funds_text(made) if made.funds is not None else ""
    output.show(Text(said, style="bold"), "", _expected(made, questions), "", error_text(made))
    output.show(*filter(None, (made.found, funds)))
    output.show(*(Text(remark, style="yellow") for remark in made.remarks))
    output.show(Text(f"{made.rule.partition('(')[0]}: {made.promise}", style="dim"))
    if made.kinds:
        output.show("", _kinds(made))
    output.show("", _crowds(made), Text("\nFor the campaign's file:\n", style="dim"))
    sys.stdout.write("".join(f"    {line}".rstrip() + "\n" for line in made.settings.splitlines()))
    output.show(Text(f"\nSimulated: {made.runs} questions, seed {made.seed}.", style="dim"))


def _expected(made: Plan, questions: str) -> Any:
    from askwise.lab.planning.plan import amounts

    answers = made.answers
    records = [
        ("answers to a question", f"{answers.mean:.2f}", f"{answers.low:g} to {answers.high:g}")
    ]
    for name, money in (("cost of a question", made.cost), (f"cost of {questions}", made.total)):
        mean, low, high = amounts(money.mean, money.low, money.high)
        records.append((name, mean, f"{low} to {high}"))
    return output.table(("", ">expected", "80% range"), records)


def _kinds(made: Plan) -> Any:
    from askwise.lab.planning.plan import amounts, interval, percent, span

    costs = amounts(*(kind.cost for kind in made.kinds))
    return output.table(
        (
            *("questions", ">share", "best crowd right", ">answers", ">cost", ">of money"),
            *(">error", "95% interval"),
        ),
        (
            (
                *(kind.name, percent(kind.share), span(*kind.best_accuracy)),
                *(f"{kind.answers:.2f}", cost, percent(kind.share_of_money)),
                *interval(kind.error, made.error),
            )
            for kind, cost in zip(made.kinds, costs, strict=True)
        ),
    )


def _crowds(made: Plan) -> Any:
    from askwise.lab.planning.plan import amounts, percent

    prices = amounts(*(crowd.price for crowd in made.crowds))
    costs = amounts(*(crowd.cost for crowd in made.crowds))
    return output.table(
        ("crowd", ">price", ">answers", ">of answers", ">cost", ">of money", ""),
        (
            (
                *(crowd.id, price, f"{crowd.answers:.2f}", percent(crowd.share_of_answers)),
                *(cost, percent(crowd.share_of_money), output.bar(crowd.share_of_money)),
            )
            for crowd, price, cost in zip(made.crowds, prices, costs, strict=True)
        ),
    )
