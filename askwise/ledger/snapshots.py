"""What a snapshot of a ledger has beside its arrays: names, and what no kernel reads."""

import copy
import json
from collections import Counter
from collections.abc import Callable
from typing import Any, Protocol

from askwise.core.labels import Label
from askwise.core.problem import Problem, Task, Worker
from askwise.ledger.entries import REMOVED, Overrun, SetLabel
from askwise.ledger.given import MoneyGiven
from askwise.ledger.pilots import PilotRecord
from askwise.ledger.standings import Standings


class NamedParts(Protocol):
    """What a ledger has that is not in its arrays; the ledger itself says what each part is."""

    problem: Problem
    seq: int
    utility: float
    workers: list[Worker]
    tasks: list[Task]
    worker_places: dict[str, int]
    task_places: dict[str, int]
    families: dict[str, int]
    passed_over: set[int]
    closings: dict[int, tuple[Label, str]]
    labels: dict[int, SetLabel]
    flags: dict[int, list[int]]
    comments: dict[int, list[int]]
    given: MoneyGiven
    changes: dict[int, list[int]]
    withdrawn: set[int]
    removed: set[int]
    archived: bool
    title: str | None
    draws: list[dict[str, Any]]
    pilot: PilotRecord | None
    standings: Standings
    failures: dict[int, Counter[str]]
    at_cost: set[int]
    overruns: dict[int, Overrun]


def freeze_names(ledger: NamedParts) -> Callable[[], str]:
    """Copy what may change; what is returned writes the copy down as JSON, whenever called."""
    workers, tasks = list(ledger.workers), ledger.tasks[len(ledger.problem.tasks) :]
    closings, labels = list(ledger.closings.items()), list(ledger.labels.items())
    rest = {
        "seq": ledger.seq,
        "utility": ledger.utility,
        "passed_over": sorted(ledger.passed_over),
        "families": list(ledger.families),
        "draws": list(ledger.draws),
        "pilot": None if ledger.pilot is None else copy.deepcopy(ledger.pilot.to_json()),
        "standings": ledger.standings.to_json(),
        # Sorted: stretches of a log are folded in an order of their own.
        "failures": [
            [at, dict(sorted(whys.items()))] for at, whys in sorted(ledger.failures.items())
        ],
        "at_cost": sorted(ledger.at_cost),
        "flags": [[task, list(seqs)] for task, seqs in ledger.flags.items()],
        "comments": [[task, list(seqs)] for task, seqs in ledger.comments.items()],
        "given": ledger.given.to_json(),
        "changes": [[asked, list(seqs)] for asked, seqs in ledger.changes.items()],
        "withdrawn": sorted(ledger.withdrawn),
        "overruns": [[at, *overrun] for at, overrun in sorted(ledger.overruns.items())],
        "archived": ledger.archived,
        "title": ledger.title,
    }

    def write() -> str:
        return json.dumps(
            {
                **rest,
                "workers": [worker.to_json() for worker in workers],
                "tasks": [task.to_json() for task in tasks],
                "closings": [[task, *label, why] for task, (label, why) in closings],
                "labels": [[task, *label] for task, label in labels],
            }
        )

    return write


def restore_names(ledger: NamedParts, names: str) -> None:
    """Read what ``freeze_names`` wrote into a ledger that has its problem and nothing else."""
    raw = json.loads(names)
    ledger.seq, ledger.utility = raw["seq"], raw["utility"]
    ledger.passed_over = set(raw["passed_over"])
    ledger.draws = raw["draws"]
    # A snapshot from before there were pilots does not have one.
    pilot = raw.get("pilot")
    ledger.pilot = None if pilot is None else PilotRecord.from_json(pilot)
    # Nor from before there was screening, any standing.
    ledger.standings = Standings.from_json(raw.get("standings", []))
    ledger.families = {family: at for at, family in enumerate(raw["families"])}
    ledger.failures = {at: Counter(whys) for at, whys in raw["failures"]}
    ledger.at_cost = set(raw["at_cost"])
    ledger.overruns = {at: Overrun(*overrun) for at, *overrun in raw["overruns"]}
    ledger.workers = [Worker(**each) for each in raw["workers"]]
    ledger.tasks = [*ledger.problem.tasks, *(Task(**each) for each in raw["tasks"])]
    ledger.worker_places = {worker.id: at for at, worker in enumerate(ledger.workers)}
    ledger.task_places = {task.id: at for at, task in enumerate(ledger.tasks)}
    ledger.closings = {task: (Label(*label), why) for task, *label, why in raw["closings"]}
    # Nor does one from before labels could be set, tasks flagged and answers changed have any.
    ledger.labels = {task: SetLabel(*label) for task, *label in raw.get("labels", ())}
    ledger.flags = dict(raw.get("flags", ()))
    ledger.comments = dict(raw.get("comments", ()))
    ledger.given = MoneyGiven.from_json(raw["given"])
    ledger.changes = dict(raw.get("changes", ()))
    ledger.withdrawn = set(raw.get("withdrawn", ()))
    ledger.removed = {task for task, (_, why) in ledger.closings.items() if why == REMOVED}
    ledger.archived, ledger.title = raw.get("archived", False), raw.get("title")
