"""Contract suites: what policies, rules, aggregators, mechanisms, stores and sources pass.

They run over our own and over yours.

They need no lab; what the lab makes of a policy or a rule is checked by
:func:`askwise.lab.contract.check_in_lab`.
"""

from askwise.testing.aggregators import check_aggregator
from askwise.testing.mechanisms import check_mechanism
from askwise.testing.policies import check_policy
from askwise.testing.rules import check_rule
from askwise.testing.sources import check_source
from askwise.testing.stores import check_store

__all__ = [
    "check_aggregator",
    "check_mechanism",
    "check_policy",
    "check_rule",
    "check_source",
    "check_store",
]
