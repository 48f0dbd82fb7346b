"""What a campaign is about: tasks, workers, the outcome space, the budget."""

from askwise.core.problem.lists import listed
from askwise.core.problem.problem import Problem, make_problem
from askwise.core.problem.task import Task, as_task, check_named
from askwise.core.problem.worker import KINDS, UNLIMITED, Worker, WorkerKind, as_worker

__all__ = [
    "KINDS",
    "UNLIMITED",
    "Problem",
    "Task",
    "Worker",
    "WorkerKind",
    "as_task",
    "as_worker",
    "check_named",
    "listed",
    "make_problem",
]
