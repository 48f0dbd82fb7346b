"""``askwise scores``: what evaluation tools have exported, as tables; and the options for that."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from askwise.cli import output
from askwise.cli.examples import examples
from askwise.cli.options import AsJson, argument, option
from askwise.core.errors import InvalidParameter

if TYPE_CHECKING:
    from askwise.data.evaluations import ScoreTables

TOOL = "TOOL"
FROM = "The tool that wrote the export: langfuse, promptfoo, deepeval or trulens."

Tool = Annotated[str | None, typer.Option("--from", metavar=TOOL, help=FROM, show_default=False)]
Metric = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="With --from: the score that counts (repeatable); the only one by default.",
        show_default=False,
    ),
]
PeopleMetric = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="With --from: the score that people gave, if it has another name.",
        show_default=False,
    ),
]
Threshold = Annotated[
    float | None,
    typer.Option(
        metavar="X",
        help="With --from: the lowest score at which a task passes; by default the tool's.",
        show_default=False,
    ),
]


@examples("askwise scores promptfoo.json --from promptfoo --metric answers --out judged.csv")
def scores(
    export: Path = argument("EXPORT", "The export of an evaluation tool."),
    tool: str = option(..., TOOL, FROM, "--from"),
    metric: Metric = None,
    people_metric: PeopleMetric = None,
    threshold: Threshold = None,
    out: Path = option(..., "FILE", "Write the judges' verdicts here (task,worker,label)."),
    people: Path | None = option(None, "FILE", "Write people's ratings here, in the same form."),
    as_json: AsJson = False,
) -> None:
    """Turn scores of an evaluation tool into tables that check, aggregate and replay read."""
    from askwise.data.columns import check_written, write_columns
    from askwise.data.evaluations.scores import LEFT_OUT

    targets = [out] if people is None else [out, people]
    for path in targets:
        check_written(path)
    if people is not None and people.absolute() == out.absolute():
        raise InvalidParameter(
            f"people is {str(people)!r}, the same as out: give each its own file", field="people"
        )
    wanted = people is not None
    found = read_export(
        export,
        tool,
        metric=metric,
        people_metric=people_metric,
        threshold=threshold,
        people=wanted,
    )
    if people is not None and not found.people["task"]:
        raise InvalidParameter(
            f"people: {export} has no rating of a person; leave --people out, or name the score "
            "that people gave with --people-metric",
            field="people",
        )
    write_columns(out, found.verdicts)
    if people is not None:
        write_columns(people, found.people)
    if as_json:
        output.show_json(found.to_json())
    elif output.for_people():
        output.show(found.said())
        if not wanted and LEFT_OUT in found.left_out:
            output.show("Ratings of people were not written: name a file with --people.")
        for path in targets:
            print(path)
    else:
        _print_lines(found)


def read_export(
    export: Path,
    tool: str,
    *,
    metric: list[str] | None,
    people_metric: list[str] | None,
    threshold: float | None,
    people: bool,
) -> ScoreTables:
    """Read an export by the options of a command."""
    from askwise.data.evaluations import read_scores

    return read_scores(
        export,
        tool,
        metric=metric or (),
        people_metric=people_metric or (),
        threshold=threshold,
        people=people,
    )


def _print_lines(found: ScoreTables) -> None:
    """One fact per line, for programs that read lines."""
    output.line("verdicts", len(found.verdicts["task"]))
    output.line("people", len(found.people["task"]))
    for name in found.metrics:
        output.line("metric", name)
    for name in found.people_metrics:
        output.line("people_metric", name)
    for reason, count in found.left_out.items():
        output.line("left_out", reason, count)
