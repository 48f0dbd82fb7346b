"""A tournament over tasks: the one with the lowest key first, in O(log tasks) a change.

``tree`` has twice a power of two entries; leaves are tasks (-1: none), an inner node holds the
winner below it. Ties go to the lower index. A key of infinity takes a task out.
"""

import math

import numpy as np

from askwise.kernels import Array, kernel, step
from askwise.ledger import Book, has_task, may_put
from askwise.ledger import columns as c
from askwise.ledger.queries import at_hand


def new_tree(rows: int) -> Array:
    """Room for this many tasks, none of them in it."""
    half = 1 << max(0, rows - 1).bit_length()
    return np.full(2 * half, -1, np.int64)


@step
def wins(keys: Array, one: int, other: int) -> bool:
    """Whether a task comes before another (-1 is none and comes last)."""
    if one < 0 or other < 0:
        return one >= 0
    if keys[one] != keys[other]:
        return bool(keys[one] < keys[other])
    return one < other


@kernel
def build_tree(tree: Array, keys: Array, count: int) -> None:
    """Fill the tournament for ``count`` tasks."""
    half = len(tree) // 2
    for task in range(half):
        tree[half + task] = task if task < count else -1
    for node in range(half - 1, 0, -1):
        play(tree, keys, 0, node)


@step
def play(tree: Array, keys: Array, offset: int, node: int) -> None:
    """Have the winners below a node meet; the tournament begins at ``offset`` of the tree."""
    left, right = tree[offset + 2 * node], tree[offset + 2 * node + 1]
    tree[offset + node] = left if wins(keys, left, right) else right


@step
def rekey(tree: Array, keys: Array, task: int, key: float) -> None:
    """Give a task another key and mend the tournament."""
    if keys[task] == key:
        return
    keys[task] = key
    node = (len(tree) // 2 + task) // 2
    while node >= 1:
        play(tree, keys, 0, node)
        node //= 2


@step
def anyone_at_hand(book: Book, money: int, available: Array) -> bool:
    """Whether some open task may be put to some worker now."""
    for worker in range(book.totals[c.WORKERS]):
        if at_hand(book, worker, money, available) and has_task(book, worker):
            return True
    return False


@step
def someone_for(book: Book, task: int, money: int, available: Array) -> bool:
    """Whether a task may be put to some worker now."""
    first, count = book.tasks[task, c.FIRST_OFFER], book.tasks[task, c.NAMED]
    for at in range(book.totals[c.WORKERS] if count < 0 else count):
        worker = at if count < 0 else book.offers[first + at]
        if at_hand(book, worker, money, available) and may_put(book, task, worker):
            return True
    return False


@kernel
def first_task(book: Book, tree: Array, keys: Array, money: int, available: Array) -> int:
    """Find the task with the lowest key that may be put to somebody now; -1 if none."""
    winner = tree[1]
    if winner < 0 or keys[winner] == math.inf:
        return -1
    if someone_for(book, winner, money, available):
        return winner
    if not anyone_at_hand(book, money, available):
        return -1
    best = -1
    half = len(tree) // 2
    stack = np.empty(128, np.int64)
    stack[0] = 1
    depth = 1
    while depth > 0:
        depth -= 1
        node = stack[depth]
        task = tree[node]
        if task < 0 or keys[task] == math.inf or (best >= 0 and not wins(keys, task, best)):
            continue
        # A subtree's winner for whom there is somebody is the best that the subtree has.
        if someone_for(book, task, money, available):
            best = task
        elif node < half:
            stack[depth] = 2 * node + 1
            stack[depth + 1] = 2 * node
            depth += 2
    return best
