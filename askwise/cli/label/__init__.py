"""``askwise label``: the command, and what it shows."""

from askwise.cli.label.command import label

__all__ = ["label"]
