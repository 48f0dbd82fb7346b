"""JSON as replies carry it."""

from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from askwise.store.json_text import json_encoder

_encode = json_encoder()
"""In ASCII, so that no odd character of a payload breaks it."""


class JsonReply(Response):
    """JSON, encoded once; its headers are made without a look at what nobody gave."""

    media_type = "application/json"

    def __init__(
        self, content: Any, status_code: int = 200, headers: Mapping[str, str] | None = None
    ) -> None:
        self.status_code = status_code
        self.background = None
        self.body = _encode(content).encode()
        self.is_plain = not headers
        """Whether it has no headers of its own but those of every JSON."""
        self.raw_headers = [
            (b"content-length", str(len(self.body)).encode()),
            (b"content-type", b"application/json"),
        ]
        for name, value in (headers or {}).items():
            self.raw_headers.append((name.lower().encode("latin-1"), value.encode("latin-1")))
