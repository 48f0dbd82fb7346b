"""The schema of the SQLite store, as numbered steps that are applied in order."""

from askwise.store.migrations.loader import APPLICATION_ID, latest, migrate

__all__ = ["APPLICATION_ID", "latest", "migrate"]
