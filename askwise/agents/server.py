"""The server of the Model Context Protocol: its tools, and errors as an agent can read them."""

import functools
from collections.abc import Callable
from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations

from askwise.agents.tools import READING, Toolbox, tool_names
from askwise.core.errors import AskwiseError
from askwise.core.version import __version__

INSTRUCTIONS = """\
askwise buys judgements (labels, ratings, reviews) from people and model judges within a hard
budget: it decides whom to ask next, about what, and when to stop. Work in this order: plan_labels
(costs nothing), create_campaign (needs a budget), invite_worker for people, wait_for_change until
the state is 'done', get_labels, get_certificate. Tools that cost money say SPENDS or RESERVES; a
campaign never spends more than its budget. Confidences that rest on 'agreement' are not
accuracies: say so when you report them."""


def make_server(tools: Toolbox, *, read_only: bool = False) -> MCPServer[Any]:
    """A server with the tools of a toolbox; ``read_only`` leaves out those that change anything."""
    server: MCPServer[Any] = MCPServer(
        "askwise", instructions=INSTRUCTIONS, version=__version__, log_level="WARNING"
    )
    for name in tool_names(read_only):
        reads = name in READING
        server.add_tool(
            _readable(getattr(tools, name)),
            name=name,
            annotations=ToolAnnotations(
                read_only_hint=reads,
                destructive_hint=name == "stop_campaign",
                idempotent_hint=reads,
                open_world_hint=not reads,
            ),
            structured_output=True,
        )
    return server


def _readable(tool: Callable[..., Any]) -> Callable[..., Any]:
    """A tool whose refusals reach the agent as they are written."""

    @functools.wraps(tool)
    def call(*args: Any, **fields: Any) -> Any:
        try:
            return tool(*args, **fields)
        except AskwiseError as error:
            raise ToolError(f"{error} (reason: {error.reason})") from error

    return call
