"""Put what the offline judge finds into the form that a prompt of the LLM judge asks for.

Every claim, query and verdict is the offline judge's: this file reads requests and writes replies.
What a prompt does not hold and the offline judge needs (the claim behind a query, the passage
behind an answer) is remembered from earlier requests, or told beforehand with `know`.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ufo.schemas.records import NOANS, SUPPORTED, Evidence, FactUnit, InputRecord, OpenUnits
from ufo.schemas.records import Passage as PassageRow
from ufo.transforms.judges.judge import Drafts
from ufo.transforms.judges.offline.offline_judge import OfflineJudge
from ufo.transforms.loop import run_now
from ufo.transforms.prompts.data import escape, read
from ufo.transforms.sentences import Span, segment
from ufo.transforms.sources.fact_source import Found, Retrieved

from . import prompts
from .chat import Chat, Reply


class OfflineAnswers:
    """Answers whatever the LLM judge asks; matches by the task or the name of the function."""

    def __init__(self, judge: OfflineJudge | None = None) -> None:
        self._judge = judge or OfflineJudge()
        self._claims: dict[str, list[str]] = {}
        self._queries: dict[str, str] = {}
        self._answers: dict[tuple[str, str], prompts.Passage] = {}
        self._tasks: dict[str, Callable[[Chat], Reply]] = {
            "extract_facts": self._extract,
            "extract_sentences": self._extract,
            "write_queries": self._write_queries,
            "generate_facts": self._generate_facts,
            "verify_facts": self._verify,
            "verify_xml": self._verify_xml,
            "stepwise_answer": self._stepwise_answer,
            "stepwise_consistency": self._stepwise_consistency,
            "rationale": self._rationale,
            "prompt": self._prompt,
            "fact_checker": self._fact_checker,
            "Considering": self._faaf_prompt,
            "Take": self._faaf_facts,
            "Document": self._minicheck,
            "groundedness": self._granite_guardian,
            "QUESTION": self._lynx,
        }

    def know(self, units: Iterable[tuple[str, str]]) -> None:
        """Remember (claim, query) pairs, which otherwise are known once they were extracted."""
        for claim, query in units:
            claims = self._claims.setdefault(query, [])
            if claim not in claims:
                claims.append(claim)
            self._queries.setdefault(claim, query)

    def matches(self, chat: Chat) -> bool:
        return self._task(chat) in self._tasks

    def answer(self, chat: Chat) -> Reply:
        name = self._task(chat)
        reply = self._tasks[name](chat)
        return Reply(reply.text, reply.arguments, name)

    def _task(self, chat: Chat) -> str:
        named = chat.system if chat.system == "groundedness" else prompts.task(chat.system)
        return named or chat.function or prompts.published(chat.user)

    # --- extraction ---

    def _extract(self, chat: Chat) -> Reply:
        sentences, starts, language = prompts.sentences(chat.user)
        text, spans = "", []
        for position, (_, sentence) in enumerate(sentences):
            if position:
                text += "\n\n" if position in starts else " "
            spans.append(Span(len(text), len(text) + len(sentence)))
            text += sentence
        question = prompts.text_of("question", chat.user)
        record = InputRecord("server", "server", text, question=question, language=language)
        whole = self._task(chat) == "extract_sentences"
        extract = self._judge.extract_sentences if whole else self._judge.extract
        extracted: Drafts = run_now(extract(record, spans))
        self.know((draft.claim, draft.query) for draft in extracted.drafts)
        drafts = [
            (draft.sentence_index or 0, draft.claim, draft.query) for draft in extracted.drafts
        ]
        facts = [
            {"sentence": sentences[at][0], "claim": claim, "query": query}
            for at, claim, query in drafts
        ]
        with_claims = {fact["sentence"] for fact in facts}
        rest = [number for number, _ in sentences if number not in with_claims]
        return Reply(arguments={"facts": facts, "no_claim": rest})

    def _write_queries(self, chat: Chat) -> Reply:
        queries = []
        for number, _, content in prompts.numbered("c", chat.user):
            claim = read(content)
            query = run_now(self._judge.queries([claim])).queries[0]
            self.know([(claim, query)])
            queries.append({"claim": number, "query": query})
        return Reply(arguments={"queries": queries})

    def _generate_facts(self, chat: Chat) -> Reply:
        text = prompts.text_of("answer", chat.user) or ""
        return Reply(arguments={"facts": self._facts(text, prompts.text_of("question", chat.user))})

    def _facts(self, text: str, question: str | None) -> list[str]:
        record = InputRecord("server", "server", text, question=question)
        extracted: Drafts = run_now(self._judge.extract(record, segment(text)))
        return [draft.claim for draft in extracted.drafts]

    # --- what FaaF's code sends as text ---

    def _faaf_facts(self, chat: Chat) -> Reply:
        text, question = re.findall(r'^\w+: "(.*?)"$', chat.user, re.DOTALL | re.MULTILINE)
        return Reply("\n".join(f"- {fact}" for fact in self._facts(text, question)))

    def _faaf_prompt(self, chat: Chat) -> Reply:
        asked = re.fullmatch(
            r'passage: "(.*)"\n\n.*the claim: (.*) is True or.*', chat.user, re.DOTALL
        )
        assert asked
        query = run_now(self._judge.queries([asked[2]])).queries[0]
        return Reply(_word(self._evidence(asked[2], query, prompts.Passage(asked[1], None)), chat))

    # --- the forms of models that are trained to judge ---

    def _minicheck(self, chat: Chat) -> Reply:
        text, _, claim = chat.user.removeprefix("Document: ").rpartition("\nClaim: ")
        return Reply("Yes" if self._supports(claim, text) else "No")

    def _granite_guardian(self, chat: Chat) -> Reply:
        text, _, claim = chat.user.rpartition("\n")
        word = "no" if self._supports(claim, text) else "yes"
        return Reply(f"<score> {word} </score>" if "3.3" in chat.model else word.title())

    def _lynx(self, chat: Chat) -> Reply:
        _, query, text, claim, form = chat.user.split("\n\n--\n")
        supports = self._supports(claim.removeprefix("ANSWER:\n"), text.partition("\n")[2])
        assert query.partition("\n")[2]
        assert '"SCORE"' in form
        reply = {"REASONING": ["The document says so."], "SCORE": "PASS" if supports else "FAIL"}
        return Reply(f"```json\n{json.dumps(reply)}\n```")

    def _supports(self, claim: str, text: str) -> bool:
        query = self._queries.get(claim) or run_now(self._judge.queries([claim])).queries[0]
        return self._evidence(claim, query, prompts.Passage(text, None)).outcome == SUPPORTED

    # --- verification through a function, as JSON and as tags ---

    def _verify(self, chat: Chat) -> Reply:
        fact_schema, check = _fact_form(chat)
        single = check is fact_schema
        clear_only = prompts.clear_only(chat.system)
        arguments: dict[str, Any] = {}
        for fact, rows in self._checked(chat):
            checks: list[dict[str, Any]] = []
            noans: list[int] = []
            for number, row in rows:
                if row.outcome == NOANS and not single and not clear_only:
                    noans.append(number)
                else:
                    _add(checks, number, _fields(row, clear_only), check)
            if _is_exact(fact_schema):
                own = {f"p{number}": _fields(row, clear_only) for number, row in rows}
                arguments[f"f{fact.number}"] = {
                    name: {field: own[name][field] for field in check} for name in own
                }
            elif single:
                arguments[f"f{fact.number}"] = checks[0]
            else:
                arguments[f"f{fact.number}"] = {"checks": checks}
                if "noans" in fact_schema:
                    arguments[f"f{fact.number}"]["noans"] = noans
        return Reply(arguments=arguments)

    def _verify_xml(self, chat: Chat) -> Reply:
        asked = re.findall(r"^<(\w+)>: ", chat.system, re.MULTILINE)
        clear_only = prompts.clear_only(chat.system)
        single = "passages=" not in next(prompts.elements("facts", chat.user))[2]
        lines: list[str] = []
        for fact, rows in self._checked(chat):
            lines.append(f"<f{fact.number}>")
            noans = []
            for number, row in rows:
                if row.outcome == NOANS and not single and not clear_only:
                    noans.append(str(number))
                    continue
                fields = _fields(row, clear_only)
                tags = [f"<{name}>{escape(fields[name])}</{name}>" for name in asked]
                lines += tags if single else [f"<p{number}>", *tags, f"</p{number}>"]
            if not single and not clear_only:
                lines.append(f"<noans>{' '.join(noans)}</noans>")
            lines.append(f"</f{fact.number}>")
        return Reply("\n".join(lines))

    def _fact_checker(self, chat: Chat) -> Reply:
        """The function object of factual recall."""
        passage = prompts.Passage(chat.user.partition("Passage:")[2].strip(), None)
        arguments: dict[str, Any] = {}
        properties = chat.schema["properties"] if chat.function else prompts.parameters(chat.system)
        for name, below in properties.items():
            if not name.endswith("_text_evidence"):
                claim = prompts.clear_fact(below["description"])
                query = run_now(self._judge.queries([claim])).queries[0]
                row = self._evidence(claim, query, passage)
                unclear = below["enum"][2] if len(below["enum"]) == 3 else "False"
                verdict = {SUPPORTED: "True", NOANS: unclear}.get(row.outcome, "False")
                arguments[name] = verdict
                evidence = f"{name}_text_evidence"
                if evidence in properties:
                    arguments[evidence] = row.citation
        if chat.function:
            return Reply(arguments=arguments)
        return Reply("\n".join(f"<{name}>{value}</{name}>" for name, value in arguments.items()))

    def _checked(self, chat: Chat) -> Iterable[tuple[prompts.Fact, list[tuple[int, Evidence]]]]:
        passages = prompts.passages(chat.user)
        context = prompts.text_of("context", chat.user)
        for fact in prompts.facts(chat.user):
            # Recall asks without queries.
            query = fact.query or run_now(self._judge.queries([fact.claim])).queries[0]
            self.know([(fact.claim, query)])
            yield (
                fact,
                [
                    (number, self._evidence(fact.claim, query, passages[number], context))
                    for number in fact.passages
                ],
            )

    # --- the other formulations ---

    def _stepwise_answer(self, chat: Chat) -> Reply:
        passage = prompts.single_passage(chat.user)
        query = prompts.text_of("query", chat.user) or ""
        answer = passage.text
        if query in self._claims:
            rows = [self._evidence(claim, query, passage) for claim in self._claims[query]]
            cited = [row.citation for row in rows if row.outcome != NOANS and row.citation]
            if not cited:
                return Reply("NOANS")
            answer = cited[0]
        self._answers[query, _key(answer)] = passage
        return Reply(answer)

    def _stepwise_consistency(self, chat: Chat) -> Reply:
        claim = prompts.text_of("claim", chat.user) or ""
        query = prompts.text_of("query", chat.user) or ""
        answer = prompts.text_of("answer", chat.user) or ""
        passage = self._answers.get((query, _key(answer)), prompts.Passage(answer, None))
        self.know([(claim, query)])
        return Reply(_word(self._evidence(claim, query, passage), chat))

    def _rationale(self, chat: Chat) -> Reply:
        row = self._alone(chat)
        return Reply(f"Rationale: {row.rationale}\nVerdict: {_word(row, chat)}")

    def _prompt(self, chat: Chat) -> Reply:
        return Reply(_word(self._alone(chat), chat))

    def _alone(self, chat: Chat) -> Evidence:
        claim = prompts.text_of("claim", chat.user) or ""
        query = self._queries.get(claim) or run_now(self._judge.queries([claim])).queries[0]
        context = prompts.text_of("context", chat.user)
        return self._evidence(claim, query, prompts.single_passage(chat.user), context)

    def _evidence(
        self, claim: str, query: str, passage: prompts.Passage, context: str | None = None
    ) -> Evidence:
        unit = FactUnit("server", "u", None, claim, query, None)
        units = OpenUnits("server", context or claim, None, None, [], [], [unit])
        row = PassageRow(passage.text, passage.title, source="server", passage_id="p")
        return run_now(self._judge.verify(units, "server", [Found([Retrieved(row)])])).evidence[0]


def _fact_form(chat: Chat) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """What the argument of a fact consists of, and what a check of it does: the same for one
    passage. Read off the schema, or where the model was shown none, off its example."""
    exact = chat.schema.get("properties", {}).get("f1", {}).get("properties", {})
    if exact and _is_exact(exact):
        check = chat.schema.get("$defs", {}).get("check") or next(iter(exact.values()))
        return exact, check["properties"]
    if chat.schema:
        # A schema without definitions has the same for each fact.
        facts_schema = chat.schema.get("$defs") or {"fact": chat.schema["properties"]["f1"]}
        fact = facts_schema["fact"]["properties"]
        return fact, fact["checks"]["items"]["properties"] if "checks" in fact else fact
    facts = list(chat.example.values())
    if "checks" not in facts[0]:
        return facts[0], facts[0]
    return facts[0], next(fact["checks"][0] for fact in facts if fact["checks"])


def _is_exact(fact: Mapping[str, Any]) -> bool:
    """Whether a fact's argument has a check of each passage by name, as repairs ask for."""
    return all(re.fullmatch(r"p\d+", name) for name in fact)


def _fields(row: Evidence, clear_only: bool) -> dict[str, str]:
    unclear = "F" if clear_only else "N"
    verdict = unclear if row.outcome == NOANS else "T" if row.outcome == SUPPORTED else "F"
    return {
        "answer": row.citation or "NOANS",
        "citation": row.citation or "",
        "rationale": row.rationale or "",
        "verdict": verdict,
    }


def _add(
    checks: list[dict[str, Any]], number: int, fields: dict[str, str], asked: Iterable[str]
) -> None:
    """Add a check of the fields that are asked for; equal ones are one where that is allowed."""
    fresh: dict[str, Any] = {"passage": number, "passages": [number], **fields}
    fresh = {name: fresh[name] for name in asked}
    for known in checks:
        if "passages" in known and known == fresh | {"passages": known["passages"]}:
            known["passages"].append(number)
            return
    checks.append(fresh)


def _word(row: Evidence, chat: Chat) -> str:
    if row.outcome == NOANS:
        return next((word for word in ("Not clear", "Unclear") if word in chat.system), "False")
    return "True" if row.outcome == SUPPORTED else "False"


def _key(answer: str) -> str:
    return " ".join(answer.split())
