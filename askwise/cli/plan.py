"""``askwise plan``: what a campaign will cost, before any money is spent."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from askwise.cli import output
from askwise.cli.options import AsJson
from askwise.cli.outputs import extra, progress, workshop

if TYPE_CHECKING:
    from askwise.lab.planning.plan import Plan


def plan(
    crowds: Annotated[
        Path,
        typer.Option(
            "--crowds",
            metavar="FILE",
            help="A TOML file with the crowds, their prices and accuracies.",
            show_default=False,
        ),
    ],
    options: Annotated[
        int, typer.Option("--options", metavar="N", help="Options of a question.")
    ] = 2,
    target_error: Annotated[
        float | None,
        typer.Option(
            "--target-error",
            metavar="SHARE",
            help="The share of questions that may end wrong; 0.05 unless the rule sets its dial.",
            show_default=False,
        ),
    ] = None,
    questions: Annotated[
        int, typer.Option("--questions", metavar="N", help="Questions in the campaign.")
    ] = 100,
    policy: Annotated[
        str,
        typer.Option("--policy", metavar="LABEL", help="Who is asked: NAME or NAME(KEY=VALUE)."),
    ] = "virt-ucb",
    rule: Annotated[
        str,
        typer.Option(
            "--rule", metavar="LABEL", help="When to stop: NAME or NAME(KEY=VALUE); see rules."
        ),
    ] = "posterior",
    budget: Annotated[
        str | None,
        typer.Option(
            "--budget",
            metavar="AMOUNT",
            help="See whether it suffices, and how many questions it finishes.",
            show_default=False,
        ),
    ] = None,
    horizon: Annotated[
        int | None,
        typer.Option(
            "--horizon",
            metavar="N",
            help="The most answers to a question; 1000 for rules that could go on for ever.",
            show_default=False,
        ),
    ] = None,
    runs: Annotated[int, typer.Option("--runs", metavar="N", help="Questions to simulate.")] = 5000,
    seed: Annotated[int, typer.Option("--seed", metavar="S", help="Of all draws.")] = 0,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="DIR",
            help="Write plan.json, figure.png, figure.svg and report.html there.",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Tell what a campaign of questions will cost, by simulation; spends nothing."""
    from askwise.data import read_crowds
    from askwise.lab.planning import planner

    beliefs = read_crowds(crowds, options=options)
    asked: dict[str, Any] = {
        "target_error": target_error,
        "questions": questions,
        "policy": policy,
        "rule": rule,
        "budget": budget,
        "horizon": horizon,
        "runs": runs,
        "seed": seed,
    }
    page = None
    with progress(quiet=as_json) as tell:
        if out is None:
            made = planner.plan(beliefs, progress=tell, **asked)
        else:
            with extra(), workshop(out) as place:
                # Missed now, not after the simulation.
                import jinja2  # noqa: F401
                import matplotlib  # noqa: F401

                from askwise.lab.planning.files import write_plan

                made = planner.plan(beliefs, progress=tell, **asked)
                tell("drawing", 0, 1)
                write_plan(made, beliefs, place, _command(crowds, options, asked))
                tell("drawing", 1, 1)
            page = out / "report.html"
    if as_json:
        output.show_json(made.to_json())
        return
    show = _show if output.for_people() else _print_lines
    show(made)
    if page is not None:
        print(page)


def _command(crowds: Path, options: int, asked: dict[str, Any]) -> str:
    """The command that gives these numbers again."""
    words = ["askwise", "plan", "--crowds", str(crowds), "--options", str(options)]
    for name, value in asked.items():
        if value is not None:
            words += [f"--{name.replace('_', '-')}", str(value)]
    return shlex.join(words)


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

    screen = output.console()
    questions = count(made.questions, "question")
    screen.print(
        f"{questions} with {made.options} options, asked by {made.policy}, stopped by {made.rule}",
        style="bold",
    )
    screen.print()
    screen.print(_expected(made, questions))
    screen.print()
    screen.print(error_text(made))
    for sentence in (made.found, funds_text(made) if made.funds is not None else ""):
        if sentence:
            screen.print(sentence)
    for remark in made.remarks:
        screen.print(Text(remark, style="yellow"))
    screen.print(Text(f"{made.rule.partition('(')[0]}: {made.promise}", style="dim"))
    if made.kinds:
        screen.print()
        screen.print(_kinds(made))
    screen.print()
    screen.print(_crowds(made))
    screen.print("\nFor the campaign's file:\n", style="dim")
    sys.stdout.write("".join(f"    {line}".rstrip() + "\n" for line in made.settings.splitlines()))
    screen.print(f"\nSimulated: {made.runs} questions, seed {made.seed}.", style="dim")


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
