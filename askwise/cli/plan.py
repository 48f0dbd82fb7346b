"""``askwise plan``: what a campaign will cost, before any money is spent."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from askwise.cli import campaign_plan, output
from askwise.cli.completing import completes
from askwise.cli.examples import examples
from askwise.cli.options import AsJson, Seed, option
from askwise.cli.progress import progress, spoken
from askwise.cli.reports import command_line, pages
from askwise.core.errors import InvalidParameter

if TYPE_CHECKING:
    from askwise.lab.planning.plan import Plan
    from askwise.lab.rehearsing.plan import CampaignPlan
    from askwise.lab.rehearsing.worlds import PossibleWorlds
    from askwise.lab.simulate import Progress

OF_CROWDS = ("questions", "rule", "horizon")
OF_WORKERS = (
    *("workers", "answers", "gold", "tasks", "lever", "truths", "certify", "confidence", "by"),
    *("audits", "correlation", "family_correlation"),
)
"""Options of plans with crowds, and of those with workers."""


@examples(
    "askwise plan workers.csv --tasks 20 --target-error 0.1 --policy random-pairs --runs 10",
    "askwise plan --crowds crowds.toml --options 2 --questions 100 --runs 200",
)
def plan(
    workers: Annotated[
        Path | None,
        typer.Argument(
            metavar="[WORKERS]",
            help="A table of people and models: id, price, accuracy (your guess) and optionally "
            "limit, kind, family, trusted.",
            show_default=False,
        ),
    ] = None,
    answers: Path | None = option(
        None, "FILE", "Plan with recorded answers (task, worker, label) instead of guesses."
    ),
    gold: Path | None = option(None, "FILE", "True labels (task, label) of recorded tasks."),
    crowds: Path | None = option(
        None, "FILE", "Plan questions to crowds instead: a TOML file with prices and accuracies."
    ),
    options: int | None = option(None, "N", "Number of options; 2 by default."),
    target_error: float | None = option(
        None, "SHARE", "Share of tasks that may end wrong; 0.05 unless a setting is given."
    ),
    tasks: int | None = option(None, "N", "Number of tasks; 100 by default."),
    budget: str | None = option(None, "AMOUNT", "Show how far this budget goes."),
    lever: str | None = option(
        None, "NAME", "What to tune: budget, target (of the policy), or whichever is cheapest."
    ),
    truths: int | None = option(None, "N", "Tasks whose truth is known beforehand; 0 by default."),
    certify: float | None = option(
        None, "SHARE", "Price a certificate that at most this share of the labels is wrong."
    ),
    confidence: float | None = option(
        None, "SHARE", "Confidence of the certificate; 0.9 by default."
    ),
    by: str | None = option(
        None, "WORKER", "The trusted worker who audits; by default the cheapest."
    ),
    audits: int | None = option(None, "N", "Maximum number of audits; 100 by default."),
    correlation: str | None = option(
        None,
        "SHARE",
        "Correlation of any two workers' errors: a number or a range; 0-0.4 by default.",
    ),
    family_correlation: float | None = option(
        None, "SHARE", "Correlation of errors within a family; 0.4 by default."
    ),
    questions: int | None = option(
        None, "N", "With --crowds: number of questions; 100 by default."
    ),
    policy: str | None = option(
        None,
        "LABEL",
        "Policy: NAME or NAME(KEY=VALUE); by default hem, with --crowds virt-ucb.",
        completion=completes("policies"),
    ),
    rule: str | None = option(
        None,
        "LABEL",
        "With --crowds: when to stop, NAME or NAME(KEY=VALUE), see rules; posterior by default.",
        completion=completes("stopping"),
    ),
    horizon: int | None = option(
        None,
        "N",
        "With --crowds: maximum number of answers per question; 1000 for rules that might never "
        "stop.",
    ),
    runs: int | None = option(
        None, "N", "Simulated campaigns (100 by default), or with --crowds questions (5000)."
    ),
    seed: Seed = 0,
    out: Path | None = option(
        None, "DIR", "Write plan.json, figure.png, figure.svg and report.html there."
    ),
    as_json: AsJson = False,
) -> None:
    """Tell what a campaign will cost, by simulation; spends nothing."""
    given = {name: value for name, value in locals().items() if value is not None}
    _check_together(given)
    for name in ("out", "as_json"):
        given.pop(name, None)
    # Steps and the time left are told in words of their own.
    of_workers = crowds is None
    with (
        progress(quiet=as_json, aloud=not of_workers) as tell,
        spoken(quiet=as_json or not of_workers) as say,
        pages(out) as place,
    ):
        if of_workers:
            made: Any = _plan_workers(given, place, tell, say)
        else:
            made = _plan_crowds(given, place, tell)
    files = [] if out is None else [out / "report.html"]
    if crowds is not None:
        output.show_found(made, as_json, screen=_show, lines=_print_lines, files=files)
    else:
        screens = {"screen": campaign_plan.show, "lines": campaign_plan.print_lines}
        output.show_found(made, as_json, files=files, **screens)


def _check_together(given: dict[str, Any]) -> None:
    """Refuse options that do not go together."""
    crowds = "crowds" in given
    if not crowds and "workers" not in given and "answers" not in given:
        raise InvalidParameter(
            "workers is missing: name a table of workers, or give --answers or --crowds",
            field="workers",
        )
    for name in OF_WORKERS if crowds else OF_CROWDS:
        if name in given:
            said = "can't be combined with --crowds" if crowds else "can only be used with --crowds"
            raise InvalidParameter(f"{name} {said}: leave it out", field=name)
    for name in ("correlation", "family_correlation", "options"):
        if name in given and "answers" in given:
            raise InvalidParameter(
                f"{name} can't be combined with --answers, which show it: leave it out", field=name
            )
    if "gold" in given and "answers" not in given:
        raise InvalidParameter("gold can only be used with --answers: leave it out", field="gold")


def _plan_crowds(given: dict[str, Any], place: Path | None, tell: Progress) -> Plan:
    from askwise.data import read_crowds
    from askwise.lab.planning import planner
    from askwise.lab.planning.files import write_plan

    file, options = given["crowds"], given.get("options", 2)
    beliefs = read_crowds(file, options=options)
    usual = {"questions": 100, "policy": "virt-ucb", "rule": "posterior", "runs": 5000}
    names = ("target_error", "questions", "policy", "rule", "budget", "horizon", "runs", "seed")
    asked = {name: given.get(name, usual.get(name)) for name in names}
    made = planner.plan(beliefs, progress=tell, **asked)
    if place is not None:
        tell("drawing", 0, 1)
        command = command_line("plan", crowds=file, options=options, **asked)
        write_plan(made, beliefs, place, command)
        tell("drawing", 1, 1)
    return made


def _plan_workers(
    given: dict[str, Any], place: Path | None, tell: Progress, say: Callable[[str], None]
) -> CampaignPlan:
    from askwise.lab.rehearsing.files import write_campaign_plan
    from askwise.lab.rehearsing.planner import plan_campaign

    say("reading what is known of the workers")
    worlds = _worlds(given, given.get("tasks", 100))
    names = (
        *("target_error", "policy", "lever", "budget", "truths", "certify", "confidence", "by"),
        *("audits", "runs", "seed"),
    )
    asked = {name: given[name] for name in names if name in given}
    made = plan_campaign(worlds, progress=tell, doing=say, **asked)
    if place is not None:
        say("drawing the figure")
        tell("drawing", 0, 1)
        words = [given.pop("workers")] if "workers" in given else []
        write_campaign_plan(made, place, command_line("plan", *words, **given))
        tell("drawing", 1, 1)
    return made


def _worlds(given: dict[str, Any], tasks: int) -> PossibleWorlds:
    """What may be the case, by the files."""
    from askwise.data import read_gold, read_guesses, read_labels
    from askwise.lab.rehearsing.records import recorded_worlds
    from askwise.lab.rehearsing.worlds import GuessedWorlds

    table = read_labels(given["answers"]) if "answers" in given else None
    guesses = None
    if "workers" in given:
        guesses = read_guesses(given["workers"], needed=table is None)
    if table is not None:
        gold = read_gold(given["gold"]) if "gold" in given else None
        staff = None if guesses is None else [each.worker for each in guesses]
        return recorded_worlds(table, tasks, gold=gold, workers=staff)
    assert guesses is not None
    said: dict[str, Any] = {}
    if "correlation" in given:
        said["correlation"] = _range(given["correlation"])
    if "family_correlation" in given:
        said["family_correlation"] = given["family_correlation"]
    return GuessedWorlds(guesses, tasks, given.get("options", 2), **said)


def _range(text: str) -> tuple[float, float]:
    """A number, or a range of two."""
    try:
        ends = [float(part) for part in text.split("-", 1)]
    except ValueError:
        raise InvalidParameter(
            f"correlation is {text!r}: give a number such as 0.2, or a range such as 0-0.4",
            field="correlation",
        ) from None
    return ends[0], ends[-1]


def _print_lines(made: Plan) -> None:
    """One fact per line, for programs that read lines."""
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
    """What a person wants to know, in the order in which they ask."""
    from rich.text import Text

    from askwise.lab.planning.files import error_text, funds_text
    from askwise.lab.planning.pictures import count

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
    output.show(
        "",
        campaign_plan.earners("crowd", made.crowds, 2),
        Text("\nFor the campaign's file:\n", style="dim"),
    )
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
