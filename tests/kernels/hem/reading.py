"""A second reading of ``docs/how-hem-works.md``: dictionaries and loops, all counted anew."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

LEAST, MOST = 0.01, 0.99


def between(x: float, low: float = LEAST, high: float = MOST) -> float:
    return min(high, max(low, x))


def odds(p: float) -> float:
    return between(p) / (1.0 - between(p))


class Given(NamedTuple):
    """One answer; ``weight`` is what it counts as evidence for its task."""

    task: int
    worker: int
    label: int
    weight: float = 1.0


class Reading:
    """What is believed of workers, classes and tasks.

    ``given`` is a list of answers, ``contexts`` says where each task belongs, ``truths`` maps tasks
    to classes. ``places`` is the number of contexts; ``q`` are posteriors by task. ``in_turn`` says
    that answers are in the order in which they were bought, by what others had said.
    """

    in_turn = False

    def __init__(
        self, given: Iterable[Given], contexts: Sequence[int], classes: int,
        truths: Mapping[int, int] | None = None, places: int | None = None,
    ) -> None:  # fmt: skip
        self.given, self.contexts, self.classes = list(given), contexts, classes
        self.truths = dict(truths or {})
        self.places = max(contexts) + 1 if places is None else places
        self.q: dict[int, list[float]] = {}
        self.shares: dict[int, list[float]] = {}
        self.overlap = 0.0
        self.lent: float | None = None if self.places == 1 else 3.0
        self.m = max(0.7, 1.0 / classes + 0.02)
        self.due_on: dict[tuple[int, int], float] = defaultdict(float)
        self.empty()

    # What answers count, and what they show.

    def answers_to(self, task: int) -> list[Given]:
        return [each for each in self.given if each.task == task]

    def counts(self, task: int) -> float:
        """An answer that nobody judges does not count, one that a truth judges three times."""
        if task in self.truths:
            return 3.0
        return 1.0 if len(self.answers_to(task)) > 1 else 0.0

    def empty(self) -> None:
        self.right: dict[int, float] = defaultdict(float)
        self.judged: dict[int, float] = defaultdict(float)
        self.right_in: dict[tuple[int, int], float] = defaultdict(float)
        self.judged_in: dict[tuple[int, int], float] = defaultdict(float)
        self.right_on: dict[tuple[int, int], float] = defaultdict(float)
        self.judged_on: dict[tuple[int, int], float] = defaultdict(float)
        self.alone: dict[tuple[int, int], float] = defaultdict(float)
        self.wrong: dict[tuple[int, int], float] = defaultdict(float)
        self.errors: dict[tuple[int, int], float] = defaultdict(float)

    def count(self, left_out: int | None = None) -> None:
        """Count all answers anew; those to one task may be left out."""
        self.empty()
        amounts = {task: self.counts(task) for task in {each.task for each in self.given}}
        for task, w, a, _ in self.given:
            s, amount = self.contexts[task], amounts[task]
            if task == left_out:
                continue
            if amount == 0.0:
                self.alone[w, a] += 1.0
                continue
            self.judged[w] += amount
            self.judged_in[w, s] += amount
            self.right[w] += amount * self.q[task][a]
            self.right_in[w, s] += amount * self.q[task][a]
            for c in range(self.classes):
                mass = amount * self.q[task][c]
                self.judged_on[w, c] += mass
                if a == c:
                    self.right_on[w, c] += mass
                else:
                    self.wrong[w, a] += mass
                    self.errors[c, a] += mass

    # The levels of pooling.

    def crowd(self) -> float:
        right, judged = sum(self.right.values()), sum(self.judged.values())
        found = (70.0 + right) / (100.0 + judged)
        return between(found, 1.0 / self.classes + 0.02, MOST)

    def accuracy(self, w: int) -> float:
        return (4.0 * self.m + self.right[w]) / (4.0 + self.judged[w])

    def accuracy_in(self, w: int, s: int) -> float:
        if self.lent is None:
            return self.accuracy(w)
        shown, judged = self.right_in[w, s], self.judged_in[w, s]
        return (self.lent * self.accuracy(w) + shown) / (self.lent + judged)

    def factor(self, w: int, c: int) -> float:
        """By what a class multiplies the odds of being right."""
        like = min(60.0, 6.0 * self.places) + self.alone[w, c]
        total = like + self.judged_on[w, c]
        shown = (like * self.accuracy(w) + self.right_on[w, c]) / total
        usual = self.accuracy(w)
        if self.lent is not None:
            usual = (like * usual + self.due_on[w, c]) / total
        return odds(shown) / odds(usual)

    def accuracy_on(self, w: int, s: int, c: int) -> float:
        lifted = odds(self.accuracy_in(w, s)) * self.factor(w, c) ** 0.8
        return between(lifted / (1.0 + lifted))

    def most_by_answers(self, w: int) -> float:
        """No better in the mean over classes than the classes that they name allow."""
        named = [
            self.alone[w, c] + self.right_on[w, c] + self.wrong[w, c] for c in range(self.classes)
        ]
        shares = [self.shares.get(s, [0.0] * self.classes) for s in range(self.places)]
        occurs = [sum(math.exp(row[c]) for row in shares) for c in range(self.classes)]
        expected = [sum(named) * each / sum(occurs) for each in occurs]
        return sum(
            min(1.0, (2.0 + mine) / (2.0 + each / 2.0))
            for mine, each in zip(named, expected, strict=True)
        ) / self.classes  # fmt: skip

    def spread(self, w: int, c: int, a: int) -> float:
        """Share of an answer among the wrong ones to tasks of a class."""
        others = [b for b in range(self.classes) if b != c]
        of_crowd = (self.errors[c, a] + 100.0 / len(others)) / (
            100.0 + sum(self.errors[c, b] for b in others)
        )
        return (4.0 * of_crowd + self.wrong[w, a]) / (4.0 + sum(self.wrong[w, b] for b in others))

    def chance(self, w: int, s: int, c: int, a: int) -> float:
        """The probability of an answer to a task of a class."""
        accuracy = self.accuracy_on(w, s, c)
        return accuracy if a == c else (1.0 - accuracy) * self.spread(w, c, a)

    def chance_unnamed(self, w: int, s: int, a: int) -> float:
        """The same for all classes that nobody named, where there are many."""
        mine = self.wrong[w, a] + 4.0 / (self.classes - 1)
        total = 4.0 + sum(self.wrong[w, b] for b in range(self.classes))
        return (1.0 - between(self.accuracy_in(w, s))) * mine / total

    # Classes and tasks.

    def share_classes(self) -> None:
        """Shares of answers, each task counting once; a known truth is all that counts of its.

        Answers bought in turn: only the first to a task. Of a worker's n, each counts 1 / root n.
        """
        heard = sorted({each.task for each in self.given})
        counted = {task: self.answers_to(task)[: 1 if self.in_turn else None] for task in heard}
        gave: dict[int, int] = defaultdict(int)
        for answers in counted.values():
            for each in answers:
                gave[each.worker] += 1
        self.shares = {}
        for s in range(self.places):
            told = [2.0] * self.classes
            said = [0.0] * self.classes
            tasks = 0
            for task in sorted({*heard, *self.truths}):
                if self.contexts[task] != s:
                    continue
                if task in self.truths:
                    told[self.truths[task]] += 1.0
                    continue
                tasks += 1
                for each in counted[task]:
                    said[each.label] += 1.0 / math.sqrt(gave[each.worker]) / len(counted[task])
            votes = [
                known + (tasks * each / sum(said) if tasks else 0.0)
                for known, each in zip(told, said, strict=True)
            ]
            self.shares[s] = [math.log(each / sum(votes)) for each in votes]
        given = len(self.given)
        self.overlap = min(1.0, 1.5 * (given - len(heard)) / given) if given else 0.0

    def posterior(self, task: int) -> list[float]:
        s, answers = self.contexts[task], self.answers_to(task)
        shares = self.shares.get(s, [0.0] * self.classes)
        named = {each.label for each in answers}
        count = len(answers)
        power = min(1.0, 1.5 * (count - 1) / count) if count else 1.0
        power = max(power, self.overlap)
        logs = []
        for c in range(self.classes):
            log = power * shares[c]
            for _, w, a, weight in answers:
                if self.classes > 8 and c not in named:
                    log += weight * math.log(self.chance_unnamed(w, s, a))
                else:
                    log += weight * math.log(self.chance(w, s, c, a))
            logs.append(log)
        total = sum(math.exp(log - max(logs)) for log in logs)
        return [math.exp(log - max(logs)) / total for log in logs]

    def held_out(self, task: int) -> list[float]:
        """The posterior by what those who answered a task showed in others."""
        due = dict(self.due_on)
        self.make_due(task, -1.0)
        self.count(left_out=task)
        found = self.posterior(task)
        self.count()
        self.due_on = defaultdict(float, due)
        return found

    def ease(self, w: int) -> float:
        """By how much more than believed the others were right who answered a worker's tasks."""
        found = []
        for task in {each.task for each in self.given if each.worker == w}:
            s = self.contexts[task]
            lead = [
                (each.worker, self.q[task][each.label] - self.accuracy_in(each.worker, s))
                for each in self.answers_to(task)
            ]
            if len(lead) > 1:
                found.append(sum(up for v, up in lead if v != w) / (len(lead) - 1))
        return sum(found) / (20.0 + len(found))

    def certain(self, task: int) -> list[float]:
        return [float(c == self.truths[task]) for c in range(self.classes)]

    # Fitting.

    def learn(self) -> None:
        """Count by the posteriors; what is due on a class is by the accuracies that makes."""
        self.count()
        self.m = self.crowd()
        self.due_on.clear()
        for task in {each.task for each in self.given}:
            self.make_due(task, 1.0)

    def make_due(self, task: int, sign: float) -> None:
        """Say how often those who answered a task should be right on it, as they are elsewhere."""
        for _, w, _, _ in self.answers_to(task):
            mass = sign * self.counts(task) * self.accuracy_in(w, self.contexts[task])
            for c in range(self.classes):
                self.due_on[w, c] += mass * self.q[task][c]

    def fit(self, rounds: int, skills: int | None = None) -> int:
        """EM from the votes; returns how many rounds it took."""
        heard = sorted({each.task for each in self.given} | set(self.truths))
        for task in heard:
            answers = self.answers_to(task)
            share = 0.7 if answers else 0.0
            self.q[task] = [(1.0 - share) / self.classes] * self.classes
            for each in answers:
                self.q[task][each.label] += share / len(answers)
            if task in self.truths:
                self.q[task] = self.certain(task)
        self.share_classes()
        pairs = {(w, self.contexts[task]) for task, w, _, _ in self.given}
        judged = sum(self.counts(each.task) for each in self.given)
        leaning = max(1.0, judged / max(1, len(pairs) if skills is None else skills))
        used = 0
        for lent in [None] if self.places == 1 else [leaning, 3.0]:
            self.lent = lent
            for _ in range(rounds):
                used += 1
                self.learn()
                moved = self.judge_all()
                if moved < 0.005:
                    break
        self.learn()
        return used

    def judge_all(self) -> float:
        found = {
            task: self.posterior(task)
            for task in {each.task for each in self.given} - set(self.truths)
        }
        moved = [
            abs(new - old)
            for task, row in found.items()
            for new, old in zip(row, self.q[task], strict=True)
        ]
        self.q.update(found)
        return max(moved, default=0.0)
