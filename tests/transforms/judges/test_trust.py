"""How far a judge can be trusted: in one line, and in the figures behind it."""

import re
from itertools import combinations

import pytest

from tests.transforms.judges.stated import STATED
from ufo.transforms.judges.trust import trust_figures, trust_line, verifier_figures
from ufo.transforms.verifiers.by_name import model_column

TYPES = ("reference", "wikipedia", "web", "llm", "own")
LINES = {
    ("reference",): "With reference texts it finds few false claims.",
    ("wikipedia",): "With an encyclopaedia it finds few false claims.",
    ("web",): "With web pages it finds few false claims.",
    ("reference", "web"): "With these sources it finds few false claims.",
    ("llm",): "It was not measured on evidence of this kind.",
    ("own",): "It was not measured on evidence of this kind.",
    ("web", "own"): "It was not measured on evidence of this kind.",
}


@pytest.mark.parametrize("name", ["overlap", "bundled"])
@pytest.mark.parametrize(("types", "line"), LINES.items())
def test_the_line_is_of_the_evidence_at_hand(name: str, types: tuple[str, ...], line: str) -> None:
    trust = trust_line(["offline"], [model_column(name)], [*types, *types])
    assert trust == f"A first look; for findings use a model. {line}"


@pytest.mark.parametrize("n", range(1, len(TYPES) + 1))
def test_the_line_has_at_most_ninety_characters(n: int) -> None:
    judged = (
        ["overlap@x"],
        [model_column("overlap")],
        [model_column("bundled"), model_column("overlap")],
        ["m@main"],
    )
    for types in combinations(TYPES, n):
        for models in judged:
            for stated in ("", "always right", "right in 81 of 100 claims of " * 9):
                assert 0 < len(trust_line(["offline"], models, types, stated)) <= 90
        assert 0 < len(trust_line(["llm"], ["m"], types)) <= 90


def test_no_figure_is_taken_from_another_version_or_verifier() -> None:
    unknown = (
        "A first look; for findings use a model. It was not measured on evidence of this kind."
    )
    assert trust_line(["offline"], ["overlap@other"], ["web"]) == unknown
    assert trust_line(["offline"], ["org/model@main@2"], ["web"]) == unknown
    assert trust_line(["offline"], [model_column("overlap"), "mine@1"], ["web"]) == unknown


def test_what_was_not_judged_has_no_line() -> None:
    assert trust_line(["offline"], [model_column("overlap")], []) == ""
    assert trust_line([], [], ["web"]) == ""
    assert trust_figures([model_column("overlap")], []) == ""
    assert trust_figures([], ["web"]) == ""


def test_a_verifier_of_ones_own_says_how_often_it_is_right() -> None:
    trust = trust_line(["offline"], ["mine@1"], ["web"], "always right")
    assert trust.endswith("model. The verifier's author says: always right.")
    assert trust_line(["offline"], ["mine@1"], ["web"], "right " * 20).endswith("use a model.")


def test_any_other_judge_was_not_measured() -> None:
    trust = "How often this judge is right was not measured: read the evidence, or label a sample."
    assert trust_line(["llm"], ["m"], ["reference"]) == trust


def test_the_figures_are_of_each_kind_of_evidence() -> None:
    first = "(a first look; for findings use a language model)"
    assert verifier_figures(STATED) == f"Verifier stated {first}: always right."
    line = re.compile(
        rf"Verifier (overlap|bundled) {re.escape(first)}: with web pages "
        r"(of 10 claims that it calls contradicted (about \d+|hardly any|none) are|it called "
        r"(\d|none) of 320 claims contradicted(, (\d|none) of them rightly)?), and of 10 false "
        r"claims it finds (about \d+|hardly any|none) \(320 claims of ChatGPT, .*\)\."
    )
    known = "with evidence of the source llm how often it agrees with people is not known."
    for name in ("overlap", "bundled"):
        assert line.fullmatch(
            trust_figures([model_column(name), model_column(name)], ["web", "web"])
        )
        assert "with an encyclopaedia" in trust_figures([model_column(name)], ["web", "wikipedia"])
        assert trust_figures([model_column(name)], ["llm"]).endswith(known)
        assert "is not known" in trust_figures([f"{name}@other"], ["web"])
        assert "with reference texts" in verifier_figures(name)
    unknown = f"{first}: how often it agrees with people is not known."
    of_two = trust_figures(["mine@1", "org/model@main@2"], ["web"])
    assert of_two == f"Verifier mine {unknown} Verifier org/model@main {unknown}"
