"""Make the picture of the dashboard again: ``python -m docs.pictures``.

Runs the demonstration, serves the campaign that it leaves, and looks at it with Chromium.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PICTURE = Path(__file__).resolve().parent / "assets" / "dashboard.png"
SIZE = (1280, 860)
COLOURS = 96
"""Of the picture that is kept: a page has few."""

PATIENCE = 60.0


@contextmanager
def served(store: Path) -> Iterator[tuple[str, str]]:
    """Serve a store from another process: its address and the owner's key."""
    run = "from askwise.cli.main import run; run()"
    command = [sys.executable, "-c", run, "serve", "--store", f"sqlite:///{store}", "--port", "0"]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert process.stdout is not None
    said = ""
    try:
        for line in process.stdout:
            said += line
            if found := re.search(r"serving at (http://\S+)", said):
                key = re.search(r"awo_\S+", said)
                assert key is not None, said
                yield found[1], key[0]
                return
        raise RuntimeError(f"the service did not start: {said}")
    finally:
        process.terminate()
        process.wait(PATIENCE)


def look(address: str, key: str, file: Path) -> None:
    """Sign in, and take a picture of the overview."""
    from selenium import webdriver
    from selenium.webdriver.common.by import By

    from scripts import browser

    paths = browser.programs()
    options = webdriver.ChromeOptions()
    options.binary_location = str(paths.browser)
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"):
        options.add_argument(flag)
    driver = webdriver.Chrome(options, webdriver.ChromeService(str(paths.driver)))
    try:
        driver.set_window_size(*SIZE)
        driver.get(f"{address}/dashboard")
        field = driver.find_element(By.NAME, "key")
        field.send_keys(key)
        field.submit()
        driver.get(f"{address}/dashboard/messages")
        end = time.monotonic() + PATIENCE
        while "Certificate" not in driver.page_source and time.monotonic() < end:
            time.sleep(0.5)
        driver.save_screenshot(str(file))
    finally:
        driver.quit()


def main() -> None:
    """Make the picture."""
    from PIL import Image
    from rich.console import Console

    from askwise.demo.label_demo import run_label_demo

    with tempfile.TemporaryDirectory() as folder:
        run_label_demo(Path(folder), Console(quiet=True))
        raw = Path(folder) / "dashboard.png"
        with served(Path(folder) / "demo.sqlite") as (address, key):
            look(address, key, raw)
        picture = Image.open(raw).convert("RGB")
        picture.quantize(COLOURS, dither=Image.Dither.NONE).save(PICTURE, optimize=True)


if __name__ == "__main__":
    main()
