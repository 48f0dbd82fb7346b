#!/usr/bin/env python3
"""A browser for tests: Debian's Chromium, driven by its chromedriver.

usage: browser.py install
           Install both if they are not there and we may. What can't be done is said, and is no
           failure: the tests are skipped then.

ASKWISE_TEST_BROWSER=0 asks for no browser: then install does nothing.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from pathlib import Path
from typing import NamedTuple

if not __package__:  # run as a program, which has its own directory on the path
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from scripts.installing import Apt, Unavailable, excused

SETTING = "ASKWISE_TEST_BROWSER"


class Programs(NamedTuple):
    """Where the browser and what drives it are."""

    browser: str
    driver: str


def programs() -> Programs:
    """Find the browser and its driver on the PATH."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    driver = shutil.which("chromedriver")
    if browser is None or driver is None:
        missing = "chromedriver" if browser else "Chromium"
        raise Unavailable(
            f"{missing} is not installed: scripts/browser.py install, as root, installs Debian's"
        )
    return Programs(browser, driver)


def install() -> None:
    """Install Debian's browser and driver unless they are there; their versions must agree."""
    try:
        programs()
        return
    except Unavailable:
        pass
    apt = Apt("a browser")
    apt.update()
    apt.install("chromium", "chromium-driver")
    programs()


def main() -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, usage=""
    )
    parser.add_argument("verb", choices=["install"])
    parser.parse_args()
    with excused("browser", fails=False):
        if os.environ.get(SETTING) != "0":
            install()


if __name__ == "__main__":
    main()
