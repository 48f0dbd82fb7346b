"""Reads the steps of a database's schema, and says which ones a store still lacks."""

from functools import cache
from importlib import resources
from typing import NamedTuple

from askwise.core.errors import StoreError


class Step(NamedTuple):
    """One step: the name of its script, which begins with its number, and the script."""

    name: str
    script: str


@cache
def steps(database: str) -> tuple[Step, ...]:
    """Read the scripts for ``sqlite`` or ``postgres``; the first is number 1.

    Examples
    --------
    >>> [step.name for step in steps("postgres")]
    ['0001_campaigns', '0002_records', '0003_archived']
    """
    folder = resources.files(__package__) / database
    found = sorted(
        Step(file.name.removesuffix(".sql"), file.read_text(encoding="utf-8"))
        for file in folder.iterdir()
        if file.name.endswith(".sql")
    )
    for number, step in enumerate(found, 1):
        if int(step.name.partition("_")[0]) != number:
            raise StoreError(f"migration {step.name} stands where number {number} is due")
    return tuple(found)


def latest(database: str) -> int:
    """Tell the newest schema that this askwise knows."""
    return len(steps(database))


def pending(database: str, version: int) -> list[str]:
    """Name the steps from ``version`` (0: nothing is there) to the newest schema."""
    return [step.name for step in steps(database)[version:]]


def check_known(database: str, version: int, where: str) -> None:
    """Complain about a schema of a newer askwise; ``where`` names the store in the message."""
    if version > latest(database):
        raise StoreError(
            f"{where} has schema version {version} and this askwise knows up to "
            f"{latest(database)}: upgrade askwise (the store was not changed)",
            reason="newer_version",
        )
