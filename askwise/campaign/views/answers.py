"""What a campaign says about its tasks."""

from dataclasses import dataclass

from askwise.campaign.certifying import FROZEN
from askwise.campaign.state import CampaignState
from askwise.campaign.views.certificate import Certified, certified_words
from askwise.core.jsonable import Jsonable
from askwise.core.labels import NO_LABEL, RestsOn, told
from askwise.ledger import columns as c


@dataclass(frozen=True, slots=True)
class Answer(Jsonable):
    """What the campaign says about a task so far.

    ``value`` is an option, or the mean utility; None while there is no answer. ``outcome`` is
    ``open`` or, once closed, the stopping rule's word (``closed`` when closed by hand); under a
    policy that assures an accuracy also ``assured``, ``everyone_asked``, ``not_assured``,
    ``target_not_reachable``, or ``assurance_failed`` where audits have shown that answers such as
    this are wrong more often than was assured. ``assured_error`` is then the probability of a wrong
    answer at the lower bounds of the qualities of those who answered, by the policy's error
    function, and ``majority_error`` the same by the exact error of the majority; both with what
    audits have shown them to be exceeded by. None elsewhere.

    ``rests_on`` says what the confidence is: ``agreement`` of votes under a model of workers, which
    is no probability; ``calibrated``, agreement that known truths have mapped to a probability;
    ``certified``, where a certificate vouches for the label, and the confidence is the share of
    such labels that are right; or ``truth``, where the task's truth was told and is the answer.
    None where nobody has answered and in utility campaigns.

    ``certificate`` is, once labels were drawn for audits, ``certified``, ``audited`` (the label was
    wrong or is not among those that are certified, and the audit is the answer), ``escalated`` (to
    a trusted worker, whose answer it is) or ``uncertified``; None before, and where the truth was
    known before.
    """

    task: str | None
    value: str | float | None
    confidence: float | None
    outcome: str
    count: int
    assured_error: float | None = None
    majority_error: float | None = None
    rests_on: RestsOn | None = None
    certificate: Certified | None = None


def answers(state: CampaignState) -> list[Answer]:
    """Every task's answer: its truth where that was told, the rule's where it closed the task or
    came to no end, else the aggregator's or the policy's.
    """
    ledger = state.ledger
    ran_out = state.ran_out()
    total = ledger.total(c.TASKS)
    truths = ledger.book.tasks[:total, c.TRUTH].tolist()
    named = []
    for task, truth in enumerate(truths):
        label, outcome = ledger.closings.get(task, (NO_LABEL, ran_out))
        if truth >= 0:
            label = told(truth)
        elif label.value is None and outcome in ("over_budget", "low_confidence"):
            label = state.guess(task)
        named.append((label, outcome))
    # All at once: an aggregator may have to learn from every answer there is.
    rest = [task for task, (label, _) in enumerate(named) if label.value is None]
    for task, label in zip(rest, state.labels(rest), strict=True):
        named[task] = (label, named[task][1])
    assured = state.assurances(list(range(total)))
    counts = ledger.book.tasks[:total, c.TASK_ANSWERED].tolist()
    audits = state.certification
    words: list[tuple[Certified | None, float | None]] = [(None, None)] * total
    if audits is not None:
        words = certified_words(ledger, audits)
    found = []
    for task, ((value, sure, rests_on), outcome) in enumerate(named):
        worth = None if assured is None or counts[task] == 0 else assured[task]
        if counts[task] == 0 and rests_on == "agreement":
            # A prior: nobody has agreed with anybody.
            rests_on = None
        unruled = outcome in ("open", FROZEN)
        word, share = words[task]
        if word == "certified" and rests_on != "truth":
            sure, rests_on = share, "certified"
        found.append(
            Answer(
                task=ledger.task_id(task),
                value=state.named(value),
                confidence=sure,
                outcome=worth.outcome if worth is not None and unruled else outcome,
                count=counts[task],
                assured_error=None if worth is None else worth.error,
                majority_error=None if worth is None else worth.majority,
                rests_on=rests_on,
                certificate=word,
            )
        )
    return found
