"""``askwise label``: a file of items in, labels, a report and a bill out."""

from __future__ import annotations

import inspect
import os
import shlex
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from askwise.cli import orders, output
from askwise.cli.examples import examples
from askwise.cli.exit_codes import ExitCode
from askwise.cli.extras import extra, need
from askwise.cli.opening import leave_compiler_out, open_store
from askwise.cli.options import AsJson, option, switch
from askwise.core.choices import Wait
from askwise.core.errors import InvalidParameter

if TYPE_CHECKING:
    from askwise.labelling import LabelJob, LabelOrder
    from askwise.store import Store

PATHS = ("items", "judges", "people", "content", "instructions")
"""What is kept of a command as a path, so that it can be resumed from another directory."""

PLACE = ("host", "port")
"""Where people's pages are."""

FORGOTTEN = ("yes", "resume", "as_json", "pilot_only")
"""What a resumed command is told again."""


@examples(
    'askwise label items.csv --question "Is it spam?" --options spam,ham --judges judges.toml '
    "--budget 5",
    "askwise label --resume --yes",
    run=False,
)
def label(
    items: Annotated[
        Path | None,
        typer.Argument(
            metavar="[ITEMS]",
            help="What to label: CSV, JSON Lines or Parquet. Not needed with --resume.",
            show_default=False,
        ),
    ] = None,
    question: str | None = orders.QUESTION,
    options: str | None = option(None, "A,B[,C]", "The possible labels."),
    content: Path | None = option(
        None, "FILE.toml", "Question, options with meanings, instructions, examples, in one file."
    ),
    instructions: Path | None = orders.INSTRUCTIONS,
    judges: Path | None = option(None, "judges.toml", "Models and programs that answer."),
    people: Path | None = option(
        None, "people.csv", "People who answer on a page: a table id,price and optionally limit."
    ),
    budget: str | None = orders.BUDGET,
    target_error: float | None = orders.TARGET_ERROR,
    certify: float | None = orders.CERTIFY,
    by: list[str] | None = orders.BY,
    escalate: bool = switch("--escalate", "Let auditors replace labels that can't be certified."),
    policy: str = orders.POLICY,
    pilot: int | None = option(
        None, "N", "Items that every judge labels first; 30 by default, 0 for none."
    ),
    pilot_only: bool = switch("--pilot-only", "Stop after the pilot."),
    text: list[str] | None = orders.TEXT,
    pair: str | None = option(
        None, "A,B", "Two columns to compare; the first two options name them."
    ),
    id: str | None = orders.ID,
    truth: str | None = orders.TRUTH,
    out: Path = option(
        Path("labels.csv"), "FILE", "Write the labels here: .csv, .jsonl or .parquet."
    ),
    report: Path | None = option(
        None,
        "FILE.html",
        "Write the report here; by default report.html, or x-report.html next to labels x.csv.",
    ),
    store: str | None = option(
        None, "URL", "Store of the campaign; by default an .sqlite file next to the labels."
    ),
    name: str = option("label", "NAME", "Name of the campaign in the store."),
    host: str = option(
        "127.0.0.1",
        "HOST",
        "Address for people's pages; this computer's address in a network lets others open them.",
    ),
    port: int = option(8000, "PORT", "Port for people's pages; 0 takes a free one."),
    seed: int | None = orders.SEED,
    yes: bool = switch("--yes", "Spend without asking first."),
    resume: bool = switch("--resume", "Continue the interrupted job with the same options."),
    as_json: AsJson = False,
) -> None:
    """Label a file of items with models and people, within a budget."""
    said = {key: value for key, value in locals().items() if key not in FORGOTTEN}
    leave_compiler_out()
    need("judges")
    with extra("lab"):
        import matplotlib  # noqa: F401
    from askwise.cli.label import output as shown
    from askwise.data.columns import check_written

    check_written(out)
    url = store or f"sqlite:///{out.with_suffix('.sqlite')}"
    opened = open_store(url)
    if resume:
        said = _resumed(opened, name, said)
    _refuse_overwriting(said)
    order = _ordered(said, opened)
    job = _begun(order, opened, url, said, resume=resume, yes=yes, quiet=as_json)
    if resume and budget is not None:
        job.raise_budget()
    with ExitStack() as stack:
        # Truths that are given now may make further answers worth their price.
        over = truth is None and job.campaign.status().state == "done"
        asked = [] if over else order.on_page()
        pages = _served(stack, asked, url, job.campaign.name, said["host"], said["port"])
        watch = stack.enter_context(shown.watching(quiet=as_json))
        found = job.run(
            watch=watch,
            on_pilot=None if as_json else shown.show_pilot,
            wait=pages,
            pilot_only=pilot_only,
        )
    files = {"labels": Path(said["out"])}
    files["report"] = _report_file(said)
    found.write(files["labels"])
    found.report(files["report"])
    if as_json:
        output.show_json(found.to_json())
    else:
        shown.show_result(found, files, url)
    if found.end is None and not pilot_only:
        print(f"interrupted; to go on: {_to_resume(said, store)}", file=sys.stderr)
        raise typer.Exit(ExitCode.INTERRUPTED)
    if isinstance(found.end, Wait):
        raise typer.Exit(ExitCode.WAIT)
    if found.uncertified:
        raise typer.Exit(ExitCode.NOT_SO)


def _to_resume(said: dict[str, Any], store: str | None) -> str:
    """The command that goes on with a job: it is found by its store, or by its file of labels."""
    from askwise.store.errors import without_password

    words = ["askwise", "label", "--resume"]
    if store is not None:
        words += ["--store", without_password(store)]
    elif str(said["out"]) != str(_default("out")):
        words += ["--out", str(said["out"])]
    if said["name"] != _default("name"):
        words += ["--name", said["name"]]
    return shlex.join(words)


def _served(
    stack: ExitStack, people: list[str], store: str, campaign: str, host: str, port: int
) -> bool:
    """Serve the pages of people, if there are any; tells whether there are."""
    if not people:
        return False
    with extra("service"):
        from askwise.cli.label.output import show_pages
        from askwise.labelling.pages import people_pages

        where = people_pages(store, campaign, people, host=host, port=port)
        show_pages(stack.enter_context(where))
    return True


def _resumed(store: Store, name: str, said: dict[str, Any]) -> dict[str, Any]:
    """What the command was given that began the job; money, truths and files may be new."""
    from askwise.labelling import kept_command

    kept = kept_command(store, name)
    if kept is None:
        raise InvalidParameter(
            f"there is no job {name!r} to resume here: start one with askwise label ITEMS, or say "
            "where it is with --out or --store",
            field="resume",
        )
    for key, value in _kept(said).items():
        changeable = key in ("budget", "truth", "out", "report", "store", "name", *PLACE)
        if not changeable and value != _default(key) and value != kept[key]:
            raise InvalidParameter(
                f"{_flag(key)} is {_spoken(value)}, but the job was started "
                f"{_started(key, kept[key])}: leave it out to resume, or start another job with "
                "another --out",
                field=key,
            )
    budget = said["budget"] if said["budget"] is not None else kept["budget"]
    said_out = said["store"] is None or said["out"] != _default("out")
    where = {"out": said["out"]} if said_out else {}
    place = {
        key: said[key] if said[key] != _default(key) else kept.get(key, said[key]) for key in PLACE
    }
    report = said["report"] or kept["report"]
    truth = said["truth"] or kept["truth"]
    return kept | {"budget": budget, "truth": truth, "report": report} | place | where


def _flag(key: str) -> str:
    """An option as it is given; the file of items is none."""
    return "ITEMS" if key == "items" else f"--{key.replace('_', '-')}"


def _spoken(value: Any) -> str:
    """What was given, as on a command line rather than in Python."""
    if isinstance(value, list):
        return " and ".join(map(repr, value))
    return "on" if value is True else repr(value)


def _started(key: str, value: Any) -> str:
    """What a job was started with, in words."""
    given = value not in (None, [], False)
    return f"with {_spoken(value)}" if given else f"without {_flag(key)}"


def _report_file(said: dict[str, Any]) -> Path:
    """Where the report is written: each file of labels has its own."""
    if said["report"] is not None:
        return Path(said["report"])
    out = Path(said["out"])
    alone = out.name == _default("out").name
    return out.with_name("report.html" if alone else f"{out.name.partition('.')[0]}-report.html")


def _refuse_overwriting(said: dict[str, Any]) -> None:
    """Refuse to write over a directory, what is read, or the other file that is written."""
    written = {key: Path(said[key]) for key in ("out", "report") if said[key] is not None}
    for key, path in written.items():
        if path.is_dir():
            raise InvalidParameter(f"{key} is {str(path)!r}, a directory: name a file", field=key)
        others = [name for name in (*PATHS, "out") if name != key and said[name] is not None]
        for other in others:
            if path.resolve() == Path(said[other]).resolve():
                raise InvalidParameter(
                    f"{key} is {str(path)!r}, which is the file of {other} too: name another",
                    field=key,
                )


def _default(key: str) -> Any:
    """What an option is if it is not given."""
    default = inspect.signature(label).parameters[key].default
    return getattr(default, "default", default)


def _kept(said: dict[str, Any]) -> dict[str, Any]:
    """What is kept of a command: paths as they are found from anywhere."""
    return {
        key: os.path.abspath(value)
        if key in PATHS and value is not None
        else str(value)
        if isinstance(value, Path)
        else value
        for key, value in said.items()
    }


def _ordered(said: dict[str, Any], store: Store) -> LabelOrder:
    from askwise.data import read_content
    from askwise.labelling import with_judges
    from askwise.sources.cache import StoreCache

    if said["items"] is None:
        raise InvalidParameter(
            "ITEMS is missing: name the file to label, or give --resume", field="items"
        )
    content, pair = said["content"], said["pair"]
    order = orders.ordered(
        said["items"],
        said,
        options=said["options"],
        content=None if content is None else read_content(content),
        pair=None if pair is None else [each.strip() for each in pair.split(",")],
        people=said["people"],
    )
    return with_judges(order, said["judges"], pilot=said["pilot"], cache=StoreCache(store))


def _begun(
    order: LabelOrder,
    store: Store,
    url: str,
    said: dict[str, Any],
    *,
    resume: bool,
    yes: bool,
    quiet: bool,
) -> LabelJob:
    """The job, once its user has agreed to what it may cost."""
    from askwise.labelling import LabelJob, forecast
    from askwise.labelling.audit_money import with_audit_money
    from askwise.labelling.beginning import beginning_of
    from askwise.labelling.keeping import refuse_begun
    from askwise.labelling.words import money

    name = said["name"]
    if resume:
        return LabelJob(order, store, name=name, resume=True)
    refuse_begun(store, name)
    for key, file in (("out", Path(said["out"])), ("report", _report_file(said))):
        if file.exists():
            raise InvalidParameter(
                f"{file} exists already: give another --{key}, or move it", field=key
            )
    order = with_audit_money(order)
    beginning_of(order, store)  # what can't be begun is refused before anybody agrees to it
    costs = forecast(order)
    if not quiet:
        from askwise.cli.label.output import show_order

        show_order(order, costs)
    _agree(money(costs.most, order.content.currency), yes or not costs.most)
    job = LabelJob(order, store, name=name, command=_kept(said))
    if not quiet:
        from askwise.cli.label.output import show_choice

        show_choice(job, url)
    return job


def _agree(most: str, yes: bool) -> None:
    """Ask before the first money is spent."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise InvalidParameter(
            f"this may spend up to {most}: give --yes to agree to it", field="yes"
        )
    if not typer.confirm(f"This can't cost more than {most}. Go ahead?", err=True):
        print("nothing was spent", file=sys.stderr)
        raise typer.Exit(ExitCode.NOT_SO)
