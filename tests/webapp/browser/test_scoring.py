import json
from pathlib import Path

from playwright.sync_api import Page

CASES = json.loads((Path(__file__).parents[2] / "golden/scoring.json").read_text(encoding="utf-8"))

_SCORE = """async (given) => {
  const { fact_units, evidence, passages, sources, n_sentences, mode, tie, ...selection } = given;
  const { score } = await import("/page/scoring.js");
  return score({
    units: fact_units,
    evidence,
    passages: Object.fromEntries(passages.map((one) => [one.passage_id, one])),
    sources,
    nSentences: n_sentences,
    mode,
    tie,
    selection,
  });
}"""


def test_scores_in_the_browser_are_those_of_python_and_sql(page: Page) -> None:
    page.goto("/")
    for case in CASES["cases"]:
        assert page.evaluate(_SCORE, case["input"]) == case["expected"], case["name"]
