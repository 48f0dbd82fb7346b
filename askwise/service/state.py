"""What the routes and pages of one application work with."""

from dataclasses import dataclass, field

from starlette.requests import Request

from askwise.service.auth.identity import Identities
from askwise.service.availability import Availability
from askwise.service.judges import JudgePanel, JudgeRuns
from askwise.service.log_watch import LogWatch
from askwise.service.open_campaigns import OpenCampaigns
from askwise.service.participants import Participants
from askwise.service.settings import Settings
from askwise.service.threads import Threads
from askwise.service.webhooks.webhooks import Webhooks


@dataclass
class ServiceState:
    """The parts of a running service."""

    settings: Settings
    campaigns: OpenCampaigns
    identities: Identities
    availability: Availability
    webhooks: Webhooks
    judges: JudgePanel
    runs: JudgeRuns
    threads: Threads
    watch: LogWatch
    participants: Participants
    probes: Threads = field(default_factory=lambda: Threads("probe", 4))
    """Threads that look whether the store answers."""


def service_of(request: Request) -> ServiceState:
    """The state of the application that a request came to."""
    return request.scope["app"].service
