"""The arguments of a function call as models write them in place of what was asked for.

    server.mix = shapes.Every(shapes.SHAPES["numbers as text"])

A shape takes the arguments, and returns the text in their place. Probes are left as they are.
"""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from .faults import Fault

Arguments = dict[str, Any]
Shape = Callable[[Arguments], str]


class Every:
    """Gives every reply a shape."""

    def __init__(self, shape: Shape) -> None:
        self._shape = shape

    def next(self, body: bytes) -> Fault | None:
        return None if b'"report"' in body else Fault("shape", self._shape)


def _each(change: Callable[[str, Any], Any]) -> Shape:
    """A change of every value that is neither a list nor an object, by its name."""

    def changed(name: str, value: Any) -> Any:
        if isinstance(value, dict):
            return {key: changed(key, below) for key, below in value.items()}
        if isinstance(value, list):
            return [changed(name, below) for below in value]
        return change(name, value)

    return lambda arguments: json.dumps(changed("", arguments), ensure_ascii=False)


def _numbers(written: Callable[[int], Any]) -> Shape:
    return _each(lambda name, value: written(value) if isinstance(value, int) else value)


def _verdicts(*words: Any) -> Shape:
    by_letter = dict(zip("TFN", words, strict=True))
    return _each(lambda name, value: by_letter[value] if name == "verdict" else value)


def _written(change: Callable[[str], str]) -> Shape:
    return lambda arguments: change(json.dumps(arguments, ensure_ascii=False, indent=1))


def _calls(arguments: Arguments) -> list[str]:
    """One call for each argument; a list has a call for each item."""
    calls = []
    for name, value in arguments.items():
        items = [[item] for item in value] if isinstance(value, list) else [value]
        calls += [json.dumps({name: item}, ensure_ascii=False) for item in items]
    return calls or ["{}"]


def _parallel(arguments: Arguments) -> str:
    name = "functions.judge"
    uses = [{"recipient_name": name, "parameters": json.loads(one)} for one in _calls(arguments)]
    return json.dumps({"tool_uses": uses})


def _named(change: Callable[[str], str]) -> Shape:
    """A change of the name of every member, at any depth."""

    def changed(value: Any) -> Any:
        if isinstance(value, dict):
            return {change(name): changed(below) for name, below in value.items()}
        return [changed(below) for below in value] if isinstance(value, list) else value

    return lambda arguments: json.dumps(changed(arguments), ensure_ascii=False)


def _renamed(**names: str) -> Shape:
    return _named(lambda name: names.get(name, name))


def _fact(change: Callable[[str], str]) -> Shape:
    """A change of the names of facts: f1, f2, …"""
    return _named(lambda name: change(name[1:]) if re.fullmatch(r"f\d+", name) else name)


def _identified(name: str, number: Callable[[str], Any]) -> Shape:
    """The facts in a list, each with its own number."""

    def shape(arguments: Arguments) -> str:
        facts = {key: value for key, value in arguments.items() if re.fullmatch(r"f\d+", key)}
        listed = [{name: number(key[1:]), **value} for key, value in facts.items()]
        return json.dumps({"facts": listed} if facts else arguments, ensure_ascii=False)

    return shape


def _by_passage(arguments: Arguments) -> str:
    """The checks of all facts in one list, each with the numbers of its fact and passage."""
    checks = []
    for name, value in arguments.items():
        if not re.fullmatch(r"f\d+", name) or "checks" not in value:
            return json.dumps(arguments, ensure_ascii=False)
        silent = {"answer": "NOANS", "rationale": "", "verdict": "N"}
        of_fact = [{"passages": [number], **silent} for number in value.get("noans", [])]
        checks += [{"fact": int(name[1:]), **check} for check in (*value["checks"], *of_fact)]
    return json.dumps({"judgements": checks}, ensure_ascii=False)


def _of_each_passage(name: Callable[[int], str]) -> Shape:
    """The checks of a fact in an object, by the names of their passages."""

    def fact(value: Any) -> Any:
        if not isinstance(value, dict) or "checks" not in value:
            return value
        numbers: dict[str, Any] = {}
        for check in value["checks"]:
            verdict = {field: check[field] for field in check if not field.startswith("passage")}
            for number in check.get("passages", [check.get("passage")]):
                numbers[name(number)] = verdict
        return {**numbers, "noans": value.get("noans", [])}

    return lambda arguments: json.dumps({key: fact(arguments[key]) for key in arguments})


def _of_each_sentence(arguments: Arguments) -> str:
    """The claims in an object, by their sentence."""
    if "no_claim" not in arguments:
        return json.dumps(arguments, ensure_ascii=False)
    facts: dict[str, list[Any]] = {}
    for fact in arguments["facts"]:
        facts.setdefault(f"s{fact.pop('sentence')}", []).append(fact)
    return json.dumps({"facts": facts, "no-claim": arguments["no_claim"]}, ensure_ascii=False)


def _in_lists(arguments: Arguments) -> str:
    """Every object that is a fact in a list."""
    listed = {name: [value] for name, value in arguments.items() if re.fullmatch(r"f\d+", name)}
    return json.dumps({**arguments, **listed}, ensure_ascii=False)


def _in_order(arguments: Arguments) -> str:
    """The queries alone, as texts in the order of their claims."""
    queries = [item["query"] for item in arguments.get("queries", [])]
    return json.dumps({"queries": queries} if queries else arguments, ensure_ascii=False)


def _of_each_claim(arguments: Arguments) -> str:
    """The queries in an object, by the numbers of their claims."""
    queries = {f"c{item['claim']}": item["query"] for item in arguments.get("queries", [])}
    return json.dumps({"queries": queries} if queries else arguments, ensure_ascii=False)


SHAPES: Mapping[str, Shape] = {
    "checks of all facts in a list": _by_passage,
    "checks by passage": _of_each_passage("p{}".format),
    "checks by words": _of_each_passage("passage_{}".format),
    "passages by id": _renamed(passage="passage_id", passages="passage_ids"),
    "facts in lists": _in_lists,
    "claims by sentence": _of_each_sentence,
    "queries in order": _in_order,
    "queries by claim": _of_each_claim,
    "facts in a list": _identified("fact", int),
    "facts in a list by name": _identified("id", "f{}".format),
    "facts by words": _fact("fact_{}".format),
    "facts by numbers": _fact(str),
    "names in capitals": _named(str.upper),
    "claims as statements": _renamed(claim="statement", query="question"),
    "facts as claims": lambda arguments: json.dumps(
        {"claims" if name == "facts" else name: value for name, value in arguments.items()}
    ),
    "sentences by id": _renamed(sentence="sentence_id"),
    "verdicts before a reason": _verdicts("T - it is said so.", "False. It differs.", "N: silent"),
    "verdicts in brackets": _verdicts("T (True)", "F (False)", "N (Not clear)"),
    "verdicts in lists": _verdicts(["T"], ["F"], ["N"]),
    "verdicts in objects": _verdicts({"label": "T"}, {"label": "F"}, {"label": "N"}),
    "numbers as text": _numbers(str),
    "numbers as floats": _numbers(float),
    "numbers with a letter": _numbers("p{}".format),
    "numbers in brackets": _numbers("[{}]".format),
    "numbers with a mark": _numbers("#{}".format),
    "a call for each argument": lambda arguments: "\n".join(_calls(arguments)),
    "an empty call first": lambda arguments: "{}\n\n" + json.dumps(arguments),
    "a call twice": lambda arguments: "\n".join(2 * [json.dumps(arguments)]),
    "calls in parallel": _parallel,
    "arguments as a text": lambda arguments: json.dumps(json.dumps(arguments)),
    "arguments as a text of a text": _written(lambda text: json.dumps(json.dumps(text))),
    "within a call": lambda arguments: json.dumps({"name": "judge", "arguments": arguments}),
    "values as texts": lambda arguments: json.dumps(
        {name: json.dumps(value, ensure_ascii=False) for name, value in arguments.items()}
    ),
    "verdicts as booleans": _verdicts(True, False, "N"),
    "verdicts in words": _verdicts("Supported", "Not supported", "Not clear"),
    "verdicts with marks": _verdicts("**TRUE.**", "'false'", "Unclear."),
    "verdicts as an answer": _verdicts("yes", "No", "not enough info"),
    "verdicts of entailment": _verdicts("ENTAILMENT", "CONTRADICTION", "NEUTRAL"),
    "commas too many": _written(lambda text: text.replace("\n", ",\n").replace("{,", "{")
                                .replace("[,", "[").replace(",,", ",")),
    "in single quotes": repr,
    "in curly quotes": lambda arguments: json.dumps(arguments, ensure_ascii=False)
    .replace('{"', "{“").replace('": ', "”: ").replace(': "', ": “").replace('", "', "”, “")
    .replace('"}', "”}").replace(', "', ", “"),
    "with comments": _written(lambda text: text.replace("\n", " // so it is\n", 1) + " # end"),
    "with raw line breaks": lambda arguments: _each(
        lambda name, value: f"{value}\n" if name in ("rationale", "claim") else value
    )(arguments).replace("\\n", "\n"),
    "in a fence": _written(lambda text: f"Here it is:\n```json\n{text}\n```\nAnything else?"),
}  # fmt: skip


def spoil(shape: Shape, choice: dict[str, Any]) -> None:
    """Write the arguments of the calls of a choice, or the JSON in its text, in a shape."""
    message = choice["message"]
    for call in message.get("tool_calls") or ():
        call["function"]["arguments"] = shape(json.loads(call["function"]["arguments"]))
    if str(message.get("content") or "").startswith("{"):
        message["content"] = shape(json.loads(message["content"]))
