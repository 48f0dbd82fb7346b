"""Settings every test shares."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

# The first call of a kernel compiles it, so neither a deadline nor a pace means anything.
_COMMON = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

settings.register_profile("ci", parent=_COMMON, derandomize=True, max_examples=60)
settings.register_profile("slow", parent=_COMMON, derandomize=True, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))
