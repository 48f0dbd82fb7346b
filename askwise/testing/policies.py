"""What every policy does: run these checks on yours.

A check takes a policy, puts it through small campaigns and raises AssertionError where it breaks
the contract. Which checks apply follows from what the policy says of itself. With pytest::

    @pytest.mark.parametrize("check", policies.checks_for(MyPolicy()), ids=lambda c: c.__name__)
    def test_my_policy_keeps_the_contract(check):
        check(MyPolicy())
"""

from __future__ import annotations

import importlib
import json
import math
import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any
from unittest import mock

import numpy as np

from askwise.campaign import campaign as campaigns
from askwise.campaign.engine import Engine
from askwise.campaign.spec import Spec
from askwise.core import book as columns
from askwise.core import draws
from askwise.core.book import Array, Proposal
from askwise.core.choices import IDLE, Batch, Done, Wait
from askwise.core.errors import AskwiseError, InvalidAnswer
from askwise.core.events import Event, Kind, PlanRow
from askwise.core.ledger import Ledger
from askwise.core.problem import Worker
from askwise.core.registry import parameters_of
from askwise.lab.simulate import Outcome, simulate
from askwise.lab.worlds import correlation_market, drifting_market, freelancer_market
from askwise.lab.worlds.base import Market
from askwise.policies.base import KernelPolicy, Policy
from askwise.testing.sessions import MARKET, Session, comparable, scenes_for
