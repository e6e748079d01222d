"""Diagnose the configured endpoints and search engines within a time limit (`ufo doctor`).

The probe of a run finds out what an endpoint takes. Then the model judges two claims with known
verdicts in one formulation after another, until both are right. A way of asking for functions by
which nothing usable comes is given up, and later runs begin with what is known then. A search
engine is asked one query.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from time import monotonic
from typing import Any, Final

from ufo.pipelines.services.endpoints import remember
from ufo.schemas.errors import missing
from ufo.schemas.records import (
    ERROR,
    REFUTED,
    SUPPORTED,
    FactUnit,
    Failure,
    OpenUnits,
    Passage,
    Usage,
)
from ufo.transforms.judges.judge import JudgeContext, Judged
from ufo.transforms.judges.llm.llm_judge import LlmJudge
from ufo.transforms.judges.llm.llm_settings import PROMPT, RATIONALE, STEPWISE, XML, LlmSettings
from ufo.transforms.llm.capabilities import CALL, SAMPLE, WORDS, Capabilities
from ufo.transforms.llm.client import OpenAiClient
from ufo.transforms.llm.client_settings import CallSettings, ClientSettings
from ufo.transforms.llm.endpoint import NO_KEY, Endpoint
from ufo.transforms.llm.failures import SendError
from ufo.transforms.llm.request import (
    EXTRACTOR,
    KNOWLEDGE,
    VERIFIER,
    LlmError,
    Message,
    Request,
)
from ufo.transforms.llm.retry import Retry
from ufo.transforms.llm.usage import usage_row
from ufo.transforms.sources.fact_source import Found, Retrieved
from ufo.transforms.sources.web.engines import APIS, SearchApi, api_of

CLAIMS: Final = (
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
"""(claim, query, passage, outcome)."""

_FUNCTION: Final = "--formulation function"
# By the flags of `ufo evaluate`, the fewest requests for many claims first.
_WAYS: Final[Mapping[str, Mapping[str, Any]]] = {
    _FUNCTION: {},
    f"--formulation {PROMPT}": {"formulation": PROMPT},
    f"--formulation {RATIONALE}": {"formulation": RATIONALE},
    f"--formulation {STEPWISE}": {"formulation": STEPWISE},
    f"{_FUNCTION} --format xml": {"format": XML},
}
_RETRY: Final = Retry(attempts=2, seconds=60.0)
_QUERY: Final = "When was the telephone invented?"
_INSTEAD: Final = "another --model, or --judge offline"


def roles_of(settings: ClientSettings) -> dict[Endpoint, list[str]]:
    """Return each endpoint that is configured with all of its roles.

    A role without one is passed over: the offline judge needs none, and a knowledge model may be
    all that there is.
    """
    roles: dict[Endpoint, list[str]] = {}
    for role, endpoint in settings.endpoints.items():
        if endpoint.configured:
            roles.setdefault(endpoint, []).append(role)
    return roles


async def diagnose(
    settings: ClientSettings,
    endpoint: Endpoint,
    roles: Sequence[str],
    seconds: float,
    say: Callable[[str], None],
) -> dict[str, Any]:
    """Return what is found out of an endpoint within so many seconds, as plain values by name.

    `say` is given each line for people as soon as it is known; the cache of `settings` keeps what
    is learned. `problem` is None for an endpoint that can be used, and else ends with the remedy.
    """
    try:
        url = endpoint.shown_url
    except LlmError:
        url = "(unusable URL)"
    say(f"{endpoint.model} at {url} ({', '.join(roles)})")
    facts: dict[str, Any] = {"judging": []} if VERIFIER in roles else {}
    usage: list[Usage] = []
    problem = None
    try:
        async with asyncio.timeout(seconds):
            known = await _probed(settings, endpoint, roles, usage, facts, say)
            if VERIFIER in roles:
                known = await _judge_until_right(settings, endpoint, known, usage, facts, say)
            await remember(settings, endpoint, known)
    except LlmError as error:
        usage += error.usage
        problem = error.message
    except TimeoutError:
        if not facts.get("judging"):
            problem = (
                f"too slow, or busy: no judgement within {seconds:.0f} s; check that the server "
                f"runs, give it longer by --timeout, or take {_INSTEAD}"
            )
        else:
            _line(say, "judging", "no time left", "give it longer by --timeout to try the others")
    if problem is None and VERIFIER in roles:
        problem = _recommend(facts, say)
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


def _line(say: Callable[[str], None], what: str, said: str, note: str = "") -> None:
    say(f"  {what:<12} {said:<22} {note}".rstrip())


def _client(
    settings: ClientSettings, endpoint: Endpoint, known: Capabilities | None
) -> OpenAiClient:
    """Return a client with these capabilities, None to probe them."""
    roles = dict.fromkeys((VERIFIER, EXTRACTOR, KNOWLEDGE), endpoint)
    can = {} if known is None else {endpoint: known}
    settings = replace(settings, concurrency=2, retry=_RETRY)
    return OpenAiClient(replace(settings, endpoints=roles, capabilities=can))


async def _probed(
    settings: ClientSettings,
    endpoint: Endpoint,
    roles: Sequence[str],
    usage: list[Usage],
    facts: dict[str, Any],
    say: Callable[[str], None],
) -> Capabilities:
    """Return what the probes of a run find out, and tell it.

    Raises:
        LlmError: the endpoint cannot be used.
    """
    client = _client(settings, endpoint, None)
    try:
        known, rows = await client.probe(roles[0], CALL, SAMPLE)
        context = client.room(Request(roles[0], "", [Message("user", "")]))
    finally:
        await client.aclose()
    usage += rows
    sent = endpoint.key() != NO_KEY
    _line(say, "key", f"{'sent' if sent else 'none'}, not refused", endpoint.api_key_env)
    note = "" if known.tools else "the function's arguments are asked for that way"
    _line(say, "form", known.form, note)
    note = "" if context else "it is learned from refusals, or set by --context N"
    _line(say, "context", f"about {context:,} tokens" if context else "not known", note)
    facts |= {"key_sent": sent, "context": context, **_form(known)}
    return known


def _form(known: Capabilities) -> dict[str, Any]:
    return {"structured_output": known.form, "strict": known.strict, "tools": known.tools}


async def _judge_until_right(
    settings: ClientSettings,
    endpoint: Endpoint,
    known: Capabilities,
    usage: list[Usage],
    facts: dict[str, Any],
    say: Callable[[str], None],
) -> Capabilities:
    """Judge the claims in one formulation after another until all are right; return what is known
    then. By `function` one form after another is tried until something usable comes."""
    for flags in _WAYS:
        result, known = await _judged(settings, endpoint, flags, known, usage)
        other = known
        while flags == _FUNCTION and not result["usable"] and other.form != WORDS:
            other = replace(other, forms=other.forms[1:])
            again, other = await _judged(settings, endpoint, flags, other, usage)
            if again["usable"]:
                result, known = again, other
        facts["judging"].append(result)
        facts |= _form(known)
        note = "{usable} usable, {requests} requests, {seconds:.1f} s".format(**result)
        note += f"; {result['failure']}" if result["failure"] else ""
        _line(say, "judging", f"{result['right']} of {len(CLAIMS)} right", f"{flags}: {note}")
        if result["right"] == len(CLAIMS):
            break
    return known


async def _judged(
    settings: ClientSettings,
    endpoint: Endpoint,
    flags: str,
    known: Capabilities,
    usage: list[Usage],
) -> tuple[dict[str, Any], Capabilities]:
    """Judge the claims by the judge of `ufo evaluate`; what it learns is part of what is known
    then."""
    begun, client = monotonic(), _client(settings, endpoint, known)
    judge = LlmJudge(JudgeContext(LlmSettings(endpoint.model, **_WAYS[flags]), lambda: client))
    units, found = [], []
    for at, (claim, query, text, _) in enumerate(CLAIMS):
        units.append(FactUnit("doctor", f"u{at}", None, claim, query, None))
        passage = Passage(text, source="doctor", passage_id=f"p{at}")
        found.append(Found([Retrieved(passage)]))
    text = " ".join(unit.claim for unit in units)
    try:
        asked = OpenUnits("doctor", text, None, "en", [], [], units)
        judged = await judge.verify(asked, "doctor", found)
        known, _ = await client.probe(VERIFIER)  # sends nothing: it was probed before
    except LlmError as error:
        failure = Failure("verify", "doctor", error.reason, error.message)
        judged = Judged(failures=[failure], usage=list(error.usage))
    finally:
        await client.aclose()
    usage += judged.usage
    outcomes = [row.outcome for row in judged.evidence]
    right = sum(one == wanted for one, (*_, wanted) in zip(outcomes, CLAIMS, strict=False))
    result = {
        "flags": flags,
        "usable": sum(outcome != ERROR for outcome in outcomes),
        "right": right,
        "requests": len(judged.usage),
        "seconds": round(monotonic() - begun, 2),
        "failure": judged.failures[-1].message if judged.failures else "",
    }
    return result, known


def _recommend(facts: dict[str, Any], say: Callable[[str], None]) -> str | None:
    """Tell the best formulation; return the problem where none is."""
    best = max(facts["judging"], key=lambda one: (one["right"], one["usable"]))
    facts["recommended"] = best["flags"] if best["usable"] else None
    if not best["usable"]:
        failure = facts["judging"][0]["failure"]
        return f"no formulation gave a usable judgement ({failure}); take {_INSTEAD}"
    is_right = best["right"] == len(CLAIMS)
    why = "" if is_right else f"no better than guessing: {_INSTEAD}"
    _line(say, "recommended", best["flags"], why)
    return None


async def diagnose_searches(seconds: float) -> list[dict[str, Any]]:
    """Ask each engine whose key or address is in the environment; end within so many seconds.

    Return what is found out as plain values: `problem` is None where an engine can be used, and
    else ends with the remedy; `results` is how many it gave to one query.
    """
    configured = [backend for backend in map(api_of, APIS) if backend.configured]
    return list(await asyncio.gather(*(_searched(backend, seconds) for backend in configured)))


def search_in_words(found: Mapping[str, Any]) -> str:
    """Return what was found out about one engine, for people."""
    where = f" at {found['base_url']}" if found["base_url"] else ""
    said = f"answers           {found['results']} results to one query"
    if not found["usable"]:
        said = f"cannot be used: {found['problem']}"
    return f"search by {found['search']}{where}\n  {said}"


async def _searched(backend: SearchApi, seconds: float) -> dict[str, Any]:
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
