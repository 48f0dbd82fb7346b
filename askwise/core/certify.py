"""What a campaign is to certify, and who audits: the terms, settled before anything is asked."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from decimal import Decimal
from typing import Any

from askwise.core.checks import between, flag, whole
from askwise.core.errors import InvalidParameter, InvalidProblem
from askwise.core.fields import as_name, refuse_unknown
from askwise.core.money import SHARE_UNIT

MOST_BLOCKS = 1000

SHARE = 0.2
"""The part of the budget that is kept back for audits, if not said otherwise."""


@dataclass(frozen=True, slots=True)
class CertifyTerms:
    """What is to be said of a campaign's labels, who audits them and what that may cost.

    Parameters
    ----------
    error : float
        The share of certified labels that may be wrong.
    confidence : float
        Confidence of the statement.
    by : sequence of str
        The trusted workers who audit. They are kept for that: the policy does not ask them.
    share : float
        The part of the budget that is kept back for audits.
    escalate : bool
        Whether labels that are not certified are replaced by answers of those who audit, the least
        sure first, as far as the money goes. The statement is then about all labels.
    audits : int, optional
        The most audits; by default as many as the share pays. Needed without a budget.
    blocks : int
        How often labels are frozen and drawn from: once more whenever the policy is done with tasks
        that were added. The statements of all blocks hold together with the confidence, so each
        takes a part of the doubt and of the share.

    Examples
    --------
    >>> CertifyTerms(error=0.05, confidence=0.9, by=("vet",)).kept_back(10_000_000)
    2000000
    """

    error: float
    confidence: float
    by: tuple[str, ...]
    share: float = SHARE
    escalate: bool = False
    audits: int | None = None
    blocks: int = 1

    def __post_init__(self) -> None:
        try:
            for name in ("error", "confidence", "share"):
                between(getattr(self, name), f"certify.{name}", 0, 1)
            flag(self.escalate, "certify.escalate")
            if self.audits is not None:
                whole(self.audits, "certify.audits", least=1)
            whole(self.blocks, "certify.blocks", least=1, most=MOST_BLOCKS)
        except InvalidParameter as wrong:
            raise InvalidProblem(str(wrong), field=wrong.field) from None
        object.__setattr__(self, "by", tuple(map(as_name, self.by)))
        if not self.by or not all(isinstance(each, str) for each in self.by):
            raise InvalidProblem(
                f"certify.by is {list(self.by)!r}: name at least one trusted worker",
                field="certify.by",
            )
        if len(set(self.by)) < len(self.by):
            raise InvalidProblem(
                f"certify.by is {list(self.by)!r}: name each worker once", field="certify.by"
            )

    @property
    def share_units(self) -> int:
        """The share in thousand-millionths."""
        return round(Decimal(str(self.share)) * SHARE_UNIT)

    @property
    def block_confidence(self) -> float:
        """How sure the statement about one block is: all together may be wrong by the doubt."""
        sure = 1 - (1 - Decimal(str(self.confidence))) / self.blocks
        return float(sure)

    def kept_back(self, money: int) -> int:
        """How much of an amount, in micro-units, is kept back for audits."""
        return money * self.share_units // SHARE_UNIT

    def to_json(self) -> dict[str, Any]:
        """As JSON; what is not set is left out."""
        raw = {field.name: getattr(self, field.name) for field in fields(self)}
        raw["by"] = list(self.by)
        return {name: value for name, value in raw.items() if value is not None}


def read_terms(raw: CertifyTerms | Mapping[str, Any] | None) -> CertifyTerms | None:
    """Take terms, or a mapping of their fields."""
    if raw is None or isinstance(raw, CertifyTerms):
        return raw
    if not isinstance(raw, Mapping):
        raise InvalidProblem(
            f"certify is {raw!r}: give a mapping like {{'error': 0.05, 'confidence': 0.9, "
            "'by': ['vet']}",
            field="certify",
        )
    known = [field.name for field in fields(CertifyTerms)]
    refuse_unknown(raw, known, "certify", under="certify")
    for key in ("error", "confidence", "by"):
        if raw.get(key) is None:
            raise InvalidProblem(f"certify.{key} is missing", field=f"certify.{key}")
    by = raw["by"]
    names = (by,) if isinstance(by, str) or not isinstance(by, Iterable) else tuple(by)
    return CertifyTerms(**{**raw, "by": names})
