"""A checked text: bands, scores, claims and evidence in every state."""

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.webapp.browser.demo_run import LONG, QUOTE, SENTENCES

ALDER = "/#/runs/demo/responses/alder-1"


def _open(page: Page, sentence: int) -> Locator:
    page.goto(f"{ALDER}?sentence={sentence}")
    expect(page.locator(".claim").first).to_be_visible()
    return page.locator(".claim")


def test_each_sentence_has_symbol_label_and_its_own_line(page: Page) -> None:
    page.goto(ALDER)
    sentences = page.locator(".sentence")
    expect(sentences).to_have_count(6)
    said = [
        text.removeprefix(sentence).split()
        for text, sentence in zip(sentences.all_inner_texts(), SENTENCES, strict=True)
    ]
    assert said[0] == ["✓", "supported", "2/3", "≠", "Sources", "disagree"]
    assert said[1] == ["✗", "doubtful", "0/1"]
    assert said[2] == ["≈", "mixed", "1/2"]
    assert said[3] == ["○", "no", "evidence"]
    assert " ".join(said[4]) == "○ no evidence ⊘ Refused by the model ⚠ Error"
    assert said[5] == ["·", "no", "claim"]
    lines = page.evaluate(
        "[...document.querySelectorAll('.sentence .words')].slice(0, 4)"
        ".map((one) => getComputedStyle(one).textDecorationStyle)"
    )
    assert lines == ["solid", "wavy", "dashed", "dotted"]


def test_the_scores_of_the_whole(page: Page) -> None:
    page.goto(ALDER)
    scores = page.get_by_label("Scores")
    expect(scores).to_contain_text("supported 3 of 6 evidence")
    expect(scores).to_contain_text("2 errors apart")
    values = scores.locator(".score .value").all_inner_texts()
    assert [value.split()[0] for value in values] == ["0.50", "0.33", "0.67", "0.50"]
    pie = scores.get_by_role("img")
    expect(pie).to_have_attribute("aria-label", "Shares: reference 33 %, wiki 17 %, undecided 50 %")
    rows = scores.get_by_role("row").all_inner_texts()
    assert [row.split() for row in rows[1:]] == [
        ["reference", "33", "%", "2"],
        ["wiki", "17", "%", "1"],
        ["undecided", "50", "%", "3"],
    ]


@pytest.mark.parametrize(
    ("sentence", "labels"),
    [
        (0, [["✓ Supported", "≠ Sources disagree"]]),
        (1, [["✗ Refuted"]]),
        (3, [["○ No evidence"]]),
        (4, [["⚠ Error"], ["⊘ Refused by the model"]]),
    ],
)
def test_a_claim_looks_like_what_it_is(page: Page, sentence: int, labels: list[list[str]]) -> None:
    claims = _open(page, sentence)
    found = [claim.locator(".claim-facts .chip").all_inner_texts() for claim in claims.all()]
    assert found == labels
    if sentence > 2:
        # Nothing of what failed or is missing looks refuted.
        expect(page.locator("#detail .bad")).to_have_count(0)


def test_evidence_says_who_says_what(page: Page) -> None:
    claim = _open(page, 2)
    evidence = claim.locator(".evidence")
    expect(evidence).to_have_count(3)
    expect(evidence.nth(0)).to_contain_text("the source found no passage")
    nile = evidence.nth(1)
    link = nile.get_by_role("link", name="Nile")
    expect(link).to_have_attribute("href", "https://en.wikipedia.org/wiki/Nile")
    expect(link).to_have_attribute("rel", "noopener noreferrer")
    for said in (
        "✓ Supports", "wiki · en.wikipedia.org · wiki · Course · published 2024-05-06",
        "Answer: in Africa", "Why: The passage says so.", "judge llm", "model judge-7b",
        "prompt 0123abcd", "probability 90 %", "cost $0.002100",
    ):  # fmt: skip
        expect(nile).to_contain_text(said)
    expect(nile.locator("mark")).to_have_text(QUOTE)
    assert len(nile.locator("blockquote").inner_text()) < 400
    nile.get_by_role("button", name="More").click()
    expect(nile.locator("blockquote")).to_contain_text(LONG.strip())
    nile.get_by_role("button", name="Less").click()
    assert len(nile.locator("blockquote").inner_text()) < 400


def test_a_refusal_shows_the_reply(page: Page) -> None:
    claims = _open(page, 4)
    claims.nth(1).get_by_role("button", name="Gold glows.").click()
    refused = page.locator(".evidence", has_text="Refused by the model")
    expect(refused).to_contain_text("I cannot help with that.")


def test_nothing_of_a_run_is_markup(page: Page) -> None:
    page.goto("/#/runs/demo/responses/hostile%2F%3Cb%3E?all=1")
    evidence = page.locator(".evidence")
    expect(evidence).to_contain_text("<script>window.hacked=1</script>")
    expect(evidence.get_by_role("link")).to_have_count(0)
    expect(evidence.locator("img, script")).to_have_count(0)
    page.get_by_role("button", name="Show the SQL").click()
    assert page.evaluate("window.hacked") is None
