"""Those who gave recorded answers: their prices and limits, and what they are."""

import os
from decimal import Decimal

from askwise.core.checks import whole
from askwise.core.errors import InvalidProblem
from askwise.core.problem import Worker
from askwise.data.columns import read_columns
from askwise.data.tables import value_of, worker_of_text

OF_WORKERS = ("limit", "kind", "family")
"""What a table of recorded workers may say of them beyond their price: fields of a Worker."""


def read_prices(
    path: str | os.PathLike[str], *, price: str = "price", per: int = 1
) -> list[Worker]:
    """Read workers with their prices, and limits if there are any.

    Parameters
    ----------
    path : path
        A file with a column ``worker`` (or ``id``), one of prices, and perhaps ``limit``.
    price : str
        What the column of prices is called.
    per : int
        For how many answers the price is.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "workers.csv")
    ...     _ = file.write_text("worker,dollars_per_10k\\nann,15\\n")
    ...     read_prices(file, price="dollars_per_10k", per=10_000)[0].price
    Decimal('0.0015')
    """
    whole(per, "per", least=1)
    found = read_columns(path, (price,), ("worker", "id", "limit"))
    column = next((each for each in ("worker", "id") if each in found.cells), None)
    if column is None:
        raise InvalidProblem(
            f"{found.source} has no column 'worker' or 'id': name the workers", field="worker"
        )

    def worker(name: str, said: dict[str, str]) -> Worker:
        amount = value_of(said[price], Decimal, "an amount of money", price, price)
        limit = said.get("limit")
        most = value_of(limit, int, "a whole number", "limit", "limit") if limit else None
        return Worker(name, amount / per, limit=most)

    return list(found.each(column, worker).values())


def read_recorded_workers(path: str | os.PathLike[str]) -> list[Worker]:
    """Read what is known of those who gave recorded answers.

    The file has the columns ``worker``, ``price`` and, if wanted, ``limit``, ``kind`` and
    ``family``; a file with any other column is refused.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "workers.csv")
    ...     _ = file.write_text("worker,price\\nann,0.05\\n")
    ...     read_recorded_workers(file)[0].price
    Decimal('0.05')
    """
    found = read_columns(path, ("worker", "price"), OF_WORKERS, only=True)
    made = found.each("worker", lambda name, said: worker_of_text({"id": name, **said}))
    return list(made.values())


def read_kin(path: str | os.PathLike[str]) -> dict[str, Worker]:
    """Read what workers are from a file with the columns ``worker``, ``kind`` and ``family``.

    The latter two may be missing or empty; other columns, prices say, are passed over. The workers
    that are returned cost nothing.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "workers.csv")
    ...     _ = file.write_text("worker,kind,family\\nann,person,\\ngpt-a,model,gpt\\n")
    ...     read_kin(file)["gpt-a"].family
    'gpt'
    """
    found = read_columns(path, ("worker",), ("kind", "family"))
    if len(found.cells) == 1:
        raise InvalidProblem(
            f"{found.source} has no column 'kind' or 'family': say what workers are, or leave the "
            "file out",
            field="kind",
        )
    return found.each(
        "worker", lambda name, said: worker_of_text({"id": name, "price": "0", **said})
    )
