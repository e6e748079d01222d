"""Ask about one claim and one passage at a time, for a reply in text: the formulations but one.

- `stepwise` (UFO, Huang et al., 2026) takes two calls. The first asks for the passage's answer to
  the query, the second whether the claim agrees with it. There is no second call where the passage
  does not answer.
- `rationale` (Facts&Evidence, 2025) sends the claim, its paragraph and one passage. The rationale
  comes before the verdict. Off-topic or contradictory evidence refutes nothing, and a subjective
  claim is never refuted.
- `prompt` (the baseline of FaaF, Katranidis & Barany, 2024) asks for the verdict alone, which is
  matched by word.

With `as_published` the last two send the prompts of their papers.

Where the text has no verdict, the repair asks for a function call with the verdict as an enum. An
endpoint that enforces the schema gets one even from a weak model.

Three more are of models that are trained to say whether a document supports a claim, in their own
form. Such a model cannot say that a passage contradicts a claim: what it does not support is
`noans`, with the labels `tf` `refuted`. It extracts no claims, and knows no other question.

- `minicheck`: Bespoke-MiniCheck answers Yes or No. https://ollama.com/library/bespoke-minicheck
- `granite_guardian`: Granite Guardian answers Yes where the claim is not grounded, from version 3.3
  on between tags. https://ollama.com/library/granite3-guardian (the template) and
  https://github.com/ibm-granite/gguf/tree/main/resources/ollama/granite3.3-guardian
- `lynx`: Lynx reasons, then gives PASS or FAIL, as JSON.
  https://huggingface.co/PatronusAI/Llama-3-Patronus-Lynx-8B-Instruct
"""

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial
from math import exp
from typing import Any, Final

from ufo.schemas.errors import UsageError
from ufo.schemas.records import NOANS, REFUTED, SUPPORTED
from ufo.schemas.text import storable
from ufo.transforms.judges.llm import fact_function
from ufo.transforms.judges.llm.asking import Asker, Form, Parsed, Question, ask_for_items
from ufo.transforms.judges.llm.excerpts import paragraph, repeats
from ufo.transforms.judges.llm.judgements import Case, Finding, Formulation, Pair
from ufo.transforms.judges.llm.llm_settings import (
    GRANITE_GUARDIAN,
    GROUNDING,
    LYNX,
    MINICHECK,
    PROMPT,
    RATIONALE,
    STEPWISE,
    TF,
    TFN,
    LlmSettings,
)
from ufo.transforms.judges.llm.parsing import arguments_of, is_whole, outcome_of
from ufo.transforms.llm.request import WHOLE, WITHHELD, Choice, Function, Message, closed, together
from ufo.transforms.prompts import Prompts
from ufo.transforms.prompts.data import block, element, read

_VERDICT_TOKENS: Final = 8
_RATIONALE_TOKENS: Final = 80
_STEPS_TOKENS: Final = 200
_REASONING_TOKENS: Final = 300
_WORD: Final = re.compile(r"\b(?:(true)|(false)|(not clear|unclear))\b", re.IGNORECASE)
_NEGATED: Final = re.compile(
    r"\b(?:\w*n['’]t|cannot|not|never|neither|nor)\s+(?:\w+\s+)?(?:true|false)\b", re.IGNORECASE
)
_RATIONALE_HEAD: Final = re.compile(r"^[^\w\n]*rationale[^\w\n]*?:", re.IGNORECASE)
_VERDICT_LINE: Final = re.compile(r"^[^\w\n]*verdict[^\w\n]*?:(.*)$", re.IGNORECASE | re.MULTILINE)
_TRAINED: Final = {
    MINICHECK: "minicheck_user",
    GRANITE_GUARDIAN: "granite_guardian_system",
    LYNX: "lynx_user",
}
_YES: Final = re.compile(r"\W*(?:<score>\s*)?(?:(yes)|no)\b", re.IGNORECASE)
_OLD_GUARDIAN: Final = re.compile(r"granite-?3(?:\.[0-2])?-guardian|guardian-3\.[0-2]\b")

Said = tuple[Finding | None, str]
"""The finding of a text, None where it has none, and what is wrong with it then."""


def by_word(text: str, options: str) -> Said:
    """Return the finding of a text that is a verdict, or has words of exactly one.

    FaaF takes the first word that matches, so that "not true" is true; here a negated word is not a
    verdict.
    """
    if outcome := outcome_of(text, options):
        return Finding(outcome, raw_verdict=text.strip()), ""
    kinds = {found.lastindex or 0 for found in _WORD.finditer(text)}
    words = "True and False" if options == TF else "True, False and Unclear"
    if _NEGATED.search(text):
        return None, "it negates a verdict; give the verdict that is meant"
    if len(kinds) > 1:
        return None, f"it has more than one of {words}; give one"
    if not kinds or (options == TF and 3 in kinds):
        return None, f"it has none of {words}; give one"
    return Finding((SUPPORTED, REFUTED, NOANS)[kinds.pop() - 1], raw_verdict=text.strip()), ""


def by_last_line(text: str, options: str) -> Said:
    """Return the finding of a rationale with a line `Verdict: …`; none where such lines have
    different verdicts."""
    lines = list(_VERDICT_LINE.finditer(text))
    if not lines:
        return None, "it does not end in a line that begins with Verdict:"
    said = [by_word(line[1], options) for line in lines]
    found, wrong = said[-1]
    if found is None or {one and one.outcome for one, _ in said} != {found.outcome}:
        return None, f"its verdict does not do: {wrong or 'it has several'}"
    rationale = _RATIONALE_HEAD.sub("", text[: lines[0].start()], count=1).strip()
    if not rationale:
        return None, "it gives no rationale before its verdict"
    raw = lines[-1][1].strip(" \t\r*.")
    return replace(found, rationale=read(rationale), raw_verdict=raw), ""


def by_yes(text: str, yes: str, no: str) -> Said:
    """Return the finding of a text that begins with Yes or No, with the outcome of that word."""
    found = _YES.match(text)
    if found is None:
        return None, "it does not begin with Yes or No"
    return Finding(yes if found[1] else no, raw_verdict=text.strip()), ""


def by_score(text: str, yes: str, no: str) -> Said:
    """Return the finding of a text with a score in JSON, and the reasoning beside it."""
    given = arguments_of(Choice(text), ("SCORE", "REASONING"))
    score, reasoning = str(given.get("SCORE")).strip(), given.get("REASONING")
    if score.upper() not in ("PASS", "FAIL"):
        return None, "it has no SCORE that is PASS or FAIL"
    told = reasoning if isinstance(reasoning, list) else [reasoning]
    lines = [read(line).strip() for line in told if isinstance(line, str)]
    outcome = yes if score.upper() == "PASS" else no
    return Finding(outcome, rationale="\n".join(lines) or None, raw_verdict=score), ""


def by_answer(text: str) -> Said:
    """Return a finding with the answer that a text is, without one for NOANS."""
    answer = read(text).strip()
    if not answer:
        return None, "it was empty"
    if fact_function.is_noans(answer):
        return Finding(NOANS, raw_verdict=fact_function.NOANS), ""
    return Finding(NOANS, answer=answer), ""


async def in_text(
    pair: Pair,
    question: Question,
    says: Callable[[str], Said],
    asker: Asker,
    again: Function | None = None,
) -> Finding:
    """Ask a question about one pair, and return the finding that `says` reads in the reply's text.

    `again` is the function of the repair, None to repeat the question for a text. A reply that was
    withheld or broke off is not read.
    """

    def asked(items: Sequence[Pair], wrong: str) -> Question:
        return replace(question, function=again if wrong else None)

    def parse(choice: Choice, items: Sequence[Pair], call: bool) -> Parsed[Pair, Finding]:
        found, wrong = says(storable(_as_text(choice) if call else choice.text))
        whole = choice.ending == WHOLE or (call and choice.ending != WITHHELD and is_whole(choice))
        if found is None or choice.refusal or not whole:
            return Parsed({}, wrong)
        if question.logprobs and choice.logprob_mean is not None and len(choice.text.split()) == 1:
            chance = exp(choice.logprob_mean)
            chance = chance if found.outcome == SUPPORTED else 1 - chance
            found = replace(found, probability=chance)
        return Parsed({pair: found})

    return Finding.of((await ask_for_items([pair], Form(asked, parse), asker))[pair])


def one_pair_at_a_time(
    names: Sequence[str],
    finding: Callable[[Case, Pair, Asker], Awaitable[Finding]],
    context: Callable[[Case, int], str] = lambda case, unit: "",
) -> Formulation:
    """Return the formulation that asks for each pair by itself; `names` are its prompts."""

    async def judge(case: Case, asker: Asker) -> dict[Pair, Finding]:
        findings = await together(finding(case, pair, asker) for pair in case.pairs)
        return dict(zip(case.pairs, findings, strict=True))

    return Formulation(names, judge, context)


def _as_text(choice: Choice) -> str:
    """Return a call of the repair function as an equivalent text; for any other reply its text."""
    given = arguments_of(choice, (fact_function.VERDICT, fact_function.RATIONALE))
    verdict, rationale = given.get(fact_function.VERDICT), given.get(fact_function.RATIONALE)
    if not isinstance(verdict, str | bool):
        return choice.text
    if isinstance(rationale, str):
        return f"Rationale: {' '.join(rationale.split())}\nVerdict: {verdict}"
    return str(verdict)


_FIRST: Final = ("stepwise_answer_system", "stepwise_answer_user")


def formulation(prompts: Prompts, settings: LlmSettings) -> Formulation:
    """Return the formulation that the settings name.

    Raises:
        UsageError: the settings allow a third verdict, which the paper's prompt lacks, or want a
            grounding model to be asked as published.
    """
    if settings.formulation in GROUNDING:
        return _trained(prompts, settings)
    kind, options = settings.formulation, settings.verdict_labels
    published = settings.as_published and kind != STEPWISE
    if published and options != TF:
        raise UsageError(
            f"--formulation {kind} --as_published has no third verdict, as in its paper: add "
            "--verdict_labels tf"
        )
    stem = "stepwise_consistency" if kind == STEPWISE else kind
    system, user = f"{stem}_{'published' if published else options}_system", f"{stem}_user"
    if published and kind == PROMPT:
        system, user = "", "prompt_published_user"
    words = ("True", "False", "Unclear")[: 3 if options == TFN else 2]
    fields: dict[str, Any] = {fact_function.VERDICT: {"type": "string", "enum": words}}
    tokens, says = _VERDICT_TOKENS, by_word
    if kind == RATIONALE:
        tokens = _STEPS_TOKENS if published else _RATIONALE_TOKENS
        says = by_last_line
        fields = {fact_function.RATIONALE: {"type": "string"}, **fields}
    again = Function("hand_over", prompts["function_verdict"], closed(fields))

    def context(case: Case, unit: int) -> str:
        return paragraph(case.text, case.units[unit].sentence_index) if kind == RATIONALE else ""

    async def finding(case: Case, pair: Pair, asker: Asker) -> Finding:
        parts, answer = _parts(case, pair, context(case, pair[0])), None
        if kind == STEPWISE:
            question = Question(prompts[_FIRST[0]], prompts.render(_FIRST[1], **parts))
            first = await in_text(pair, question, by_answer, asker)
            answer = first.answer
            if answer is None:
                return first
            unit = case.units[pair[0]]
            parts["query"] = "" if repeats(unit.query, unit.claim) else parts["query"]
            parts["answer"] = element("answer", answer)
        instructions = prompts[system] if system else ""
        question = Question(instructions, prompts.render(user, **parts), expects=tokens)
        found = await in_text(pair, question, partial(says, options=options), asker, again)
        return found if answer is None or found.reason else replace(found, answer=answer)

    names = [*(_FIRST if kind == STEPWISE else ()), *filter(None, (system, user))]
    return one_pair_at_a_time([*names, "repair", "function_verdict"], finding, context)


def _parts(case: Case, pair: Pair, context: str) -> dict[str, str]:
    """Return what prompts show of a pair: in tags, and without for the prompts of papers."""
    unit, passage = case.units[pair[0]], case.passages[pair[1]]
    return {
        "passage": block("passage", passage.text, title=passage.title),
        "text": passage.text,
        "claim": element("claim", unit.claim),
        "fact": unit.claim,
        "query": element("query", unit.query),
        "context": element("context", context) if context else "",
    }


# --- models that are trained to judge -----------------------------------------------------------


def _trained(prompts: Prompts, settings: LlmSettings) -> Formulation:
    """Return the formulation of the model's family that the settings name."""
    kind, prompt = settings.formulation, _TRAINED[settings.formulation]
    if settings.as_published:
        raise UsageError(f"--formulation {kind} has one form, its own; leave out --as_published")
    yes, no = SUPPORTED, NOANS if settings.verdict_labels == TFN else REFUTED
    if kind == GRANITE_GUARDIAN:  # which says whether there is a risk
        yes, no = no, yes
    says = partial(by_score if kind == LYNX else by_yes, yes=yes, no=no)
    # The templates of versions up to 3.2 have another role.
    role = "context" if _OLD_GUARDIAN.search(settings.model.casefold()) else "document"

    def question(case: Case, pair: Pair) -> Question:
        claim, passage = case.units[pair[0]], case.passages[pair[1]]
        asked = Question("", "", expects=_VERDICT_TOKENS, logprobs=True)
        if kind == GRANITE_GUARDIAN:
            texts = {role: passage.text, "assistant": claim.claim}
            turns = [Message(one, storable(text)) for one, text in texts.items()]
            return replace(asked, system=prompts[prompt], turns=turns)
        user = prompts.render(prompt, text=passage.text, claim=claim.claim, query=claim.query)
        if kind == LYNX:
            return replace(asked, user=user, expects=_REASONING_TOKENS, logprobs=False)
        return replace(asked, user=user)

    async def finding(case: Case, pair: Pair, asker: Asker) -> Finding:
        return await in_text(pair, question(case, pair), says, replace(asker, repairs=0))

    return one_pair_at_a_time([prompt], finding)
