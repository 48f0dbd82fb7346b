"""What is measured, in Prometheus' text format."""

import os

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    REGISTRY,
    CollectorRegistry,
    Counter,
    Histogram,
    generate_latest,
)
from prometheus_client import multiprocess as together

REQUESTS = Counter("askwise_requests", "Requests answered.", ["method", "route", "status"])
SECONDS = Histogram(
    "askwise_request_seconds",
    "Time from the first byte of a request to the last of its reply.",
    ["method", "route"],
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10),
)
REFUSED = Counter("askwise_refused", "Requests refused before they reached a route.", ["why"])
RELEASED = Counter("askwise_leases_released", "Assignments released by the sweeper.")
DELIVERIES = Counter("askwise_webhook_attempts", "Attempts to deliver a webhook.", ["result"])

SHARED = "PROMETHEUS_MULTIPROC_DIR"
"""Where the processes of one service add up their numbers; set before this is imported."""


def as_text() -> tuple[bytes, str]:
    """All of it, of all processes of this service, and its media type."""
    registry = REGISTRY
    if SHARED in os.environ:
        registry = CollectorRegistry()
        together.MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    return generate_latest(registry), CONTENT_TYPE_LATEST
