"""Ask the configured endpoints and search engines what they can do (`ufo doctor`).

The probe of a run finds out what an endpoint takes; then the model judges two claims whose verdicts
are known. A search engine is asked one query.
"""

import argparse
import asyncio
from collections.abc import Callable, Mapping, Sequence
from operator import eq
from time import monotonic
from typing import Any, Final

from ufo.pipelines.commands.output import declare, print_json
from ufo.pipelines.options.groups import JudgeOptions, ModelOptions
from ufo.pipelines.options.option import Option, options_of
from ufo.schemas.errors import EXIT_DONE, EXIT_FAILED, UsageError, missing
from ufo.schemas.records import ERROR, REFUTED, SUPPORTED, FactUnit, OpenUnits, Passage, Usage
from ufo.schemas.storage import default_cache
from ufo.transforms.judges.judge import JudgeContext, Judged
from ufo.transforms.judges.llm.llm_judge import LlmJudge
from ufo.transforms.judges.llm.llm_settings import LlmSettings
from ufo.transforms.llm.capabilities import CALL, SAMPLE
from ufo.transforms.llm.client import OpenAiClient
from ufo.transforms.llm.client_settings import CallSettings, ClientSettings
from ufo.transforms.llm.endpoint import KEY_VARIABLE, URL_VARIABLE, Endpoint, endpoints
from ufo.transforms.llm.failures import SendError
from ufo.transforms.llm.request import VERIFIER, LlmError, Message, Request
from ufo.transforms.llm.retry import Retry
from ufo.transforms.llm.usage import usage_row
from ufo.transforms.loop import wait_for
from ufo.transforms.sources.fact_source import Found, Retrieved
from ufo.transforms.sources.web.engines import APIS, SearchApi, api_of

_OF_ENDPOINTS = (
    *("model", "base_url", "extractor_model", "extractor_base_url", "knowledge_model"),
    *("knowledge_base_url", "header", "body_json", "reasoning_effort"),
)
_OPTIONS = [
    one
    for one in options_of(ModelOptions, JudgeOptions)
    if one.name in (*_OF_ENDPOINTS, "context", "cache", "formulation")
]
# (claim, query, passage, outcome)
_CLAIMS: Final = (
    (
        "The Rhine flows into the North Sea.",
        "Which sea does the Rhine flow into?",
        "The Rhine rises in the Alps and flows through the Netherlands into the North Sea.",
        SUPPORTED,
    ),
    (
        "Marie Curie was born in 1901.",
        "When was Marie Curie born?",
        "Marie Curie was born in Warsaw in 1867.",
        REFUTED,
    ),
)
_RETRY: Final = Retry(attempts=2, seconds=60.0)
_QUERY: Final = "When was the telephone invented?"
_INSTEAD: Final = "--formulation prompt, another --model, or --judge offline"

Say = Callable[[str], None]


def register(commands: Any) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "doctor",
        description="Ask the configured LLM endpoints what they can do, by small requests, and "
        "print each thing as soon as it is tested; have the judge's model judge two claims. Ask "
        "each search engine that the environment names one query. Exit code 1 where one cannot be "
        "used, 2 where none is configured.",
    )
    said = "time limit for all tests together (default 55)"
    declare(
        parser,
        *_OPTIONS,
        Option("timeout", float, said, "SECONDS", default=55.0, low=0.1, high=3600),
        Option("json", bool, "print a list of objects"),
    )
    parser.set_defaults(handler=handle)


def handle(arguments: argparse.Namespace) -> int:
    """Print a diagnosis of each endpoint and engine; return 0 where all can be used, else 1.

    Raises:
        UsageError: nothing is configured.
    """
    given = {name: getattr(arguments, name) for name in _OF_ENDPOINTS}
    places = {name: value for name, value in given.items() if value is not None}
    settings = ClientSettings(
        endpoints(**places, timeout=arguments.timeout),
        context=arguments.context,
        cache=arguments.cache or default_cache(),
        concurrency=2,
        retry=_RETRY,
    )

    def say(line: str) -> None:
        if not arguments.json:
            print(line, flush=True)

    formulation = {"formulation": arguments.formulation} if arguments.formulation else {}
    rows = wait_for(_diagnoses(settings, formulation, arguments.timeout, say))
    if not rows:
        raise UsageError(
            f"no LLM endpoint is configured; set {KEY_VARIABLE}, or name an endpoint of your own "
            f"with --base_url or {URL_VARIABLE}. The offline judge needs none."
        )
    if arguments.json:
        print_json(rows)
    return EXIT_DONE if all(row["usable"] for row in rows) else EXIT_FAILED


async def _diagnoses(
    settings: ClientSettings, formulation: Mapping[str, Any], seconds: float, say: Say
) -> list[dict[str, Any]]:
    """Diagnose one endpoint after another, each in its part of the time, and the search engines
    meanwhile."""
    configured = [backend for backend in map(api_of, APIS) if backend.configured]
    searched = asyncio.gather(*(_search(backend, seconds) for backend in configured))
    # A role without an endpoint is passed over: a knowledge model may be all that there is.
    roles: dict[Endpoint, list[str]] = {}
    for role, endpoint in settings.endpoints.items():
        if endpoint.configured:
            roles.setdefault(endpoint, []).append(role)
    ends, found = monotonic() + seconds, []
    for position, (endpoint, of) in enumerate(roles.items()):
        share = (ends - monotonic()) / (len(roles) - position)
        found.append(await _endpoint(settings, endpoint, of, formulation, share, say))
    for engine in await searched:
        where = f" at {engine['base_url']}" if engine["base_url"] else ""
        say(f"search by {engine['search']}{where}")
        said = f"answers with {engine['results']} results to one query"
        say(f"  {said if engine['usable'] else 'cannot be used: ' + engine['problem']}")
        found.append(engine)
    return found


async def _endpoint(
    settings: ClientSettings,
    endpoint: Endpoint,
    roles: Sequence[str],
    formulation: Mapping[str, Any],
    seconds: float,
    say: Say,
) -> dict[str, Any]:
    """Return what is found out of an endpoint, and tell each thing as soon as it is known.

    `problem` is None for an endpoint that can be used, and else ends with the remedy.
    """
    try:
        url = endpoint.shown_url
    except LlmError:
        url = "(unusable URL)"
    say(f"{endpoint.model} at {url} ({', '.join(roles)})")
    facts: dict[str, Any] = {}
    usage: list[Usage] = []
    problem = None
    client = OpenAiClient(settings)
    try:
        async with asyncio.timeout(seconds):
            known, rows = await client.probe(roles[0], CALL, SAMPLE)
            usage += rows
            context = client.room(Request(roles[0], "", [Message("user", "")]))
            facts |= {"context": context, "structured_output": known.form, "tools": known.tools}
            say(f"  form      {known.form}")
            size = f"about {context:,} tokens" if context else "not known (--context N sets it)"
            say(f"  context   {size}")
            if VERIFIER in roles:
                judge = LlmSettings(endpoint.model, **formulation)
                judged = await _judge(client, judge)
                usage += judged.usage
                outcomes = [row.outcome for row in judged.evidence]
                usable = sum(outcome != ERROR for outcome in outcomes)
                right = sum(map(eq, outcomes, (outcome for *_, outcome in _CLAIMS)))
                facts |= {"usable_judgements": usable, "right_judgements": right}
                hint = "" if right == len(_CLAIMS) else f": no better than guessing; try {_INSTEAD}"
                say(f"  judging   {right} of {len(_CLAIMS)} right, {usable} usable{hint}")
                if not usable:
                    failure = judged.failures[-1].message if judged.failures else "no reply"
                    problem = f"no judgement was usable ({failure}); take {_INSTEAD}"
    except LlmError as error:
        usage += error.usage
        problem = error.message
    except TimeoutError:
        problem = (
            f"too slow, or busy: no judgement within {seconds:.0f} s; check that the server "
            f"runs, give it longer by --timeout, or take {_INSTEAD}"
        )
    finally:
        await client.aclose()
    if problem is not None:
        say(f"  cannot be used: {problem}")
    return {
        "roles": list(roles),
        "base_url": url,
        "model": endpoint.model,
        "api_key_env": endpoint.api_key_env,
        "usable": problem is None,
        "problem": problem,
        "requests": len(usage),
        **facts,
    }


async def _judge(client: OpenAiClient, settings: LlmSettings) -> Judged:
    """Have the judge of `ufo evaluate` judge the claims."""
    units, found = [], []
    for at, (claim, query, text, _) in enumerate(_CLAIMS):
        units.append(FactUnit("doctor", f"u{at}", None, claim, query, None))
        passage = Passage(text, source="doctor", passage_id=f"p{at}")
        found.append(Found([Retrieved(passage)]))
    text = " ".join(unit.claim for unit in units)
    asked = OpenUnits("doctor", text, None, "en", [], [], units)
    return await LlmJudge(JudgeContext(settings, lambda: client)).verify(asked, "doctor", found)


async def _search(backend: SearchApi, seconds: float) -> dict[str, Any]:
    """Return what is found out of a search engine: `problem` is None where it can be used, and
    else ends with the remedy; `results` is how many it gave to one query."""
    problem, absent = backend.unavailable(), missing("web")
    problem = problem or (f"it needs {absent}" if absent else None)
    url, results = "", 0
    rows: list[Usage] = []
    if problem is None:
        from ufo.transforms.sources.web.searching import STEP, Searcher  # of the extra `web`

        engine = Searcher(backend, 10, CallSettings(concurrency=1, retry=_RETRY))
        url = engine.url
        try:
            async with asyncio.timeout(seconds):
                (reply,) = await engine.send([_QUERY], usage_row(STEP, None, None, None), rows)
            results = len(list(backend.results(reply)))
            if not backend.answers(reply):
                problem = f"the reply of {url} is not a search result; check {backend.url_variable}"
        except TimeoutError:
            problem = f"no answer within --timeout {seconds:g} s; check {backend.url_variable}"
        except (SendError, LlmError) as error:
            problem = error.message
        finally:
            await engine.aclose()
    return {
        "search": backend.name,
        "base_url": url,
        "results": results,
        "requests": len(rows),
        "problem": problem,
        "usable": problem is None,
    }
