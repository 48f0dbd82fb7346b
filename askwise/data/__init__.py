"""Reading what people write: campaigns and crowds as TOML, workers and tasks as TOML or CSV,
recorded answers as tables.
"""

from askwise.data.campaigns import read_additions, read_campaign, read_content
from askwise.data.crowds import Beliefs, Crowd, QuestionKind, read_crowds
from askwise.data.guesses import GuessedWorker, read_guesses
from askwise.data.labels import LabelTable, read_labels
from askwise.data.recorded_workers import read_kin, read_prices, read_recorded_workers
from askwise.data.tables import read_tasks, read_workers, task_of_text, worker_of_text
from askwise.data.task_facts import read_contexts, read_features, read_gold
from askwise.data.written_labels import write_answers, write_workers

__all__ = [
    "Beliefs",
    "Crowd",
    "GuessedWorker",
    "LabelTable",
    "QuestionKind",
    "read_additions",
    "read_campaign",
    "read_content",
    "read_contexts",
    "read_crowds",
    "read_features",
    "read_gold",
    "read_guesses",
    "read_kin",
    "read_labels",
    "read_prices",
    "read_recorded_workers",
    "read_tasks",
    "read_workers",
    "task_of_text",
    "worker_of_text",
    "write_answers",
    "write_workers",
]
