"""A stand-in for a model, from the shell: ``python -m askwise.testing.stand_in --port 8000``.

It is an OpenAI-compatible endpoint on this machine that needs no key and answers for every name of
a model, to try ``askwise label`` before anything is paid. Its answers are worth nothing.
"""

import argparse
import hashlib
import re
import sys
import threading
from collections.abc import Sequence

from askwise.testing.chat_server import Asked, ChatServer


def stand_in(asked: Asked) -> str:
    """The option that the item names; if it names none or several, one by a hash.

    The hash is of the model's name and the item: an answer stays the same, and two models
    differ now and then. Where there are no options, as for ratings, the answer is empty.

    Examples
    --------
    >>> prompt = "Spam? Options:\\n1. spam\\n2. ham\\n\\n<item>\\nHam for dinner\\n</item>"
    >>> body = {"model": "any", "messages": [{"role": "user", "content": prompt}]}
    >>> stand_in(Asked(0, body, {}))
    'ham'
    """
    labels, item = asked.labels, asked.item
    if not labels:
        return ""
    named = [
        label for label in labels if re.search(rf"(?<!\w){re.escape(label)}(?!\w)", item, re.I)
    ]
    if len(named) == 1:
        return named[0]
    drawn = hashlib.sha256(f"{asked.body.get('model')}\n{item}".encode()).digest()
    return labels[int.from_bytes(drawn) % len(labels)]


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until it is interrupted."""
    parser = argparse.ArgumentParser(
        prog="python -m askwise.testing.stand_in",
        description="Serve a stand-in for chat models on this machine, without a key.",
    )
    parser.add_argument("--port", type=int, default=8000, help="port on 127.0.0.1 (default: 8000)")
    port = parser.parse_args(arguments).port
    server = ChatServer(stand_in, port=port)
    try:
        server.start()
    except (OSError, OverflowError) as error:
        print(f"error: port is {port}: {error}; give another --port", file=sys.stderr)
        return 2
    print(f'base_url = "{server.url}" takes any model and no key. Ctrl-C ends it.', flush=True)
    try:
        _wait()
    except KeyboardInterrupt:
        pass
    finally:
        server.stop()
    return 0


def _wait() -> None:
    threading.Event().wait()


if __name__ == "__main__":
    sys.exit(main())
