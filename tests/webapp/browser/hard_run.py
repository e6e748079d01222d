"""A run of responses whose results are hard to show: long names, much that failed, other scripts.

Each response has one claim for each sentence of its text, with the votes of its letters.
"""

from dataclasses import dataclass, replace

from tests.conftest import Rows, rows_of
from ufo.schemas.records import Failure, Sentence, Usage

LONG_NAME = "an-organisation/a-model-with-a-long-name-that-has-no-place-to-break-v0.3-instruct-2507"
LONG_TITLE = "The evaluation of the answers of March, without the ones of the second annotator"
QUESTION = (
    "Who built the bridges of these towns, of what stone, and which of them stand today? " * 6
)
_TABLE = "| Town | Bridges | Stone |\n|---|---|---|\n| Oslo | 7 | granite |\n| Lima | 3 | brick |"


@dataclass(frozen=True)
class Hard:
    """A response: the text, with its sentences as they stand there, and a letter for each claim."""

    text: str
    sentences: tuple[str, ...]
    letters: str
    question: str | None = None
    model: str | None = None
    n_failures: int = 0
    """The failures of each step."""
    n_calls: int = 0


def _plain(letters: str, **more: object) -> Hard:
    sentences = tuple(f"Town {n} has {n} old bridges of stone." for n in range(len(letters)))
    return Hard(" ".join(sentences), sentences, letters, **more)  # type: ignore[arg-type]


RESPONSES = {
    "plain": _plain("ssss"),
    "named": _plain("srn-", question=QUESTION, model=LONG_NAME),
    "named in short": _plain("srn-", question="Which towns have bridges?", model=LONG_NAME),
    "named by model": _plain("srn-", model=LONG_NAME),
    "unusable": _plain("seeeeee", model="birch"),
    "not scored": _plain("ee"),
    "no claim": Hard("What do you think?", ("What do you think?",), ""),
    "contradicted": _plain("r" * 12 + "s", n_calls=2000),
    "failed": _plain("eesr", n_failures=5),
    "long": _plain("srn-" * 20, n_calls=160),
    "table": Hard(_TABLE, tuple(_TABLE.split("\n")[2:]), "sr"),
    "list": Hard(
        "# Bridges\n\n- Oslo has 7 bridges.\n- Lima has 3.\n\n> Rome has 9.\n\n```\nmake all\n```",
        ("Oslo has 7 bridges.", "Lima has 3.", "Rome has 9."),
        "srn",
    ),
    "arabic": Hard(
        "وُلدت ماري كوري في وارسو عام 1867. كانت عالمة فيزياء.",
        ("وُلدت ماري كوري في وارسو عام 1867.", "كانت عالمة فيزياء."),
        "sr",
        question="أين وُلدت ماري كوري؟ " * 12,
        model=LONG_NAME,
    ),
    "chinese": Hard(
        "玛丽·居里1867年出生于华沙。她是物理学家。" * 3,
        ("玛丽·居里1867年出生于华沙。", "她是物理学家。") * 3,
        "srnesr",
        question="玛丽·居里出生在哪里？" * 20,
        model="birch",
    ),
    "all at once": _plain(
        "r" * 12 + "se" * 20, question=QUESTION, model=LONG_NAME, n_failures=30, n_calls=160
    ),
}  # fmt: skip
SOURCES = ("reference", "wiki")


def hard_rows() -> Rows:
    """Return the rows of the run."""
    votes = {
        name: {f"{name} {at}": {"wiki": letter} for at, letter in enumerate(response.letters)}
        for name, response in RESPONSES.items()
    }
    rows = rows_of(votes, SOURCES)
    rows["responses"] = [
        replace(row, text=response.text, question=response.question, model=response.model)
        for row, response in zip(rows["responses"], RESPONSES.values(), strict=True)
    ]
    rows["sentences"] = [row for name in RESPONSES for row in _sentences(name)]
    claims = {
        f"{name} {at}": sentence
        for name, response in RESPONSES.items()
        for at, sentence in enumerate(response.sentences)
    }
    rows["fact_units"] = [replace(row, claim=claims[row.unit_id]) for row in rows["fact_units"]]
    for name, response in RESPONSES.items():
        for at in range(response.n_failures):
            message = f"no connection to https://models.example.org/v1/{at}"
            for step in ("extract", "verify:judge", "source:wiki"):
                key = name if step == "extract" else f"{name} 0"
                rows["failures"].append(Failure(step, key, "ConnectError", message, None))
        for at in range(response.n_calls):
            rows["usage"].append(
                Usage(f"{name} {at}", "verify", "wiki", LONG_NAME, name, None, "ok", at % 4 == 3,
                      False, 0, 900, 90, 0.2, 0.0021)
            )  # fmt: skip
    return rows


def _sentences(name: str) -> list[Sentence]:
    response = RESPONSES[name]
    sentences, start = [], 0
    for index, text in enumerate(response.sentences):
        start = response.text.index(text, start)
        n_units = int(index < len(response.letters))
        sentences.append(Sentence(name, index, start, start + len(text), text, n_units, None))
        start += len(text)
    return sentences
