"""The schemas of the stores, as numbered steps that are applied in order: a folder a database."""

from askwise.store.migrations.loader import Step, latest

__all__ = ["Step", "latest"]
