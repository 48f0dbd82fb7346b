"""What is too large for a decision in seconds is refused when it is created, and at the door."""

from __future__ import annotations

from typing import Any
from unittest import mock

import pytest

from askwise import Campaign, Worker
from askwise.core.choices import Batch
from askwise.core.errors import TooLarge
from askwise.ledger.columns import TOO_LARGE
from askwise.policies import Kernels
from askwise.policies.labels.hem.policy import Hem
from askwise.policies.labels.random_pairs import RandomPairs
from askwise.store import MemoryStore

# Policy, options, the most workers at that number of options, and what the message names.
LIMITS: list[tuple[str, int, int, tuple[str, ...]]] = [
    ("hem", 1000, 5000, ("options * workers", "1000 options", "5,00", "5,000,000")),
    ("lp-thompson", 10, 13, ("mixtures", "14 workers", "300,000", "virt-thompson")),
    ("glr-directed", 1000, 50, ("options * workers", "51,000", "50,000", "virt-ucb")),
    ("virt-thompson", 1000, 50, ("options * workers", "51,000", "50,000", "virt-ucb")),
]


def workers(count: int, first: int = 0) -> list[Worker]:
    return [Worker(f"w{at}", 1) for at in range(first, first + count)]


def create(policy: Any, options: int, count: int, **more: Any) -> Campaign:
    return Campaign.create(
        workers=workers(count), tasks=["t"], options=[f"o{at}" for at in range(options)],
        budget=100, policy=policy, seed=1, **more,
    )  # fmt: skip


@pytest.mark.parametrize(("policy", "options", "most", "said"), LIMITS)
def test_too_large_a_campaign_is_refused_with_the_limit_named(
    policy: str, options: int, most: int, said: tuple[str, ...]
) -> None:
    create(policy, options, most)
    with pytest.raises(TooLarge) as refused:
        create(policy, options, most + 1)
    assert refused.value.field in ("options", "workers")
    for words in (*said, repr(policy)):
        assert words in str(refused.value)


@pytest.mark.parametrize(("policy", "options", "most", "said"), LIMITS)
def test_workers_who_make_a_campaign_too_large_do_not_join(
    policy: str, options: int, most: int, said: tuple[str, ...]
) -> None:
    campaign = create(policy, options, most - 1)
    with pytest.raises(TooLarge) as refused:
        campaign.add(workers=workers(2, most))
    for words in said:
        assert words in str(refused.value)
    assert campaign.log() == []
    campaign.add(workers=workers(1, most))
    # Whoever comes back is counted already; whoever left still is.
    campaign.leave("w0")
    campaign.add(workers=workers(1))
    campaign.leave("w0")
    with pytest.raises(TooLarge):
        campaign.add(workers=workers(1, most + 1))


def test_more_options_than_workers_are_too_many_by_their_square() -> None:
    create("hem", 2236, 2)
    with pytest.raises(TooLarge, match=r"options \* options with 2237 options"):
        create("hem", 2237, 2)


def test_a_benchmark_is_not_told_of_more_crowds_than_it_can_mix() -> None:
    truth = [[0.1] * 10] * 14
    with pytest.raises(TooLarge, match="14 rows of truth"):
        create({"name": "best-mixture", "truth": truth}, 10, 14)
    create({"name": "best-mixture", "truth": truth[:13]}, 10, 14)


def test_a_campaign_from_before_there_was_a_limit_still_opens(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store = MemoryStore()
    with monkeypatch.context() as before:
        before.setattr(Hem, "check_size", lambda *_: None)
        large = create("hem", 100, 4, store=store, name="large")
    assert Campaign.open(store, "large").status() == large.status()


def test_a_decision_that_turns_out_too_large_is_refused_and_changes_nothing() -> None:
    campaign = create("random-pairs", 2, 2)
    before = campaign.log()
    too_large = Kernels(mock.Mock(return_value=TOO_LARGE), RandomPairs.kernels.absorb)
    with (
        mock.patch.object(RandomPairs, "kernels", too_large),
        pytest.raises(TooLarge, match="use a policy that approximates") as caught,
    ):
        campaign.ask()
    assert caught.value.field == "policy"
    assert campaign.log() == before
    assert isinstance(campaign.ask(), Batch)
