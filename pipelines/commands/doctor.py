"""`ufo doctor`: what the configured endpoints and search engines can do."""

import argparse
import json
from typing import Any

from schemas.errors import EXIT_DONE, EXIT_FAILED, UsageError

_FLAGS = {
    "--model": "the judge's model, and that of the roles below where they have none",
    "--base_url": "its endpoint (default: OPENAI_BASE_URL, else OpenAI's)",
    "--extractor_model": "the model that extracts the claims",
    "--extractor_base_url": "its endpoint",
    "--knowledge_model": "the model that is asked for what it knows",
    "--knowledge_base_url": "its endpoint",
}


def register(commands: Any) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "doctor",
        help="what the configured LLM endpoints and search engines can do",
        description="Ask the configured LLM endpoints what they can do, with two to four small "
        "requests each, and print what is done where they cannot; ask each search engine that the "
        "environment names one query. Exit code 1 where one cannot be used, 2 where none is "
        "configured.",
    )
    from pipelines.options.arguments import number

    for flag, text in _FLAGS.items():
        parser.add_argument(flag, metavar="URL" if "url" in flag else "NAME", help=text)
    parser.add_argument(
        "--timeout",
        type=number("--timeout", 1, 3600, whole=False),
        default=60.0,
        metavar="SECONDS",
        help="of one request (default 60)",
    )
    parser.add_argument("--json", action="store_true", help="print a list of objects")
    parser.set_defaults(handler=handle)


def handle(arguments: argparse.Namespace) -> int:
    """Print a diagnosis of each endpoint and engine; return 0 where all can be used, else 1.

    Raises:
        UsageError: nothing is configured.
    """
    import asyncio

    from pipelines.services import doctor, doctor_search
    from transforms.llm.endpoint import KEY_VARIABLE, URL_VARIABLE, endpoints

    options = {flag[2:]: getattr(arguments, flag[2:]) for flag in _FLAGS}
    configured = endpoints(**options, timeout=arguments.timeout)
    models = asyncio.run(doctor.diagnose(configured))
    searches = asyncio.run(doctor_search.diagnose_searches())
    if not models and not searches:
        raise UsageError(
            f"no LLM endpoint is configured; set {KEY_VARIABLE}, or name an endpoint of your own "
            f"with --base_url or {URL_VARIABLE}. The offline judge needs none."
        )
    if arguments.json:
        rows = [*map(doctor.as_json, models), *map(doctor_search.as_json, searches)]
        print(json.dumps(rows, ensure_ascii=False, indent=1))
    else:
        texts = [*map(doctor.as_text, models), *map(doctor_search.as_text, searches)]
        print("\n\n".join(texts))
    usable = [one.usable for one in models] + [one.usable for one in searches]
    return EXIT_DONE if all(usable) else EXIT_FAILED
