"""The live side of ``docs/how-hem-works.md``, read a second time: beliefs, ranks, edges."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tests.kernels.hem.reading import Given, Reading, between, odds


class LiveReading(Reading):
    """A campaign without trusted workers, in which all prices are paid from a budget."""

    in_turn = True

    def __init__(
        self, contexts: Sequence[int], classes: int, prices: Sequence[int], budget: int,
        families: Sequence[int | None],
    ) -> None:  # fmt: skip
        super().__init__([], contexts, classes)
        self.prices, self.budget, self.families = prices, budget, families
        self.tested = [0] * len(prices)
        # The accuracy in the mean over classes is kept until the worker, or a fit, has news.
        self.mean: dict[int, float] = {}
        self.easier = [0.0] * len(prices)
        # Posteriors by what givers showed in other tasks, whatever the truth.
        self.held: dict[int, list[float]] = {}
        self.heard: list[int] = []
        self.news, self.fits = 0, 0

    # What comes in.

    def hear_of(self, task: int) -> None:
        if task not in self.heard:
            self.heard.append(task)

    def take(self, task: int, worker: int, label: int) -> None:
        """Judge the task by what is known without it, then count all its answers by that."""
        self.hear_of(task)
        if self.answers_to(task):
            self.make_due(task, -1.0)
        self.count(left_out=task)
        self.given.append(Given(task, worker, label))
        self.weigh_families(task)
        self.held[task] = self.posterior(task)
        if task in self.truths:
            self.tested[worker] += 1
        else:
            self.q[task] = self.held[task]
        self.settle(task)
        self.learned(1)

    def tell(self, task: int, true: int) -> None:
        self.hear_of(task)
        if self.answers_to(task):
            self.make_due(task, -1.0)
        self.count(left_out=task)
        self.truths[task] = true
        self.q[task] = self.certain(task)
        self.settle(task)
        self.learned(10)

    def settle(self, task: int) -> None:
        # By accuracies as they are without the task.
        self.make_due(task, 1.0)
        self.count()
        self.m = self.crowd()
        for each in self.answers_to(task):
            self.mean[each.worker] = self.mean_of(each.worker)

    def learned(self, news: int) -> None:
        self.news += news
        if self.news >= max(30, 0.1 * len(self.given)):
            self.fit(6)
            self.mean = {worker: self.mean_of(worker) for worker in range(len(self.prices))}
            self.easier = [self.ease(worker) for worker in range(len(self.prices))]
            self.held = {task: self.held_out(task) for task in {each.task for each in self.given}}
            self.news, self.fits = 0, self.fits + 1

    def weigh_families(self, task: int) -> None:
        alike = [self.families[each.worker] for each in self.answers_to(task)]
        for at, each in enumerate(self.given):
            family = self.families[each.worker]
            if each.task == task and family is not None:
                weight = 1.0 / (1.0 + 0.4 * (alike.count(family) - 1))
                self.given[at] = each._replace(weight=weight)

    # Whom it asks about what.

    def spent(self) -> int:
        return sum(self.prices[each.worker] for each in self.given)

    def pursues(self) -> bool:
        mean_price = sum(self.prices) / len(self.prices)
        spare = 1.0 - len(self.contexts) * mean_price / self.budget
        return self.spent() < between(spare, 0.05, 0.4) * self.budget

    def rank(self, task: int) -> tuple[int, float, float]:
        """Where a task stands: the lowest is next."""
        asked = len(self.answers_to(task))
        if asked == 0:
            return (1 if self.pursues() else 0, 0.0, 0.0)
        top = max(self.held[task])
        score = math.log(top / (1.0 - top)) + 0.1 * asked
        if not self.pursues():
            return (1, score, 0.0)
        return (0, -asked, -score) if score < 3.0 and asked < 15 else (2, score, 0.0)

    def mean_of(self, w: int) -> float:
        """How often a worker is right over all contexts, in the mean over classes."""
        lifted = [odds(self.accuracy(w)) * self.factor(w, c) for c in range(self.classes)]
        mean = sum(between(each / (1.0 + each)) for each in lifted) / self.classes
        return min(mean, self.most_by_answers(w))

    def edge(self, w: int, s: int) -> float:
        """Accuracy in a context with its standard deviation, less chance."""
        mean = self.mean.get(w, self.m)
        lifted = odds(mean) * odds(self.accuracy_in(w, s)) / odds(self.accuracy(w))
        p = between(between(lifted / (1.0 + lifted)) - self.easier[w])
        rests_on = 4.0 + self.judged[w]
        if self.lent is not None:
            here = self.judged_in[w, s]
            rests_on = 4.0 + here + min(self.lent, self.judged[w] - here)
        return p + math.sqrt(p * (1.0 - p) / (rests_on + 1.0)) - 1.0 / self.classes

    def worth(self, w: int, s: int) -> float:
        edge, price = self.edge(w, s), self.prices[w] / min(self.prices)
        return edge * edge / price if edge > 0 else edge * price

    def tests(self) -> dict[tuple[int, int], float]:
        """Test questions that may be put now, and what each worker is worth."""
        found: dict[tuple[int, int], float] = {}
        if not self.pursues():
            return found
        for w in range(len(self.prices)):
            known = [
                task
                for task in self.truths
                if w not in {each.worker for each in self.answers_to(task)}
            ]
            most = max(15.0, 0.05 * self.answers_each() * len(self.contexts) / len(self.prices))
            if known and self.tested[w] < most:
                task = min(known, key=self.rank_of_test)
                found[task, w] = self.worth(w, 0)
        return found

    def rank_of_test(self, task: int) -> float:
        """One after the other gets as many answers as tasks will have in the mean."""
        asked = len(self.answers_to(task))
        return -asked if asked < self.answers_each() else asked

    def answers_each(self) -> float:
        """How many answers the budget buys for each task."""
        mean_price = sum(self.prices) / len(self.prices)
        return min(len(self.prices), self.budget / (mean_price * len(self.contexts)))

    def check(self, task: int, worker: int, near: float) -> None:
        """Whether a question is what the page says: of equal ones, any."""
        money = self.budget - self.spent()
        if tests := self.tests():
            assert tests[task, worker] >= max(tests.values()) - near
            return
        free = {
            each: {w for w in range(len(self.prices)) if self.prices[w] <= money}
            - {given.worker for given in self.answers_to(each)}
            for each in range(len(self.contexts))
            if each not in self.truths
        }
        ranks = {each: self.rank(each) for each, workers in free.items() if workers}
        best = min(ranks.values())
        assert all(mine <= other + near for mine, other in zip(ranks[task], best, strict=True))
        worths = {w: self.worth(w, self.contexts[task]) for w in free[task]}
        assert worths[worker] >= max(worths.values()) - near
