"""Serve the tools `check` and `search` to agents by MCP (`ufo mcp`)."""

import argparse
import asyncio
from typing import Any

from ufo.indexes.index import open_index
from ufo.pipelines.options.groups import OF_SERVICE
from ufo.schemas.dependencies import need
from ufo.schemas.errors import EXIT_DONE


def register(commands: Any) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "mcp",
        description="Serve the tools `check` and `search` to an agent: a server of the Model "
        "Context Protocol over stdin and stdout, which the agent's program starts.",
    )
    group = parser.add_argument_group("as of `ufo check`")
    for flag in OF_SERVICE:
        flag.add(group)
    parser.set_defaults(handler=handle)


def handle(arguments: argparse.Namespace) -> int:
    """Serve until stdin ends."""
    need("mcp", "`ufo mcp`")
    from ufo.pipelines.integrations.mcp_server import Tools, serve  # of the extra `mcp`

    flags = {flag.name: getattr(arguments, flag.name) for flag in OF_SERVICE}
    sources = flags.pop("sources")
    tools = Tools({name: value for name, value in flags.items() if value is not None}, sources)
    if arguments.index:
        open_index(arguments.index)  # so an unusable index is reported now, and no call waits
    tools.job()  # as is a wrong option
    asyncio.run(serve(tools))
    return EXIT_DONE
