"""Campaigns of a service over HTTP, used like those of this process.

Needs the extra ``askwise[client]``.
"""

from askwise.client.campaign import AsyncRemoteCampaign, RemoteCampaign
from askwise.client.errors import Refused, Unreachable
from askwise.client.service import AsyncService, Service, aconnect, connect
from askwise.core.keys import Caller, Invitation, Key, NewKey

__all__ = [
    "AsyncRemoteCampaign",
    "AsyncService",
    "Caller",
    "Invitation",
    "Key",
    "NewKey",
    "Refused",
    "RemoteCampaign",
    "Service",
    "Unreachable",
    "aconnect",
    "connect",
]
