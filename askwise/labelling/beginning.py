"""What the campaign of a job is made of, checked before anything of the job is kept."""

import json
from dataclasses import dataclass
from typing import Any

from askwise.campaign import Campaign
from askwise.campaign.earlier_records import make_spec_in
from askwise.campaign.spec import Spec
from askwise.core.errors import InvalidParameter, InvalidProblem
from askwise.core.pilot import FEWEST_TASKS
from askwise.labelling.orders import LabelOrder
from askwise.ledger import columns as c
from askwise.policies import LimitsSize
from askwise.store import Store


@dataclass(frozen=True)
class Beginning:
    """A campaign that can be created.

    Attributes
    ----------
    fields : dict
        What :meth:`askwise.Campaign.create` takes.
    spec : Spec
        What it makes of them.
    without_pilot : str or None
        Why there is no pilot, if one was left out.
    """

    fields: dict[str, Any]
    spec: Spec
    without_pilot: str | None = None

    def is_that_of(self, store: Store, campaign: str) -> bool:
        """Whether a campaign is the same, and nothing has come of it yet: no call and no truth."""
        with Campaign.open(store, campaign).reading() as state:
            ledger = state.ledger
            if int(ledger.book.workers[: ledger.total(c.WORKERS), c.FAILURES].sum()):
                return False
            if bool((ledger.book.tasks[: ledger.total(c.TASKS), c.TRUTH] >= 0).any()):
                return False
        there = Spec.from_json(store.spec(campaign))
        # A seed that nobody gave is another each time, and as good as any.
        seed = self.spec.seed if self.fields["seed"] is None else there.seed
        return _without_seed(there) == _without_seed(self.spec) and seed == self.spec.seed


def _without_seed(spec: Spec) -> dict[str, Any]:
    return {**json.loads(spec.to_json()), "seed": None}


def beginning_of(order: LabelOrder, store: Store) -> Beginning:
    """Check what an order makes a campaign of; nothing is written.

    Raises
    ------
    InvalidProblem, InvalidParameter
        The campaign can't be created; ``field`` says for what.
    """
    fields, few = order.campaign_fields(), len(order.tasks) < FEWEST_TASKS
    why = None
    if few and "pilot" in fields:
        why = _too_few(len(order.tasks))
        if order.pilot is not None:
            raise InvalidParameter(
                f"pilot is {order.pilot}: {why}; leave it out, or give 0", field="pilot"
            )
        del fields["pilot"]
    try:
        return Beginning(fields, _made(store, fields), why)
    except InvalidProblem as error:
        if order.pilot is not None or not (error.field or "").startswith("pilot"):
            raise
        # Nobody asked for a pilot: where none is possible, it is left out, and said so.
        why = str(error)
        del fields["pilot"]
        return Beginning(fields, _made(store, fields), why)


def _made(store: Store, fields: dict[str, Any]) -> Spec:
    spec = make_spec_in(store, fields)
    if isinstance(spec.policy, LimitsSize):
        spec.policy.check_size(len(spec.problem.options), len(spec.problem.workers))
    return spec


def _too_few(items: int) -> str:
    counted = "1 item is" if items == 1 else f"{items} items are"
    return f"{counted} too few for a pilot, which takes {FEWEST_TASKS} or more"
