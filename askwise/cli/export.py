"""``askwise export``: a whole campaign as a folder of tables."""

from pathlib import Path

from askwise.cli import output
from askwise.cli.examples import examples
from askwise.cli.opening import open_campaign
from askwise.cli.options import DEFAULT_STORE, AsJson, Name, StoreUrl, option
from askwise.cli.progress import narrated


@examples("askwise export cats --to cats-tables --format csv")
def export(
    name: Name,
    to: Path = option(..., "DIR", "A new or empty folder."),
    file_format: str = option(
        "parquet", "FORMAT", "Format of the tables: parquet, csv or jsonl.", "--format"
    ),
    store: StoreUrl = DEFAULT_STORE,
    as_json: AsJson = False,
) -> None:
    """Write a campaign as a folder of tables, with a card that says what they hold.

    The tables are tasks, workers, decisions with their propensities, answers, payments, payouts and
    events. Hugging Face's datasets reads the folder.
    """
    campaign = open_campaign(store, name)
    with narrated(quiet=as_json) as say:
        say(f"writing the tables of {name}")
        place = campaign.export(to, file_format)
    files = sorted(path.name for path in place.iterdir())
    if as_json:
        output.show_json({"folder": str(place), "files": files})
    else:
        for file in files:
            print(place / file)
