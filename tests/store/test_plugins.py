"""Stores of other distributions, opened by the schemes that they register."""

from __future__ import annotations

import sys
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import pytest

from askwise import Campaign, Worker
from askwise.core.choices import Batch
from askwise.core.errors import StoreError
from askwise.store import MemoryStore, open_store, pending_steps
from askwise.store.backup.file import backup, restore
from tests.store import json_store

Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Install a distribution with a module and the schemes that it registers."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def make(name: str, code: str, **points: str) -> None:
        (tmp_path / f"{name}.py").write_text(code)
        folder = tmp_path / f"{name}-1.0.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        lines = ["[askwise.stores]", *(f"{scheme} = {at}" for scheme, at in points.items())]
        (folder / "entry_points.txt").write_text("\n".join(lines))
        monkeypatch.delitem(sys.modules, name, raising=False)

    return make


GOOD = """
from askwise.store import MemoryStore

class Store(MemoryStore):
    def __init__(self, url):
        super().__init__()
        self.url = url
"""


def test_a_scheme_of_an_installed_plugin_opens_its_store(install: Install) -> None:
    install("shelf_store", GOOD, shelf="shelf_store:Store")
    store = open_store("shelf://ann@here/there")
    assert isinstance(store, MemoryStore)
    assert store.url == "shelf://ann@here/there"  # type: ignore[attr-defined]
    assert pending_steps("shelf://x") == []


def test_the_schemes_of_plugins_are_named_where_none_fits(install: Install) -> None:
    install("shelf_store", GOOD, shelf="shelf_store:Store")
    with pytest.raises(StoreError, match="plug-ins add shelf"):
        open_store("shelve://x")
    assert "shelf_store" not in sys.modules, "a plug-in is imported only for its scheme"


@pytest.mark.parametrize(
    ("code", "point", "said"),
    [
        ("1 / 0", "broken:Store", r"ZeroDivisionError: division by zero"),
        ("import nowhere_to_be_found", "broken:Store", r"No module named 'nowhere"),
        ("", "broken:Store", r"AttributeError.*Store"),
    ],
)
def test_a_broken_plugin_is_named_when_it_is_asked_for_and_harms_no_other(
    code: str, point: str, said: str, install: Install
) -> None:
    install("broken", code, bad=point)
    assert open_store("memory").names() == []
    with pytest.raises(
        StoreError, match=rf"'bad' of package broken .* can't be loaded.*{said}.*uninstall"
    ):
        open_store("bad://x")


def test_what_a_plugin_lacks_is_said_with_the_extra_that_brings_it(install: Install) -> None:
    install("broken", "import nowhere_to_be_found", bad="broken:Store [all]")
    with pytest.raises(StoreError, match=r"pip install 'broken\[all\]'"):
        open_store("bad://x")


def test_a_plugin_that_opens_no_store_is_named(install: Install) -> None:
    install("broken", "def make(url): return url", bad="broken:make")
    with pytest.raises(
        StoreError, match=r"'bad' of package broken .* returned str, which is not a Store"
    ):
        open_store("bad://x")


def test_a_scheme_that_is_taken_stays_with_its_first_owner(
    install: Install, caplog: pytest.LogCaptureFixture
) -> None:
    install("thief", GOOD, memory="thief:Store")
    for _ in range(2):
        assert type(open_store("memory")) is MemoryStore
    told = "store scheme 'memory' of package thief"
    assert [told in record.getMessage() for record in caplog.records] == [True]


def test_a_campaign_runs_and_goes_on_in_a_small_store_of_somebody_else(
    install: Install, tmp_path: Path
) -> None:
    install("json_store", Path(json_store.__file__).read_text(), json="json_store:JsonStore")
    url = f"json://{tmp_path}/campaigns.json"
    campaign = Campaign.create(
        workers=[Worker("ann", 1)],
        outcome="utility",
        budget=9,
        policy="uniform",
        store=url,
        name="cats",
    )
    batch = campaign.ask(limit=1)
    assert isinstance(batch, Batch)
    campaign.tell(batch[0].id, 0.5)
    again = Campaign.open(url, "cats")
    assert again.log() == campaign.log()
    assert isinstance(again.ask(limit=1), Batch)


def test_a_store_that_can_not_be_copied_says_so_in_one_line(tmp_path: Path) -> None:
    store = json_store.JsonStore(f"json://{tmp_path}/campaigns.json")
    store.create("cats", "{}", 0.0)
    with pytest.raises(StoreError, match=r"^a JsonStore can't be backed up: ") as caught:
        backup(store, BytesIO(), 0.0)
    assert "\n" not in str(caught.value)
    with pytest.raises(StoreError, match=r"^a JsonStore can't be restored into: "):
        restore(store, BytesIO())
