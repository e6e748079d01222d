"""Test what the configured LLM endpoints can do (`ufo doctor`).

The probe of a run detects what an endpoint supports. Then the model judges two claims with known
verdicts.
"""

import argparse
import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from operator import eq
from typing import Any, Final

from ufo.pipelines.commands.output import declare, print_json
from ufo.pipelines.options.command_line import settings_of
from ufo.pipelines.options.groups import OF_TEXT, JudgeOptions, ModelOptions
from ufo.pipelines.options.option import Option, options_of
from ufo.pipelines.options.settings import ENDPOINT_OPTIONS
from ufo.schemas.errors import EXIT_DONE, EXIT_FAILED, UsageError
from ufo.schemas.records import ERROR, NOANS, REFUTED, SUPPORTED, FactUnit, OpenUnits, Passage
from ufo.transforms.judges.judge import Judged
from ufo.transforms.judges.judge_context import JudgeContext
from ufo.transforms.judges.llm.llm_judge import LlmJudge
from ufo.transforms.judges.llm.llm_settings import GROUNDING, LlmSettings
from ufo.transforms.llm.client import OpenAiClient
from ufo.transforms.llm.client_settings import ClientSettings
from ufo.transforms.llm.endpoint import KEY_VARIABLE, URL_VARIABLE, Endpoint
from ufo.transforms.llm.forms import CALL, SAMPLE
from ufo.transforms.llm.request import VERIFIER, LlmError
from ufo.transforms.llm.retry import Retry
from ufo.transforms.loop import wait_for
from ufo.transforms.sources.fact_source import Found, Retrieved

_NAMES = (*ENDPOINT_OPTIONS, "context", "formulation")
_OPTIONS = [one for one in options_of(ModelOptions, JudgeOptions) if one.name in _NAMES]
# (claim, query, passage); the first is supported, the second refuted.
_CLAIMS: Final = (
    (
        "The Rhine flows into the North Sea.",
        "Which sea does the Rhine flow into?",
        "The Rhine rises in the Alps and flows through the Netherlands into the North Sea.",
    ),
    (
        "Marie Curie was born in 1901.",
        "When was Marie Curie born?",
        "Marie Curie was born in Warsaw in 1867.",
    ),
)
_INSTEAD: Final = "--formulation prompt, another --model, or --judge offline"


def register(commands: Any) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "doctor",
        description="Ask the configured LLM endpoints what they can do, by small requests, and "
        "print each thing as soon as it is tested; have the judge's model judge two claims. Exit "
        "code 1 where one cannot be used, 2 where none is configured.",
    )
    help_text = "time limit for all tests together (default 55)"
    declare(
        parser,
        *_OPTIONS,
        Option("timeout", float, help_text, "SECONDS", default=55.0, low=0.1, high=3600),
        Option("json", bool, "print a list of objects"),
    )
    parser.set_defaults(handler=handle)


def handle(arguments: argparse.Namespace) -> int:
    """Print a diagnosis of each endpoint; return 0 where all can be used, else 1.

    Raises:
        UsageError: nothing is configured.
    """
    flags = {name: getattr(arguments, name) for name in (*_NAMES, "timeout")}
    chosen = settings_of({"judge": "llm", **flags}, groups=OF_TEXT)
    settings = replace(chosen.client, concurrency=2, retry=Retry(attempts=2, seconds=5.0))
    # A role without an endpoint is skipped: there may be only a knowledge model.
    roles: dict[Endpoint, list[str]] = {}
    for role, endpoint in settings.endpoints.items():
        if endpoint.configured:
            roles.setdefault(endpoint, []).append(role)
    if not roles:
        raise UsageError(
            f"no LLM endpoint is configured; set {KEY_VARIABLE}, or name an endpoint of your own "
            f"with --base_url or {URL_VARIABLE}. The offline judge needs none."
        )
    say = (lambda line: None) if arguments.json else partial(print, flush=True)
    rows = []
    for endpoint, of in roles.items():
        seconds = arguments.timeout / len(roles)
        rows.append(wait_for(_diagnosis(settings, endpoint, of, chosen.llm(), seconds, say)))
    if arguments.json:
        print_json(rows)
    return EXIT_DONE if all(row["usable"] for row in rows) else EXIT_FAILED


async def _diagnosis(
    settings: ClientSettings,
    endpoint: Endpoint,
    roles: Sequence[str],
    judge: LlmSettings | None,
    seconds: float,
    say: Callable[[str], None],
) -> dict[str, Any]:
    """Return the diagnosis of an endpoint, and print each finding as soon as it is known.

    `problem` is None for an endpoint that can be used; otherwise it ends with the remedy.
    """
    try:
        url = endpoint.shown_url
    except LlmError:
        url = "(unusable URL)"
    say(f"{endpoint.model} at {url} ({', '.join(roles)})")
    facts: dict[str, Any] = {}
    problem = None
    client = OpenAiClient(settings)
    try:
        async with asyncio.timeout(seconds):
            known, _ = await client.probe(roles[0], CALL, SAMPLE)
            context = settings.context or known.context
            facts |= {"context": context, "structured_output": known.form, "tools": known.tools}
            say(f"  form      {known.form}")
            size = f"{context:,} tokens" if context else "not known (--context N sets it)"
            say(f"  context   {size}")
            if judge is not None and VERIFIER in roles:
                judged = await _judge(client, judge)
                outcomes = [row.outcome for row in judged.evidence]
                usable = sum(outcome != ERROR for outcome in outcomes)
                # A grounding model cannot refute: what it does not support is not answered.
                other = NOANS if judge.formulation in GROUNDING else REFUTED
                right = sum(map(eq, outcomes, (SUPPORTED, other)))
                facts |= {"usable_judgements": usable, "right_judgements": right}
                hint = "" if right == len(_CLAIMS) else f": no better than guessing; try {_INSTEAD}"
                hint += "; it never calls a claim contradicted" if other == NOANS else ""
                say(f"  judging   {right} of {len(_CLAIMS)} right, {usable} usable{hint}")
                if not usable:
                    failure = judged.failures[-1].message if judged.failures else "no reply"
                    problem = f"no judgement was usable ({failure}); take {_INSTEAD}"
    except LlmError as error:
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
    own = {"roles": list(roles), "base_url": url, "model": endpoint.model}
    own["api_key_env"] = endpoint.api_key_env
    return {**own, "usable": problem is None, "problem": problem, **facts}


async def _judge(client: OpenAiClient, settings: LlmSettings) -> Judged:
    """Judge the two claims with the judge of `ufo evaluate`."""
    units, answers = [], []
    for at, (claim, query, text) in enumerate(_CLAIMS):
        units.append(FactUnit("doctor", f"u{at}", None, claim, query, None))
        passage = Passage(text, source="doctor", passage_id=f"p{at}")
        answers.append(Found([Retrieved(passage)]))
    text = " ".join(unit.claim for unit in units)
    asked = OpenUnits("doctor", text, None, "en", [], [], units)
    return await LlmJudge(JudgeContext(settings, lambda: client)).verify(asked, "doctor", answers)
