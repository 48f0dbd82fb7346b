"""The tournament of tasks: which is to be asked about next, mended as their rows change."""

from askwise.kernels import Array, kernel, step
from askwise.ledger.queries import ahead


@step
def requeue(tasks: Array, queue: Array, task: int) -> None:
    """Mend the tournament after a task's row changed."""
    half = len(queue) // 2
    node = (half + task) // 2
    while node >= 1:
        left, right = queue[2 * node], queue[2 * node + 1]
        winner = left if ahead(tasks, left, right) else right
        if winner == queue[node] and winner != task:
            # Neither who wins here nor the winner's row has changed: nor has anything above.
            return
        queue[node] = winner
        node //= 2


@kernel
def build_queue(tasks: Array, queue: Array, count: int) -> None:
    """Fill the tournament for ``count`` tasks; its length is twice a power of two."""
    half = len(queue) // 2
    for task in range(half):
        queue[half + task] = task if task < count else -1
    for node in range(half - 1, 0, -1):
        left, right = queue[2 * node], queue[2 * node + 1]
        queue[node] = left if ahead(tasks, left, right) else right


@kernel
def enter_queue(tasks: Array, queue: Array, first: int, end: int) -> None:
    """Take tasks into a tournament that has room for them."""
    for task in range(first, end):
        queue[len(queue) // 2 + task] = task
        requeue(tasks, queue, task)
