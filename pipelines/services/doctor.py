"""Diagnose the configured endpoints, and report each test as soon as it is done."""

import asyncio
import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ufo.pipelines.services import doctor_judging, doctor_tests
from ufo.pipelines.services.doctor_tests import RETRY, Line, Patient, Tell, Tested
from ufo.transforms.llm.base import VERIFIER, LlmError
from ufo.transforms.llm.capabilities import CALL, SAMPLE, Capabilities
from ufo.transforms.llm.client import OpenAiClient
from ufo.transforms.llm.endpoint import NO_KEY, Endpoint
from ufo.transforms.llm.settings import ClientSettings

_REFUSED = ("401", "403")
_UNREACHED = ("connection", "timeout")
_SHOWN = 8


@dataclass(slots=True)
class Diagnosis:
    """What was found out about one endpoint.

    `facts` are plain values by name, of what was tested alone. `problem` is None for an endpoint
    that can be used, and else ends with the remedy. `requests` were sent.
    """

    roles: Sequence[str]
    endpoint: Endpoint
    facts: dict[str, Any] = field(default_factory=dict)
    problem: str | None = None
    requests: int = 0

    @property
    def usable(self) -> bool:
        """Whether a run can use the endpoint."""
        return self.problem is None

    def as_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "roles": list(self.roles),
            "base_url": _url(self.endpoint),
            "model": self.endpoint.model,
            "api_key_env": self.endpoint.api_key_env,
            "usable": self.usable,
            "problem": self.problem,
            "requests": self.requests,
            **self.facts,
        }


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


async def diagnose(found: Diagnosis, seconds: float, say: Callable[[str], None]) -> None:
    """Fill in the diagnosis, and say each line for people as soon as it is known. Ends in time."""

    def tell(one: Tested) -> None:
        found.facts |= one.facts
        for line in one.lines:
            say(_as_text(line))

    say(f"{found.endpoint.model} at {_url(found.endpoint)} ({', '.join(found.roles)})")
    try:
        async with asyncio.timeout(seconds):
            await _test(found, tell)
    except TimeoutError:
        if "answers" in found.facts:
            found.facts["complete"] = False
            say(f"  the rest was not tested: --timeout {seconds:g} s is over")
        else:
            found.facts["reachable"] = False
            found.problem = (
                f"no answer within --timeout {seconds:g} s; check that the server runs and is not "
                "busy, or give it longer"
            )
    if found.problem is not None:
        say(f"  cannot be used: {found.problem}")


def _as_text(line: Line) -> str:
    what, said, note = line
    return f"  {what:<14} {said:<22} {note}".rstrip()


async def _test(found: Diagnosis, tell: Tell) -> None:
    endpoint, role = found.endpoint, found.roles[0]
    client = OpenAiClient(ClientSettings(dict.fromkeys(found.roles, endpoint), retry=RETRY))
    try:
        tell(_listed(endpoint, await client.models(role)))
        known, usage = await client.probe(role, CALL)
        found.requests += len(usage)
        tell(_answered(endpoint, found.facts["model_listed"]))
        patient = Patient(endpoint, known)
        try:
            tell(await doctor_tests.tools(patient))
            tell(_form(known))
            tell(await doctor_tests.schema(patient))
            await _sample(found, client, patient, tell)
            if VERIFIER in found.roles:
                await doctor_judging.judging(patient, tell)
        finally:
            found.requests += patient.requests
    except LlmError as error:
        found.requests += len(error.usage)
        found.problem = error.message
        tell(_failed(endpoint, error))
    finally:
        await client.aclose()


async def _sample(found: Diagnosis, client: OpenAiClient, patient: Patient, tell: Tell) -> None:
    """Test what samples are asked with. The endpoint has answered before, so that a failure here
    says nothing of its use as a judge."""
    try:
        patient.known, usage = await client.probe(found.roles[0], SAMPLE)
        found.requests += len(usage)
    except LlmError as error:
        found.requests += len(error.usage)
        tell(Tested([("samples", "not tested", error.message)]))
        return
    tell(doctor_tests.sampling(patient.known))
    tell(await doctor_tests.token_limit(patient))


def _listed(endpoint: Endpoint, names: Sequence[str]) -> Tested:
    if not names:
        line = ("model listed", "not known", "the endpoint gives no list of models")
        return Tested([line], {"model_listed": None})
    if endpoint.model in names:
        return Tested([("model listed", "yes", "in /v1/models")], {"model_listed": True})
    near = difflib.get_close_matches(endpoint.model, names, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    more = ", …" if len(names) > _SHOWN else ""
    note = f"/v1/models has {', '.join(names[:_SHOWN])}{more}{hint}"
    return Tested([("model listed", "no", note)], {"model_listed": False})


def _answered(endpoint: Endpoint, listed: bool | None) -> Tested:
    sent = endpoint.key() != NO_KEY
    name = endpoint.api_key_env
    key = ("key", "sent, not refused", name) if sent else ("key", "none sent", f"{name} is not set")
    note = "though the model is not listed: another may answer in its name"
    facts = {"reachable": True, "key_sent": sent, "key_accepted": True if sent else None}
    answers = ("answers", "yes", note if listed is False else "")
    return Tested([key, answers], {**facts, "answers": True})


def _failed(endpoint: Endpoint, error: LlmError) -> Tested:
    """Return how far the tests came, by the status of the last request."""
    status = error.usage[-1].status if error.usage else ""
    reached = bool(status) and status not in _UNREACHED
    try:
        sent = endpoint.key() != NO_KEY
    except LlmError:
        sent = False
    facts = {
        "reachable": reached if status else None,
        "key_sent": sent,
        "key_accepted": status not in _REFUSED if reached else None,
    }
    rows: list[Line] = [("reachable", _word(facts["reachable"]), "")]
    if reached:
        rows.append(("key", "refused" if status in _REFUSED else "not refused", ""))
    return Tested(rows, facts)


def _form(known: Capabilities) -> Tested:
    facts = {"structured_output": known.form, "strict": known.strict, "tools": known.tools}
    note = "" if known.tools else "the function's arguments are asked for that way"
    return Tested([("structured", known.form, note)], facts)


def _word(value: bool | None) -> str:
    return "not asked" if value is None else "yes" if value else "no"


def _url(endpoint: Endpoint) -> str:
    try:
        return endpoint.shown_url
    except LlmError:
        return "(unusable URL)"
