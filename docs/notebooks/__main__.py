"""Run the notebooks again and store their outputs: ``python -m docs.notebooks``."""

import tempfile
from pathlib import Path

import nbformat

from docs.notebooks import FOLDER, execute

for path in sorted(FOLDER.glob("*.ipynb")):
    with tempfile.TemporaryDirectory() as folder:
        nbformat.write(execute(path, Path(folder)), path)
    print(path.name)
