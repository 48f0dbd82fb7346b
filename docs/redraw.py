"""Draw the figures of the reproductions again, from the numbers that are kept.

``python -m docs.redraw`` draws all of them, ``python -m docs.redraw NAME ...`` some. Nothing is
simulated.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

KEPT = Path(__file__).resolve().parent / "assets" / "reproductions"


def redraw(file: Path) -> Path:
    """Draw the first figure of the experiment whose results are in a file, beside it."""
    from askwise.lab.experiment import experiments
    from askwise.lab.results import Results
    from askwise.lab.runner import draw

    results = Results.from_json(file.read_text(encoding="utf-8"))
    # JSON has lists where an experiment has tuples.
    given = {
        name: tuple(each) if isinstance(each, list) else each
        for name, each in results.params.items()
    }
    experiment = experiments.get(results.experiment)(**given)
    with tempfile.TemporaryDirectory() as folder:
        _, undrawn = draw(experiment, results, Path(folder))
        if undrawn:
            raise SystemExit(f"{file.name}: {' '.join(undrawn)}")
        return Path(shutil.copyfile(Path(folder) / "figure.svg", file.with_suffix(".svg")))


def main(names: list[str]) -> None:
    """Draw those that are named, or all."""
    files = [KEPT / f"{name}.json" for name in names] or sorted(KEPT.glob("*.json"))
    for file in files:
        sys.stdout.write(f"{redraw(file).name}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
