"""Prolific's API on this machine, for tests and for trying a study without an account."""

from askwise.testing.prolific_server.platform import MockPlatform, RefusedRequest
from askwise.testing.prolific_server.server import ProlificServer

__all__ = ["MockPlatform", "ProlificServer", "RefusedRequest"]
