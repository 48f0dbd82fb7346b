"""``python -m askwise`` is the command ``askwise``."""

from askwise.cli.main import run

run()
