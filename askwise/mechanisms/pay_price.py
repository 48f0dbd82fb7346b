"""Pay each answer at the price it was asked at."""

from dataclasses import dataclass
from typing import ClassVar

from askwise.mechanisms.base import Mechanism, mechanisms


@mechanisms.register("pay-price")
@dataclass(frozen=True)
class PayPrice(Mechanism):
    """Pay the worker's price for every answer; no bidding.

    Assumes that workers' prices are known, or takes what they ask for as it is.

    Not truthful: workers who ask for more than their cost are paid more, while they are asked.

    References
    ----------
    None: it is what every other method takes for granted.

    Examples
    --------
    >>> from askwise.mechanisms import mechanisms
    >>> mechanisms.make("pay-price").bidding
    False
    """

    paper: ClassVar[str] = "common practice"
    promise: ClassVar[str] = (
        "Promises nothing: workers may gain by asking for more than their cost."
    )
