"""The result of labelling, and its report."""

import os
from pathlib import Path
from typing import Any

from askwise.core.shown import as_html, load_pandas
from askwise.labelling.labels import LabelledItems
from askwise.labelling.report import write_report

SHOWN = 10
"""Labels that a notebook shows."""


class LabelResult(LabelledItems):
    """What :func:`askwise.label` returns: labels, certificate, judges, cost, and a report."""

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Write a page that says what was done, what it cost and what may be believed."""
        return write_report(self, path)

    def to_frame(self) -> Any:
        """Labels and the items' own columns as a pandas DataFrame; needs ``askwise[tables]``."""
        return load_pandas().DataFrame(self.columns())

    def plot(self) -> Any:
        """How many items have each label, by what the confidence in it rests on.

        Needs Matplotlib, which is in the extra ``askwise[lab]``.
        """
        return self.campaign.answers().plot()

    def _repr_html_(self) -> str:
        counted = ", ".join(f"{count:,} {word}" for word, count in self.counts().items())
        labels = [each.to_json() for each in self.labels[:SHOWN]]
        return as_html(f"{counted}; {self.cost} spent", labels, len(self.labels))
