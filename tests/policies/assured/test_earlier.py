"""Beginning with what earlier campaigns showed of workers."""

import numpy as np
import pytest

from askwise.core.choices import Done, Wait
from askwise.core.errors import InvalidParameter
from askwise.core.registry import stored_spec
from askwise.lab.papers.assured.counting import simulate_counts
from askwise.lab.worlds.assured import paper_pool
from askwise.policies import policies
from askwise.policies.assured import common as a
from askwise.policies.assured.earlier import records_of
from askwise.policies.assured.intervals import lasting_interval
from tests.policies.assured.campaigns import beliefs, campaign_of, decisions


def run(campaign):
    told = 0
    while not isinstance(choice := campaign.ask(limit=9), Done):
        if choice == Wait("truth"):
            campaign.truth(f"t{told}", "yes")
            told += 1
        for each in choice:
            campaign.tell(each.id, "yes" if each.worker != "w3" else "no")
    return campaign


def test_records_of_a_campaign_are_answers_to_tasks_whose_truth_is_known():
    first = run(campaign_of({"name": "ccb-s", "alpha": 0.3, "floor": 0.7}, tasks=20))
    explored = int(beliefs(first).tally[a.EXPLORED])
    assert {worker: (right, count) for worker, right, count in records_of(first)} == {
        "w0": (explored, explored),
        "w1": (explored, explored),
        "w2": (explored, explored),
        "w3": (0, explored),
    }


def test_an_earlier_record_counts_as_if_it_had_been_learned_here():
    records = [("w0", 45, 50), ["w2", 3, 4], ("nobody", 1, 1)]
    campaign = campaign_of({"name": "ccb-ns", "earlier": records})
    found = beliefs(campaign)
    assert found.workers[:4, a.COUNT].tolist() == [50, 0, 4, 0]
    assert found.workers[:4, a.RIGHT].tolist() == [45, 0, 3, 0]
    assert tuple(found.intervals[0]) == lasting_interval(45, 50, 0.05 / 4)


def test_with_good_records_nobody_else_is_asked_and_no_truth_is_waited_for():
    policy = {"name": "ccb-ns", "alpha": 0.2}
    campaign = campaign_of({**policy, "earlier": [("w1", 300, 300)]}, prices=[2, 1, 2, 2])
    assert decisions(run(campaign)) == [("exploit", f"t{at}", ["w1"]) for at in range(3)]
    assert decisions(run(campaign_of(policy)))[0] == ("explore", "t0", ["w0", "w1", "w2", "w3"])


def test_a_log_without_earlier_records_is_as_before():
    assert "earlier" not in stored_spec(policies.make("ccb-ns"))
    made = policies.make({"name": "ccb-fixed", "earlier": {"ann": [1, 2]}})
    assert stored_spec(made)["earlier"] == (("ann", 1, 2),)
    assert policies.make(stored_spec(made)) == made


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("ann", "earlier is 'ann': give a list"),
        ([("ann", 1)], r"earlier has \('ann', 1\): give a list"),
        ([("ann", 3, 2)], "earlier is 3: give a whole number"),
        ([("ann", 1, 2), ("ann", 1, 2)], "earlier has 'ann' twice"),
    ],
)
def test_bad_records_are_refused(given, message):
    with pytest.raises(InvalidParameter, match=message) as caught:
        policies.make({"name": "ccb-ns", "earlier": given})
    assert caught.value.field == "earlier"


def test_earlier_records_make_workers_of_the_paper_cheaper():
    pool = paper_pool(np.random.default_rng(5), 33)
    problem = pool.problem(300)
    rng = np.random.default_rng(6)
    records = [
        (worker.id, int(rng.binomial(100, quality)), 100)
        for worker, quality in zip(problem.workers, pool.qualities, strict=True)
    ]
    spent = []
    for earlier in ([], records):
        policy = policies.make({"name": "ccb-ns", "xi": 0.05, "earlier": earlier})
        world = pool.answering(5, 0, 300)
        spent.append(simulate_counts(policy, problem, world, seed=5).spent)
    assert spent[1] < 0.5 * spent[0]
