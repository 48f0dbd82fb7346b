"""Reading what people write: campaigns as TOML, workers and tasks as TOML or CSV."""

from askwise.data.campaigns import read_additions, read_campaign
from askwise.data.tables import read_tasks, read_workers, task_of_text, worker_of_text

__all__ = [
    "read_additions",
    "read_campaign",
    "read_tasks",
    "read_workers",
    "task_of_text",
    "worker_of_text",
]
