"""Contract suites: what every policy, rule, aggregator and store passes, ours and yours."""

from askwise.testing.policies import check_policy
from askwise.testing.rules import check_rule
from askwise.testing.stores import check_store

__all__ = ["check_policy", "check_rule", "check_store"]
