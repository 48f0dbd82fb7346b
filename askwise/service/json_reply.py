"""JSON as replies carry it."""

import json
from typing import Any

from starlette.responses import Response


class JsonReply(Response):
    """JSON in ASCII, so that no odd character of a payload breaks it."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        return json.dumps(content, allow_nan=False, separators=(",", ":")).encode()
