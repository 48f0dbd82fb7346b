"""Campaigns of a service over HTTP, used like those of this process.

Needs the extra ``askwise[client]``.
"""

from askwise.client.campaign import RemoteCampaign
from askwise.client.errors import Refused, Unreachable
from askwise.client.service import Service, connect
from askwise.core.keys import Caller, Invitation, Key, NewKey

__all__ = [
    "Caller",
    "Invitation",
    "Key",
    "NewKey",
    "Refused",
    "RemoteCampaign",
    "Service",
    "Unreachable",
    "connect",
]
