"""The command that moves finished campaigns out of a store."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from askwise.cli import output
from askwise.cli.opening import leave_compiler_out, open_store
from askwise.cli.options import DEFAULT_STORE, AsJson, StoreUrl, argument, option


def archive(
    names: list[str] = argument("CAMPAIGN...", "Campaigns that were stopped."),
    to: Path = option(..., "DIR", "The directory of the files."),
    store: StoreUrl = DEFAULT_STORE,
    as_json: AsJson = False,
) -> None:
    """Move the logs of stopped campaigns to Parquet files.

    A file is read back and folded to the same state before anything is removed. The store keeps
    the name, a summary and where the file is; restore brings a campaign back.
    """
    from time import time

    leave_compiler_out()
    from askwise.campaign.archiving import archive as move

    with closing(open_store(store)) as opened:
        found = [{"name": name, **move(opened, name, to, time()).to_json()} for name in names]
    columns = {"campaign": "name", "file": "file", ">events": "events", ">replies": "replies"}
    output.show_objects(found, as_json, columns)
