"""Build the site: ``python -m docs.site`` (or ``make docs``) writes it into ``site/``.

The hand-written pages are copied and the generated ones put beside them, so that the repository
stays as it is. A warning is an error: a link or a heading that is not there, a page that nothing
leads to, a language that cannot be coloured.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from docs.blocks import DOCS, ROOT
from docs.generate import generate


def gather(folder: Path) -> None:
    """Put all pages, hand-written and generated, into a folder that may be there already."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(DOCS, folder, ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    generate(folder)


def build(pages: Path, site: Path) -> str:
    """Build the site of gathered pages again; returns what Sphinx complains of, or nothing."""
    shutil.rmtree(site, ignore_errors=True)
    command = [sys.executable, "-m", "sphinx", "--conf-dir", str(DOCS), "--builder", "html"]
    command += ["--quiet", "--fail-on-warning", "--keep-going", "--jobs", "auto"]
    command += ["--doctree-dir", str(pages.parent / "doctrees"), str(pages), str(site)]
    done = subprocess.run(command, cwd=ROOT, stderr=subprocess.PIPE, text=True, check=False)
    # What only Sphinx and the theme have a use for.
    for name in (".buildinfo", "_static/webpack-macros.html"):
        (site / name).unlink(missing_ok=True)
    return done.stderr if done.returncode else ""


def main() -> int:
    """Build it."""
    pages = ROOT / "build" / "site" / "pages"
    gather(pages)
    complaints = build(pages, ROOT / "site")
    sys.stderr.write(complaints)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
