"""Diagnose the configured endpoints within a time limit, and keep what was learned of them.

The probe of a run finds out what an endpoint takes. Then the model judges two claims with known
verdicts in each formulation. Each step may take half of the time that is left, so that a slow model
gets a verdict as well. A way of asking for functions by which nothing usable comes is given up, and
later runs begin with what is known then.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from time import monotonic
from typing import Any, Final

from ufo.pipelines.services.endpoints import remember
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
from ufo.transforms.judges.base import Judged
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

_FUNCTION: Final = "--formulation function"
# By the flags of `ufo evaluate`, the fewest requests for many claims first.
_WAYS: Final[Mapping[str, Mapping[str, Any]]] = {
    _FUNCTION: {},
    f"--formulation {PROMPT}": {"formulation": PROMPT},
    f"--formulation {RATIONALE}": {"formulation": RATIONALE},
    f"--formulation {STEPWISE}": {"formulation": STEPWISE},
    f"{_FUNCTION} --format xml": {"format": XML},
}
_CONCURRENCY: Final = 2
_RETRY: Final = Retry(attempts=2, seconds=60.0)
_SHOWN: Final = 8  # names of models
_RUN: Final = 100  # claims of the run whose time is estimated
_INSTEAD: Final = "another --model, or --judge offline"


@dataclass(frozen=True, slots=True)
class _Judged:
    """How many of the claims got a usable and the right judgement, by these flags, and what the
    last failure says."""

    flags: str
    usable: int
    right: int
    requests: int
    seconds: float
    failure: str


@dataclass(slots=True)
class Diagnosis:
    """What is found out about one endpoint.

    `say` is given each line for people as soon as it is known. `facts` are plain values by name, of
    what was tested alone. `problem` is None for an endpoint that can be used, and else ends with
    the remedy. `usage` has a row for each request sent; `ends` is when the time is over.
    """

    roles: Sequence[str]
    endpoint: Endpoint
    settings: ClientSettings
    say: Callable[[str], None]
    facts: dict[str, Any] = field(default_factory=dict)
    problem: str | None = None
    usage: list[Usage] = field(default_factory=list)
    ends: float = 0.0

    def as_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "roles": list(self.roles),
            "base_url": self._url(),
            "model": self.endpoint.model,
            "api_key_env": self.endpoint.api_key_env,
            "usable": self.problem is None,
            "problem": self.problem,
            "requests": len(self.usage),
            **self.facts,
        }

    async def make(self, seconds: float) -> None:
        """Test one thing after another; end within so many seconds."""
        self.ends = monotonic() + seconds
        self.say(f"{self.endpoint.model} at {self._url()} ({', '.join(self.roles)})")
        try:
            known = await self._probed()
            if VERIFIER in self.roles:
                known = await self._judge(known)
            if self.problem is None:
                await remember(self.settings, self.endpoint, known)
        except LlmError as error:
            self.usage += error.usage
            self.problem = error.message
        except TimeoutError:
            waited = monotonic() - self.ends + seconds
            self.problem = (
                f"too slow, or busy: no reply within {waited:.0f} s, by which a run of {_RUN} "
                f"claims takes more than {_minutes(waited)}; check that the server runs, give it "
                f"longer by --timeout, or take {_INSTEAD}"
            )
        if self.problem is not None:
            self.say(f"  cannot be used: {self.problem}")

    def _share(self) -> float:
        """Return how many seconds the next step may take."""
        return max(0.0, (self.ends - monotonic()) / 2)

    def _tell(self, what: str, said: str, note: str = "", **facts: Any) -> None:
        self.facts |= facts
        self.say(f"  {what:<12} {said:<22} {note}".rstrip())

    def _url(self) -> str:
        try:
            return self.endpoint.shown_url
        except LlmError:
            return "(unusable URL)"

    def _client(self, known: Capabilities | None) -> OpenAiClient:
        """Return a client with these capabilities, None to probe them."""
        roles = dict.fromkeys((*self.roles, VERIFIER), self.endpoint)
        can = {} if known is None else {self.endpoint: known}
        settings = replace(self.settings, concurrency=_CONCURRENCY, retry=_RETRY)
        return OpenAiClient(replace(settings, endpoints=roles, capabilities=can))

    async def _probed(self) -> Capabilities:
        """Tell what the probes of a run find out.

        Raises:
            LlmError: the endpoint cannot be used.
            TimeoutError: it took too long.
        """
        client, role = self._client(None), self.roles[0]
        try:
            try:
                async with asyncio.timeout(self._share() / 2):
                    names = await client.models(role)
            except TimeoutError:
                names = []
            self._listed(names)
            async with asyncio.timeout(self._share()):
                known, rows = await client.probe(role, CALL, SAMPLE)
            self.usage += rows
            self._answered(known, client.room(Request(role, "", [Message("user", "")])))
            return known
        finally:
            await client.aclose()

    def _listed(self, names: Sequence[str]) -> None:
        listed = self.endpoint.model in names if names else None
        said = {None: "not known", True: "listed", False: "not listed"}[listed]
        more = ", …" if len(names) > _SHOWN else ""
        note = "" if listed else f"the endpoint lists {', '.join(names[:_SHOWN]) or 'none'}{more}"
        self._tell("model", said, note, model_listed=listed)

    def _answered(self, known: Capabilities, context: int | None) -> None:
        sent = self.endpoint.key() != NO_KEY
        name = self.endpoint.api_key_env
        self._tell("key", f"{'sent' if sent else 'none'}, not refused", name, key_sent=sent)
        self._form(known)
        size = f"about {context:,} tokens" if context else "not known"
        note = "" if context else "it is learned from refusals, or set by --context N"
        self._tell("context", size, note, context=context)
        cap, limit = known.most_tokens, known.limit_field
        size = f"up to {cap:,} tokens" if cap else "no cap known"
        note = f"limited by {limit}" if limit else "no field that limits it is obeyed"
        self._tell("reply", size, note, cap=cap, token_limit_field=limit)
        can: dict[str, Any] = {"n": known.n, "logprobs": known.logprobs}
        can |= {f"temperature_{at}": known.takes_temperature(at) for at in (0, 1)}
        told = ", ".join(f"{name} {'yes' if value else 'no'}" for name, value in can.items())
        self._tell("samples", told.replace("_", " "), **can)

    def _form(self, known: Capabilities) -> None:
        note = "" if known.tools else "the function's arguments are asked for that way"
        facts: dict[str, Any] = {
            "structured_output": known.form,
            "strict": known.strict,
            "tools": known.tools,
        }
        self._tell("form", known.form, note, **facts)

    async def _judge(self, known: Capabilities) -> Capabilities:
        """Judge the claims in each way for which there is time, and recommend the best of them."""
        results: list[_Judged] = []
        longest = 0.0
        for flags in _WAYS:
            share = self._share()
            try:
                async with asyncio.timeout(share):
                    result, known = await self._by_a_form_that_works(flags, known)
            except TimeoutError:
                longest = max(longest, share)
                self._tell("judging", "too slow", f"{flags}: more than {share:.1f} s")
                continue
            results.append(result)
            said = f"{result.right} of {len(CLAIMS)} right"
            note = f"{result.usable} usable, {result.requests} requests, {result.seconds:.1f} s"
            note += f"; {result.failure}" if result.failure else ""
            self._tell("judging", said, f"{flags}: {note}", judging=[*map(asdict, results)])
        self._recommend(results, longest / len(CLAIMS))
        return known

    def _recommend(self, results: Sequence[_Judged], longest: float) -> None:
        """Recommend the best; `longest` is the least time of a claim by what was too slow."""
        counted = [row for row in self.usage if row.completion_tokens and row.seconds]
        seconds = sum(row.seconds or 0 for row in counted)
        speed = sum(row.completion_tokens or 0 for row in counted) / seconds if seconds else None
        digits = 0 if speed and speed >= 100 else 1
        pace = f"{speed:,.{digits}f} tokens a second" if speed else "tokens are not counted"
        facts: dict[str, Any] = {
            "tokens_per_second": speed and round(speed, 1),
            "recommended": None,
            "why": None,
        }
        usable = [one for one in results if one.usable]
        if not usable:
            said = f" ({results[0].failure})" if results else ""
            self.problem = f"no formulation gave a usable judgement{said}; take {_INSTEAD}"
            if longest:
                takes = f"a run of {_RUN} claims takes more than {_minutes(longest)}"
                self.problem = f"too slow: {pace}; {takes}; take {_INSTEAD}"
            self._tell("recommended", "none", **facts)
            return
        best = max(usable, key=lambda one: (one.right, one.usable))
        of = f"{best.right} of {len(CLAIMS)} right"
        why = f"{of}, by the fewest requests for many claims"
        if best.right < len(CLAIMS):
            why = f"{of}, no better than guessing: {_INSTEAD}"
        took = _minutes(best.seconds / len(CLAIMS))
        self._tell("speed", pace, f"a run of {_RUN} claims, one passage each, takes {took}")
        self._tell(
            "recommended", best.flags, why, **facts | {"recommended": best.flags, "why": why}
        )

    async def _by_a_form_that_works(
        self, flags: str, known: Capabilities
    ) -> tuple[_Judged, Capabilities]:
        """Judge the claims, by `function` in one form after another until something usable comes.

        Return the result and what is known then.
        """
        first = result, known = await self._judged(flags, known)
        while not result.usable and flags == _FUNCTION and known.form != WORDS:
            result, known = await self._judged(flags, replace(known, forms=known.forms[1:]))
            if result.usable:
                self._form(known)
                return result, known
        return first

    async def _judged(self, flags: str, known: Capabilities) -> tuple[_Judged, Capabilities]:
        """Judge the claims by the judge of `ufo evaluate`; what it learns is part of what is known
        then."""
        begun, client = monotonic(), self._client(known)
        settings = LlmSettings(self.endpoint.model, **_WAYS[flags])
        units, found = [], []
        for at, (claim, query, text, _) in enumerate(CLAIMS):
            units.append(FactUnit("doctor", f"u{at}", None, claim, query, None))
            passage = Passage(text, source="doctor", passage_id=f"p{at}")
            found.append(Found([Retrieved(passage)]))
        text = " ".join(unit.claim for unit in units)
        judge = LlmJudge(JudgeContext(settings, lambda: client))
        try:
            asked = OpenUnits("doctor", text, None, "en", [], [], units)
            judged = await judge.verify(asked, "doctor", found)
            known, _ = await client.probe(VERIFIER)  # sends nothing: it was probed before
        except LlmError as error:
            failure = Failure("verify", "doctor", error.reason, error.message)
            judged = Judged(failures=[failure], usage=list(error.usage))
        finally:
            await client.aclose()
        self.usage += judged.usage
        outcomes = [row.outcome for row in judged.evidence]
        right = sum(one == wanted for one, (*_, wanted) in zip(outcomes, CLAIMS, strict=False))
        usable = sum(outcome != ERROR for outcome in outcomes)
        took = round(monotonic() - begun, 2)
        said = judged.failures[-1].message if judged.failures else ""
        return _Judged(flags, usable, right, len(judged.usage), took, said), known


def to_make(settings: ClientSettings, say: Callable[[str], None]) -> list[Diagnosis]:
    """Return a diagnosis to be made of each endpoint that is configured, once for all of its roles.

    A role without one is passed over: the offline judge needs none, and a knowledge model may be
    all that there is. The cache of `settings` keeps what is learned.
    """
    roles: dict[Endpoint, list[str]] = {}
    for role, endpoint in settings.endpoints.items():
        if endpoint.configured:
            roles.setdefault(endpoint, []).append(role)
    return [Diagnosis(its, endpoint, settings, say) for endpoint, its in roles.items()]


def _minutes(seconds: float) -> str:
    """Return how long a run takes whose claims take so many seconds each, in words."""
    minutes = seconds * _RUN / 60
    return f"about {minutes:,.0f} minutes" if minutes >= 1.5 else "about a minute"
