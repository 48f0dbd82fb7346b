"""What every store does: run these checks on yours.

Each check takes a factory that makes a fresh, empty store, calls it once and closes the store.
With pytest::

    @pytest.mark.parametrize("check", stores.CHECKS, ids=lambda check: check.__name__)
    def test_my_store_keeps_the_contract(check, tmp_path):
        check(lambda: MyStore(tmp_path / "campaigns"))
"""

from askwise.testing.stores.base import Check, MakeStore, sample_events
from askwise.testing.stores.checks import CHECKS, check_store

__all__ = ["CHECKS", "Check", "MakeStore", "check_store", "sample_events"]
