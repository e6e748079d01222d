"""Convert the objects of published data sets to input records: a function, or a row of TEXTS, each.

A function gets an object of the file, the file and the object's number.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Final

from ufo.pipelines.importers.objects import (
    NEITHER,
    UNPLACED,
    Record,
    as_text,
    claims_of,
    get,
    labelled_places,
    list_of,
    named_after,
    places_of,
    read_objects,
    record,
    response_text,
    share_of_true,
    text_of,
)
from ufo.transforms.read import UnusableValue, structure_of

_CHATGPT: Final = "ChatGPT"  # whose responses these data sets have, without saying so
_NO_TEXT: Final = "evidence without a text"


def factcheck_gpt(raw: Record, file: Path, number: int) -> Record:
    """Convert Factcheck-Bench (Wang et al. 2023): claims with labels under sentences.

    Evidence found for any claim becomes a reference answer of the whole response. Labels other than
    true and false ("unknown", "NA") are left out.
    """
    text = response_text(raw, "response")
    sentences = [*get(raw, "sentences", dict).values()]
    for sentence in sentences:
        if not isinstance(sentence, dict):
            raise UnusableValue(
                f"expected each of `sentences` to be an object, found {sentence!r:.80}"
            )
    places = places_of([text_of(sentence, "text") for sentence in sentences], text)
    claims: list[Record] = []
    references: list[str] = []
    left_out: list[str] = []
    for sentence, place in zip(sentences, places, strict=True):
        texts = list_of(sentence, "claims", str)
        labels = get(sentence, "claims_factuality_label", list)
        if len(labels) != len(texts):
            raise UnusableValue(
                f"expected one of `claims_factuality_label` for each claim, found {len(labels)} "
                f"for {len(texts)}"
            )
        claims += claims_of(texts, labels, place, text, left_out)
        for found in get(sentence, "auto_evidence", list):
            passages = found if isinstance(found, list) else [found]
            references += [as_text("auto_evidence", passage).strip() for passage in passages]
    labels = [sentence.get("sentence_factuality_label") for sentence in sentences]
    known = [(place, one) for place, one in zip(places, labels, strict=True) if type(one) is bool]
    factuality = raw.get("response_factuality")
    return record(
        "factcheck_gpt",
        number,
        text,
        left_out,
        model=_CHATGPT,
        question=text_of(raw, "prompt").strip(),
        claims=claims,
        sentence_labels=labelled_places(known, left_out),
        reference_answers=[reference for reference in dict.fromkeys(references) if reference],
        label=factuality if isinstance(factuality, bool) else None,
    )


def factscore(raw: Record, file: Path, number: int) -> Record:
    """Convert FActScore (Min et al. 2023): biographies with atomic facts that people labelled.

    Supported is true, not supported false, irrelevant has no label. The response's label is its
    precision: the share of supported facts among those with a label. A model that declined has no
    annotations, and so no claims.
    """
    text = response_text(raw, "output")
    labels = {"S": True, "NS": False, "IR": None}
    sentences = [
        (text_of(annotation, "text"), get(annotation, "human-atomic-facts", list))
        for annotation in list_of(raw, "annotations", dict)
        if annotation.get("human-atomic-facts") is not None
    ]
    claims: list[Record] = []
    left_out: list[str] = []
    places = places_of([sentence for sentence, _ in sentences], text)
    for (_, facts), place in zip(sentences, places, strict=True):
        for fact in facts:
            if not isinstance(fact, dict) or fact.get("label") not in labels:
                raise UnusableValue(
                    "expected `human-atomic-facts` to be objects with `text` and a `label` of "
                    f"S, NS or IR, found {fact!r:.80}"
                )
        texts = [text_of(fact, "text") for fact in facts]
        given = [labels[fact["label"]] for fact in facts]
        claims += claims_of(texts, given, place, text, left_out)
    model, _ = named_after(file)
    known = [claim["label"] for claim in claims if "label" in claim]
    return record(
        "factscore",
        f"{model}-{number}",
        text,
        left_out,
        model=model,
        question=text_of(raw, "input").strip(),
        claims=claims,
        label=sum(known) / len(known) if known else None,
    )


def factool(raw: Record, file: Path, number: int) -> Record:
    """Convert FacTool (Chern et al. 2023), its knowledge questions: claims that people labelled."""
    text = response_text(raw, "response")
    claims = list_of(raw, "claims", dict)
    texts = [text_of(claim, "claim").strip() for claim in claims]
    left_out: list[str] = []
    return record(
        "factool",
        number,
        text,
        left_out,
        model=_CHATGPT,
        question=text_of(raw, "prompt").strip(),
        label=get(raw, "label", bool),
        claims=claims_of(texts, [claim.get("label") for claim in claims], None, text, left_out),
    )


def felm(raw: Record, file: Path, number: int) -> Record:
    """Convert FELM (Chen et al. 2023): each segment's label goes to the sentences that it is; a
    response is right if all of its segments are. Links to references stay in `metadata`."""
    text = response_text(raw, "response")
    segments = list_of(raw, "segmented_response", str)
    labels = get(raw, "labels", list)
    if len(labels) != len(segments):
        raise UnusableValue(
            f"expected one of `labels` for each segment, found {len(labels)} for {len(segments)}"
        )
    left_out = [NEITHER for label in labels if label not in (0, 1)]
    places = zip(places_of(segments, text), labels, strict=True)
    known = [(place, label) for place, label in places if label in (0, 1)]
    kept = ("index", "source", "domain", "type", "ref")
    return record(
        "felm",
        f"{file.stem}-{number}",
        text,
        left_out,
        model=_CHATGPT,
        question=text_of(raw, "prompt").strip(),
        sentence_labels=labelled_places(known, left_out),
        metadata={name: raw[name] for name in kept if raw.get(name)},
        label=all(labels) if labels and len(known) == len(labels) else None,
    )


def halueval(raw: Record, file: Path, number: int) -> Record:
    """Convert the general part of HaluEval (Li et al. 2023): spans are errors of ChatGPT."""
    text = response_text(raw, "chatgpt_response")
    word = text_of(raw, "hallucination").strip().lower()
    if word not in ("yes", "no"):
        raise UnusableValue(f"expected `hallucination` to be yes or no, found {word!r:.80}")
    places = places_of(list_of(raw, "hallucination_spans", str), text)
    # A sentence without a span counts as right, so that all are given, or none.
    complete = None not in places and bool(places) == (word == "yes")
    return record(
        "halueval",
        raw.get("ID", number),
        text,
        [UNPLACED for place in places if place is None],
        model=_CHATGPT,
        question=text_of(raw, "user_query").strip(),
        label=word == "no",
        spans=[{"start": at.start, "end": at.end} for at in places if at] if complete else None,
    )


def expertqa(raw: Record, file: Path, number: int) -> list[Record]:
    """Convert ExpertQA (Malaviya et al. 2024): each model's answer is a record.

    A claim is true where the expert called it definitely or probably correct, false where likely or
    definitely incorrect. Evidence with a text is a reference; an address alone is left out.
    """
    answers = get(raw, "answers", dict)
    if not answers:
        raise UnusableValue(
            "expected `answers` of models, found none: the file has questions alone"
        )
    records = []
    for model in answers:
        answer = get(answers, model, dict)
        text, left_out = response_text(answer, "answer_string"), list[str]()
        given = list_of(answer, "claims", dict)
        labels: list[bool | None] = []
        references: list[str] = []
        for claim in given:
            words = str(claim.get("correctness")).lower().split()
            labels.append(False if "incorrect" in words else True if "correct" in words else None)
            for evidence in claim.get("evidence") or []:
                first, _, rest = as_text("evidence", evidence).strip().partition("\n")
                is_address = "://" in first and " " not in first.strip()
                references.append(rest.strip() if is_address else evidence.strip())
        texts = [text_of(claim, "claim_string").strip() for claim in given]
        claims = claims_of(texts, labels, None, text, left_out)
        left_out += [_NO_TEXT for reference in references if not reference]
        made = record(
            "expertqa",
            f"{number}-{model}",
            text,
            left_out,
            model=model,
            question=text_of(raw, "question").strip(),
            claims=[claim for claim in claims if claim["claim"]],
            reference_answers=[one for one in dict.fromkeys(references) if one],
            metadata=raw.get("metadata") or {},
            label=share_of_true(claims),
        )
        records.append(made)
    return records


RAGTRUTH_SOURCES: Final = "source_info.jsonl"
_PASSAGE: Final = re.compile(r"\s*\bpassage \d+:\s*")


def ragtruth(raw: Record, file: Path, number: int) -> Record:
    """Convert RAGTruth (Niu et al. 2024): responses with spans that their sources do not support.

    What is right without a source (`implicit_true`) is not an error. If a span cannot be found
    the response gets none, since a sentence without one counts as right.
    """
    text = response_text(raw, "response")
    left_out: list[str] = []
    spans: list[Record] = []
    for label in list_of(raw, "labels", dict):
        start, end = label.get("start"), label.get("end")
        if label.get("implicit_true"):
            left_out.append("spans that are right (implicit_true)")
        elif isinstance(start, int) and isinstance(end, int) and 0 <= start < end <= len(text):
            spans.append({"start": start, "end": end, "label": label.get("label_type")})
        else:
            left_out.append(UNPLACED)
    complete = UNPLACED not in left_out
    source = _sources(file.parent / RAGTRUTH_SOURCES).get(str(raw.get("source_id")), {})
    if not source:
        left_out.append(f"sources of responses (none in {RAGTRUTH_SOURCES} beside the file)")
    known = {name: raw[name] for name in ("temperature", "quality", "split") if name in raw}
    given: Any = source.get("source_info")
    question, references = None, []
    if isinstance(given, dict) and isinstance(given.get("passages"), str):
        question = given.get("question")
        references = [*filter(None, map(str.strip, _PASSAGE.split(given["passages"])))]
    elif isinstance(given, str | dict):
        references = [given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)]
    return record(
        "ragtruth",
        raw.get("id", number),
        text,
        left_out,
        model=text_of(raw, "model"),
        question=question,
        reference_answers=references,
        label=not spans and complete,
        metadata=known | {"task": source["task_type"]} if "task_type" in source else known,
        spans=spans if complete else None,
    )


@lru_cache(1)
def _sources(path: Path) -> dict[str, Record]:
    """Return the sources of RAGTruth by their ids; empty if the file does not exist."""
    if not path.exists():
        return {}
    found = (source for _, source in read_objects(path) if isinstance(source, dict))
    return {str(source.get("source_id")): source for source in found}


# Folders of UFO's data sets, in the spelling of either release; each has a file or folder a model.
_UFO_SETS: Final = {
    **{name: name for name in ("factcheckgpt", "factool-qa", "felm-wk", "selfaware")},
    **{name: name for name in ("wikibio-labeled", "nq", "hotpotqa", "truthfulqa", "msmarco")},
    "cnndm": "cnndm",
    "cnn:dm": "cnndm",
    "ms marco": "msmarco",
    "multi-news": "multi-news",
}
_UFO_REFERENCES: Final = ("reference_answers", "human_written_evidences", "reference_documents")


def ufo(raw: Record, file: Path, number: int) -> Record:
    """Convert UFO (Huang et al.): the data sets and results of its demo system and first release.

    The demo system has `question`, `response`, `reference_answers` and `label`; its results add
    `output`, fact units with `claims` (one text) and `queries`. The first release has the response
    as `modelText` or `mgt`, the question as `prompt`, fact units as `facts` of `Question` and
    `Answer`; its `answer` is the question's, not evidence. The model is what the file is named
    after. Each file counts its ids from 0, so that they get the data set and model in front.
    """
    model, folder = named_after(file)
    dataset = _UFO_SETS.get(folder.lower())
    names = ("response", "modelText", "mgt")
    name = next((name for name in names if raw.get(name) is not None), "response")
    asked = as_text("question", raw.get("question") or raw.get("prompt") or "").strip()
    label = raw.get("label")
    if label is not None and not (isinstance(label, int | float) and 0 <= label <= 1):
        raise UnusableValue(f"expected `label` to be from 0 to 1, found {label!r:.80}")
    claims: list[Record] = []
    for unit in list_of(raw, "output", dict):
        queries = _texts(unit, "queries")
        claim: Record = {"claim": text_of(unit, "claims").strip()}
        if claim["claim"]:
            claims.append(claim | {"query": queries[0]} if queries else claim)
    for fact in list_of(raw, "facts", dict):
        question = text_of(fact, "Question").strip()
        answer = text_of(fact, "Answer").strip()
        claims.append({"claim": f"{question} {answer}", "query": question})
    references = [text for key in _UFO_REFERENCES for text in _texts(raw, key)]
    at = number if raw.get("id") is None else raw["id"]
    return record(
        "ufo",
        f"{dataset}-{model}-{at}" if dataset else f"{model}-{at}",
        response_text(raw, name),
        [],
        model=model,
        dataset=dataset or "ufo",
        question=asked or None,
        reference_answers=list(dict.fromkeys(references)),
        claims=claims or None,
        label=None if label is None else float(label),
        metadata={"answer": _texts(raw, "answer")} if raw.get("answer") else None,
    )


def _texts(raw: Record, name: str) -> list[str]:
    """Return the texts of a field that is one text or a list of them."""
    items = [raw[name]] if isinstance(raw.get(name), str) else list_of(raw, name, str)
    return [text.strip() for text in items if text.strip()]


@dataclass(frozen=True, slots=True)
class Fields:
    """The field names of a data set whose objects are one text with references to check it against.

    `labels` are true, false, a share between, or None (people could not say) by the text of the
    value. `inside` is the field of each reference where references are objects. A text that
    `is_claim` is the record's only claim, with the label.
    """

    text: str
    references: str
    label: str
    labels: Mapping[str, float | bool | None] = field(
        default_factory=lambda: {"1": True, "0": False, "true": True, "false": False}
    )
    is_claim: bool = True
    inside: str | None = None
    others: Mapping[str, str] = field(default_factory=dict)


_FEVER: Final = {"supports": True, "refutes": False, "not enough info": None}
_WICE: Final = {"supported": True, "not_supported": False, "partially_supported": 0.5}
_BEGIN: Final = {"fully attributable": True, "not fully attributable": False, "generic": None}
TEXTS: Final = {
    # LLM-AggreFact (Tang et al. 2024)
    "llm_aggrefact": Fields("claim", "doc", "label", others={"dataset": "dataset"}),
    # WiCE (Kamoi et al. 2023)
    "wice": Fields("claim", "evidence", "label", _WICE),
    # BEGIN (Dziri et al. 2022)
    "begin": Fields(
        *("response", "knowledge", "begin_label", _BEGIN),
        is_claim=False,
        others={"model_name": "model", "message": "question"},
    ),
    # Fool Me Twice (Eisenschlos et al. 2021)
    "fool_me_twice": Fields("text", "gold_evidence", "label", _FEVER, inside="text"),
    # FEVER-Symmetric (`gold_label`), VitaminC (`label`) and other pairs
    "fever": Fields("claim", "evidence", "label", _FEVER),
}


def one_text(name: str, fields: Fields, raw: Record, file: Path, number: int) -> Record:
    """Convert one text with its references; a label that is neither true nor false is left out."""
    text = response_text(raw, fields.text)
    value = raw.get("gold_label") if "gold_label" in raw else raw.get(fields.label)
    word = str(int(value)) if isinstance(value, (bool, float)) else str(value).strip().lower()
    if value is not None and word not in fields.labels:
        raise UnusableValue(f"expected a label of {', '.join(fields.labels)}, found {value!r:.80}")
    label = fields.labels.get(word)
    references = _references(fields, raw)
    left_out = [] if references else [_NO_TEXT]
    claims = claims_of([text], [label], None, text, left_out)
    if not fields.is_claim:
        claims = []
    given = {ours: str(raw[theirs]) for theirs, ours in fields.others.items() if raw.get(theirs)}
    return record(
        name,
        f"{file.stem}-{number}",
        text,
        left_out,
        reference_answers=references,
        claims=claims or None,
        label=label,
        metadata=None if raw.get("id") is None else {"id": raw["id"]},
        **given,
    )


def _references(fields: Fields, raw: Record) -> Sequence[str]:
    """Return the references of an object: one text, or a list whose items are sentences of
    one, unless they are objects. FEVER itself gives numbers of sentences, and no text."""
    value = structure_of(raw.get(fields.references))
    items = value if isinstance(value, list) else [value]
    if fields.inside is not None:
        texts = [text_of(item, fields.inside) for item in items if isinstance(item, dict)]
        return [text for text in texts if text.strip()]
    text = "\n".join(item for item in items if isinstance(item, str))
    return [text] if text.strip() else []


ONE_TEXT: Final = {name: partial(one_text, name, fields) for name, fields in TEXTS.items()}
"""The importers of the formats of TEXTS."""
