"""A task of a campaign: one thing to be judged."""

from collections.abc import Container, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from askwise.core.errors import InvalidProblem
from askwise.core.fields import as_name, check_id, check_unique, fields_of
from askwise.core.json_types import Id, JsonLimits
from askwise.core.problem.lists import listed


@dataclass(frozen=True, slots=True)
class Task:
    """One thing to be judged.

    Parameters
    ----------
    id : str
        Unique name.
    context : str, optional
        Kind of the task, for policies that learn who is good at what.
    payload : JSON value, optional
        What the worker is shown. askwise passes it on and never looks inside.
    workers : sequence of str, optional
        The only workers who may be asked about it; anyone if not given.
    """

    id: Id
    context: str | None = None
    payload: Any = None
    workers: Annotated[tuple[str, ...] | None, JsonLimits(minItems=1)] = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "id", check_id(self.id, "task id"))
        if self.context is not None and not isinstance(self.context, str):
            raise InvalidProblem(
                f"context of task {self.id!r} is {self.context!r}: give a string", field="context"
            )
        if self.workers is not None:
            names = listed(self.workers, f"workers of task {self.id!r}")
            if not names:
                raise InvalidProblem(
                    f"workers of task {self.id!r} is empty: name those who may be asked, or leave "
                    "it out",
                    field="workers",
                )
            names = [check_id(name, f"worker of task {self.id!r}") for name in names]
            check_unique(names, f"worker of task {self.id!r}:")
            object.__setattr__(self, "workers", tuple(names))

    def to_json(self) -> dict[str, Any]:
        """As JSON, what is not set left out."""
        raw = {
            "id": self.id,
            "context": self.context,
            "payload": self.payload,
            "workers": None if self.workers is None else list(self.workers),
        }
        return {key: value for key, value in raw.items() if value is not None}


def check_named(task: Task, known: Container[str]) -> None:
    """Refuse a task that only workers who are not in the campaign may be asked about."""
    for name in task.workers or ():
        if name not in known:
            raise InvalidProblem(
                f"task {task.id!r} names worker {name!r}, who is not in the campaign: add them",
                field="workers",
            )


def as_task(raw: Task | Mapping[str, Any] | str) -> Task:
    """Take a Task, a mapping of its fields or just an id."""
    if isinstance(as_name(raw), str):
        return Task(raw)  # type: ignore[arg-type]
    return raw if isinstance(raw, Task) else Task(**fields_of(raw, Task, "task", ()))
