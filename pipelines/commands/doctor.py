"""Print what the configured endpoints and search engines can do (`ufo doctor`)."""

import argparse
import asyncio
import json
from collections.abc import Mapping
from typing import Any

from ufo.pipelines.options.arguments import number, options_of
from ufo.pipelines.options.judge_flags import Models
from ufo.pipelines.services import doctor, doctor_search
from ufo.schemas.errors import EXIT_DONE, EXIT_FAILED, UsageError
from ufo.transforms.llm.endpoint import KEY_VARIABLE, URL_VARIABLE, Endpoint, endpoints

_ENDPOINTS = [one for one in options_of(Models) if one.name != "context"]


def register(commands: Any) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "doctor",
        description="Ask the configured LLM endpoints what they can do, by small requests, and "
        "print each thing as soon as it is tested; then have the judge's model judge six claims, "
        "and recommend a formulation. Ask each search engine that the environment names one query. "
        "Exit code 1 where one cannot be used, 2 where none is configured.",
    )
    for one in _ENDPOINTS:
        one.add(parser)
    parser.add_argument(
        "--timeout",
        type=number("--timeout", 0.1, 3600, whole=False),
        default=60.0,
        metavar="SECONDS",
        help="time limit for all tests together (default 60)",
    )
    parser.add_argument("--json", action="store_true", help="print a list of objects")
    parser.set_defaults(handler=handle)


def handle(arguments: argparse.Namespace) -> int:
    """Print a diagnosis of each endpoint and engine; return 0 where all can be used, else 1.

    Raises:
        UsageError: nothing is configured.
    """
    options = {one.name: getattr(arguments, one.name) for one in _ENDPOINTS}
    configured = endpoints(**options, timeout=arguments.timeout)
    rows = asyncio.run(_diagnosed(configured, arguments.timeout, arguments.json))
    if not rows:
        raise UsageError(
            f"no LLM endpoint is configured; set {KEY_VARIABLE}, or name an endpoint of your own "
            f"with --base_url or {URL_VARIABLE}. The offline judge needs none."
        )
    if arguments.json:
        print(json.dumps(rows, ensure_ascii=False, indent=1))
    return EXIT_DONE if all(row["usable"] for row in rows) else EXIT_FAILED


async def _diagnosed(
    configured: "Mapping[str, Endpoint]", seconds: float, silent: bool
) -> list[dict[str, Any]]:
    """Diagnose all at the same time, and print the lines of one after those of the other."""

    def say(line: str) -> None:
        if not silent:
            print(line, flush=True)

    found = doctor.to_diagnose(configured)
    searched = asyncio.create_task(doctor_search.diagnose_searches(seconds))
    queues: list[asyncio.Queue[str | None]] = [asyncio.Queue() for _ in found]

    async def fill(one: doctor.Diagnosis, queue: "asyncio.Queue[str | None]") -> None:
        try:
            await doctor.diagnose(one, seconds, queue.put_nowait)
        finally:
            queue.put_nowait(None)

    filling = [asyncio.create_task(fill(*pair)) for pair in zip(found, queues, strict=True)]
    for position, queue in enumerate(queues):
        if position:
            say("")
        while (line := await queue.get()) is not None:
            say(line)
    await asyncio.gather(*filling)
    engines = await searched
    for position, engine in enumerate(engines):
        say(("\n" if found or position else "") + doctor_search.as_text(engine))
    return [
        *(one.as_json() for one in found),
        *(dict(doctor_search.as_json(engine)) for engine in engines),
    ]
