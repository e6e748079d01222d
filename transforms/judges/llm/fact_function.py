"""Define function objects: the JSON Schema of a call, and how its arguments are read.

This is FaaF's idea (Katranidis & Barany, 2024). One function is generated for the facts of a text,
with an argument for each fact. A model that calls it judges all facts at once. Two things differ
from FaaF's code:

- Arguments have neutral names (f1, f2, …). So facts may contain quotes, hyphens, digits, newlines
  or any script. The statements are in the message, delimited as data.
- A value that does not fit its type is dropped alone; the other values are used.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard

from ufo.transforms.llm.request import closed, listed, one_of

TFN = "tfn"
TF = "tf"
OPTIONS = (TFN, TF)
SHORT = "short"
NONE = "none"
EXPLAIN = (SHORT, NONE)

TRUE = "T"
FALSE = "F"
NOT_CLEAR = "N"
NOANS = "NOANS"

ANSWER = "answer"
CITATION = "citation"
RATIONALE = "rationale"
VERDICT = "verdict"
PASSAGE = "passage"
PASSAGES = "passages"
CHECK = "check"
CHECKS = "checks"
NOANS_LIST = "noans"

_SAMPLES: Sequence[tuple[Mapping[str, str], str]] = (
    (
        {
            ANSWER: "1932",
            CITATION: "The Alma Bridge was opened in 1932",
            RATIONALE: "The passage gives the same year.",
        },
        TRUE,
    ),
    (
        {
            ANSWER: "310 metres",
            CITATION: "With a length of 310 metres",
            RATIONALE: "The passage gives another length.",
        },
        FALSE,
    ),
    ({ANSWER: NOANS, CITATION: "", RATIONALE: ""}, NOT_CLEAR),
)

_LETTERS = {"t": TRUE, "true": TRUE, "f": FALSE, "false": FALSE}
_LETTERS |= dict.fromkeys(("n", "not clear", "noans"), NOT_CLEAR)

Pair = tuple[int, int]
"""(fact number, passage number), both from 1."""


@dataclass(frozen=True, slots=True)
class Control:
    """The control parameters: what the model returns for each fact and passage.

    With `options` tfn the model may answer that a passage does not say; with tf it may not.
    `explain` short asks for the passage's answer and a rationale.
    """

    options: str = TFN
    explain: str = SHORT
    citation: bool = False

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields of a check, in the order of the reply: the reasons first, the verdict last."""
        asked = {ANSWER: self.explain == SHORT, CITATION: self.citation}
        asked[RATIONALE] = self.explain == SHORT
        return (*(name for name in asked if asked[name]), VERDICT)

    @property
    def verdicts(self) -> tuple[str, ...]:
        """The values of a verdict."""
        return (TRUE, FALSE, NOT_CLEAR) if self.options == TFN else (TRUE, FALSE)


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact statement, the query that settles it, and the numbers of the passages to check."""

    claim: str
    query: str
    passages: Sequence[int]


@dataclass(frozen=True, slots=True)
class FactCheck:
    """The judgement of one fact by one passage: a verdict of TRUE, FALSE or NOT_CLEAR.

    `raw_verdict` is the verdict's text in the reply. Other fields are None where they were not
    requested, are empty or have a wrong type.
    """

    verdict: str
    raw_verdict: str
    answer: str | None = None
    citation: str | None = None
    rationale: str | None = None


@dataclass(frozen=True, slots=True)
class FactFunction:
    """The function object of some facts: one argument a fact, with a check for each passage.

    Where the call has one passage, an argument is a check, nearly as in FaaF's own form. Otherwise
    it is `{"checks": […], "noans": […]}`. `noans` only lists the passages that do not answer, since
    most retrieved passages do not, and each would cost a full check. Passages that give the same
    answer share a check, unless each has to be cited.

    A list may be empty. With `exact` an argument is `{"p1": check, "p3": check}` instead, with each
    passage. An endpoint that enforces the schema then returns every judgement, even from a weak
    model.
    """

    facts: Sequence[Fact]
    control: Control
    exact: bool = False

    @property
    def single(self) -> bool:
        """Whether the call has one passage."""
        return all(list(fact.passages) == [1] for fact in self.facts)

    @property
    def pairs(self) -> list[Pair]:
        """Every (fact, passage) that the reply has to judge, in order."""
        return [(n, p) for n, fact in enumerate(self.facts, 1) for p in fact.passages]

    def parameters(self, descriptions: Mapping[str, str]) -> dict[str, Any]:
        """Return the JSON Schema; `descriptions` has a text for each field, for `noans`, and
        without citation for `passages`. The verdict has none: the prompt explains it.

        It is in the strict subset that providers enforce: every property required, no others.
        """
        properties: dict[str, Any] = {
            name: {"type": "string", "description": descriptions[name]}
            for name in self.control.fields
            if name != VERDICT
        }
        properties[VERDICT] = {"type": "string", "enum": list(self.control.verdicts)}
        if self.exact and not self.single:
            check = {"$ref": f"#/$defs/{CHECK}"}
            exact = {
                argument(number): closed({f"p{passage}": check for passage in fact.passages})
                for number, fact in enumerate(self.facts, 1)
            }
            return {**closed(exact), "$defs": {CHECK: closed(properties)}}
        definitions: dict[str, Any] = {}
        if self.single:
            definitions["fact"] = closed(properties)
        else:
            known = sorted({passage for fact in self.facts for passage in fact.passages})
            number = {"$ref": f"#/$defs/{PASSAGE}"}
            if self.control.citation:
                named: dict[str, Any] = {PASSAGE: number}
            else:
                named = {PASSAGES: listed(number, len(known), descriptions[PASSAGES])}
            lists = {CHECKS: listed(closed({**named, **properties}), len(known))}
            if self.control.options == TFN:
                lists[NOANS_LIST] = listed(number, len(known), descriptions[NOANS_LIST])
            definitions["fact"] = closed(lists)
            definitions[PASSAGE] = one_of(known)
        reference = {"$ref": "#/$defs/fact"}
        arguments = {argument(number): reference for number in range(1, len(self.facts) + 1)}
        return {**closed(arguments), "$defs": definitions}

    def example(self) -> dict[str, Any]:
        """Return arguments that would be a complete reply, for a model that is shown no schema.

        They judge other facts than the request; `invoke` does not take them for judgements.
        """
        return {argument(at + 1): self._sample(at) for at in range(len(self.facts))}

    def _sample(self, at: int) -> dict[str, Any]:
        texts, verdict = _SAMPLES[at % len(_SAMPLES)]
        if verdict not in self.control.verdicts:
            verdict = FALSE
        check = {name: texts.get(name, verdict) for name in self.control.fields}
        if self.single:
            return check
        first, *others = self.facts[at].passages
        if self.control.citation:
            checks = [{PASSAGE: first, **check}]
            checks += [] if self.control.options == TFN else [{PASSAGE: p, **check} for p in others]
        else:
            given = [first] if self.control.options == TFN else [first, *others]
            checks = [{PASSAGES: given, **check}]
        if self.control.options != TFN:
            return {CHECKS: checks}
        if verdict == NOT_CLEAR:
            return {CHECKS: [], NOANS_LIST: [first, *others]}
        return {CHECKS: checks, NOANS_LIST: others}

    def _checks(self, number: int, value: object) -> list[tuple[list[Any], Mapping[str, Any]]]:
        """Return the candidates for checks in the argument of a fact, each with its passages."""
        if not isinstance(value, Mapping):
            return []
        if self.single and VERDICT in value:
            return [([1], value)]
        found: list[tuple[list[Any], Mapping[str, Any]]] = []
        for passage in self.facts[number - 1].passages:
            if isinstance(entry := value.get(f"p{passage}"), Mapping):
                found.append(([passage], entry))
        for entry in _list(value.get(CHECKS)):
            if isinstance(entry, Mapping):
                found.append(([entry.get(PASSAGE), *_list(entry.get(PASSAGES))], entry))
        return found

    def _entries(self, arguments: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
        """Yield the candidates for checks in the arguments of a reply."""
        for number in range(1, len(self.facts) + 1):
            for _, entry in self._checks(number, arguments.get(argument(number))):
                yield entry

    def wrong_verdict(self, arguments: Mapping[str, Any]) -> str | None:
        """Return the first verdict of a reply that is not allowed, as text; None without one."""
        for entry in self._entries(arguments):
            if VERDICT in entry and self._letter(entry) is None:
                return str(entry[VERDICT])
        return None

    def repeats_example(self, arguments: Mapping[str, Any]) -> bool:
        """Return whether a check in a reply is copied from the prompt's example."""
        return any(_is_sample(self._texts(entry)) for entry in self._entries(arguments))

    def _texts(self, entry: Mapping[str, Any]) -> dict[str, str | None]:
        return {name: _text(entry.get(name)) for name in self.control.fields if name != VERDICT}

    def invoke(self, arguments: Mapping[str, Any]) -> dict[Pair, FactCheck]:
        """Return the checks that the arguments of a reply hold; never raises.

        A pair is left out in these cases:

        - Its value is missing, has a wrong type or is not in the enumeration.
        - It contradicts itself: an answer NOANS beside a verdict.
        - It is given twice with different values.
        - A check of the same fact is copied from the prompt's example.

        Values that were not requested are ignored.
        """
        found: dict[Pair, FactCheck] = {}
        for number, fact in enumerate(self.facts, 1):
            given: dict[int, list[FactCheck | None]] = {}
            for passage, check in self._given(number, arguments.get(argument(number))):
                given.setdefault(passage, []).append(check)
            for passage in fact.passages:
                checks = given.get(passage, [None])
                if checks[0] is not None and all(other == checks[0] for other in checks):
                    found[number, passage] = checks[0]
        return found

    def _given(self, number: int, value: object) -> Iterator[tuple[int, FactCheck | None]]:
        checks = self._checks(number, value)
        if any(_is_sample(self._texts(entry)) for _, entry in checks):
            return
        for passages, entry in checks:
            yield from ((one, self._check(entry)) for one in passages if is_number(one))
        alone = self.single and bool(checks)
        if isinstance(value, Mapping) and not alone and self.control.options == TFN:
            for passage in _list(value.get(NOANS_LIST)):
                if is_number(passage):
                    yield passage, FactCheck(NOT_CLEAR, NOANS)

    def _check(self, value: Mapping[str, Any]) -> FactCheck | None:
        verdict = self._letter(value)
        if verdict is None:
            return None
        texts = self._texts(value)
        if is_noans(texts.get(ANSWER)):
            if self.control.options == TFN and verdict != NOT_CLEAR:
                return None
            texts[ANSWER] = None
        return FactCheck(verdict, value[VERDICT], **texts)

    def _letter(self, value: Mapping[str, Any]) -> str | None:
        raw = value.get(VERDICT)
        verdict = _LETTERS.get(raw.strip().casefold()) if isinstance(raw, str) else None
        return verdict if verdict in self.control.verdicts else None


def _is_sample(texts: Mapping[str, str | None]) -> bool:
    """Return whether the texts of a check are copied from the prompt's example."""
    return bool(texts.get(ANSWER)) and any(
        all(texts[name] == sample[name] for name in texts) for sample, _ in _SAMPLES
    )


def argument(number: int) -> str:
    """Return the name of the argument of the fact of that number."""
    return f"f{number}"


def is_noans(answer: str | None) -> bool:
    """Return whether an answer is NOANS, ignoring quotes and punctuation."""
    return answer is not None and answer.strip(" \t\r\n.'\"`*").upper() == NOANS


def _list(value: object) -> Sequence[Any]:
    return value if isinstance(value, list) else ()


def is_number(value: object) -> TypeGuard[int]:
    """Return whether a value is a whole number, not JSON's true or false."""
    return isinstance(value, int) and not isinstance(value, bool)


def _text(value: object) -> str | None:
    return value.strip() or None if isinstance(value, str) else None
