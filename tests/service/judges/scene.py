"""A service with judges at an endpoint of this machine."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from askwise.testing.chat_server import Asked, ChatServer, Scripted

KEY = "sk-very-secret-0123456789"
"""What must be seen nowhere but in the environment and in the endpoint's requests."""

PRICE = {"input": "0.15", "output": "0.60"}

CONTENT = {"question": "Is it spam?", "options": [{"name": "spam"}, {"name": "ham"}]}

Script = Callable[[Asked], "Scripted | str"]


def spam(asked: Asked) -> str:
    return "spam" if "won" in asked.item else "ham"


def endpoint(script: Script = spam) -> ChatServer:
    """An endpoint with two models."""
    return ChatServer({"big": script, "small": script}, price=PRICE, keys={KEY})


def judges_file(directory: Path, url: str) -> str:
    """A file of judges ``big`` and ``small`` at an endpoint."""
    file = directory / "judges.toml"
    file.write_text(
        f"""
[defaults]
base_url = "{url}"
key_env = "JUDGE_KEY"
price = {{input = "0.15", output = "0.60"}}
family = "acme"

[[judge]]
id = "big"
model = "big"

[[judge]]
id = "small"
model = "small"
concurrency = 2
"""
    )
    return str(file)


def described(name: str = "mail", tasks: int = 6, **changes: Any) -> dict[str, Any]:
    """A campaign of both judges."""
    texts = ["You have won", "See you at noon"]
    made: dict[str, Any] = {
        "name": name,
        "workers": [{"judge": "big"}, {"judge": "small"}],
        "tasks": [{"id": f"t{at}", "payload": f"{texts[at % 2]} {at}"} for at in range(tasks)],
        "content": CONTENT,
        "budget": "1",
        "policy": "random-pairs",
        "seed": 1,
    }
    return {**made, **changes}


def until(found: Callable[[], Any], patience: float = 90.0) -> Any:
    """What is found once it is something; fails after a while."""
    deadline = time.monotonic() + patience
    while not (last := found()):
        assert time.monotonic() < deadline, f"still {last!r}"
        time.sleep(0.01)
    return last
