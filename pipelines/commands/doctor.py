"""Print what the configured endpoints and search engines can do (`ufo doctor`)."""

import argparse
import asyncio
import json
import time
from typing import Any

from ufo.pipelines.options.groups import ModelOptions
from ufo.pipelines.options.option import number, options_of
from ufo.pipelines.services.doctor import (
    diagnose,
    diagnose_searches,
    roles_of,
    search_in_words,
)
from ufo.schemas.errors import EXIT_DONE, EXIT_FAILED, UsageError
from ufo.transforms.llm.answer_store import default_uri
from ufo.transforms.llm.client_settings import ClientSettings
from ufo.transforms.llm.endpoint import KEY_VARIABLE, URL_VARIABLE, endpoints
from ufo.transforms.loop import wait_for

_NAMES = (
    *("model", "base_url", "extractor_model", "extractor_base_url", "knowledge_model"),
    *("knowledge_base_url", "header", "body_json", "reasoning_effort", "context", "cache"),
)
_OPTIONS = [one for one in options_of(ModelOptions) if one.name in _NAMES]


def register(commands: Any) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "doctor",
        description="Ask the configured LLM endpoints what they can do, by small requests, and "
        "print each thing as soon as it is tested; have the judge's model judge two claims in one "
        "formulation after another until both are right, and recommend that one. Later runs use "
        "what is found out, by way of the cache. Ask each search engine that the environment names "
        "one query. Exit code 1 where one cannot be used, 2 where none is configured.",
    )
    for one in _OPTIONS:
        one.add(parser)
    parser.add_argument(
        "--timeout",
        type=number("--timeout", 0.1, 3600, whole=False),
        default=55.0,
        metavar="SECONDS",
        help="time limit for all tests together (default 55)",
    )
    parser.add_argument("--json", action="store_true", help="print a list of objects")
    parser.set_defaults(handler=handle)


def handle(arguments: argparse.Namespace) -> int:
    """Print a diagnosis of each endpoint and engine; return 0 where all can be used, else 1.

    Raises:
        UsageError: nothing is configured.
    """
    given = {one.name: getattr(arguments, one.name) for one in _OPTIONS}
    cache, context = given.pop("cache") or default_uri(), given.pop("context")
    places = {name: value for name, value in given.items() if value is not None}
    settings = ClientSettings(
        endpoints(**places, timeout=arguments.timeout), context=context, cache=cache
    )
    rows = wait_for(_diagnosed(settings, arguments.timeout, arguments.json))
    if not rows:
        raise UsageError(
            f"no LLM endpoint is configured; set {KEY_VARIABLE}, or name an endpoint of your own "
            f"with --base_url or {URL_VARIABLE}. The offline judge needs none."
        )
    if arguments.json:
        print(json.dumps(rows, ensure_ascii=False, indent=1))
    return EXIT_DONE if all(row["usable"] for row in rows) else EXIT_FAILED


async def _diagnosed(
    settings: ClientSettings, seconds: float, silent: bool
) -> list[dict[str, Any]]:
    """Diagnose one endpoint after another, each in its part of the time, and the search engines
    meanwhile; print each line as soon as it is known."""

    def say(line: str) -> None:
        if not silent:
            print(line, flush=True)

    searched = asyncio.create_task(diagnose_searches(seconds))
    by_endpoint = roles_of(settings)
    ends = time.monotonic() + seconds
    found = []
    for position, (endpoint, roles) in enumerate(by_endpoint.items()):
        if position:
            say("")
        share = (ends - time.monotonic()) / (len(by_endpoint) - position)
        found.append(await diagnose(settings, endpoint, roles, share, say))
    engines = await searched
    for position, engine in enumerate(engines):
        say(("\n" if found or position else "") + search_in_words(engine))
    return [*found, *engines]
