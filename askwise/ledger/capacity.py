"""The rows of a ledger's arrays: how many there are to begin with, and how they grow."""

from collections.abc import Callable

import numpy as np

from askwise.core.arrays import Array
from askwise.core.problem import Problem
from askwise.ledger import columns as c
from askwise.ledger.columns import Book

SMALLEST = 16

BY_ROW = {
    "workers": c.WORKERS,
    "ratings": c.WORKERS,
    "tasks": c.TASKS,
    "votes": c.TASKS,
    "cells": c.CELLS,
    "assignments": c.ASSIGNMENTS,
    "marks": c.ASSIGNMENTS,
    "plan": c.PLAN_ROWS,
    "odds": c.PLAN_ROWS,
    "contexts": c.CONTEXTS,
    "offers": c.OFFERS,
}
"""The arrays that grow, each with the total that says how many of its rows are in use."""


def empty_book(problem: Problem, spare: int) -> Book:
    """The arrays of a ledger in which nothing is noted but what kind of problem it is."""
    totals = np.zeros(26, np.int64)
    totals[c.REPEAT] = problem.repeat
    totals[c.TASKLESS] = problem.taskless
    totals[c.OPTIONS] = len(problem.options)
    return Book(
        totals=totals,
        scale=scale_of(problem),
        workers=np.zeros((spare, 22), np.int64),
        ratings=np.zeros((spare, 2)),
        tasks=np.zeros((1, 13), np.int64),
        queue=np.full(2, -1, np.int64),
        votes=np.zeros((1, max(1, len(problem.options))), np.int64),
        cells=np.zeros((1, c.VOTES + max(1, len(problem.options))), np.int64),
        assignments=np.zeros((spare, 9), np.int64),
        marks=np.zeros((spare, 3)),
        plan=np.zeros((spare, 3), np.int64),
        odds=np.zeros(spare),
        contexts=np.zeros((1, 3), np.int64),
        offers=np.zeros(1, np.int64),
    )


def scale_of(problem: Problem) -> Array:
    """The range of utilities, and where in it no answer at all is."""
    low, high = problem.range
    return np.array([low, high, (problem.zero - low) / (high - low)])


def grown(
    book: Book, names: tuple[str, ...], needed: int, blank: Callable[..., Array] = np.zeros
) -> Book:
    """A book in which these arrays have ``needed`` rows at least; the same one if they had."""
    larger: dict[str, Array] = {}
    for name in names:
        array = getattr(book, name)
        if len(array) < needed:
            rows = blank((max(needed, 2 * len(array)), *array.shape[1:]), array.dtype)
            rows[: len(array)] = array
            larger[name] = rows
    return book._replace(**larger) if larger else book


def with_spare(array: Array) -> Array:
    """A copy with spare rows: the first write should not have to copy everything once more."""
    held = np.zeros((len(array) + max(SMALLEST, len(array) // 4), *array.shape[1:]), array.dtype)
    held[: len(array)] = array
    return held
