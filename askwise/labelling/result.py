"""What came of labelling, and its report."""

import os
from pathlib import Path

from askwise.labelling.labels import LabelledItems
from askwise.labelling.report import write_report


class LabelResult(LabelledItems):
    """What :func:`askwise.label` returns: labels, certificate, judges, cost, and a report."""

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Write a page that says what was done, what it cost and what may be believed."""
        return write_report(self, path)
