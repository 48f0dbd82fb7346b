"""A browser that watches what its pages load, say and look like; and a service to point it at."""

from __future__ import annotations

import base64
import json
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

import uvicorn

from askwise.campaign import Campaign
from askwise.service.app import make_app
from askwise.service.settings import Settings
from askwise.service.state import ServiceState
from askwise.store import open_store
from scripts import browser as script

# Selenium is imported where a browser is there: it takes a second, in every process of a run.
if TYPE_CHECKING:
    from selenium.common.exceptions import WebDriverException
    from selenium.webdriver.remote.webelement import WebElement

ENTER, TAB = "\ue007", "\ue004"
"""Keys, as WebDriver calls them."""

T = TypeVar("T")

HOST = "127.0.0.1"
"""Where everything that a page loads must come from."""

PATIENCE = 10.0
"""Seconds for a page to come to what is expected of it."""

NARROW, WIDE = (360, 740), (1280, 900)
"""A small phone, a laptop."""

KEEP = "ASKWISE_SCREENSHOTS"
"""Names a directory in which the pictures of a run are kept."""

FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--force-color-profile=srgb",
    "--hide-scrollbars",
)


@dataclass
class Site:
    """A service that listens at ``url``, with its parts at hand."""

    url: str
    owner: str
    service: ServiceState

    def create(self, name: str, **fields: Any) -> Campaign:
        """Make a campaign, held open by the service itself."""
        Campaign.create(store=self.service.campaigns.store, name=name, **fields)
        return self.service.campaigns.get(name)

    def link(self, campaign: str, worker: str) -> str:
        """Invite a worker: the address that they open."""
        secret, _ = self.service.identities.issue(
            "worker", worker, campaign=campaign, worker=worker
        )
        return f"{self.url}/join/{secret}"


@contextmanager
def serving(store: str = "memory", **settings: Any) -> Iterator[Site]:
    """Serve a store, by default in memory, on a free port of this machine, in a thread."""
    with socket.socket() as taken:
        taken.bind((HOST, 0))
        url = f"http://{HOST}:{taken.getsockname()[1]}"
        app = make_app(Settings(store=store, address=url, **settings), open_store(store))
        service: ServiceState = app.state.service
        owner, _ = service.identities.issue("owner", "tests")
        server = uvicorn.Server(uvicorn.Config(app, log_config=None, access_log=False))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [taken]}, daemon=True)
        thread.start()
        try:
            deadline = time.monotonic() + PATIENCE
            while not server.started:
                assert thread.is_alive(), "the service ended as it started"
                assert time.monotonic() < deadline, "the service does not start"
                time.sleep(0.01)
            yield Site(url, owner, service)
        finally:
            server.should_exit = True
            thread.join()


def _left_the_page(error: WebDriverException) -> bool:
    """Whether an element was looked at whose page has been replaced in the meantime.

    Chromium has two words for it: which of them depends on how far the new page has come.
    """
    from selenium.common.exceptions import StaleElementReferenceException

    return isinstance(
        error, StaleElementReferenceException
    ) or "does not belong to the document" in str(error.msg)


class Browser:
    """Chromium without a window. ``requests`` and ``complaints`` are of the test under way."""

    def __init__(self, profile: Path, pictures: Path) -> None:
        found = script.programs()
        from axe_core_python.selenium import Axe
        from selenium import webdriver
        from selenium.webdriver.chrome.service import Service as Driver

        options = webdriver.ChromeOptions()
        options.binary_location = found.browser
        for flag in (*FLAGS, f"--user-data-dir={profile}"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
        self.driver = webdriver.Chrome(options, Driver(executable_path=found.driver))
        self.driver.set_script_timeout(60)
        self.pictures = pictures
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self._expected: list[str] = []
        self._axe = Axe()

    # One test after another.

    def begin(self) -> None:
        """Forget all that was: cookies, sizes, schemes, logs."""
        self.driver.get("about:blank")
        self._do("Network.clearBrowserCookies")
        self._do("Emulation.setScriptExecutionDisabled", value=False)
        self._do("Emulation.setEmulatedMedia", features=[])
        self._do("Storage.clearDataForOrigin", origin="*", storageTypes="all")
        self.online(True)
        self.size(*WIDE)
        self._read_logs()
        self.requests.clear()
        self.complaints.clear()
        self._expected.clear()

    def check(self) -> None:
        """Fail if a page asked another host for anything, or complained."""
        self._read_logs()
        outside = [
            each
            for each in self.requests
            if urlsplit(each).scheme not in ("about", "blob", "data")
            and urlsplit(each).hostname != HOST
        ]
        assert not outside, f"requests left the host: {outside}"
        bad = [
            each for each in self.complaints if not any(words in each for words in self._expected)
        ]
        assert not bad, f"the browser complains: {bad}"

    def expect(self, words: str) -> None:
        """Let complaints of the browser that hold these words pass, in this test."""
        self._expected.append(words)

    def _read_logs(self) -> None:
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                self.requests.append(message["params"]["request"]["url"])
        for entry in self.driver.get_log("browser"):
            if entry["level"] == "SEVERE":
                self.complaints.append(entry["message"])

    # What a test does.

    def open(self, url: str) -> None:
        """Go to an address."""
        self.driver.get(url)

    def press(self, *keys: str) -> None:
        """Press keys, wherever the focus is."""
        from selenium.webdriver.common.action_chains import ActionChains

        ActionChains(self.driver).send_keys(*keys).perform()

    def size(self, width: int, height: int) -> None:
        """Give pages this much room."""
        self._do(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=False,
        )  # fmt: skip

    def scheme(self, name: str) -> None:
        """Prefer ``light`` or ``dark`` pages."""
        self._do(
            "Emulation.setEmulatedMedia",
            # A colour in transition is not the page's: nothing moves while it is looked at.
            features=[
                {"name": "prefers-color-scheme", "value": name},
                {"name": "prefers-reduced-motion", "value": "reduce"},
            ],
        )

    def without_scripts(self) -> None:
        """Run no JavaScript of any page that is opened from here on."""
        self._do("Emulation.setScriptExecutionDisabled", value=True)

    def online(self, connected: bool) -> None:
        """Cut the browser off from every network, or connect it again."""
        self._do("Network.enable")
        self._do(
            "Network.emulateNetworkConditions",
            offline=not connected, latency=0, downloadThroughput=-1, uploadThroughput=-1,
        )  # fmt: skip

    def _do(self, command: str, **arguments: Any) -> Any:
        return self.driver.execute_cdp_cmd(command, arguments)

    # What a test sees.

    def find(self, css: str) -> WebElement:
        """The first element, once there is one."""
        return self.until(lambda: self.all(css)[0], f"{css} is there")

    def all(self, css: str) -> list[WebElement]:
        """The elements that are there now."""
        return self.driver.find_elements("css selector", css)

    def text(self, css: str = "main") -> str:
        """What is to be read in an element."""
        return self.until(lambda: self.find(css).text, f"{css} can be read")

    def shows(self, words: str, css: str = "main") -> None:
        """Wait until an element shows these words."""
        try:
            self.until(lambda: words in self.find(css).text or None, f"{css} shows {words!r}")
        except AssertionError as error:
            raise AssertionError(f"{error}; it shows {self.text(css)!r}") from None

    def run(self, code: str, *arguments: Any) -> Any:
        """The value of a piece of JavaScript in the page."""
        return self.driver.execute_script(code, *arguments)

    def until(self, look: Callable[[], T | None], what: str) -> T:
        """Look until there is something to see; a page may change in between."""
        from selenium.common.exceptions import WebDriverException

        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                found = look()
            except IndexError:
                found = None
            except WebDriverException as error:
                if not _left_the_page(error):
                    raise
                found = None
            if found is not None:
                return found
            assert time.monotonic() < deadline, f"waited {PATIENCE:g} s in vain until {what}"
            time.sleep(0.02)

    def is_accessible(self) -> None:
        """Fail with what axe finds against WCAG's levels A and AA."""
        wanted = {
            "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"],
            "resultTypes": ["violations"],
        }
        found = self._axe.run(self.driver, options=wanted)
        bad = [
            (each["id"], node["target"], node["failureSummary"])
            for each in found["violations"]
            for node in each["nodes"]
        ]
        assert not bad, f"axe at {self.driver.current_url}: {bad}"

    def fits(self) -> None:
        """Fail if the page must be scrolled sideways."""
        room, need = self.run(
            "const all = document.documentElement; return [all.clientWidth, all.scrollWidth]"
        )
        assert need <= room, f"the page is {need} px wide in a window of {room}"

    def look(self, name: str, *, schemes: tuple[str, ...] = ("light", "dark")) -> None:
        """Check and picture the page as it is, narrow and wide, in each colour scheme."""
        for scheme in schemes:
            self.scheme(scheme)
            for shape, size in (("narrow", NARROW), ("wide", WIDE)):
                self.size(*size)
                self.fits()
                if size == NARROW or scheme == schemes[0]:  # colours are the same at any width
                    self.is_accessible()
                self.picture(f"{name}-{shape}-{scheme}")
        self._do("Emulation.setEmulatedMedia", features=[])
        self.size(*WIDE)

    def picture(self, name: str) -> None:
        """Keep a picture of the whole page."""
        taken = self._do("Page.captureScreenshot", captureBeyondViewport=True)
        (self.pictures / f"{name}.png").write_bytes(base64.b64decode(taken["data"]))

    def quit(self) -> None:
        """End it."""
        self.driver.quit()


def sign_in(browser: Browser, site: Site, path: str) -> None:
    """Come to a page of the dashboard by way of the form for the key."""
    browser.open(f"{site.url}{path}")
    browser.press(site.owner, ENTER)
    browser.find(".dash")


def pictures_in(fallback: Path) -> Path:
    """Where pictures go: into the directory that is named, or into this one."""
    chosen = Path(os.environ.get(KEEP) or fallback)
    chosen.mkdir(parents=True, exist_ok=True)
    return chosen
