"""The formulations that ask about one claim and one passage at a time, for a text.

`stepwise` (UFO, Huang et al., 2026): the passage's answer to the query, then whether the claim
agrees with the answer, in two calls; one call where the passage does not answer. `rationale`
(Facts&Evidence, 2025): the claim, its paragraph and one passage; the rationale comes before the
verdict, and evidence that is off the topic or contradicts itself refutes nothing, nor is a
subjective claim refuted. `prompt` (the baseline of FaaF, Katranidis & Barany, 2024): the verdict
alone, matched by word. With `as_published` the latter two send what their papers send.

Where the text has no verdict, the repair asks for a function call with the verdict as an enum: an
endpoint that enforces the schema gets one even from a weak model.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from ufo.schemas.errors import UsageError
from ufo.schemas.functions import FALSE, NOANS, NOT_CLEAR, TF, TFN, TRUE, VERDICT, is_noans
from ufo.schemas.parameters import closed
from ufo.schemas.records import NOANS as NOANS_OUTCOME
from ufo.schemas.records import UNPARSABLE
from ufo.transforms.judges.llm import asking
from ufo.transforms.judges.llm.asking import Answer, Asker, Parsed, Question, T, ask_for_items
from ufo.transforms.judges.llm.excerpts import paragraph
from ufo.transforms.judges.llm.formulation import (
    OUTCOMES,
    Case,
    Finding,
    Formulation,
    Pair,
    finding_of,
    repeats,
)
from ufo.transforms.judges.llm.parsing import arguments_of, reason_of
from ufo.transforms.judges.llm.settings import PROMPT, RATIONALE, STEPWISE, LlmSettings
from ufo.transforms.llm.base import Choice, Function
from ufo.transforms.prompts import Prompts
from ufo.transforms.prompts.data import block, element, read

_VERDICT_TOKENS: Final = 8
_RATIONALE_TOKENS: Final = 80
_STEPS_TOKENS: Final = 200
_WORD: Final = re.compile(r"\b(?:(true)|(false)|(not clear|unclear))\b", re.IGNORECASE)
_NEGATED: Final = re.compile(
    r"\b(?:\w*n['’]t|cannot|not|never|neither|nor)\s+(?:\w+\s+)?(?:true|false)\b", re.IGNORECASE
)
_RATIONALE_HEAD: Final = re.compile(r"^[^\w\n]*rationale[^\w\n]*?:", re.IGNORECASE)
_VERDICT_LINE: Final = re.compile(r"^[^\w\n]*verdict[^\w\n]*?:(.*)$", re.IGNORECASE | re.MULTILINE)


def word_verdict(text: str, options: str) -> str | None:
    """Return TRUE, FALSE or, not with `tf`, NOT_CLEAR where a text has words of exactly one of
    them, else None.

    FaaF takes the first word that matches, so that "not true" is true; here a negated word is not a
    verdict.
    """
    kinds = {found.lastindex for found in _WORD.finditer(text)}
    if len(kinds) != 1 or _NEGATED.search(text) or (options == TF and kinds == {3}):
        return None
    return (TRUE, FALSE, NOT_CLEAR)[(kinds.pop() or 1) - 1]


def wrong_word(text: str, options: str) -> str:
    """Return why `word_verdict` finds no verdict in a text, for the repair prompt."""
    words = "True and False" if options == TF else "True, False and Unclear"
    if _NEGATED.search(text):
        return "it negates a verdict; give the verdict that is meant"
    if len({found.lastindex for found in _WORD.finditer(text)}) > 1:
        return f"it has more than one of {words}; give one"
    return f"it has none of {words}; give one"


def by_word(text: str, options: str) -> Finding | None:
    """Return the finding of a text that says one verdict, else None."""
    verdict = word_verdict(text, options)
    return Finding(OUTCOMES[verdict], raw_verdict=text.strip()) if verdict else None


def by_last_line(text: str, options: str) -> Finding | None:
    """Return the finding of a rationale followed by the line `Verdict: …`.

    It is None where there is no such line, no rationale, or several different verdicts.
    """
    lines = list(_VERDICT_LINE.finditer(text))
    verdicts = {word_verdict(line[1], options) for line in lines}
    verdict = verdicts.pop() if len(verdicts) == 1 else None
    if verdict is None:
        return None
    rationale = _RATIONALE_HEAD.sub("", text[: lines[0].start()], count=1).strip()
    raw = lines[-1][1].strip(" \t\r*.")
    found = Finding(OUTCOMES[verdict], rationale=read(rationale), raw_verdict=raw)
    return found if rationale else None


def wrong_last_line(text: str, options: str) -> str:
    """Return why `by_last_line` finds no verdict in a text, for the repair prompt."""
    lines = list(_VERDICT_LINE.finditer(text))
    if not lines:
        return "it does not end in a line that begins with Verdict:"
    if by_last_line(f"Rationale: x\n{text}", options):
        return "it gives no rationale before its verdict"
    return f"its verdict does not do: {wrong_word(lines[-1][1], options)}"


@dataclass(frozen=True, slots=True)
class TextForm(asking.Form[Pair, T]):
    """Asks about one pair for a text; `read` returns its value, None where it has none.

    `why` says what is wrong with a text. `again` is the function of the repair, None to ask for a
    text once more. A reply that was withheld or cut off is not read.
    """

    asked: Question
    read: Callable[[str], T | None]
    why: Callable[[str], str]
    missing: str = "a verdict"
    again: Function | None = None

    def question(self, items: Sequence[Pair], wrong: str) -> Question:
        """Return the question."""
        return replace(self.asked, function=self.again if wrong else None)

    def parse(
        self, choice: Choice, items: Sequence[Pair], function: Function | None
    ) -> Parsed[Pair, T]:
        """Return the value of the text, or of the call that a repair asked for."""
        text = _as_text(choice, function)
        value = None if reason_of(choice) != UNPARSABLE else self.read(text)
        return Parsed({} if value is None else {items[0]: value}, self.why(text))

    def lacks(self, lost: Sequence[Pair], items: Sequence[Pair]) -> str:
        """Return what the reply lacks."""
        return self.missing


def _as_text(choice: Choice, function: Function | None) -> str:
    """Return a call of the repair function as the equivalent text, of any other reply its text."""
    given = arguments_of(choice, function.parameters["properties"]) if function else {}
    verdict, rationale = given.get(VERDICT), given.get(RATIONALE)
    if not isinstance(verdict, str):
        return choice.text
    if isinstance(rationale, str):
        return f"Rationale: {' '.join(rationale.split())}\nVerdict: {verdict}"
    return verdict


_NAMES: Final = {
    STEPWISE: ("stepwise_consistency_{}_system", "stepwise_consistency_user"),
    RATIONALE: ("rationale_{}_system", "rationale_user"),
    PROMPT: ("prompt_{}_system", "prompt_user"),
}
_PUBLISHED: Final = {
    RATIONALE: ("rationale_published_system", "rationale_user"),
    PROMPT: ("", "prompt_published_user"),
}
_FIRST: Final = ("stepwise_answer_system", "stepwise_answer_user")


def formulation(prompts: Prompts, settings: LlmSettings) -> Formulation:
    """Return the formulation that the settings name, one that asks about each pair by itself.

    Raises:
        UsageError: a paper's prompt has no third verdict, which the settings ask for.
    """
    kind, options = settings.formulation, settings.verdict_labels
    published = settings.as_published and kind in _PUBLISHED
    if published and options != TF:
        raise UsageError(
            f"--formulation {kind} --as_published cannot abstain, as its paper has it: add "
            "--verdict_labels tf"
        )
    system, user = (_PUBLISHED if published else _NAMES)[kind]
    system = system.format(options)
    explains = kind == RATIONALE
    tokens = (_STEPS_TOKENS if published else _RATIONALE_TOKENS) if explains else _VERDICT_TOKENS
    reads, says_why = (by_last_line, wrong_last_line) if explains else (by_word, wrong_word)
    words = ("True", "False", "Unclear") if options == TFN else ("True", "False")
    fields: dict[str, Any] = {RATIONALE: {"type": "string"}} if explains else {}
    schema = closed({**fields, VERDICT: {"type": "string", "enum": words}})
    again = Function("hand_over", prompts["function_verdict"], schema)

    async def finding(case: Case, pair: Pair, asker: Asker) -> Finding:
        unit, passage = case.units[pair[0]], case.passages[pair[1]]
        context = paragraph(case.open_units, unit.sentence_index) if explains else ""
        parts = {
            "passage": block("passage", passage.text, title=passage.title),
            "text": passage.text,
            "claim": element("claim", unit.claim),
            "fact": unit.claim,
            "query": element("query", unit.query),
            "context": element("context", context) if context else "",
        }
        told = None
        if kind == STEPWISE:
            asked = Question(prompts[_FIRST[0]], prompts.render(_FIRST[1], **parts))
            form = TextForm(asked, _answer, lambda _: "it was empty", "an answer")
            first = (await ask_for_items([pair], form, asker))[pair]
            told = first.value
            if told is None or is_noans(told):
                none = told and Finding(NOANS_OUTCOME, raw_verdict=NOANS)
                return finding_of(Answer(none or None, first.reply, first.first_reason))
            parts["answer"] = element("answer", told)
            parts["query"] = "" if repeats(unit.query, unit.claim) else parts["query"]
        asked = Question(
            prompts[system] if system else "", prompts.render(user, **parts), expects=tokens
        )
        read_it, why = partial(reads, options=options), partial(says_why, options=options)
        answer = await ask_for_items([pair], TextForm(asked, read_it, why, again=again), asker)
        found = finding_of(answer[pair])
        return found if told is None or found.reason else replace(found, answer=told)

    async def judge(case: Case, asker: Asker) -> dict[Pair, Finding]:
        findings = await asking.together(finding(case, pair, asker) for pair in case.pairs)
        return dict(zip(case.pairs, findings, strict=True))

    names = [*(_FIRST if kind == STEPWISE else ()), *filter(None, (system, user))]
    return Formulation([*names, "repair", "function_verdict"], judge)


def _answer(text: str) -> str | None:
    return read(text).strip() or None
