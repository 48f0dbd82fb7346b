"""Replies that are whole when they are sent: their head and body go out in one piece.

By the messages of ASGI a server writes the head of a reply and then its body: two calls of the
operating system and two packets, after a look at each header. Most replies here are short JSON with
the same headers, so this writes them at once, to a connection of our own server.
"""

import logging

from starlette.types import Send
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, RequestResponseCycle

from askwise.service.json_reply import JsonReply


def write_whole(send: Send, reply: JsonReply, headers: bytes) -> bool:
    """Write a reply in one piece, with these lines among its headers.

    False if that can't be done, and then nothing has been: the connection is another server's, or
    its other end reads slowly or has gone.
    """
    cycle = getattr(send, "__self__", None)
    if type(cycle) is not RequestResponseCycle or not _is_ready(cycle):
        return False
    body = reply.body
    lines: list[bytes | memoryview] = [STATUS_LINE[reply.status_code]]
    for name, value in cycle.default_headers:
        lines += (name, b": ", value, b"\r\n")
    lines += (b"content-length: %d\r\ncontent-type: application/json\r\n" % len(body), headers)
    lines += (b"\r\n" if cycle.keep_alive else b"connection: close\r\n\r\n", body)
    cycle.transport.write(b"".join(lines))
    # As the server leaves it once the last piece of a reply is written.
    cycle.response_started = cycle.response_complete = True
    cycle.waiting_for_100_continue = cycle.chunked_encoding = False
    cycle.message_event.set()
    if not cycle.keep_alive:
        cycle.transport.close()
    cycle.on_response()
    return True


def _is_ready(cycle: RequestResponseCycle) -> bool:
    if cycle.response_started or cycle.disconnected or cycle.flow.write_paused:
        return False
    # The server notes a request where it writes the head, if somebody reads that.
    return not (cycle.access_log and cycle.access_logger.isEnabledFor(logging.INFO))
