"""Convert published data sets to input records.

To add a format, write a function from an object of its file to a record, and add it to IMPORTERS.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

from ufo.schemas import storage
from ufo.schemas.errors import UsageError, reason_of, unknown_value
from ufo.schemas.row import OF_CELLS, UnusableValue, kind_of, object_of
from ufo.schemas.rows import HEAD_BYTES, as_json_lines, format_of, lines_of
from ufo.schemas.text import escaped, quantity
from ufo.transforms.columns import NAMES
from ufo.transforms.literals import structure_of
from ufo.transforms.sentences import Span

Record = dict[str, Any]

_NEITHER: Final = "labels that are neither true nor false"
_UNPLACED: Final = "labels of stretches that are not in the response"
_REWORDED: Final = "responses that are read as they were annotated, since `output` has other words"
_NO_TEXT: Final = "evidence without a text"
# Names of files that do not name a model, so that the folder's name is used.
_PLAIN: Final = ("test", "train", "dev", "data", "result")


class Source(NamedTuple):
    """The origin of an object: the absolute path of its file, and its number there.

    `left_out` counts its parts that have no place in a record.
    """

    file: Path
    number: int
    left_out: Counter[str]

    @property
    def names(self) -> tuple[str, str]:
        """The stem of the file's name, usually a model, and the name of its folder."""
        name, folder = self.file.name.split(".")[0], self.file.parent
        return (folder.name, folder.parent.name) if name in _PLAIN else (name, folder.name)


# An object of the file → a record, or several. The `id` follows the format's name in the record's
# id; one record without it gets the object's number. Fields that are None are left out.
Importer = Callable[[Record, Source], Record | list[Record]]


def import_records(
    kind: str, path: str | Path, problems: list[str], left_out: Counter[str]
) -> Iterator[Record]:
    """Yield the records of a published file in any form that `ufo evaluate` reads, in order.

    Args:
        kind: one of IMPORTERS.
        path: the file; factscore and ufo take the model's name from it (`ChatGPT.jsonl`, or
            `ChatGPT/test.jsonl`).
        problems: gets a message for each line that cannot be used; other lines are still read.
        left_out: gets the numbers of labels and other values that have no place in a record.

    Raises:
        UsageError: an unknown kind, a file that cannot be read, or one without a usable line.
    """
    if kind not in IMPORTERS:
        raise UsageError(unknown_value("format", kind, IMPORTERS))
    file = str(path)
    shown = escaped(file)
    named = Path(escaped(storage.absolute(file)))
    any_usable = False
    for number, line in _lines(file):
        source = Source(named, number, Counter())
        try:
            raw = object_of(line)
            raw.pop(OF_CELLS, None)
            converted = IMPORTERS[kind](raw, source)
        except UnusableValue as problem:
            problems.append(f"{shown}:{number}: {problem}")
        else:
            any_usable = True
            left_out.update(+source.left_out)  # without what is zero
            for record in converted if isinstance(converted, list) else [converted]:
                place = record.pop("id", number)
                known = {name: value for name, value in record.items() if value is not None}
                yield {"id": f"{kind}-{place}", "dataset": kind, **known}
    if not any_usable and problems:
        raise UsageError(f"none of {quantity(len(problems), 'record')} is {kind}; {problems[0]}.")
    if not any_usable:
        raise UsageError(f"nothing to import: {file!r} has no records.")


def _lines(path: str) -> Iterator[tuple[int, bytes]]:
    """Yield the objects of a file as lines of JSON, with their numbers from 1."""
    try:
        with storage.open_read(path) as stream:
            form = format_of(stream.read(HEAD_BYTES), NAMES)
            stream.seek(0)
            lines = lines_of(as_json_lines(form, stream, names=NAMES))
            yield from ((number, line) for number, line in enumerate(lines, 1) if line.strip())
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read {path!r}: {reason_of(error)}.") from error


# --- formats -------------------------------------------------------------------------------------


def factcheck_gpt(raw: Record, source: Source) -> Record:
    """Convert Factcheck-Bench (Wang et al. 2023): claims with labels under sentences.

    Evidence found for any claim becomes a reference answer of the whole response. Labels other than
    true and false ("unknown", "NA") are left out.
    """
    text = _response(raw, "response")
    claims: list[Record] = []
    references: list[str] = []
    labelled = []
    sentences = _items("sentences", [*_get(raw, "sentences", dict).values()], dict)
    places = _places([_get(sentence, "text", str) for sentence in sentences], text)
    for sentence, place in zip(sentences, places, strict=True):
        texts = _items("claims", sentence.get("claims") or [], str)
        labels = _get(sentence, "claims_factuality_label", list)
        if len(labels) != len(texts):
            raise UnusableValue(
                f"expected one of `claims_factuality_label` for each claim, found {len(labels)} "
                f"for {len(texts)}"
            )
        claims += map(partial(_claim, source), texts, labels)
        for evidence in _get(sentence, "auto_evidence", list):
            passages = evidence if isinstance(evidence, list) else [evidence]
            references += map(str.strip, _items("auto_evidence", passages, str))
        label = sentence.get("sentence_factuality_label")
        if isinstance(label, bool) and place is None:
            source.left_out[_UNPLACED] += 1
        elif isinstance(label, bool) and place is not None:
            labelled.append({"start": place.start, "end": place.end, "label": label})
    factuality = raw.get("response_factuality")
    return {
        "response": text,
        "model": "ChatGPT",  # the only model in the data set
        "question": _get(raw, "prompt", str).strip(),
        "claims": claims,
        "sentence_labels": labelled,
        "reference_answers": [reference for reference in dict.fromkeys(references) if reference],
        "label": factuality if isinstance(factuality, bool) else None,
    }


def factscore(raw: Record, source: Source) -> Record:
    """Convert FActScore (Min et al. 2023): biographies with atomic facts that people labelled.

    Supported is true, not supported false, irrelevant has no label. The response's label is its
    precision: the share of supported facts among those with a label. A model that declined has no
    annotations, and so no claims.
    """
    text = _response(raw, "output")
    words = {"S": True, "NS": False, "IR": None}
    facts: list[Record] = []
    for annotation in _items("annotations", raw.get("annotations") or [], dict):
        if annotation.get("human-atomic-facts") is not None:
            facts += _items("human-atomic-facts", annotation["human-atomic-facts"], dict)
    for fact in facts:
        if fact.get("label") not in words:
            raise UnusableValue(
                "expected `human-atomic-facts` to be objects with `text` and a `label` of "
                f"S, NS or IR, found {fact!r:.80}"
            )
    claims = [_claim(source, _get(fact, "text", str), words[fact["label"]]) for fact in facts]
    model, _ = source.names
    return {
        "id": f"{model}-{source.number}",
        "response": text,
        "model": model,
        "question": _get(raw, "input", str).strip(),
        "claims": claims,
        "label": _share(claims),
    }


def factool(raw: Record, source: Source) -> Record:
    """Convert the knowledge questions of FacTool (Chern et al. 2023): claims labelled by people."""
    claims = _items("claims", raw.get("claims") or [], dict)
    return {
        "response": _response(raw, "response"),
        "model": "ChatGPT",
        "question": _get(raw, "prompt", str).strip(),
        "label": _get(raw, "label", bool),
        "claims": [
            _claim(source, _get(claim, "claim", str).strip(), claim.get("label"))
            for claim in claims
        ],
    }


def halueval(raw: Record, source: Source) -> Record:
    """Convert the general part of HaluEval (Li et al. 2023): spans are errors of ChatGPT."""
    text = _response(raw, "chatgpt_response")
    word = _get(raw, "hallucination", str).strip().lower()
    if word not in ("yes", "no"):
        raise UnusableValue(f"expected `hallucination` to be yes or no, found {word!r:.80}")
    places = _places(_items("hallucination_spans", raw.get("hallucination_spans") or [], str), text)
    source.left_out[_UNPLACED] += places.count(None)
    # A sentence without a span counts as right, so that all are given, or none.
    complete = None not in places and bool(places) == (word == "yes")
    return {
        "id": raw.get("ID", source.number),
        "response": text,
        "model": "ChatGPT",
        "question": _get(raw, "user_query", str).strip(),
        "label": word == "no",
        "spans": [{"start": at.start, "end": at.end} for at in places if at] if complete else None,
    }


def expertqa(raw: Record, source: Source) -> list[Record]:
    """Convert ExpertQA (Malaviya et al. 2024): each model's answer is a record.

    A claim is true where the expert called it definitely or probably correct, false where likely or
    definitely incorrect. Evidence with a text is a reference; an address alone is left out.
    """
    answers = _get(raw, "answers", dict)
    if not answers:
        raise UnusableValue("expected `answers` of models, found none: the file has questions only")
    records = []
    for model in answers:
        answer = _get(answers, model, dict)
        claims = []
        references: dict[str, None] = {}
        for claim in _items("claims", answer.get("claims") or [], dict):
            words = str(claim.get("correctness")).lower().split()
            label = False if "incorrect" in words else True if "correct" in words else None
            claims.append(_claim(source, _get(claim, "claim_string", str).strip(), label))
            for item in claim.get("evidence") or []:
                first, _, rest = str(item).strip().partition("\n")
                is_address = "://" in first and " " not in first.strip()
                references[rest.strip() if is_address else str(item).strip()] = None
        source.left_out[_NO_TEXT] += "" in references
        records.append(
            {
                "id": f"{source.number}-{model}",
                "response": _response(answer, "answer_string"),
                "model": model,
                "question": _get(raw, "question", str).strip(),
                "claims": [one for one in claims if one["claim"]],
                "reference_answers": [one for one in references if one],
                "metadata": raw.get("metadata"),
                "label": _share(claims),
            }
        )
    return records


def ufo(raw: Record, source: Source) -> Record:
    """Convert UFO (Huang et al.): the data sets and results of its demo system and first release.

    The demo system has `question`, `response`, `reference_answers` and `label`. Its results add
    `output`: fact units with `claims` (one text) and `queries`.

    The first release has the response as `modelText` or `mgt`, the question as `prompt`, and fact
    units as `facts` of `Question` and `Answer`. Its `answer` belongs to the question and is not
    evidence.

    The file is named after the model, its folder after the data set. Each file counts its ids from
    0, so both names are put before them.
    """
    if others := [one for one in ("claims", "sentences", "begin_label") if one in raw]:
        raise UnusableValue(f"`{others[0]}` is of another format, and would be left out")
    model, dataset = source.names
    name = next((one for one in ("response", "modelText", "mgt") if raw.get(one)), "response")
    label = raw.get("label")
    if label is not None and not (isinstance(label, int | float) and 0 <= label <= 1):
        raise UnusableValue(f"expected `label` to be from 0 to 1, found {label!r:.80}")
    claims: list[Record] = []
    for unit in _items("output", raw.get("output") or [], dict):
        queries = _texts(unit, "queries")
        claim = {"claim": _get(unit, "claims", str).strip()}
        if claim["claim"]:
            claims.append(claim | {"query": queries[0]} if queries else claim)
    for fact in _items("facts", raw.get("facts") or [], dict):
        asked = _get(fact, "Question", str).strip()
        claims.append({"claim": f"{asked} {_get(fact, 'Answer', str).strip()}", "query": asked})
    names = ("reference_answers", "human_written_evidences", "reference_documents")
    at = source.number if raw.get("id") is None else raw["id"]
    return {
        "id": f"{dataset}-{model}-{at}",
        "response": _response(raw, name),
        "model": model,
        "dataset": dataset,
        "question": " ".join(_texts(raw, "question") or _texts(raw, "prompt")) or None,
        "reference_answers": list(dict.fromkeys(one for key in names for one in _texts(raw, key))),
        "claims": claims or None,
        "label": None if label is None else float(label),
        "metadata": {"answer": _texts(raw, "answer")} if raw.get("answer") else None,
    }


_OF_FAVA: Final = re.compile(
    r"<(/?)(entity|relation|contradictory|invented|subjective|unverifiable|sentence|mark|delete)>"
)


def fava(raw: Record, source: Source) -> Record:
    """Convert FavaBench (Mishra et al. 2024): responses with tags around the errors of six kinds.

    An error that is corrected has the words of the response in `delete` and others in `mark`, or
    the other way round where `output`, the response, says so.
    """
    annotated = _response(raw, "annotated")
    readings = [_remove_tags(annotated, other) for other in ("mark", "delete")]
    words = str(raw.get("output") or readings[0][0]).split()
    matching = [one for one in readings if one[0].split() == words]
    source.left_out[_REWORDED] += not matching
    text, errors = (matching or readings)[0]
    source.left_out[_UNPLACED] += errors.count(None)
    return {
        "response": text,
        "model": raw.get("model"),
        "question": " ".join(_texts(raw, "prompt")) or None,
        "spans": [{"start": at.start, "end": at.end} for at in errors if at],
        "metadata": {"subject": raw["subject"]} if raw.get("subject") else None,
    }


def _remove_tags(annotated: str, other: str) -> tuple[str, list[Span | None]]:
    """Return a text without tags and without the content of the tag `other`, and its errors.

    An error of which no word is left, or whose tag is not closed, is None.
    """
    text, is_other, at = "", False, 0
    errors: list[Span | None] = []
    opened: dict[str, int] = {}
    for tag in _OF_FAVA.finditer(annotated):
        text += "" if is_other else annotated[at : tag.start()]
        at = tag.end()
        closes, name = tag.groups()
        is_other = name == other and not closes
        if name in ("mark", "delete"):
            continue
        if not closes:
            opened[name] = len(text)
        elif name in opened:
            start = opened.pop(name)
            start += len(text[start:]) - len(text[start:].lstrip())
            end = len(text.rstrip())
            errors.append(Span(start, end) if start < end else None)
    return text + annotated[at:], errors + [None] * len(opened)


def _texts(raw: Record, name: str) -> list[str]:
    """Return the texts of a field that is one text or a list of them."""
    value = raw.get(name) or []
    items = _items(name, [value] if isinstance(value, str) else value, str)
    return [text.strip() for text in items if text.strip()]


_FEVER: Final = {"supports": True, "refutes": False, "not enough info": None}
_WICE: Final = {"supported": True, "not_supported": False, "partially_supported": 0.5}
_BEGIN: Final = {"fully attributable": True, "not fully attributable": False, "generic": None}


def _one_text(
    text: str,
    evidence: str,
    label: str,
    labels: Mapping[str, float | bool | None],
    is_claim: bool = True,
    **others: str,
) -> Importer:
    """Return the importer of a data set of texts, each with the evidence to check it against.

    The arguments name these fields; `others` maps our names to further fields.
    `labels` maps the text of a value to true, false, a share between, or None (people could not
    say). With `is_claim`, the text is the record's only claim, with the label.
    """

    def convert(raw: Record, source: Source) -> Record:
        response = _response(raw, text)
        if evidence not in raw:  # another format, whose labels would be lost
            raise UnusableValue(f"expected `{evidence}`, found {', '.join(raw):.80}")
        value = raw.get("gold_label", raw.get(label))  # the former in FEVER-Symmetric
        word = str(int(value)) if isinstance(value, (bool, float)) else str(value).strip().lower()
        if value is not None and word not in labels:
            raise UnusableValue(f"expected a label of {', '.join(labels)}, found {value!r:.80}")
        references = _references(raw.get(evidence))
        source.left_out[_NO_TEXT] += not references
        claim = _claim(source, response, labels.get(word))
        return {
            "id": f"{source.file.stem}-{source.number}",
            "response": response,
            "reference_answers": references,
            "claims": [claim] if is_claim else None,
            "label": labels.get(word),
            "metadata": None if raw.get("id") is None else {"id": raw["id"]},
            **{ours: raw.get(theirs) for ours, theirs in others.items()},
        }

    return convert


def _references(value: object) -> Sequence[str]:
    """Return the references in a value: a text, a list of sentences, or objects with a `text`.

    FEVER itself has numbers of sentences, and no text.
    """
    evidence = structure_of(value, "evidence")
    items = evidence if isinstance(evidence, list) else [evidence]
    texts = [_get(item, "text", str) for item in items if isinstance(item, dict)]
    texts.append("\n".join(item for item in items if isinstance(item, str)))
    return [text for text in texts if text.strip()]


# After those above: WiCE (Kamoi et al. 2023), BEGIN (Dziri et al. 2022), Fool Me Twice (Eisenschlos
# et al. 2021), and FEVER-Symmetric, VitaminC and other pairs.
IMPORTERS: Final[dict[str, Importer]] = {
    "factcheck_gpt": factcheck_gpt,
    "factool": factool,
    "factscore": factscore,
    "halueval": halueval,
    "expertqa": expertqa,
    "wice": _one_text("claim", "evidence", "label", _WICE),
    "begin": _one_text(
        "response",
        "knowledge",
        "begin_label",
        _BEGIN,
        False,
        model="model_name",
        question="message",
    ),
    "fool_me_twice": _one_text("text", "gold_evidence", "label", _FEVER),
    "fever": _one_text("claim", "evidence", "label", _FEVER),
    "fava": fava,
    "ufo": ufo,
}


# --- what formats share --------------------------------------------------------------------------


def _get(raw: Record, name: str, kind: type) -> Any:
    """Return a field's value of the given type; raise an UnusableValue without one."""
    if name not in raw:
        raise UnusableValue(f"expected `{name}`, found only: {', '.join(raw) or 'nothing'}"[:300])
    if not isinstance(raw[name], kind):
        raise UnusableValue(
            f"expected `{name}` to be {kind_of(kind())}, found {kind_of(raw[name])}"
        )
    return raw[name]


def _response(raw: Record, name: str) -> str:
    """Return a field's text that is not blank; raise an UnusableValue without one."""
    text: str = _get(raw, name, str)
    if not text.strip():
        raise UnusableValue(f"expected `{name}` to be a response, found an empty text")
    return text


def _items(name: str, items: Any, kind: type) -> list[Any]:
    """Return the items of the field `name`, a list of texts or objects."""
    what = "texts" if kind is str else "objects"
    if not isinstance(items, list):
        raise UnusableValue(f"expected `{name}` to be a list, found {kind_of(items)}")
    for item in items:
        if not isinstance(item, kind):
            raise UnusableValue(f"expected `{name}` to hold {what}, found {kind_of(item)}")
    return items


def _places(sentences: Sequence[str], text: str) -> list[Span | None]:
    """Return the place of each sentence in the text, in the given order if possible.

    White space, case and the final mark may differ, since annotators tidied them. A sentence that
    they rewrote has no place.
    """
    places: list[Span | None] = []
    after = 0
    for sentence in sentences:
        words = sentence.strip().rstrip(".").split()
        pattern = re.compile(r"\s+".join(map(re.escape, words)) + r"\.?", re.IGNORECASE)
        match = (pattern.search(text, after) or pattern.search(text)) if words else None
        places.append(Span(*match.span()) if match else None)
        after = match.end() if match else after
    return places


def _claim(source: Source, text: str, label: object) -> Record:
    """Return a claim, with its label if that is true or false."""
    known = isinstance(label, bool)
    source.left_out[_NEITHER] += not known
    return {"claim": text, "label": label} if known else {"claim": text}


def _share(claims: Sequence[Record]) -> float | None:
    """Return the share of true claims among those with a label."""
    known = [claim["label"] for claim in claims if "label" in claim]
    return sum(known) / len(known) if known else None
