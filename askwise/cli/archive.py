"""Commands that put campaigns away, take them up again, and take back what is in them."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from askwise.cli import output
from askwise.cli.opening import change, leave_compiler_out, open_campaign, open_store, verb
from askwise.cli.options import DEFAULT_STORE, AsJson, StoreUrl, argument, option
from askwise.cli.progress import narrated

if TYPE_CHECKING:
    from askwise.campaign import Campaign


def archive(
    names: list[str] = argument("CAMPAIGN...", "Campaigns without open assignments."),
    to: Path | None = option(
        None, "DIR", "Also move the logs to Parquet files in this directory; stopped ones only."
    ),
    store: StoreUrl = DEFAULT_STORE,
    as_json: AsJson = False,
) -> None:
    """Archive campaigns: they are not listed and can't be changed until unarchived.

    With --to the log leaves the store as well. A file is read back and folded to the same state
    before anything is removed. The store keeps the name, a summary and where the file is; restore
    brings a campaign back.
    """
    leave_compiler_out()
    found: list[dict[str, Any]] = []
    with narrated(quiet=as_json) as say:
        for number, name in enumerate(names, start=1):
            say(f"archiving {name}, {number} of {len(names)}")
            if to is None:
                campaign = open_campaign(store, name)
                campaign.archive()
                found.append({"name": name, "file": None, "events": campaign.status().seq})
            else:
                found.append({"name": name, **_moved(store, name, to)})
    columns: output.Columns = {
        "campaign": "name",
        "file": lambda each: each["file"] or "-",
        ">events": "events",
        ">replies": lambda each: each.get("replies", "-"),
    }
    output.show_objects(found, as_json, columns)


def _moved(store: str, name: str, to: Path) -> dict[str, Any]:
    from time import time

    from askwise.campaign.archiving import archive as move

    with closing(open_store(store)) as opened:
        return move(opened, name, to, time()).to_json()


@verb("{name} is in use again")
def unarchive() -> None:
    """Reopen an archived campaign; for one in a file, use restore."""


@change
def retitle(
    campaign: Campaign,
    key: str | None,
    title: str = argument("TITLE", 'The new title; "" for the original one.'),
) -> str:
    """Change a campaign's title; its name stays."""
    campaign.retitle(title or None, key)
    return f"{campaign.name} is called {campaign.status().title or campaign.name}"


@verb("{task} is removed")
def remove(task: str = argument("TASK", "A task that nobody has answered.")) -> None:
    """Remove a task from a campaign; its open assignments are released."""


def delete(
    name: str = argument("CAMPAIGN", "A campaign that nobody has answered."),
    store: StoreUrl = DEFAULT_STORE,
    as_json: AsJson = False,
) -> None:
    """Permanently delete a campaign without answers, with its links and webhooks."""
    leave_compiler_out()
    from askwise.campaign.forgetting import delete as remove_all

    with closing(open_store(store)) as opened:
        remove_all(opened, name)
    if as_json:
        output.show_json({"name": name})
    elif output.for_people():
        print(f"{name} is deleted")


def forget(
    name: str = argument("CAMPAIGN", "The campaign."),
    worker: str = argument("WORKER", "The worker's present id."),
    pseudonym: str | None = option(None, "NAME", "The pseudonym; made up by default.", "--as"),
    store: StoreUrl = DEFAULT_STORE,
    as_json: AsJson = False,
) -> None:
    """Replace a worker's id by a pseudonym in the whole log, and print it.

    Answers and payments stay. It can't be undone. Files that were made before (backups, archives,
    exports, logs of the service) still have the old id.
    """
    from time import time

    leave_compiler_out()
    from askwise.campaign.forgetting import forget_worker

    with closing(open_store(store)) as opened, narrated(quiet=as_json) as say:
        say(f"writing the log of {name} again")
        new = forget_worker(opened, name, worker, time(), pseudonym)
    if as_json:
        output.show_json({"worker": new})
    else:
        print(new)
