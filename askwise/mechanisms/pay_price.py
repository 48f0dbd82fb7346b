"""Pay each answer at the price it was asked at."""

from __future__ import annotations

from dataclasses import dataclass

from askwise.mechanisms.base import Mechanism, mechanisms


@mechanisms.register("pay-price")
@dataclass(frozen=True)
class PayPrice(Mechanism):
    """Every answer is paid the worker's price; no bidding.

    Assumes
    -------
    Workers' prices are known, or what they ask for is taken as it is.

    Not
    ---
    Truthful: a worker who asks for more than his cost is paid more, as long as he is asked.

    References
    ----------
    None: it is what every other method takes for granted.

    Examples
    --------
    >>> from askwise.mechanisms import mechanisms
    >>> mechanisms.make("pay-price").bidding
    False
    """
