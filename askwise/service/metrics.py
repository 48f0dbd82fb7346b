"""What is measured, in Prometheus' text format."""

from __future__ import annotations

import os

import prometheus_client as prometheus
from prometheus_client import multiprocess as together

REQUESTS = prometheus.Counter(
    "askwise_requests", "Requests answered.", ["method", "route", "status"]
)
SECONDS = prometheus.Histogram(
    "askwise_request_seconds",
    "Time from the first byte of a request to the last of its reply.",
    ["method", "route"],
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10),
)
REFUSED = prometheus.Counter(
    "askwise_refused", "Requests refused before they reached a route.", ["why"]
)
RELEASED = prometheus.Counter("askwise_leases_released", "Assignments released by the sweeper.")
DELIVERIES = prometheus.Counter(
    "askwise_webhook_attempts", "Attempts to deliver a webhook.", ["result"]
)

SHARED = "PROMETHEUS_MULTIPROC_DIR"
"""Where the processes of one service add up their numbers; set before this is imported."""


def as_text() -> tuple[bytes, str]:
    """All of it, of all processes of this service, and its media type."""
    registry = prometheus.REGISTRY
    if SHARED in os.environ:
        registry = prometheus.CollectorRegistry()
        together.MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    return prometheus.generate_latest(registry), prometheus.CONTENT_TYPE_LATEST
