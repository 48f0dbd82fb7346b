"""What audits have shown of a campaign's labels, as a whole and of each task."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal, Self, get_args

import numpy as np

from askwise.auditing.certificates import CertifyOutcome
from askwise.auditing.climbs import AuditedSet
from askwise.campaign.certifying import Block, Certification, affordable_audits
from askwise.campaign.refusals import conflict
from askwise.campaign.state import CampaignState
from askwise.core.arrays import Array
from askwise.core.choices import Done
from askwise.core.json_types import Count, Id, Level
from askwise.core.jsonable import Jsonable
from askwise.core.money import from_micro
from askwise.core.shown import ShownResult
from askwise.ledger import Ledger
from askwise.ledger import columns as c

Certified = Literal["uncertified", "certified", "audited", "escalated"]
"""What a certificate says of a task: its label is ``certified``; it was ``audited``, and was wrong
or is not among those that are certified, so that the audit is the answer; it was not certified and
``escalated`` to a trusted worker, whose answer it is; or its label is ``uncertified``."""

CertifyPhase = Literal["labelling", "auditing", "done"]

_WORDS: tuple[Certified | None, ...] = (None, *get_args(Certified))
_NOTHING, _UNCERTIFIED, _CERTIFIED, _AUDITED, _ESCALATED = range(5)


@dataclass(frozen=True, slots=True)
class CertifiedBlock(Jsonable):
    """What audits show of the labels of one draw.

    Attributes
    ----------
    tasks : int
        Labels that were drawn from.
    audits : int
        The most audits there may be of this draw.
    audited : int
        Audits so far that count.
    wrong : int
        How many of these audits found a wrong label.
    certified : int
        Labels that the statement is about, including those that were audited.
    missing : int
        With escalation, labels that are still to be replaced for the statement to hold.
    outcome : CertifyOutcome
        ``certified``; ``open`` (no label is certified yet, but further audits may change
        that); or ``hopeless`` (they can't).
    confidence : float
        How sure the statement about this block is.
    digest : str
        A digest of the tasks, labels and scores that were drawn from.
    sets : tuple of AuditedSet
        The nested sets as far as they were looked at.
    statement : str
        What may be said of this block, in words.
    """

    tasks: Count
    audits: Count
    audited: Count
    wrong: Count
    certified: Count
    missing: Count
    outcome: CertifyOutcome
    confidence: Level
    digest: str
    sets: tuple[AuditedSet, ...]
    statement: str

    @classmethod
    def of(cls, block: Block, ledger: Ledger) -> Self:
        """What the audits of a block show."""
        drawn = block.drawn
        missing = block.missing(ledger) if drawn.escalate else 0
        found = block.certificate(replaced=drawn.escalate and not missing)
        words = found.statement
        if missing and found.outcome == "certified":
            words += (
                f" {missing:,} of the labels that are not certified are still to be replaced; the "
                "statement holds once they are."
            )
        return cls(
            tasks=found.tasks,
            audits=drawn.audits,
            audited=found.audited,
            wrong=found.wrong,
            certified=len(found.certified),
            missing=missing,
            outcome=found.outcome,
            confidence=found.confidence,
            digest=drawn.digest,
            sets=found.sets,
            statement=words,
        )


@dataclass(frozen=True, slots=True)
class CampaignCertificate(ShownResult, Jsonable):
    """What is shown about a campaign's labels because some were drawn at random and audited.

    Attributes
    ----------
    error : float
        The share of certified labels that may be wrong.
    confidence : float
        How sure the statement is.
    by : tuple of str
        The workers who audit.
    escalate : bool
        Whether labels that are not certified are replaced by trusted answers.
    phase : CertifyPhase
        ``labelling`` while labels are made, ``auditing`` while trusted workers are asked,
        ``done`` when nobody is left to ask.
    audits : int
        The most audits there may be; before the draw, as many as the money kept back pays
        for.
    audited : int
        Audits so far that count.
    wrong : int
        How many of these audits found a wrong label.
    certified : int
        Labels that are certified.
    escalated : int
        Labels that were replaced by trusted answers.
    uncertified : int
        Labels that are neither, and tasks without a label.
    kept : Decimal
        Money that is kept back for audits.
    spent : Decimal
        What those who audit were paid.
    blocks : tuple of CertifiedBlock
        What was shown of the labels of each draw.
    statement : str
        What may be said, in words for a report.
    """

    error: Level
    confidence: Level
    by: tuple[Id, ...]
    escalate: bool
    phase: CertifyPhase
    audits: Count
    audited: Count
    wrong: Count
    certified: Count
    escalated: Count
    uncertified: Count
    kept: Decimal
    spent: Decimal
    blocks: tuple[CertifiedBlock, ...]
    statement: str

    def _headline(self) -> str:
        return self.statement

    def _records(self) -> list[dict[str, Any]]:
        return [
            {"block": number, **each._asdict()}
            for number, block in enumerate(self.blocks, 1)
            for each in block.sets
        ]

    def plot(self) -> Any:
        """The share of wrong labels that audits found, beside what is allowed.

        Needs Matplotlib, which is in the extra ``askwise[lab]``.
        """
        from askwise.auditing.pictures import audits_figure

        return audits_figure([each for block in self.blocks for each in block.sets], self.error)


def certificate(state: CampaignState) -> CampaignCertificate:
    """What audits have shown so far."""
    audits = state.certification
    if audits is None:
        message = "this campaign certifies nothing: create one with certify={'error': ...}"
        raise conflict("not_certifying", "certify", message)
    ledger, terms, problem = state.ledger, audits.terms, state.spec.problem
    codes = _codes(ledger, audits)
    counts = np.bincount(codes, minlength=len(_WORDS)).tolist()
    blocks = tuple(CertifiedBlock.of(block, ledger) for block in audits.blocks)
    planned = affordable_audits(problem, ledger, ledger.total(c.KEPT))
    return CampaignCertificate(
        error=terms.error,
        confidence=terms.confidence,
        by=terms.by,
        escalate=terms.escalate,
        phase=_phase(state, audits),
        audits=sum(each.audits for each in blocks) if blocks else planned,
        audited=sum(each.audited for each in blocks),
        wrong=sum(each.wrong for each in blocks),
        certified=counts[_CERTIFIED],
        escalated=counts[_ESCALATED],
        uncertified=counts[_UNCERTIFIED],
        kept=from_micro(ledger.total(c.KEPT)),
        spent=from_micro(_spent(ledger)),
        blocks=blocks,
        statement=_statement(blocks),
    )


def _phase(state: CampaignState, audits: Certification) -> CertifyPhase:
    """Whether labels are made, trusted workers are asked, or all is done."""
    if state.ledger.total(c.STOPPED):
        return "done"
    if not audits.blocks:
        return "labelling"
    if not isinstance(audits.next_step(state.ledger, state.auditors()), Done):
        return "auditing"
    return "labelling" if state.ledger.total(c.OPEN) else "done"


def certified_words(
    ledger: Ledger, audits: Certification
) -> list[tuple[Certified | None, float | None]]:
    """What the certificate says of each task, and of a certified label how many are right.

    None of those whose truth was known before.
    """
    shares = np.full(ledger.total(c.TASKS), np.nan)
    for block in audits.blocks:
        if block.vouched:
            shares[block.tasks] = block.share_right
    codes = _codes(ledger, audits).tolist()
    return [(_WORDS[code], share) for code, share in zip(codes, shares.tolist(), strict=True)]


def _codes(ledger: Ledger, audits: Certification) -> Array:
    """The same as numbers."""
    codes = np.full(ledger.total(c.TASKS), _NOTHING)
    if not audits.blocks:
        return codes
    truths = ledger.book.tasks[: len(codes), c.TRUTH]
    codes[truths < 0] = _UNCERTIFIED
    for block in audits.blocks:
        told, certified = truths[block.tasks], block.certified()
        audited = np.full(len(told), not block.drawn.escalate)
        audited[list(block.climb.wrong)] = True
        found = np.where(told < 0, _UNCERTIFIED, np.where(audited, _AUDITED, _ESCALATED))
        # An audit that found a certified label to be right leaves it among those that are vouched
        # for: without these, the others would look worse than they are.
        found[certified & ((told < 0) | (told == block.labels))] = _CERTIFIED
        codes[block.tasks] = found
    if audits.terms.escalate:
        unlabelled = [at for at, (label, _) in ledger.closings.items() if label.value is None]
        codes[[at for at in unlabelled if truths[at] >= 0]] = _ESCALATED
    return codes


def _spent(ledger: Ledger) -> int:
    """What those who audit were paid."""
    workers = ledger.book.workers[: ledger.total(c.WORKERS)]
    return int(workers[workers[:, c.AUDITS] > 0, c.PAID].sum())


def _statement(blocks: tuple[CertifiedBlock, ...]) -> str:
    """The statements of all blocks."""
    if not blocks:
        return (
            "Nothing is certified yet: labels are audited when the policy is done with all tasks."
        )
    if len(blocks) == 1:
        return blocks[0].statement
    return " ".join(f"Block {at}: {block.statement}" for at, block in enumerate(blocks, 1))
