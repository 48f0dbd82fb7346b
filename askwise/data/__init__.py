"""Reading what people write: campaigns and crowds as TOML, workers and tasks as TOML or CSV."""

from askwise.data.campaigns import read_additions, read_campaign
from askwise.data.crowds import Beliefs, Crowd, Kind, read_crowds
from askwise.data.tables import read_tasks, read_workers, task_of_text, worker_of_text

__all__ = [
    "Beliefs",
    "Crowd",
    "Kind",
    "read_additions",
    "read_campaign",
    "read_crowds",
    "read_tasks",
    "read_workers",
    "task_of_text",
    "worker_of_text",
]
