"""Workers with what is guessed of them before anything is asked: how often they are right."""

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, fields

from askwise.core.errors import InvalidProblem
from askwise.core.problem import Worker
from askwise.data.columns import read_columns
from askwise.data.tables import value_of, worker_of_text

WANTED = "a number above 0 and below 1, such as 0.8, or a range such as 0.7-0.9"

OF_A_WORKER = tuple(each.name for each in fields(Worker) if each.name not in ("id", "price"))


@dataclass(frozen=True, slots=True)
class GuessedWorker:
    """A worker, and how often they are guessed to be right.

    Parameters
    ----------
    worker : Worker
        With their price.
    accuracy : float or two of them, optional
        One number is a guess that may be off; a range says that the truth lies anywhere between
        its ends. Trusted workers, who are always right, need none.

    Examples
    --------
    >>> GuessedWorker(Worker("ann", "0.05"), 0.8).accuracy
    0.8
    >>> GuessedWorker(Worker("ann", "0.05"), 1.2)
    Traceback (most recent call last):
    askwise.core.errors.InvalidProblem: accuracy of worker 'ann' is 1.2: give a number above 0 and
    below 1, such as 0.8, or a range such as 0.7-0.9
    """

    worker: Worker
    accuracy: float | tuple[float, float] | None = None

    def __post_init__(self) -> None:
        said, name = self.accuracy, self.worker.id
        if self.worker.kind == "crowd":
            raise InvalidProblem(
                f"kind of worker {name!r} is 'crowd': here everybody is asked about a task once; "
                "plan crowds with --crowds",
                field="kind",
            )
        if said is None:
            return
        ends: Sequence[float] = said if isinstance(said, tuple) else (said, said)
        if len(ends) != 2 or not all(_is_share(each) for each in ends):
            raise InvalidProblem(
                f"accuracy of worker {name!r} is {_written(said)}: give {WANTED}", field="accuracy"
            )
        if ends[0] > ends[1]:
            raise InvalidProblem(
                f"accuracy of worker {name!r} is {_written(said)}: give the lower end of the range "
                "first",
                field="accuracy",
            )


def read_guesses(path: str | os.PathLike[str], *, needed: bool = True) -> list[GuessedWorker]:
    """Read workers from a file with the columns ``id`` (or ``worker``), ``price`` and ``accuracy``.

    Further columns are those of a worker: ``limit``, ``kind``, ``family``, ``trusted``. Of trusted
    workers the accuracy may be empty, of all workers unless it is ``needed``.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "workers.csv")
    ...     _ = file.write_text("id,price,accuracy,trusted\\nann,0.05,0.7-0.9,\\nvet,2,,yes\\n")
    ...     [each.accuracy for each in read_guesses(file)]
    [(0.7, 0.9), None]
    """
    optional = ("id", "worker", "accuracy", *OF_A_WORKER)
    found = read_columns(path, ("price",), optional, only=True, blank=("price",))
    if ("id" in found.cells) == ("worker" in found.cells):
        raise InvalidProblem(
            f"{found.source} needs one column 'id' (or 'worker') that names the workers", field="id"
        )

    def guessed(name: str, given: dict[str, str]) -> GuessedWorker:
        said = given.pop("accuracy", "")
        worker = worker_of_text({"id": name, **given})
        if needed and not said and not worker.trusted:
            raise InvalidProblem(
                f"accuracy of worker {worker.id!r} is missing: give {WANTED}; or recorded "
                "answers with --answers",
                field="accuracy",
            )
        return GuessedWorker(worker, _accuracy(said, worker.id) if said else None)

    return list(found.each("id" if "id" in found.cells else "worker", guessed).values())


def _accuracy(text: str, name: str) -> float | tuple[float, float]:
    label = f"accuracy of worker {name!r}"
    ends = tuple(
        value_of(part.strip(), float, WANTED, label, "accuracy") for part in text.split("-", 1)
    )
    return ends[0] if len(ends) == 1 else (ends[0], ends[1])


def _is_share(value: object) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and math.isfinite(float(value)) and 0 < float(value) < 1  # type: ignore[arg-type]


def _written(said: object) -> str:
    return "-".join(map(str, said)) if isinstance(said, tuple) else repr(said)
