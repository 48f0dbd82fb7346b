"""What the choice of a policy depends on."""

import math
from dataclasses import dataclass
from functools import cached_property

from askwise.aggregation import Aggregator
from askwise.campaign.choosing.terms import AutoTerms
from askwise.core.problem import UNLIMITED, Problem, Worker
from askwise.mechanisms import Mechanism
from askwise.stopping import StoppingRule

USUAL_ERROR = 0.05
"""Of a question put to crowds, where no target is named: the default of the rules themselves."""

CONFIDENCE = 0.9
"""With which a cascade keeps its error."""

SAMPLE = 100
"""Truths that a cascade sets its threshold by, and more where the target is small."""

SMALL_PART = 5
"""A cascade pays where tasks are this many times its sample: a quarter of them was too much."""

TO_TRUSTED = 0.75
"""The share of tasks that a cascade must be able to put to the trusted: up to 0.71 was measured at
an error of 0.1."""

MOST_COMPARISONS = 50_000
"""Of two options by one crowd's votes, after each answer: seconds at most without the compiler."""

CHEAP = 0.25
"""Judges are cheap if all of them together cost this part of a trusted answer at most."""


@dataclass(frozen=True)
class Situation:
    """What a choice depends on: the problem, what the author asks for and the parts they named."""

    problem: Problem
    """With ``repeat`` as said, and False where nothing was said of a campaign with tasks."""
    terms: AutoTerms
    mechanism: Mechanism
    rule: StoppingRule | None = None
    aggregator: Aggregator | None = None
    repeat: bool | None = None
    """As the author said."""

    @cached_property
    def labellers(self) -> list[Worker]:
        """Those whom the policy may ask: not those kept for audits."""
        return [each for each in self.problem.workers if not self.problem.audits(each.id)]

    @cached_property
    def judges(self) -> list[Worker]:
        """Labellers who may be wrong."""
        return [each for each in self.labellers if not each.trusted]

    @cached_property
    def trusted(self) -> list[Worker]:
        """Labellers whose answer is the truth."""
        return [each for each in self.labellers if each.trusted]

    @property
    def options(self) -> int:
        """How many options there are; none in a utility campaign."""
        return len(self.problem.options)

    @property
    def asks_crowds(self) -> bool:
        """Whether questions are put to crowds, which are asked again and again.

        So it is if pairs may repeat and somebody can be asked twice, or nobody has joined yet; and
        if nothing is said of pairs and every labeller is a crowd.
        """
        if not self.options or self.repeat is False:
            return False
        if self.repeat:
            again = any(not self.problem.asks_once(each) for each in self.labellers)
            return again or not self.labellers
        return bool(self.labellers) and all(each.kind == "crowd" for each in self.labellers)

    @property
    def compares_options(self) -> bool:
        """Whether all pairs of options can be compared after each answer, by all crowds' votes."""
        return self.options**2 * len(self.problem.workers) <= MOST_COMPARISONS

    @property
    def asks_labels(self) -> bool:
        """Whether tasks are put to workers who are each asked once about a task."""
        return self.options > 0 and not self.asks_crowds

    @property
    def error(self) -> float:
        """The target, or the usual one."""
        return USUAL_ERROR if self.terms.target is None else self.terms.target

    @property
    def must_guarantee(self) -> bool:
        """Whether the policy or rule must keep the target: what is certified is kept by audits."""
        return self.terms.guarantee and self.problem.certify is None

    @property
    def sample(self) -> int:
        """Truths that a cascade needs: a quarter is learned from, the rest may show the target."""
        tested = math.log(1.0 - CONFIDENCE) / math.log1p(-self.error)
        return max(SAMPLE, math.ceil(tested * 4 / 3) + 2)

    @property
    def may_be_assured(self) -> bool:
        """Whether the assumptions of ``ccb-ns`` hold as far as can be seen."""
        tasks, workers = self.problem.tasks, self.labellers
        return (
            self._labels_are_the_policys(("majority",))
            and self.options == 2
            and self.problem.certify is None
            and len({task.context for task in tasks}) == 1
            and all(task.workers is None for task in tasks)
            and not any(each.trusted or each.family or each.limit for each in workers)
        )

    @property
    def can_cascade(self) -> bool:
        """Whether there are judges, and somebody trusted who is not kept for audits."""
        both = bool(self.judges and self.trusted) and self.problem.certify is None
        return both and self._labels_are_the_policys(())

    @property
    def pays_to_cascade(self) -> bool:
        """Whether the judges are cheap, the sample is a small part, and all can be put in turn."""
        tasks = len(self.problem.tasks)
        if not self.can_cascade or tasks < SMALL_PART * self.sample:
            return False
        all_judges = sum(each.micro for each in self.judges)
        expert = min(each.micro for each in self.trusted)
        heard = all(_most(each) >= tasks for each in self.judges)
        settled = sum(_most(each) for each in self.trusted) >= TO_TRUSTED * tasks
        open_to_all = all(task.workers is None for task in self.problem.tasks)
        needed = tasks * (all_judges + TO_TRUSTED * expert)
        affordable = self.problem.budget is None or needed <= self.problem.budget
        return all_judges <= CHEAP * expert and heard and settled and open_to_all and affordable

    def _labels_are_the_policys(self, same: tuple[str, ...]) -> bool:
        """Whether nothing the author named would replace the labels that a promise is about."""
        named = self.aggregator is None or self.aggregator.name in same
        return named and self.rule is None


def _most(worker: Worker) -> int:
    """The most answers that a worker gives."""
    return UNLIMITED if worker.limit is None else worker.limit
