"""What can be set about a service; passed to its processes through the environment."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit

from askwise.campaign.holding import Holding

VARIABLE = "ASKWISE_SERVICE"
"""Where a process finds the settings of the service that it is part of."""


def works_here_only(url: str) -> bool:
    """Whether an address leads back to the computer that opens it.

    Examples
    --------
    >>> [works_here_only(f"http://{each}:8000") for each in ("127.0.0.1", "[::1]", "localhost")]
    [True, True, True]
    >>> works_here_only("https://ask.example.org/join/aww_1"), works_here_only("http://10.0.0.7")
    (False, False)
    """
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


@dataclass(frozen=True)
class Settings:
    """How a service behaves.

    Parameters
    ----------
    store : str
        Where campaigns are kept.
    address : str
        What links to this service begin with, as its users see it; where it listens by default.
    largest_body : int
        The most bytes of a request.
    largest_page : int
        The most entries of a list in one reply.
    key_rate, key_burst : float
        Requests a second that one key may make for long, and how many at once.
    address_rate, address_burst : float
        The same for one address, whatever keys it uses; and for its wrong keys, which are counted
        apart, each as eleven.
    session : float
        Seconds for which a browser stays signed in.
    sweep : float
        Seconds between looks for leases that are over.
    most_out : int
        Assignments that a worker's token or page may have out at a time.
    lease : float or None
        Seconds until what a worker has taken with their token or page is released, in campaigns
        without a lease of their own.
    revise_within : float
        Seconds for which a worker may change their last answer; 0: not at all.
    private_hooks : bool
        Whether webhooks may go to private and loopback addresses.
    secret : str
        The file of the secret that hooks' secrets are derived from; if empty, these are kept in
        the store.
    judges : str
        The file of the operator's judges; none if empty.
    private_judges : bool
        Whether these may be at private and loopback addresses.
    log : str
        The least level that is logged; requests are ``info``.
    """

    store: str
    address: str = ""
    largest_body: int = 16 * 2**20
    largest_page: int = 1000
    key_rate: float = 1000.0
    key_burst: float = 2000.0
    address_rate: float = 1000.0
    address_burst: float = 2000.0
    session: float = 12 * 3600.0
    sweep: float = 5.0
    most_out: int = 3
    lease: float | None = 3600.0
    revise_within: float = 60.0
    private_hooks: bool = False
    secret: str = ""
    judges: str = ""
    private_judges: bool = False
    log: str = "info"

    @property
    def holding(self) -> Holding:
        """What workers who ask for themselves may hold."""
        return Holding(self.most_out, self.lease)

    @property
    def https(self) -> bool:
        """Whether browsers come over an encrypted connection."""
        return self.address.startswith("https://")

    def publish(self) -> None:
        """Hand the settings to processes that are started from here."""
        os.environ[VARIABLE] = json.dumps(asdict(self))

    @classmethod
    def published(cls) -> Settings:
        """Read what :meth:`publish` wrote."""
        return cls(**json.loads(os.environ[VARIABLE]))
