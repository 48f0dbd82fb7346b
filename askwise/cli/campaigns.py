"""The life of a stored campaign: listed, changed, paused, stopped."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from askwise.cli import output
from askwise.cli.errors import Trouble, trouble_of
from askwise.cli.examples import examples
from askwise.cli.opening import LONG, change, leave_compiler_out, open_store, verb
from askwise.cli.options import DEFAULT_STORE, AsJson, StoreUrl, argument, option, switch
from askwise.core.errors import AskwiseError, InvalidProblem

if TYPE_CHECKING:
    from askwise.campaign import Campaign
    from askwise.store import Store

COLUMNS: output.Headings = {
    "campaign": "name",
    # Of one that can't be opened: why.
    "state": lambda found: (
        "archived" if found.get("archived") else found.get("state", "unreadable")
    ),
    "policy": lambda found: found["error"]["message"] if "error" in found else found["policy"],
    **{">answers": "answers", ">spent": "spent", ">left": "left"},
}


@examples("askwise list", "askwise list --archived")
def list_campaigns(
    archived: bool = switch("--archived", "List archived campaigns instead."),
    store: StoreUrl = DEFAULT_STORE,
    as_json: AsJson = False,
) -> None:
    """List the campaigns of a store that are in use."""
    opened = open_store(store)
    away = opened.put_away()
    names = [name for name in opened.names() if (name in away) == archived]
    if not any(opened.position(name) >= LONG for name in names):
        leave_compiler_out()
    from askwise.campaign import Campaign

    found: list[dict[str, Any]] = []
    for name in names:
        try:
            found.append(Campaign.open(opened, name).status().to_json())
        except Exception as error:
            # One that can't be read must not hide the others, whatever is wrong with it.
            found.append({"name": name, "error": _unreadable(name, error)._asdict()})
    moved = _moved(opened)
    if archived:
        found += moved
        nothing = f"no archived campaigns in {store}"
    elif count := len(moved) + len(away):
        nothing = f"no campaigns in use in {store}; {count} archived: askwise list --archived"
    else:
        nothing = f"no campaigns in {store}; make one with: askwise new FILE"
    output.show_objects(found, as_json, COLUMNS, nothing=nothing)


def _moved(store: Store) -> list[dict[str, Any]]:
    """Campaigns whose logs were moved to files, as they were then."""
    from askwise.store.archive.base import Archiving

    if not isinstance(store, Archiving):
        return []
    return [
        {**note.status, "archived": True, "file": note.file}
        for _, note in sorted(store.archived().items())
    ]


def _unreadable(name: str, error: Exception) -> Trouble:
    """Why a campaign can't be read: in our words, or what its description or log has caused."""
    if isinstance(error, AskwiseError):
        return trouble_of(error)
    message = f"campaign {name!r} can't be opened: {type(error).__name__}: {error}"
    return Trouble("unreadable", "campaign_unreadable", " ".join(message.split()), "name")


@examples(
    "askwise add cats --worker id=dan,price=0.02,limit=3 --task id=photo-9,context=day",
    "askwise add cats --file more.toml",
)
@change
def add(
    campaign: Campaign,
    key: str | None,
    workers: list[str] | None = option(
        None, "FIELDS", "A worker: id=ann,price=0.05,limit=3 (repeatable).", "--worker"
    ),
    tasks: list[str] | None = option(
        None, "FIELDS", "A task: id=t7,context=cats, or just its id (repeatable).", "--task"
    ),
    file: Path | None = option(None, "MORE.toml", "TOML with [[workers]] and [[tasks]]."),
) -> str:
    """Add workers and tasks, all of them or none."""
    from askwise.data import read_additions, task_of_text, worker_of_text

    new_workers = [worker_of_text(_fields(each, "worker")) for each in workers or ()]
    new_tasks = [task_of_text(_fields(each, "task")) for each in tasks or ()]
    if file is not None:
        more_workers, more_tasks = read_additions(file)
        new_workers, new_tasks = new_workers + more_workers, new_tasks + more_tasks
    if not new_workers and not new_tasks:
        raise InvalidProblem("nothing to add: give --worker, --task or --file", field="worker")
    campaign.add(tasks=new_tasks, workers=new_workers, key=key)
    return f"{_count(new_workers, 'worker')} and {_count(new_tasks, 'task')} added"


@examples("askwise leave cats ben")
@verb("{worker} has left")
def leave(worker: str = argument("WORKER", "The worker who leaves.")) -> None:
    """Remove a worker; their open assignments are released."""


@examples("askwise bid auction dan 4.50")
@verb("{worker} has bid")
def bid(
    worker: str = argument("WORKER", "The worker who bids."),
    amount: str = argument("AMOUNT", "Their price for an answer."),
) -> None:
    """Set a worker's price, replacing the one before; the first ask closes the bidding."""


@examples("askwise top-up cats 0.50")
@verb("{amount} added to the budget")
def top_up(amount: str = argument("AMOUNT", "Amount to add.")) -> None:
    """Add money to the budget."""


@examples("askwise pause cats")
@verb("{name} is paused")
def pause() -> None:
    """Hand out nothing until resume; answers are still taken."""


@examples("askwise resume mice")
@verb("{name} goes on")
def resume() -> None:
    """Continue after a pause."""


@examples("askwise stop cats")
@verb("{name} is stopped")
def stop() -> None:
    """End a campaign for good; open assignments may still be answered."""


@examples("askwise close cats photo-2")
@verb("{task} is closed")
def close(task: str = argument("TASK", "The task.")) -> None:
    """Ask nothing more about a task."""


def _fields(text: str, kind: str) -> dict[str, str]:
    """Read ``id=ann,price=0.05``; a comma that no ``name=`` follows belongs to the value.

    Examples
    --------
    >>> _fields("id=t1,payload=A cat, or a dog?", "task")
    {'id': 't1', 'payload': 'A cat, or a dog?'}
    >>> _fields("t1", "task")
    {'id': 't1'}
    """
    if "=" not in text:
        return {"id": text}
    fields: dict[str, str] = {}
    for part in re.split(r",\s*(?=\w+=)", text):
        name, equals, value = part.partition("=")
        if not equals:
            raise InvalidProblem(f"{kind} is {text!r}: give FIELD=VALUE,...", field=kind)
        if name.strip() in fields:
            raise InvalidProblem(f"{kind} is {text!r}: {name} is given twice", field=name)
        fields[name.strip()] = value
    return fields


def _count(things: list[Any], noun: str) -> str:
    return f"{len(things)} {noun}{'' if len(things) == 1 else 's'}"
