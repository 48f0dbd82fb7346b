"""What experiments share that take recorded sets one by one, with all their answers."""

from dataclasses import dataclass

from askwise.core.registry import from_label
from askwise.lab.aggregating.labels import make_method
from askwise.lab.experiment import Cell, Experiment
from askwise.lab.papers.labels.studies.sets import (
    MOST_TASKS,
    LabelSet,
    check_sets,
    chosen_sets,
    usable_names,
)


@dataclass(frozen=True)
class OnSets(Experiment):
    """Sets of a data folder: a cell per set, and one for the notes on sets."""

    sets: tuple[str, ...] = ()
    data: str = ""
    most_tasks: int = MOST_TASKS

    def __post_init__(self) -> None:
        check_sets(self.data, self.sets)

    def label_sets(self) -> list[LabelSet]:
        """Those named, or all."""
        return chosen_sets(self.data, self.sets, self.most_tasks)

    def cells(self) -> list[Cell]:
        """A cell per set, and one for the notes."""
        names = usable_names(self.label_sets(), self.data)
        return [Cell(name, 0.0) for name in (*names, "")]


@dataclass(frozen=True)
class MethodsOnSets(OnSets):
    """Aggregators on each of the sets."""

    methods: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        for label in self.methods:
            make_method(from_label(label))
