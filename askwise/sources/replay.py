"""Recorded answers as a source, for trying a campaign before anybody is asked."""

from dataclasses import dataclass, field
from typing import Any

from askwise.core.errors import InvalidParameter, InvalidProblem
from askwise.core.money import to_micro
from askwise.core.registry import example
from askwise.data.columns import read_columns
from askwise.sources.base import OPERATIONAL, FixedPrice, Question, Response, read_response, sources


@sources.register("replay")
@dataclass(eq=False)
class Recorded(FixedPrice):
    """Answers that were recorded: the k-th of a worker to a task the k-th time they are asked.

    Parameters
    ----------
    file : str
        A table with the columns ``task``, ``worker`` and ``label``, and optionally ``cost``: CSV,
        JSON Lines or Parquet.
    worker : str, optional
        Whose answers to use; by default those of the worker who is asked.
    price : amount of money
        The most that an answer costs, and what it costs where the table does not say.
    """

    file: str = field(metadata=example('file = "answers.csv"'))
    worker: str = ""
    slots: int = field(default=64, kw_only=True, metadata=OPERATIONAL)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, valid in (("file", "the path of a table"), ("worker", "a worker's id")):
            if not isinstance(getattr(self, name), str):
                raise InvalidParameter(
                    f"{name} is {getattr(self, name)!r}: give {valid}", field=name
                )
        self._answers: dict[tuple[str, str], list[tuple[str, int]]] | None = None

    @property
    def repeat_is_free(self) -> bool:
        """Where answers are free."""
        return to_micro(self.price, "price") == 0

    def check(self) -> None:
        """Refuse a table that can't be read."""
        self._table()

    async def answer(self, question: Question) -> Response:
        """Look it up; who gave no answer refuses, and costs nothing."""
        given = self._table().get((question.task, self.worker or question.worker), [])
        if question.draw >= len(given):
            return Response(failure="refused", detail="no answer was recorded")
        said, cost = given[question.draw]
        value: Any = said
        if question.content.range is not None:
            try:
                value = float(said)
            except ValueError:
                value = said
        return read_response(value, question, cost)

    def _table(self) -> dict[tuple[str, str], list[tuple[str, int]]]:
        if self._answers is None:
            price = to_micro(self.price, "price")
            table = read_columns(self.file, ("task", "worker", "label"), ("cost",))
            costs = table.cells.get("cost", [""] * len(table.lines))
            columns = (table.cells[name] for name in ("task", "worker", "label"))
            found: dict[tuple[str, str], list[tuple[str, int]]] = {}
            for row, (task, worker, label, cost) in enumerate(zip(*columns, costs, strict=True)):
                micro = to_micro(cost, f"cost in {table.place(row)}") if cost else price
                if micro > price:
                    raise InvalidProblem(
                        f"{table.place(row)}: cost is {cost}: give at most the price, {self.price}",
                        field="cost",
                    )
                found.setdefault((task, worker), []).append((label, micro))
            self._answers = found
        return self._answers
