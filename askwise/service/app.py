"""The application: puts routes, pages, middleware and the background work together."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio.to_thread
from starlette.staticfiles import StaticFiles

from askwise.service import logs, signals
from askwise.service.api import reference
from askwise.service.api.description import Description
from askwise.service.api.routes import (
    assignments,
    campaigns,
    catalogue,
    health,
    judges,
    keys,
    payments,
    undoing,
    workers,
)
from askwise.service.api.routes import webhooks as webhook_routes
from askwise.service.auth.identity import Identities
from askwise.service.availability import Availability
from askwise.service.dashboard import campaign, home, manage, new_campaign, review, sign_in
from askwise.service.dashboard import payments as payment_pages
from askwise.service.dashboard import undoing as undoing_pages
from askwise.service.dashboard import webhooks as webhook_pages
from askwise.service.dashboard.overview import Overviews
from askwise.service.garbage import search_less_for_garbage
from askwise.service.judges import JudgePanel, JudgeRuns
from askwise.service.log_watch import LogWatch
from askwise.service.middleware.requests import RequestMiddleware
from askwise.service.open_campaigns import MOST_OPEN, OpenCampaigns
from askwise.service.pages.base import refused
from askwise.service.participants import Participants
from askwise.service.routing.application import Application
from askwise.service.settings import Settings
from askwise.service.state import ServiceState
from askwise.service.threads import LoopCrew, Threads
from askwise.service.webhooks.courier import Courier
from askwise.service.webhooks.posting import Network
from askwise.service.webhooks.signing import SigningSecret
from askwise.service.webhooks.webhooks import Webhooks
from askwise.service.work import page, prolific
from askwise.store import Store, open_store

THREADS = 128
"""Threads for requests that wait for a store or a campaign; asks and answers need none."""

SPARE_THREADS = 8
"""Threads that no request about a campaign takes: keys are looked up in them."""


def make_app(settings: Settings, store: Store | None = None) -> Application:
    """Build the application on the store that the settings name, or on this one, and close it
    when the application ends.
    """
    opened = open_store(settings.store) if store is None else store
    crew = LoopCrew(Threads("writer", MOST_OPEN), Threads("committer", MOST_OPEN))
    open_campaigns = OpenCampaigns(opened, settings.sweep, crew=crew, lease=settings.lease)
    identities = Identities(opened)
    network = Network(private=settings.private_hooks)
    told = Webhooks(opened, network, signing=SigningSecret.read(settings.secret))
    courier = Courier(open_campaigns, told, network)
    panel = JudgePanel.read(settings.judges, opened, private=settings.private_judges)
    runs = JudgeRuns(open_campaigns, panel)
    threads = Threads("request", THREADS)
    watch = LogWatch(opened)
    service = ServiceState(
        settings,
        open_campaigns,
        identities,
        Availability(opened),
        told,
        panel,
        runs,
        threads,
        watch,
        Participants(open_campaigns),
    )

    def stop_soon() -> None:
        runs.stop_soon()
        watch.end_soon()

    overviews = Overviews(open_campaigns)
    middleware = RequestMiddleware(
        settings, identities, threads, places=THREADS - SPARE_THREADS, refuse=refused
    )

    @asynccontextmanager
    async def life(_: object) -> AsyncIterator[None]:
        anyio.to_thread.current_default_thread_limiter().total_tokens = THREADS
        signals.heed_signals(told=stop_soon)
        open_campaigns.start()
        courier.start()
        runs.start()
        watch.start()
        yield
        watch.close()
        await anyio.to_thread.run_sync(runs.close)
        await anyio.to_thread.run_sync(overviews.close)
        await anyio.to_thread.run_sync(courier.close)
        await anyio.to_thread.run_sync(open_campaigns.close)
        opened.close()
        middleware.log.write()

    api = (
        *(campaigns, undoing, workers, assignments, payments, judges),
        *(catalogue, webhook_routes, keys, health),
    )
    pages = (
        *(sign_in, reference, page, prolific, home, new_campaign, campaign, review),
        *(manage, undoing_pages, payment_pages, webhook_pages),
    )
    routes = [route for module in (*api, *pages) for route in module.router.routes]
    app = Application(
        routes,
        service,
        static=StaticFiles(packages=[("askwise.service", "static")]),
        middleware=middleware,
        threads=threads,
        life=life,
    )
    app.state.service = service
    app.state.overviews = overviews
    app.state.description = Description(routes, settings.largest_page)
    return app


def from_environment() -> Application:
    """Build the application of a process that ``askwise serve`` started."""
    settings = Settings.published()
    logs.configure(settings.log)
    signals.own_process()
    signals.end_with_parent()
    made = make_app(settings)
    search_less_for_garbage()
    return made
