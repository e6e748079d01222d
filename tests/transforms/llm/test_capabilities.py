"""What a probe finds out about endpoints of all kinds, and with how many requests."""

import asyncio

import pytest

from tests.llm_server import IGNORED, REJECTED, LlmServer, Switches
from transforms.llm.base import VERIFIER, LlmError
from transforms.llm.capabilities import CALL, SAMPLE, Capabilities, learned
from transforms.llm.client import ClientSettings, OpenAiClient
from transforms.llm.endpoint import Endpoint
from transforms.llm.failures import SendError


def probe(server: LlmServer, *shapes: str) -> Capabilities:
    async def ask() -> Capabilities:
        endpoint = Endpoint("offline-judge", server.base_url)
        client = OpenAiClient(ClientSettings({VERIFIER: endpoint}))
        try:
            known, rows = await client.probe(VERIFIER, *shapes)
            again, nothing = await client.probe(VERIFIER, *shapes)
            assert again == known
            assert nothing == []
            assert [row.step for row in rows] == ["probe"] * len(server.chats)
            return known
        finally:
            await client.aclose()

    return asyncio.run(ask())


BOTH = (CALL, SAMPLE)
OLD = ("max_tokens",)


@pytest.mark.parametrize(
    ("switches", "shapes", "expected", "requests"),
    [
        (Switches(), BOTH, Capabilities(), 2),
        (Switches(), (CALL,), Capabilities(), 1),
        (Switches(tools=REJECTED), (CALL,), Capabilities(tools=False, strict=False), 3),
        (Switches(tools=IGNORED), (CALL,), Capabilities(tools=False), 2),
        (
            Switches(tools=IGNORED, response_format=REJECTED),
            (CALL,),
            Capabilities(tools=False, json_object=False),
            3,
        ),
        (Switches(strict=REJECTED), (CALL,), Capabilities(strict=False), 2),
        (Switches(temperature_fixed=True), BOTH, Capabilities(temperature_zero=False), 3),
        (Switches(n=REJECTED), (SAMPLE,), Capabilities(n=False), 2),
        (Switches(n=IGNORED), (SAMPLE,), Capabilities(n=False), 1),
        (Switches(logprobs=REJECTED), (SAMPLE,), Capabilities(logprobs=False), 2),
        (Switches(logprobs=IGNORED), (SAMPLE,), Capabilities(logprobs=False), 1),
        (Switches(max_tokens=REJECTED), BOTH, Capabilities(), 2),
        (Switches(max_completion_tokens=REJECTED), BOTH, Capabilities(limit_fields=OLD), 3),
        (Switches(max_completion_tokens=IGNORED), BOTH, Capabilities(limit_fields=OLD), 3),
        (
            Switches(max_completion_tokens=REJECTED, max_tokens=REJECTED),
            BOTH,
            Capabilities(limit_fields=()),
            4,
        ),
        (
            Switches(max_completion_tokens=IGNORED, max_tokens=IGNORED),
            (SAMPLE,),
            Capabilities(limit_fields=()),
            3,
        ),
        (
            Switches(logprobs=REJECTED, n=REJECTED, named_errors=False),
            (SAMPLE,),
            Capabilities(logprobs=False, n=False),
            3,
        ),
    ],
)
def test_probe(
    llm_server: LlmServer,
    switches: Switches,
    shapes: tuple[str, ...],
    expected: Capabilities,
    requests: int,
) -> None:
    llm_server.switches = switches
    assert probe(llm_server, *shapes) == expected
    assert len(llm_server.chats) == requests


def test_an_endpoint_that_takes_the_least_can_be_used(llm_server: LlmServer) -> None:
    llm_server.switches = Switches(
        *[REJECTED] * 5, temperature_fixed=True, max_tokens=REJECTED,
        max_completion_tokens=REJECTED, named_errors=False,
    )  # fmt: skip
    known = probe(llm_server)
    assert known == Capabilities(
        tools=False,
        strict=False,
        json_object=False,
        n=False,
        logprobs=False,
        temperature_zero=False,
        limit_fields=(),
    )


def test_an_endpoint_that_refuses_the_plainest_request_is_unusable(llm_server: LlmServer) -> None:
    llm_server.switches = Switches(context=1)
    with pytest.raises(LlmError, match="maximum context length") as error:
        probe(llm_server)
    assert error.value.final


BODY = {
    "model": "m",
    "messages": [],
    "tools": [{"function": {"name": "f", "strict": True}}],
    "n": 5,
    "temperature": 0.0,
    "max_completion_tokens": 9,
}


def refused(message: str = "no", param: str | None = None, status: str = "400") -> SendError:
    return SendError(message, status, param=param)


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (refused(param="n"), Capabilities(n=False)),
        (refused(param="tools[0].function.strict"), Capabilities(strict=False)),
        (
            refused("Unsupported parameter: 'max_completion_tokens'."),
            Capabilities(limit_fields=OLD),
        ),
        (refused('[{"loc": ["body", "n"], "msg": "must be 1"}]'), Capabilities(n=False)),
        (refused("temperature is fixed", status="422"), Capabilities(temperature_zero=False)),
        (refused("in a run the text may be to blame"), None),
        (refused("a word, n, in passing"), None),
        (refused(param="messages"), None),
        (refused("'n'", status="500"), None),
    ],
)
def test_what_a_refusal_teaches(error: SendError, expected: Capabilities | None) -> None:
    assert learned(Capabilities(), BODY, error) == expected


def test_tools_are_given_up_by_a_probe_only() -> None:
    body = BODY | {"tools": [{"function": {"name": "f"}}]}
    error = refused(param="tools")
    assert learned(Capabilities(), body, error) is None
    assert learned(Capabilities(), body, error, probing=True) == Capabilities(tools=False)


def test_giving_up_comes_to_an_end() -> None:
    assert learned(Capabilities(), {"model": "m", "messages": []}, refused(), probing=True) is None
