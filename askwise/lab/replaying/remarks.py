"""What should not be overlooked in a replay, in sentences."""

import math
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal

from askwise.core.money import to_micro
from askwise.data.labels import LabelTable
from askwise.lab.replaying.contenders import Contender
from askwise.lab.worlds import Recording
from askwise.policies import AwaitsTruth, LabelsItself


def remarks_on(
    table: LabelTable,
    gold: Mapping[str, str],
    contexts: Mapping[str, str] | None,
    recording: Recording,
    contenders: Sequence[Contender],
    truths: int,
    budget: int,
    cost: Decimal,
) -> Iterator[str]:
    """Sentences on what was left out, told and bought."""
    if dropped := table.dropped + len(table) - len(recording.task):
        yield (
            "Further answers of a worker to the same task are left out because a pair is asked "
            f"once: {dropped}."
        )
    known = set(table.task_names)
    if missing := sum(task not in known for task in gold):
        yield f"Tasks of the gold file without a recorded answer are left out: {missing}."
    right = int((recording.truth >= 0).sum())
    measured = right - truths
    if unmeasured := recording.tasks - right:
        yield (
            "Tasks without a gold label are asked about and paid for, and not measured: "
            f"{unmeasured} of {recording.tasks}."
        )
    if truths:
        yield (
            f"Truths told at the start of each run, at no cost: {truths}. Their tasks are drawn at "
            "random, the same for all policies, and not measured; a policy may ask about them."
        )
    for each in contenders:
        if isinstance(each.policy, AwaitsTruth):
            yield (
                f"{each.series} waits for truths and is told those of tasks that it asked about, "
                "as far as there is gold; they count as measured all the same."
            )
        ruled = each.rule is not None and each.aggregator is None
        if ruled and isinstance(each.policy, LabelsItself):
            yield (
                f"{each.series}: as in a campaign, the answers are those of the rule, not the "
                "policy's own."
            )
    if contexts is not None and (without := len(known.difference(contexts))):
        yield f"Tasks without a context share one: {without}."
    if budget >= to_micro(cost, "cost"):
        yield (
            f"The budget buys everything that was recorded, which costs {cost}: a policy that "
            "spends it has all answers, whatever it is."
        )
    yield (
        f"Intervals are over runs. Accuracy is measured on {measured} tasks: on as many others it "
        f"would differ by about {math.sqrt(0.25 / measured):.3f} at most (one standard error)."
    )
