"""The formulations that ask for a text about one claim and one passage: all but `function`.

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
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import exp
from typing import Final

from ufo.schemas.errors import DoesNotFit
from ufo.schemas.records import NOANS, REFUTED, SUPPORTED
from ufo.schemas.text import storable
from ufo.transforms.concurrently import together
from ufo.transforms.judges.llm import fact_function
from ufo.transforms.judges.llm.asking import (
    SHORT_REPLY,
    Asker,
    Form,
    Parsed,
    Question,
    ask_for_items,
)
from ufo.transforms.judges.llm.excerpts import paragraph, repeats
from ufo.transforms.judges.llm.fact_function import RATIONALE, VERDICT
from ufo.transforms.judges.llm.judgements import Case, Finding, Formulation, Pair
from ufo.transforms.judges.llm.llm_settings import GROUNDING, STEPWISE, TF, TFN, LlmSettings
from ufo.transforms.judges.llm.parsing import arguments_of, is_whole, outcome_of
from ufo.transforms.llm.json_schema import closed_object
from ufo.transforms.llm.request import WHOLE, WITHHELD, Choice, Function, Message
from ufo.transforms.prompts import Prompts
from ufo.transforms.prompts.data import block, element, read

_WORDS: Final = re.compile(r"\w+")
_WORD: Final = re.compile(r"\b(?:(true)|(false)|(not clear|unclear))\b", re.IGNORECASE)
_IN_PART: Final = r"(?:partial(?:ly)?|partly|mostly|largely|somewhat|half)"
_NEGATED: Final = re.compile(
    r"\b(?:\w*n['’]t|cannot|not|never|neither|nor)\s+(?:\w+\s+)?(?:true|false)\b"
    rf"|\b{_IN_PART}\W+(?:true|false)\b|\b(?:true|false)[ (,]+{_IN_PART}\b",
    re.IGNORECASE,
)
_HEAD: Final = r"^[^\w\n]*(?:\d+[.)][^\w\n]*)?"  # of a line, also of one in a list
_RATIONALE_HEAD: Final = re.compile(
    rf"{_HEAD}rationale[^\w\n]*?(?:[:：][^\w\n\"'(]*|\n)", re.IGNORECASE
)
_VERDICT_LINE: Final = re.compile(
    rf"{_HEAD}(?:final )?verdict[^\w\n]*?(?:[:：]|\n)\s*(.*)$", re.IGNORECASE | re.MULTILINE
)
_YES: Final = re.compile(
    r"\W*(?:(?:score|answer|risk|label|assistant)\b\W*)?(?:(yes)|no)\b"
    r"(?!\W*(?:or\b\W*)?(?:yes|no)\b)",  # no choice between the two
    re.IGNORECASE,
)
_SCORE: Final = re.compile(r"(?:\bscore\b|^)\W*(pass|fail)\b", re.IGNORECASE)
_OLD_GUARDIAN: Final = re.compile(r"granite-?3(?:\.[0-2])?-guardian|guardian-3\.[0-2]\b")

Said = tuple[Finding | None, str]
"""The finding of a text, None where it has none, and the problem with the text then."""


def by_word(text: str, options: str) -> Said:
    """Return the finding of a text that is a verdict, or that has the word of exactly one.

    FaaF takes the first word that matches, so that "not true" is true; here a negated word is not a
    verdict.
    """
    if outcome := outcome_of(text, options):
        return Finding(outcome, raw_verdict=text.strip()), ""
    kinds = {found.lastindex or 0 for found in _WORD.finditer(text)}
    words = "True and False" if options == TF else "True, False and Unclear"
    if _NEGATED.search(text):
        return None, "it negates a verdict or limits it; give the one that is meant"
    if len(kinds) > 1:
        return None, f"it has more than one of {words}; give one"
    if not kinds or (options == TF and 3 in kinds):
        return None, f"it has none of {words}; give one"
    return Finding((SUPPORTED, REFUTED, NOANS)[kinds.pop() - 1], raw_verdict=text.strip()), ""


def by_last_line(text: str, options: str) -> Said:
    """Return the finding of a rationale with a line `Verdict: …`; none where such lines differ."""
    lines = list(_VERDICT_LINE.finditer(text))
    if not lines:
        return None, "it does not end in a line that begins with Verdict:"
    findings = [by_word(line[1], options) for line in lines]
    finding, wrong = findings[-1]
    if finding is None or {one and one.outcome for one, _ in findings} != {finding.outcome}:
        return None, f"its verdict does not do: {wrong or 'it has several'}"
    rationale = _RATIONALE_HEAD.sub("", text[: lines[0].start()], count=1).strip()
    if not rationale:
        return None, "it gives no rationale before its verdict"
    raw = lines[-1][1].strip(" \t\r*.")
    return replace(finding, rationale=read(rationale), raw_verdict=raw), ""


def by_yes(text: str, yes: str, no: str) -> Said:
    """Return the finding of a text that begins with Yes or No, with the outcome of that word."""
    match = _YES.match(text)
    if match is None:
        return None, "it does not begin with Yes or No"
    return Finding(yes if match[1] else no, raw_verdict=text.strip()), ""


def by_score(text: str, yes: str, no: str) -> Said:
    """Return the finding of a text with a score, in JSON or not, and the reasoning beside it."""
    arguments = arguments_of(Choice(text), ("SCORE", "REASONING"))
    score, reasoning = str(arguments.get("SCORE")).strip(), arguments.get("REASONING")
    scores = {score.upper()} & {"PASS", "FAIL"} or {*map(str.upper, _SCORE.findall(text))}
    if len(scores) != 1:
        return None, "it has no SCORE that is PASS or FAIL"
    reasons = reasoning if isinstance(reasoning, list) else [reasoning]
    lines = [read(line).strip() for line in reasons if isinstance(line, str)]
    (score,) = scores
    outcome = yes if score == "PASS" else no
    return Finding(outcome, rationale="\n".join(lines) or None, raw_verdict=score), ""


def by_answer(text: str) -> Said:
    """Return a finding with a text as its answer, without an answer for NOANS."""
    answer = read(text).strip()
    if not answer:
        return None, "it was empty"
    if fact_function.is_noans(answer):
        return Finding(NOANS, raw_verdict=fact_function.NOANS), ""
    return Finding(NOANS, answer=answer), ""


@dataclass(frozen=True, slots=True)
class _Way:
    """A question about a pair: its prompts, how the text of the reply is read, and its tokens.

    With an empty `system` or `user` there is no such message. `again` has the fields of the
    function that a repair calls; without them the question is repeated for a text. A model that is
    `trained` to judge is asked once, without tags. `logprobs` asks for the probability of a reply
    of one word.
    """

    system: str
    user: str
    says: Callable[[str], Said]
    expects: int = 8
    again: Sequence[str] = (VERDICT,)
    trained: bool = False
    logprobs: bool = False

    @property
    def prompts(self) -> list[str]:
        """The names of the prompts that judgements by this question depend on."""
        repair = [] if self.trained else ["repair", "function_verdict"]
        return [*filter(None, (self.system, self.user)), *repair]


_ANSWER: Final = _Way(
    "stepwise_answer_system", "stepwise_answer_user", by_answer, SHORT_REPLY, again=()
)


def _ways(labels: str) -> dict[str, _Way]:
    """Return the ways of asking by the names of their formulations."""
    word, line = partial(by_word, options=labels), partial(by_last_line, options=labels)
    no = NOANS if labels == TFN else REFUTED
    yes, risk = partial(by_yes, yes=SUPPORTED, no=no), partial(by_yes, yes=no, no=SUPPORTED)
    score = partial(by_score, yes=SUPPORTED, no=no)
    step, reasons = "stepwise_consistency", (RATIONALE, VERDICT)
    return {
        "stepwise": _Way(f"{step}_{labels}_system", f"{step}_user", word),
        "rationale": _Way(f"rationale_{labels}_system", "rationale_user", line, 80, reasons),
        "prompt": _Way(f"prompt_{labels}_system", "prompt_user", word),
        "published rationale": _Way(
            "rationale_published_system", "rationale_user", line, 200, reasons
        ),
        "published prompt": _Way("", "prompt_published_user", word),
        "minicheck": _Way("", "minicheck_user", yes, trained=True, logprobs=True),
        "granite_guardian": _Way("granite_guardian_system", "", risk, trained=True, logprobs=True),
        "lynx": _Way("", "lynx_user", score, 300, trained=True),
    }


def formulation(prompts: Prompts, settings: LlmSettings) -> Formulation:
    """Return the formulation that the settings name.

    Raises:
        UsageError: the settings allow a third verdict, which the paper's prompt lacks, or want a
            grounding model to be asked as published.
    """
    kind, labels = settings.formulation, settings.verdict_labels
    published = settings.as_published and kind != STEPWISE
    if published and kind in GROUNDING:
        raise DoesNotFit(f"--formulation {kind} has one form, its own; leave out --as_published")
    if published and labels != TF:
        raise DoesNotFit(
            f"--formulation {kind} --as_published has no third verdict, as in its paper: add "
            "--verdict_labels tf"
        )
    way = _ways(labels)[f"published {kind}" if published else kind]

    def context(case: Case, unit: int) -> str:
        shown = kind == "rationale"
        return paragraph(case.text, case.units[unit].sentence_index) if shown else ""

    async def finding(case: Case, pair: Pair, asker: Asker) -> Finding:
        unit, passage = case.units[pair[0]], case.passages[pair[1]]
        around = context(case, pair[0])
        parts = {
            "passage": block("passage", passage.text, title=passage.title),
            "text": passage.text,
            "claim": element("claim", unit.claim),
            "fact": unit.claim,
            "query": element("query", unit.query),
            "context": element("context", around) if around else "",
        }
        if way.trained:
            parts |= {"claim": unit.claim, "query": unit.query}
        if kind != STEPWISE:
            return await _ask_pair(way, parts, pair, asker, settings)
        first = await _ask_pair(_ANSWER, parts, pair, asker, settings)
        if first.answer is None:
            return first
        query = "" if repeats(unit.query, unit.claim) else parts["query"]
        parts |= {"query": query, "answer": element("answer", first.answer)}
        judged = await _ask_pair(way, parts, pair, asker, settings)
        return judged if judged.reason else replace(judged, answer=first.answer)

    async def judge(case: Case, asker: Asker) -> dict[Pair, Finding]:
        asker = replace(asker, repairs=0) if way.trained else asker
        findings = await together(finding(case, pair, asker) for pair in case.pairs)
        return dict(zip(case.pairs, findings, strict=True))

    names = way.prompts + (_ANSWER.prompts if kind == STEPWISE else [])
    return Formulation(names, judge, context)


async def _ask_pair(
    way: _Way, parts: Mapping[str, str], pair: Pair, asker: Asker, settings: LlmSettings
) -> Finding:
    """Ask about one pair, and return the finding of the reply.

    `parts` are the values of the prompts' variables. A reply that was withheld or broke off is not
    read.
    """
    prompts, options = asker.prompts, settings.verdict_labels
    user = prompts.render(way.user, **parts) if way.user else ""
    turns: list[Message] = []
    if not user:  # Granite Guardian, whose templates up to version 3.2 have another role
        role = "context" if _OLD_GUARDIAN.search(settings.model.casefold()) else "document"
        contents = {role: parts["text"], "assistant": parts["fact"]}
        turns = [Message(one, storable(text)) for one, text in contents.items()]
    words = ("True", "False", "Unclear")[: 3 if options == TFN else 2]
    allowed = {RATIONALE: {"type": "string"}, VERDICT: {"type": "string", "enum": words}}
    schema = closed_object({name: allowed[name] for name in way.again})
    again = Function("hand_over", prompts["function_verdict"], schema) if way.again else None
    system = prompts[way.system] if way.system else ""
    question = Question(system, user, None, way.expects, way.logprobs, turns)

    def asked(items: Sequence[Pair], wrong: str) -> Question:
        return replace(question, function=again if wrong else None)

    def parse(choice: Choice, items: Sequence[Pair]) -> Parsed[Pair, Finding]:
        finding, wrong = way.says(storable(choice.text))
        # JSON that stands within words may be a quotation.
        in_json = way.again and (finding is None or choice.text.lstrip("`json \n")[:1] == "{")
        as_text = _as_text(choice) if in_json else ""
        if as_text:
            finding, wrong = way.says(storable(as_text))
        whole = choice.ending == WHOLE or (bool(as_text) and is_whole(choice))
        if finding is None or choice.refusal or choice.ending == WITHHELD or not whole:
            return Parsed({}, wrong)
        one_word = len(_WORDS.findall(choice.text)) == 1
        if way.logprobs and choice.logprob_mean is not None and one_word:
            chance = exp(choice.logprob_mean)
            chance = chance if finding.outcome == SUPPORTED else 1 - chance
            finding = replace(finding, probability=chance)
        return Parsed({pair: finding})

    return Finding.of((await ask_for_items([pair], Form(asked, parse), asker))[pair])


def _as_text(choice: Choice) -> str:
    """Return a call of the repair function as an equivalent text, "" for any other reply."""
    arguments = arguments_of(choice, (VERDICT, RATIONALE))
    verdict, rationale = arguments.get(VERDICT), arguments.get(RATIONALE)
    if not isinstance(verdict, str | bool):
        return ""
    if isinstance(rationale, str):
        return f"Rationale: {' '.join(rationale.split())}\nVerdict: {verdict}"
    return str(verdict)
