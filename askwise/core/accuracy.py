"""Error functions and cheapest sets under the name that programs hold.

They stand in :mod:`askwise.policies.assured.sets`.
"""

from askwise.policies.assured.sets import *  # noqa: F403
from askwise.policies.assured.sets import __all__ as __all__
