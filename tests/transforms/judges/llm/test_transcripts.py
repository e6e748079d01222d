"""What is asked and made of the replies, by every way of asking and every fault, is as recorded.

    python -m tests.transforms.judges.llm.test_transcripts     writes the transcripts anew

A transcript has, for each fault, the requests, whether each reply may be cached, and what came of
it: claims, queries, judgements or facts, failures, and requests charged. What a request says
(system message, user message and function) stands in prompts.txt, once for all transcripts, by the
name of the request that says it first.
"""

import asyncio
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.golden.tables import tables
from tests.llm_server.answerers import Anything, reply_to
from tests.llm_server.chat import Switches, read
from tests.llm_server.offline import OfflineAnswers
from tests.transforms.judges.llm.scripted import open_units, passages, record
from ufo.schemas.records import TRUNCATED, RecallAnswer, RecallInput
from ufo.transforms.judges.judge_context import JudgeContext
from ufo.transforms.judges.llm.llm_judge import LlmJudge
from ufo.transforms.judges.llm.llm_settings import LlmSettings
from ufo.transforms.judges.offline.offline_judge import OfflineJudge
from ufo.transforms.llm.chat import body
from ufo.transforms.llm.fake import FakeClient
from ufo.transforms.llm.forms import Capabilities
from ufo.transforms.llm.request import Choice, LlmError, Request
from ufo.transforms.recall.recallers import llm_recaller, recall
from ufo.transforms.sentences import segment

FOLDER = Path(__file__).parents[3] / "golden" / "transcripts"
TEXT = "Ada was born in 1815.\n\nShe wrote notes. Ada liked trains. Is that not nice?"
CLAIMS = ["Ada was born in 1815.", "Ada wrote notes.", "Ada liked trains."]
BORN, SILENT = "Ada Lovelace was born in London in 1815.", "Oslo is in Norway."
FOUND = [(BORN, SILENT), (SILENT,), ("Ada never liked trains.", BORN)]

# --- replies ---

ANSWERS = (OfflineAnswers(OfflineJudge("overlap")), Anything())


def good(request: Request) -> Any:
    """The reply of a model that does as it is asked."""
    chat = read(body(request, "m", Capabilities(), 1), Switches(), 0)
    reply = reply_to(chat, ANSWERS[chat.function == "hand_over" :])  # of which any value will do
    return reply.text if reply.arguments is None else reply.arguments


def _less(reply: Any) -> Any:
    """The reply without its last item."""
    if isinstance(reply, str):
        items = re.findall(r"<(?:f\d+|fact_\w+)>.*?</(?:f\d+|fact_\w+)>", reply, re.S)
        return "\n".join(items[:-1]) if items else "Perhaps."
    last = list(reply)[-1]
    lists = [name for name, value in reply.items() if isinstance(value, list) and value]
    if lists:
        return {**reply, lists[-1]: reply[lists[-1]][:-1]}
    return {one: value for one, value in reply.items() if one != last}


def _cut(reply: Any) -> Choice:
    text = reply if isinstance(reply, str) else json.dumps(reply)
    half = text[: len(text) * 3 // 4]
    text, arguments = (half, None) if isinstance(reply, str) else ("", half)
    return Choice(text, arguments, finish_reason="length")


def _null(reply: Any) -> Any:
    """The reply with null for its last verdict."""
    before, name, after = json.dumps(reply).rpartition('"verdict": ')
    return json.loads(f"{before}{name}null{after[3:]}")


def _items(request: Request) -> int:
    """How many things a request asks about."""
    user = request.messages[-1].content
    arguments = request.function.parameters["properties"] if request.function else {}
    of_object = sum("enum" in value for name, value in arguments.items() if name != "verdict")
    return of_object + len(re.findall(r"<[scf]\d+", user)) + user.count("<p2")


FAULTS: Mapping[str, Callable[[int, Request, Any], Any]] = {
    "good": lambda n, request, reply: reply,
    "malformed": lambda n, request, reply: "Nothing of use." if n == 1 else reply,
    "missing": lambda n, request, reply: _less(reply) if n == 1 else reply,
    "never": lambda n, request, reply: "Nothing of use.",
    "cut": lambda n, request, reply: _cut(reply) if n == 1 else reply,
    "refused": lambda n, request, reply: Choice(refusal="I will not.") if n == 1 else reply,
    "filtered": lambda n, request, reply: (
        Choice("True", finish_reason="content_filter") if n == 1 else reply
    ),
    "too_long": lambda n, request, reply: (
        LlmError("the prompt is too long", TRUNCATED) if _items(request) > 1 else reply
    ),
    "transport": lambda n, request, reply: LlmError("no route") if n == 1 else reply,
    "null": lambda n, request, reply: _null(reply) if n == 1 else reply,
}

# --- ways of asking ---


def _judged(ask: Callable[[LlmJudge], Any], **settings: Any) -> Callable[[FakeClient], Any]:
    def run(client: FakeClient) -> Any:
        judge = LlmJudge(JudgeContext(LlmSettings("m", **settings), lambda: client))
        return asyncio.run(ask(judge))

    return run


def _extracted(units: str = "claim", **settings: Any) -> Callable[[FakeClient], Any]:
    input_record = record(TEXT, question="Who was Ada?")
    return _judged(
        lambda judge: (judge.extract if units == "claim" else judge.extract_sentences)(
            input_record, segment(TEXT)
        ),
        **settings,
    )


def _verified(**settings: Any) -> Callable[[FakeClient], Any]:
    units, answers = open_units(CLAIMS, TEXT), [passages(*texts) for texts in FOUND]
    return _judged(lambda judge: judge.verify(units, "s", answers), **settings)


def _recalled(formulations: Sequence[str] = (), **more: Any) -> Callable[[FakeClient], Any]:
    answers = [RecallAnswer("r1", "rag", "Ada was born in 1815.")] if formulations else []
    facts = CLAIMS if formulations else []
    recall_input = RecallInput(
        "f:1", "r1", "Who was Ada?", " ".join(CLAIMS), answers, bool(facts), facts
    )

    def run(client: FakeClient) -> Any:
        settings = LlmSettings("m", **more)
        recaller = llm_recaller(settings, formulations, lambda: client)
        return asyncio.run(recall(recall_input, recaller))

    return run


ASK: Mapping[str, Callable[..., Callable[[FakeClient], Any]]] = {
    "extract": _extracted,
    "queries": lambda: _judged(lambda judge: judge.queries(CLAIMS, "r1")),
    "verify": _verified,
    "recall": _recalled,
}


def _way(ask: str, faults: str = "", **settings: Any) -> tuple[Callable[[FakeClient], Any], Any]:
    every = [name for name in FAULTS if name != "null"]
    named = every if "every" in faults else ["good", "malformed", "missing"]
    return ASK[ask](**settings), named + [name for name in faults.split() if name != "every"]


WAYS = {name: _way(**row) for name, row in tables("ways")["ways"].items()}

# --- transcripts ---

TEXTS = FOLDER / "prompts.txt"
HEAD = re.compile(r"^=== (.+)\n", re.MULTILINE)
SPOKEN = ("system", "user", "function")
Row = dict[str, Any]


@cache
def transcript(name: str, fault: str) -> tuple[list[Row], Row]:
    """Return the requests of a way of asking, with all that they say, and what came of them."""
    kept: list[bool | None] = []

    def reply(request: Request) -> Any:
        answer = FAULTS[fault](len(kept) + 1, request, good(request))
        text = json.dumps(answer) if isinstance(answer, dict) else None
        choice = Choice(arguments=text) if text else answer if isinstance(answer, Choice) else None
        choice = Choice(answer) if isinstance(answer, str) else choice
        kept.append(request.keep(choice) if request.keep and choice else None)
        return answer

    client = FakeClient(reply)
    result = WAYS[name][0](client)
    asked = []
    for request, keep in zip(client.requests, kept, strict=True):
        *system, user = [message.content for message in request.messages]
        asked.append(
            {
                "to": f"{request.role} {request.step}",
                "system": system[0] if system else None,
                "user": user,
                "function": request.function and _described(asdict(request.function)),
                "tokens": [request.expects, request.max_tokens],
                "kept": keep,
            }
        )
    return asked, _result(result)


def _described(function: Row) -> str:
    """Return a function as JSON, with a line for each of its arguments."""
    parameters = function["parameters"]
    lines = [f"{name}: {_json(value)}" for name, value in parameters["properties"].items()]
    rest = {name: value for name, value in parameters.items() if name != "properties"}
    about = {name: value for name, value in function.items() if name != "parameters"}
    return "\n".join([_json(about), _json(rest), *lines])


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _result(result: Any) -> Row:
    names = ("drafts", "queries", "evidence", "facts", "verdicts")
    rows = [row for name in names for row in getattr(result, name, ())]
    steps = Counter(row.step for row in result.usage)
    return {
        "result": [_shown(row) for row in rows],
        "failures": [_shown(failure) for failure in result.failures],
        "usage": [f"{count} {step}" for step, count in steps.items()],
    }


_HIDDEN = (
    "response_id",
    "record_id",
    "prompt_version",
    "key",
    "fact_id",
    "variant",
    "fact_index",
    "step",
)


def _shown(row: Any) -> Any:
    if isinstance(row, str):
        return row
    return {k: v for k, v in asdict(row).items() if v is not None and k not in _HIDDEN}


# --- as recorded ---


def _file(name: str) -> Path:
    return FOLDER / f"{name.replace(' ', '_')}.yaml"


@cache
def kept_texts() -> dict[str, str]:
    """Return what requests say, by the names that transcripts give it."""
    _, *parts = HEAD.split(TEXTS.read_text(encoding="utf-8"))
    return dict(zip(parts[::2], (text.removesuffix("\n\n") for text in parts[1::2]), strict=True))


@cache
def recorded(name: str) -> dict[str, Row]:
    """Return the transcript of a way of asking as it is kept: fault → requests and what came."""
    kept: dict[str, Row] = yaml.safe_load(_file(name).read_text(encoding="utf-8"))
    return kept


CASES = [(name, fault) for name, (_, faults) in WAYS.items() for fault in faults]
IDS = [f"{name}, {fault}" for name, fault in CASES]


@pytest.mark.parametrize(("name", "fault"), CASES, ids=IDS)
def test_what_is_asked_is_as_recorded(name: str, fault: str) -> None:
    asked, _ = transcript(name, fault)
    expected = recorded(name)[fault]["requests"]
    for request, row in zip(asked, expected, strict=False):
        for part in SPOKEN:
            assert request[part] == (row[part] and kept_texts()[row[part]]), f"{part}: {row[part]}"
        assert {**request, **dict.fromkeys(SPOKEN)} == {**row, **dict.fromkeys(SPOKEN)}
    assert len(asked) == len(expected)


@pytest.mark.parametrize(("name", "fault"), CASES, ids=IDS)
def test_what_comes_of_the_replies_is_as_recorded(name: str, fault: str) -> None:
    _, came = transcript(name, fault)
    expected = recorded(name)[fault]
    for row, wanted in zip(came["result"], expected["result"], strict=False):
        assert row == wanted
    assert len(came["result"]) == len(expected["result"])
    assert came["failures"] == expected.get("failures", [])
    assert came["usage"] == expected.get("usage", [])


def test_every_text_that_is_kept_is_said_by_a_request() -> None:
    rows = [row for name in WAYS for case in recorded(name).values() for row in case["requests"]]
    assert {row[part] for row in rows for part in SPOKEN} - {None} == kept_texts().keys()


# --- written anew ---


def _record() -> None:
    """Write the transcripts of all ways of asking, and what their requests say."""
    names: dict[tuple[str, str], str] = {}
    taken: Counter[str] = Counter()

    def name_of(part: str, text: str | None, where: str) -> str | None:
        if text is None:
            return None
        if (part, text) not in names:
            taken[f"{part} of {where}"] += 1
            number = taken[f"{part} of {where}"]
            names[part, text] = f"{part} of {where}" + (f" {number}" if number > 1 else "")
        return names[part, text]

    for name, (_, faults) in WAYS.items():
        lines = []
        for fault in faults:
            asked, came = transcript(name, fault)
            asked = [
                {**request}
                | {part: name_of(part, request[part], f"{name}, {fault}") for part in SPOKEN}
                for request in asked
            ]
            lines += [
                f"{_json(fault)}:",
                *_listed("requests", asked),
                *_listed("result", came["result"]),
            ]
            if came["failures"]:
                lines += _listed("failures", came["failures"])
            if came["usage"]:
                lines.append(f"  usage: {_json(came['usage'])}")
        _file(name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    texts = (f"=== {name}\n{text}\n\n" for (_, text), name in names.items())
    TEXTS.write_text("".join(texts), encoding="utf-8")


def _listed(title: str, rows: Sequence[Any]) -> Iterator[str]:
    yield f"  {title}:" if rows else f"  {title}: []"
    for row in rows:
        yield f"  - {_json(row)}"


if __name__ == "__main__":
    _record()
