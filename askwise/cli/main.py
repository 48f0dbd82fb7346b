"""The entry point of ``askwise``."""

import sys


def run() -> None:
    """Run the command line."""
    try:
        # Imported here, so that Ctrl-C in the first moments gives no traceback either.
        from askwise.cli.app import app

        for stream in (sys.stdout, sys.stderr):
            # A name that the terminal's encoding lacks is shown by its code.
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
        app()
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)
