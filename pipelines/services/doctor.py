"""Diagnose the configured endpoints within a time limit, and keep what was learned of them.

The probe of a run finds out the form and the limits that an endpoint takes. Then the model judges
two claims with known verdicts in each formulation, while the time lasts. Each step may take half of
the time that is left, so that a slow model gets a verdict as well. A form of function calls that
brings nothing usable is given up, and later runs start with what is known then.
"""

import asyncio
import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import Any, Final

from ufo.pipelines.services.endpoints import remember
from ufo.schemas.records import (
    ERROR,
    REFUTED,
    SUPPORTED,
    FactUnit,
    OpenUnits,
    Passage,
    Usage,
)
from ufo.transforms.judges.context import JudgeContext
from ufo.transforms.judges.llm.judge import LlmJudge
from ufo.transforms.judges.llm.settings import PROMPT, RATIONALE, STEPWISE, XML, LlmSettings
from ufo.transforms.llm.base import VERIFIER, LlmError, Message, Request
from ufo.transforms.llm.capabilities import CALL, SAMPLE, WORDS, Capabilities
from ufo.transforms.llm.client import OpenAiClient
from ufo.transforms.llm.endpoint import NO_KEY, Endpoint
from ufo.transforms.llm.retry import Retry
from ufo.transforms.llm.settings import ClientSettings
from ufo.transforms.sources.base import Found, Retrieved

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

# By the flags of `ufo evaluate`, the fewest requests a claim first.
_WAYS: Final[Mapping[str, Mapping[str, Any]]] = {
    "--formulation function": {},
    f"--formulation {PROMPT}": {"formulation": PROMPT},
    f"--formulation {RATIONALE}": {"formulation": RATIONALE},
    f"--formulation {STEPWISE}": {"formulation": STEPWISE},
    "--formulation function --format xml": {"format": XML},
}
_CONCURRENCY: Final = 2
_RETRY: Final = Retry(attempts=2, seconds=60.0)
_SHOWN: Final = 8
_OF_RUN: Final = 100  # claims of the run whose time is estimated

Say = Callable[[str], None]


@dataclass(slots=True)
class Diagnosis:
    """What was found out about one endpoint.

    `facts` are plain values by name, of what was tested alone. `problem` is None for an endpoint
    that can be used, and else ends with the remedy. `usage` has a row for each request sent.
    """

    roles: Sequence[str]
    endpoint: Endpoint
    facts: dict[str, Any] = field(default_factory=dict)
    problem: str | None = None
    usage: list[Usage] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "roles": list(self.roles),
            "base_url": self.url,
            "model": self.endpoint.model,
            "api_key_env": self.endpoint.api_key_env,
            "usable": self.problem is None,
            "problem": self.problem,
            "requests": len(self.usage),
            **self.facts,
        }

    @property
    def url(self) -> str:
        """The address, for messages."""
        try:
            return self.endpoint.shown_url
        except LlmError:
            return "(unusable URL)"

    @property
    def speed(self) -> float | None:
        """The tokens of replies a second, None where nothing was counted."""
        counted = [row for row in self.usage if row.completion_tokens and row.seconds]
        seconds = sum(row.seconds for row in counted)
        return sum(row.completion_tokens or 0 for row in counted) / seconds if seconds else None


def to_diagnose(endpoints: Mapping[str, Endpoint]) -> list[Diagnosis]:
    """Return a diagnosis to be made of each endpoint that is configured, once for all of its roles.

    A role without one is passed over: the offline judge needs none, and a knowledge model may be
    all that there is.
    """
    roles: dict[Endpoint, list[str]] = {}
    for role, endpoint in endpoints.items():
        if endpoint.configured:
            roles.setdefault(endpoint, []).append(role)
    return [Diagnosis(its_roles, endpoint) for endpoint, its_roles in roles.items()]


async def diagnose(found: Diagnosis, settings: ClientSettings, seconds: float, say: Say) -> None:
    """Fill in the diagnosis, and say each line for people as soon as it is known.

    `settings` have the cache that keeps what was learned. It ends within `seconds`.
    """
    say(f"{found.endpoint.model} at {found.url} ({', '.join(found.roles)})")
    doctor = _Doctor(found, settings, monotonic() + seconds, say)
    try:
        await doctor.examine()
    except LlmError as error:
        found.usage += error.usage
        found.problem = error.message
    except TimeoutError:
        waited = f"no reply to the first request within {seconds / 2:g} s"
        least = doctor.minutes(seconds / 2)
        found.problem = (
            f"too slow, or busy: {waited}; a run of {_OF_RUN} claims takes more than {least}. Check "
            "that the server runs, give it longer by --timeout, or take a smaller --model"
        )
    if found.problem is not None:
        say(f"  cannot be used: {found.problem}")


@dataclass(slots=True)
class _Judged:
    """How the claims were judged in one way; `seconds` of it."""

    flags: str
    usable: int
    right: int
    requests: int
    seconds: float

    def as_json(self) -> dict[str, Any]:
        names = "flags", "usable", "right", "requests", "seconds"
        return {name: getattr(self, name) for name in names}


@dataclass(slots=True)
class _Doctor:
    """The examination of one endpoint, which has to end at the time `ends`."""

    found: Diagnosis
    settings: ClientSettings
    ends: float
    say: Say

    async def examine(self) -> None:
        """Test one thing after another.

        Raises:
            LlmError: the endpoint cannot be used.
            TimeoutError: the first request took too long.
        """
        found = self.found
        role = found.roles[0]
        client = self._client(None)
        try:
            async with asyncio.timeout(self._share() / 2):
                self._listed(await client.models(role))
        except TimeoutError:
            self._listed([])
        try:
            async with asyncio.timeout(self._share()):
                known, usage = await client.probe(role, CALL)
                found.usage += usage
            self._answered(known)
            known = await self._sampled(client, known)
        finally:
            await client.aclose()
        if VERIFIER in found.roles:
            known = await self._judge(known)
        if found.problem is None:
            await remember(self.settings, found.endpoint, known)

    def _client(self, known: Capabilities | None) -> OpenAiClient:
        """Return a client with the capabilities `known`; None to probe them."""
        endpoint = self.found.endpoint
        return OpenAiClient(
            replace(
                self.settings,
                endpoints=dict.fromkeys((*self.found.roles, VERIFIER), endpoint),
                capabilities={} if known is None else {endpoint: known},
                concurrency=_CONCURRENCY,
                retry=_RETRY,
            )
        )

    def _share(self) -> float:
        """Return how many seconds the next step may take: half of those left."""
        return max(0.0, (self.ends - monotonic()) / 2)

    def _tell(self, what: str, said: str, note: str = "", **facts: Any) -> None:
        self.found.facts |= facts
        self.say(f"  {what:<12} {said:<22} {note}".rstrip())

    def minutes(self, seconds: float) -> str:
        """Return how long a run takes if one claim takes so many seconds, in words."""
        minutes = seconds * _OF_RUN / 60
        return f"{minutes:,.0f} minutes" if minutes >= 1.5 else "a minute"

    def _listed(self, names: Sequence[str]) -> None:
        model = self.found.endpoint.model
        listed = model in names if names else None
        if listed is None:
            note = "the endpoint gives no list of models"
        elif listed:
            note = "in the endpoint's list"
        else:
            near = difflib.get_close_matches(model, names, n=1)
            more = ", …" if len(names) > _SHOWN else ""
            hint = f"; did you mean {near[0]!r}?" if near else ""
            note = f"the endpoint has {', '.join(names[:_SHOWN])}{more}{hint}"
        said = {None: "not known", True: "listed", False: "not listed"}[listed]
        self._tell("model", said, note, model_listed=listed)

    def _answered(self, known: Capabilities) -> None:
        """Tell what the probe of a function call found out."""
        endpoint = self.found.endpoint
        sent = endpoint.key() != NO_KEY
        said = f"{'sent' if sent else 'none'}, not refused"
        self._tell("key", said, endpoint.api_key_env, key_sent=sent, answers=True)
        self._form(known)
        prompt = Request(self.found.roles[0], "", [Message("user", "")])
        context = self._client(known).room(prompt)
        size = "not known" if context is None else f"about {context:,} tokens"
        note = "" if context else "learned from refusals; --context N sets it"
        self._tell("context", size, note, context=context)
        cap = known.most_tokens
        limit = known.limit_field or "no field for a limit is obeyed"
        said = f"{cap:,} tokens" if cap else "no cap known"
        self._tell("reply", said, limit, cap=cap, token_limit_field=known.limit_field)

    def _form(self, known: Capabilities) -> None:
        note = "" if known.tools else "arguments of functions are asked for that way"
        facts = {"structured_output": known.form, "strict": known.strict, "tools": known.tools}
        self._tell("form", known.form, note, **facts)

    async def _sampled(self, client: OpenAiClient, known: Capabilities) -> Capabilities:
        """Test what texts and samples are asked with. The endpoint has answered before, so that a
        failure here says nothing of its use as a judge."""
        try:
            async with asyncio.timeout(self._share()):
                known, usage = await client.probe(self.found.roles[0], SAMPLE)
                self.found.usage += usage
        except (LlmError, TimeoutError) as error:
            self.found.usage += getattr(error, "usage", ())
            self._tell("samples", "not tested", str(error) or "they took too long")
            return known
        facts = {"n": known.n, "logprobs": known.logprobs}
        facts |= {f"temperature_{at}": known.takes_temperature(at) for at in (0, 1)}
        told = ", ".join(f"{name} {'yes' if value else 'no'}" for name, value in facts.items())
        self._tell("samples", told.replace("_", " "), **facts)
        return known

    async def _judge(self, known: Capabilities) -> Capabilities:
        """Judge the claims in each way that fits into the time, and recommend the best of them."""
        results: list[_Judged] = []
        cut = 0.0
        for flags, options in _WAYS.items():
            share = self._share() if flags != [*_WAYS][-1] else 2 * self._share()
            settings = LlmSettings(self.found.endpoint.model, **options)
            try:
                async with asyncio.timeout(share):
                    result, known = await self._in_a_form_that_works(flags, settings, known)
            except TimeoutError:
                cut = max(cut, share)
                self._tell("judging", "took too long", f"{flags}: over {share:.1f} s")
                continue
            except LlmError as error:
                self.found.usage += error.usage
                self._tell("judging", "failed", f"{flags}: {error.message}")
                continue
            results.append(result)
            note = f"{flags}: {result.usable} usable, {result.requests} requests"
            judging = [one.as_json() for one in results]
            said = f"{result.right} of {len(CLAIMS)} right"
            self._tell("judging", said, f"{note}, {result.seconds:.1f} s", judging=judging)
        self._recommend(results, cut)
        return known

    def _recommend(self, results: Sequence[_Judged], cut: float) -> None:
        speed = self.found.speed
        tokens = f"{speed:,.0f} tokens a second" if speed else "tokens are not counted"
        usable = [one for one in results if one.usable]
        if not usable:
            why = f"no formulation gave a usable judgement ({tokens})"
            if cut:
                why = (
                    f"too slow: {tokens}; a run of {_OF_RUN} claims takes more than "
                    f"{self.minutes(cut / len(CLAIMS))}"
                )
            self.found.problem = f"{why}; take another --model, or --judge offline"
            self._tell("recommended", "none", recommended=None, tokens_per_second=speed)
            return
        best = max(usable, key=lambda one: (one.right, one.usable))
        why = f"{best.right} of {len(CLAIMS)} right, in the fewest requests of those as good"
        if best.right < len(CLAIMS):
            why = (
                f"no better than guessing: {best.right} of {len(CLAIMS)} right; another --model, "
                "or --judge offline"
            )
        took = self.minutes(best.seconds / len(CLAIMS))
        note = f"a run of {_OF_RUN} claims with a passage each takes about {took}"
        self._tell("speed", tokens, note, tokens_per_second=speed and round(speed, 1))
        self._tell("recommended", best.flags, why, recommended=best.flags, why=why)

    async def _in_a_form_that_works(
        self, flags: str, settings: LlmSettings, known: Capabilities
    ) -> tuple[_Judged, Capabilities]:
        """Judge the claims; where nothing usable comes, in the next forms of function calls.

        Return the result and what is known then: what came to be known while judging, with the form
        that worked.
        """
        result, learned = await self._judged(flags, settings, known)
        first, now = (result, learned), learned
        while not result.usable and now.form != WORDS and flags == [*_WAYS][0]:
            result, now = await self._judged(flags, settings, replace(now, forms=now.forms[1:]))
            if result.usable:
                self._form(now)
                return result, now
        return first

    async def _judged(
        self, flags: str, settings: LlmSettings, known: Capabilities
    ) -> tuple[_Judged, Capabilities]:
        """Judge the claims, by the judge of `ufo evaluate`."""
        begun = monotonic()
        units = [
            FactUnit("doctor", f"u{at}", None, claim, query, None)
            for at, (claim, query, *_) in enumerate(CLAIMS)
        ]
        found = [
            Found([Retrieved(Passage(text, source="doctor", passage_id=f"p{at}"))])
            for at, (_, _, text, _) in enumerate(CLAIMS)
        ]
        client = self._client(known)
        judge = LlmJudge(JudgeContext(settings, lambda: client))
        text = " ".join(unit.claim for unit in units)
        try:
            judged = await judge.verify(
                OpenUnits("doctor", text, None, "en", [], [], units), "doctor", found
            )
            known, _ = await client.probe(VERIFIER)  # was probed: what was learned meanwhile
        finally:
            await client.aclose()
        self.found.usage += judged.usage
        outcomes = [row.outcome for row in judged.evidence]
        right = sum(row == wanted for row, (*_, wanted) in zip(outcomes, CLAIMS, strict=True))
        usable = sum(outcome != ERROR for outcome in outcomes)
        seconds = round(monotonic() - begun, 2)
        return _Judged(flags, usable, right, len(judged.usage), seconds), known
