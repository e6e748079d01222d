"""The function objects of FaaF: the JSON Schema of a call, and the reading of its arguments.

This is FaaF's idea (Katranidis & Barany, 2024). One function is generated for the facts of a text,
with an argument for each fact. A model that calls it judges all facts at once. Two things differ
from FaaF's code:

- Arguments have neutral names (f1, f2, …). So facts may contain quotes, hyphens, digits, newlines
  or any script. The statements are in the message, delimited as data.
- A value that does not fit its type is dropped alone; the other values are used.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from itertools import chain
from typing import Any, Final

from ufo.schemas import records
from ufo.schemas.text import storable
from ufo.transforms.judges.llm.judgements import Finding, Pair
from ufo.transforms.judges.llm.llm_settings import SHORT, TFN, LlmSettings
from ufo.transforms.judges.llm.parsing import decode_json, number_of, numbers_of, verdict_of
from ufo.transforms.llm.json_schema import closed_object, list_of, one_of
from ufo.transforms.prompts.data import escape, read

VERDICTS: Final = {"tfn": ("T", "F", "N"), "tf": ("T", "F")}

ANSWER = "answer"
CITATION = "citation"
RATIONALE = "rationale"
VERDICT = "verdict"
PASSAGE = "passage"
PASSAGES = "passages"
CHECK = "check"
CHECKS = "checks"
NOANS_LIST = "noans"
NOANS = "NOANS"  # the answer where the passage has none

_SHOWN: Final = 40  # characters of a wrong verdict
_LEVELS: Final = 6  # of objects and lists around a check
_NUMBERS: Final = re.compile(r"passages?[\W_]*(?:id|no|number)?s?")  # members with numbers
_SAMPLES: Final[Sequence[Mapping[str, str]]] = tomllib.loads(
    (resources.files(__package__) / "samples.toml").read_text(encoding="utf-8")
)["samples"]


def fields_of(settings: LlmSettings) -> list[str]:
    """Return the fields of a check, in the order of the reply: the reasons, then the verdict."""
    explained = settings.explain == SHORT
    asked = {ANSWER: explained, CITATION: settings.citation, RATIONALE: explained, VERDICT: True}
    return [name for name in asked if asked[name]]


def described_arguments(settings: LlmSettings) -> list[str]:
    """Return the names of the arguments that have a description: all but the verdict."""
    beside = [] if settings.citation else [PASSAGES]
    noans = [NOANS_LIST] if settings.verdict_labels == TFN else []
    return [*fields_of(settings)[:-1], *beside, *noans]


@dataclass(frozen=True, slots=True)
class FactFunction:
    """The function object of some facts: one argument a fact, with a check for each passage.

    `passages` are the numbers of the passages of each fact. Where the call has one passage, an
    argument is a check, nearly as in FaaF's own form. Otherwise it is `{"checks": […], "noans":
    […]}`. `noans` only lists the passages that do not answer, since most retrieved passages do not,
    and each would cost a full check. Passages that give the same answer share a check, unless each
    has to be cited.

    A list may be empty. In the exact form an argument is `{"p1": check, "p3": check}`, with each
    passage. An endpoint that enforces the schema then returns every judgement, even from a weak
    model.
    """

    passages: Sequence[Sequence[int]]
    settings: LlmSettings

    @property
    def single(self) -> bool:
        """Whether the call has one passage."""
        return all(list(passages) == [1] for passages in self.passages)

    @property
    def arguments(self) -> list[str]:
        """The names of the arguments."""
        return [f"f{number}" for number in range(1, len(self.passages) + 1)]

    def parameters(self, descriptions: Mapping[str, str], exact: bool = False) -> dict[str, Any]:
        """Return the JSON Schema, in the exact form or not.

        `descriptions` has a text for each name in `described_arguments`. The verdict has none: the
        prompt explains it.

        It is of the strict subset that providers enforce: all properties are required, no others.
        """
        check: dict[str, Any] = {
            name: {"type": "string", "description": descriptions[name]}
            for name in fields_of(self.settings)[:-1]
        }
        verdicts = VERDICTS[self.settings.verdict_labels]
        check[VERDICT] = {"type": "string", "enum": list(verdicts)}
        if exact and not self.single:
            checked = {"$ref": f"#/$defs/{CHECK}"}
            each = {
                name: closed_object({f"p{passage}": checked for passage in passages})
                for name, passages in zip(self.arguments, self.passages, strict=True)
            }
            return {**closed_object(each), "$defs": {CHECK: closed_object(check)}}
        definitions = {"fact": closed_object(check)}
        if not self.single:
            definitions = self._lists(check, descriptions)
        reference = {"$ref": "#/$defs/fact"}
        arguments = dict.fromkeys(self.arguments, reference)
        return {**closed_object(arguments), "$defs": definitions}

    def _lists(
        self, check: Mapping[str, Any], descriptions: Mapping[str, str]
    ) -> dict[str, dict[str, Any]]:
        """Return the definitions of a fact with lists, and of the number of a passage."""
        known = sorted({*chain.from_iterable(self.passages)})
        number = {"$ref": f"#/$defs/{PASSAGE}"}
        whose: dict[str, Any] = {PASSAGE: number}
        if not self.settings.citation:
            whose = {PASSAGES: list_of(number, len(known), descriptions[PASSAGES])}
        lists = {CHECKS: list_of(closed_object({**whose, **check}), len(known))}
        if self.settings.verdict_labels == TFN:
            lists[NOANS_LIST] = list_of(number, len(known), descriptions[NOANS_LIST])
        return {"fact": closed_object(lists), PASSAGE: one_of(known)}

    def example(self) -> dict[str, Any]:
        """Return the arguments of a complete reply as an example, for a model without the schema.

        They judge other facts than the request; `read` does not take them for judgements.
        """
        return {name: self._sample(at) for at, name in enumerate(self.arguments)}

    def _sample(self, at: int) -> dict[str, Any]:
        sample, passages = _SAMPLES[at % len(_SAMPLES)], self.passages[at]
        check = {name: sample[name] for name in fields_of(self.settings)}
        forced = self.settings.verdict_labels != TFN  # to judge by each passage
        if forced and check[VERDICT] == "N":
            check[VERDICT] = "F"
        if self.single:
            return check
        judged = [*passages] if forced else [passages[0]]
        if check[VERDICT] == "N":
            judged = []
        checks: list[dict[str, Any]] = [{PASSAGES: judged, **check}] if judged else []
        if self.settings.citation:
            checks = [{PASSAGE: passage, **check} for passage in judged]
        return {CHECKS: checks} if forced else {CHECKS: checks, NOANS_LIST: passages[len(judged) :]}

    def read(self, arguments: Mapping[str, Any]) -> tuple[dict[Pair, Finding], str]:
        """Return the findings of a reply, and what is wrong with it if some are missing.

        The findings are by the numbers of fact and passage. The method never raises.

        A pair is left out in these cases:

        - Its value is missing, has a wrong type or is none of the verdicts.
        - It contradicts itself: an answer NOANS beside a verdict.
        - It is given twice with different verdicts.
        - Passages of the same fact are counted from 0.
        - A check of the same fact is copied from the prompt's example.

        Values that were not requested are ignored.
        """
        labels = self.settings.verdict_labels
        findings: dict[Pair, Finding] = {}
        copied, verdicts = False, []
        for number, passages in enumerate(self.passages, 1):
            checks = list(self._checks(arguments.get(f"f{number}"), passages))
            if any(_is_sample(self._texts(check)) for _, check in checks):
                copied = True
                continue
            readings: list[tuple[int, Finding | None]] = []
            for named, check in checks:
                readings += [(one, self._finding(check)) for one in named]
                if VERDICT in check and verdict_of(check[VERDICT], labels) is None:
                    verdicts.append(escape(str(check[VERDICT])[:_SHOWN]))
            counted_from_0 = any(one == 0 for one, _ in readings)
            for passage in () if counted_from_0 else passages:
                candidates = [finding for one, finding in readings if one == passage]
                if (
                    candidates
                    and candidates[0]
                    and all(one and one.outcome == candidates[0].outcome for one in candidates)
                ):
                    findings[number, passage] = candidates[0]
        if not arguments:
            return findings, "it had no argument of a fact, such as f1"
        if copied:
            return findings, "it repeated the example in place of judging the facts"
        if verdicts:
            allowed = ", ".join(VERDICTS[labels])
            return findings, f'the verdict "{verdicts[0]}" is none of {allowed}'
        return findings, "it had no check of some facts or passages"

    def _checks(
        self, value: Any, passages: Sequence[int], levels: int = _LEVELS
    ) -> Iterator[tuple[Sequence[int], Mapping[str, Any]]]:
        """Yield the passages and the value of each candidate for a check in a value.

        A candidate that names no passages is about the only one in `passages`.
        """
        value = decode_json(value)
        if isinstance(value, list) and levels:
            for item in value:
                yield from self._checks(item, passages, levels - 1)
        if isinstance(value, (str, bool, int)) and len(passages) == 1:
            value = {VERDICT: value}
        if not isinstance(value, dict):
            return
        named = numbers_of([decode_json(value[name]) for name in value if _NUMBERS.fullmatch(name)])
        if VERDICT in value or named:
            yield named or (passages if len(passages) == 1 else ()), value
        for name in value if levels else ():
            number = number_of(name)
            if number is not None or name in (CHECK, CHECKS):
                about = passages if number is None else [number]
                yield from self._checks(value[name], about, levels - 1)
        if NOANS_LIST in value and self.settings.verdict_labels == TFN:
            yield numbers_of(decode_json(value[NOANS_LIST])), {VERDICT: NOANS}

    def _texts(self, check: Mapping[str, Any]) -> dict[str, str | None]:
        texts = {name: check.get(name) for name in fields_of(self.settings)[:-1]}
        return {
            name: text.strip() or None if isinstance(text, str) else None
            for name, text in texts.items()
        }

    def _finding(self, check: Mapping[str, Any]) -> Finding | None:
        outcome = verdict_of(check.get(VERDICT), self.settings.verdict_labels)
        if outcome is None:
            return None
        texts = self._texts(check)
        if is_noans(texts.get(ANSWER)):
            if self.settings.verdict_labels == TFN and outcome != records.NOANS:
                return None
            texts[ANSWER] = None
        fields: dict[str, Any] = {name: text and read(text) for name, text in texts.items()}
        return Finding(outcome, raw_verdict=storable(str(check[VERDICT])), **fields)


def _is_sample(texts: Mapping[str, str | None]) -> bool:
    """Return whether the texts of a check are copied from the prompt's example."""
    return bool(texts.get(ANSWER)) and any(
        all(texts[name] == sample[name] for name in texts) for sample in _SAMPLES
    )


def is_noans(answer: str | None) -> bool:
    """Return whether an answer is NOANS, ignoring quotes and punctuation."""
    return answer is not None and answer.strip(" \t\r\n.'\"`*").upper() == NOANS
