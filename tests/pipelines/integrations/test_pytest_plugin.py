"""The fixture `ufo` in the tests of another project, as pytest runs them."""

import os
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.docs.blocks import blocks
from tests.parts import missing

PROJECT = """
import sys

import pytest

TRUE = "Ada Lovelace was born in London in 1815. Her notes describe the Analytical Engine."
FALSE = "Oslo is in Norway. Ada Lovelace was born in Paris."
SILENT = "Hm, what do you think?"


def test_light():
    heavy = {"apache_beam", "duckdb", "httpx", "numpy", "openai", "pyarrow", "rich"}
    assert not heavy & set(sys.modules)


def test_true(ufo):
    checked = ufo.assert_factual("Ada Lovelace was born in 1815.", references=[TRUE])
    assert (checked.score, checked.usage) == (1.0, [])


def test_false(ufo):
    ufo.assert_factual(FALSE, references=[TRUE], at_least=0.9)


def test_half(ufo):
    ufo.assert_factual("Ada Lovelace was born in 1815. Oslo is in Norway.", TRUE, at_least=0.5)


def test_checked(ufo):
    assert ufo.check(FALSE, references=TRUE).states == ["not found", "contradicted"]


async def asked(ufo):
    ufo.assert_factual(FALSE, references=[TRUE])


def test_inside_an_event_loop(ufo):
    import asyncio

    with pytest.raises(AssertionError, match="below at_least=1"):
        asyncio.run(asked(ufo))


@pytest.mark.parametrize("no_claim", ["left_out", "pass", "fail"])
def test_silent(ufo, no_claim):
    ufo.assert_factual(SILENT, references=[TRUE], no_claim=no_claim)


def test_silent_by_default(ufo):
    ufo.assert_factual(SILENT, references=[TRUE])


def test_foreign(ufo):
    ufo.assert_factual("Осло находится в Норвегии.", references=[TRUE], no_claim="pass")


def test_a_model(ufo):
    import ufo as library

    client = library.FakeClient(["no JSON"] * 9)
    checked = ufo.check("Oslo is big.", ["Oslo is big."], judge="llm", model="m", client=client)
    assert checked.to_dict()["judge"] == "llm"


def test_a_file_of_options(ufo, tmp_path):
    (tmp_path / "ufo.yaml").write_text("judge: offline\\nverifier: bundled\\nsources: [reference]")
    checked = ufo.check("Oslo is big.", ["Oslo is big."], config=tmp_path / "ufo.yaml")
    assert checked.evidence[0].model.startswith("bundled")


@pytest.mark.parametrize("at_least", [1.01, -0.01, float("nan"), 95])
def test_a_wrong_limit(ufo, at_least):
    ufo.assert_factual(TRUE, references=[TRUE], at_least=at_least)


def test_a_wrong_option(ufo):
    ufo.assert_factual(TRUE, references=[TRUE], judeg="llm")
"""
PAGE = Path(__file__).parents[3] / "docs/integrations.md"
DEAD = "http://127.0.0.1:9/v1"


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Why each test of the project failed by its name, "" where it passed."""
    if not entry_points(group="pytest11", name="ufo"):
        missing("pytest does not know the fixture ufo: run scripts/setup dev")
    folder = tmp_path_factory.mktemp("project")
    shown = next(blocks(PAGE.read_text(encoding="utf-8")))
    (folder / "test_project.py").write_text(PROJECT + shown.text, encoding="utf-8")
    keys = {"OPENAI_API_KEY": "any", "OPENAI_BASE_URL": DEAD, "SERPER_API_KEY": "any"}
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-W",
            "error",
            "-p",
            "no:cacheprovider",
            "--junit-xml",
            "found.xml",
            "-o",
            "junit_family=xunit1",
            "test_project.py",
        ],
        cwd=folder,
        env=os.environ | keys | {"PYTHONPATH": str(PAGE.parents[1])},
        capture_output=True,
        text=True,
    )
    assert "error" not in done.stdout.splitlines()[-1], done.stdout + done.stderr
    cases = ElementTree.parse(folder / "found.xml").iter("testcase")
    return {case.get("name", ""): "\n".join(case.itertext()).strip() for case in cases}


@pytest.mark.parametrize(
    "name",
    [
        "test_light",
        "test_true",
        "test_half",
        "test_checked",
        "test_inside_an_event_loop",
        "test_silent[pass]",
        "test_a_model",
        "test_a_file_of_options",
    ],
)
def test_it_passes(outcomes: dict[str, str], name: str) -> None:
    assert outcomes[name] == ""


def test_a_false_text_fails_with_the_claims_and_their_evidence(outcomes: dict[str, str]) -> None:
    _, _, message = outcomes["test_false"].partition("AssertionError: ")
    lines = [line.removeprefix("E").strip() for line in message.splitlines()]
    assert lines[0] == "below at_least=0.9: factuality score 0.000, coverage 0.500"
    contradicted = lines.index("✗ contradicted by reference (0 for, 1 against)")
    assert lines[contradicted + 1 : contradicted + 3] == [
        "claim     Ada Lovelace was born in Paris.",
        'evidence  "Ada Lovelace was born in London in 1815."',
    ]
    assert lines[lines.index("? not found") + 1] == "claim  Oslo is in Norway."


@pytest.mark.parametrize("name", ["test_silent[left_out]", "test_silent_by_default"])
def test_a_text_without_a_claim_fails_and_says_which_option_lets_it_pass(
    outcomes: dict[str, str], name: str
) -> None:
    assert "no score: there is no claim (no_claim='pass' lets such" in outcomes[name]


def test_the_page_shows_what_a_failure_says(outcomes: dict[str, str]) -> None:
    shown = next(blocks(PAGE.read_text(encoding="utf-8"))).shown
    assert shown is not None
    assert shown in outcomes["test_the_answer_is_true"] + "\n"


def test_a_text_without_a_claim_fails_where_it_is_told_to(outcomes: dict[str, str]) -> None:
    assert "no score: there is no claim (no_claim='fail')" in outcomes["test_silent[fail]"]


def test_what_could_not_be_judged_does_not_pass(outcomes: dict[str, str]) -> None:
    assert "1 of 1 judgement was unusable (unsupported language 1)" in outcomes["test_foreign"]


@pytest.mark.parametrize("value", ["1.01", "-0.01", "nan", "95"])
def test_a_limit_is_a_number_from_0_to_1(outcomes: dict[str, str], value: str) -> None:
    message = f"at_least={value} is not a number from 0 to 1"
    assert message in outcomes[f"test_a_wrong_limit[{value}]"]


def test_a_wrong_option_is_named(outcomes: dict[str, str]) -> None:
    assert "judeg" in outcomes["test_a_wrong_option"]
    assert "judge" in outcomes["test_a_wrong_option"]
