"""``askwise mcp``: campaigns of a service for coding agents."""

import os

from askwise.cli.examples import examples
from askwise.cli.extras import extra
from askwise.cli.options import option, switch
from askwise.core.errors import InvalidParameter

KEY = "ASKWISE_KEY"


@examples("askwise mcp --url http://127.0.0.1:8000 --budget 20", run=False)
def mcp(
    url: str = option("http://127.0.0.1:8000", "URL", "URL of the service."),
    budget: str | None = option(
        None, "AMOUNT", "Maximum that the agent may put into campaigns; 0 by default."
    ),
    read_only: bool = switch("--read-only", "Offer only tools that change nothing."),
) -> None:
    """Let a coding agent use campaigns, by the Model Context Protocol on standard input and output.

    The key of the service is read from the variable ASKWISE_KEY.
    """
    key = os.environ.get(KEY)
    if not key:
        raise InvalidParameter(f"{KEY} is not set: set it to a key of the service", field="key")
    with extra("mcp"):
        from askwise.agents.allowance import Allowance
        from askwise.agents.server import make_server
        from askwise.agents.tools import Toolbox
        from askwise.client import connect

        with connect(url, key) as service:
            # A wrong address or key is said now, and not with the first tool that is called.
            service.me()
            tools = Toolbox(service, Allowance(budget))
            make_server(tools, read_only=read_only).run("stdio")
