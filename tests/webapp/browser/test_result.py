"""A checked text: states, headline, scores, claims and evidence in every state."""

import re
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from tests.webapp.browser.demo_run import LONG, QUOTE, SENTENCES
from ufo.schemas.results import Results
from ufo.schemas.run_folders import finished_runs

ALDER = "/#/runs/demo/responses/alder-1"


def _open(page: Page, sentence: int) -> Locator:
    page.goto(f"{ALDER}?sentence={sentence}")
    expect(page.locator(".claim").first).to_be_visible()
    return page.locator(".claim")


def test_each_sentence_has_the_state_of_the_view_and_its_own_line(page: Page, runs: Path) -> None:
    page.goto(ALDER)
    sentences = page.locator(".sentence")
    expect(sentences).to_have_count(6)
    marks = [
        " ".join(text.removeprefix(sentence).split())
        for text, sentence in zip(sentences.all_inner_texts(), SENTENCES, strict=True)
    ]
    assert marks == [
        "✓ supported ≠ sources disagree",
        "✗ contradicted",
        "✓ supported",
        "? not found",
        "⚠ error ⊘ error: refused by the model",
        "· no claim",
    ]
    sql = "SELECT state FROM sentence_scores WHERE response_id = ? ORDER BY sentence_index"
    with Results(finished_runs(runs)) as results:
        states = results.query(sql, ["alder-1"])["state"].to_pylist()
    assert all(state in text for state, text in zip(states, marks, strict=True))
    lines = page.evaluate(
        "[...document.querySelectorAll('.sentence .words')].slice(0, 4)"
        ".map((one) => getComputedStyle(one).textDecorationStyle)"
    )
    assert lines == ["solid", "wavy", "solid", "dotted"]


def test_colours_by_evidence_support_on_request(page: Page) -> None:
    page.goto(ALDER)
    page.get_by_role("button", name="Colour by evidence support").click()
    expect(page.locator("#sentence-0 .chip").first).to_have_text("● 60 % or more 2/3")
    expect(page.locator("#sentence-2 .chip").first).to_have_text("◐ 30 to 60 % 1/2")
    expect(page.locator("#sentence-5 .chip").first).to_have_text("· no claim")
    page.reload()
    expect(page.locator("#sentence-1 .chip").first).to_have_text("○ less than 30 % 0/1")


def test_the_headline_comes_first_with_what_is_contradicted(page: Page) -> None:
    page.goto(ALDER)
    # The first contradiction is open until it is closed.
    expect(page.locator(".sentence.bad").first).to_have_attribute("aria-expanded", "true")
    expect(page.locator("#detail .evidence").first).to_be_visible()
    page.get_by_role("button", name="Close ×").click()
    expect(page.locator(".claim")).to_have_count(0)
    result = page.get_by_role("region", name="Result")
    expect(result.get_by_role("heading")).to_have_text(
        "2 of 6 claims supported, 1 contradicted, 1 not found, 2 errors"
    )
    result.get_by_text("1 contradicted claim", exact=True).click()
    expect(result.get_by_role("listitem")).to_contain_text(
        ["✗ The Moon is made of cheese.Passage of reference:alder-1-cheese-0. Given reference"]
    )
    expect(result).to_contain_text("Judge offline (judge-7b).")
    expect(result).to_contain_text("2 of 8 judgements were unusable: the model refused to answer")
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("1 failure: some claims could not be judged")
    expect(alert.get_by_text("no connection")).to_be_hidden()
    alert.get_by_text("1 failure").click()
    expect(alert.get_by_text("no connection")).to_be_visible()
    result.get_by_role("button", name="The Moon is made of cheese.").click()
    expect(page.locator(".claim .evidence")).to_contain_text("It is rock.")


def test_states_are_filtered_and_stepped_through_by_keys(page: Page) -> None:
    page.goto(ALDER)
    page.get_by_role("button", name="2 supported").click()
    expect(page.locator(".sentence.faded")).to_have_count(4)
    page.keyboard.press("j")
    expect(page.locator("#sentence-0")).to_have_attribute("aria-expanded", "true")
    page.keyboard.press("j")
    expect(page.locator("#sentence-2")).to_be_focused()
    page.keyboard.press("j")
    expect(page.get_by_role("status")).to_have_text("No later sentence is supported")
    page.keyboard.press("k")
    expect(page.locator("#sentence-0")).to_have_attribute("aria-expanded", "true")
    page.keyboard.press("Tab")
    page.keyboard.press("Escape")
    expect(page.locator(".claim")).to_have_count(0)
    expect(page.locator("#sentence-0")).to_be_focused()
    page.get_by_role("button", name="2 supported").click()
    page.get_by_role("button", name="Next: contradicted").click()
    expect(page.locator("#sentence-1")).to_have_attribute("aria-expanded", "true")


def test_the_evidence_stays_beside_a_long_text(page: Page) -> None:
    page.goto("/#/runs/demo/responses/alder-1?sentence=4")
    detail = page.locator("#detail")
    expect(detail).to_be_visible()
    page.set_viewport_size({"width": 1280, "height": 300})
    page.get_by_role("region", name="Documents").scroll_into_view_if_needed()
    assert detail.bounding_box()["y"] >= 0  # type: ignore[index]
    page.set_viewport_size({"width": 390, "height": 700})
    page.evaluate("scrollTo(0, 0)")
    box = detail.bounding_box()
    assert box
    assert round(box["y"] + box["height"]) == 700
    page.get_by_role("button", name="Close").click()
    expect(page.locator(".claim")).to_have_count(0)


def test_the_scores_of_the_whole(page: Page) -> None:
    page.goto(ALDER)
    scores = page.get_by_label("Scores")
    expect(scores).to_contain_text("3 of 6 pieces of evidence support their claim")
    expect(scores).to_contain_text("2 errors apart")
    values = scores.locator("strong").all_text_contents()
    assert values == [
        "Factuality score 0.333, coverage 0.500",
        "Of decided claims 0.667",
        "Coverage 0.500",
        "Evidence support 0.500",
    ]
    coverage = scores.get_by_text("Coverage 0.500", exact=True)
    expect(coverage).to_be_hidden()
    scores.get_by_text("Factuality score 0.333").click()
    expect(coverage).to_be_visible()
    sources = page.get_by_role("region", name="Sources", exact=True)
    bar = sources.get_by_role("img")
    expect(bar).to_have_attribute("aria-label", "Shares: reference 33 %, wiki 17 %, undecided 50 %")
    rows = sources.get_by_role("row").all_inner_texts()
    assert [row.split() for row in rows[1:]] == [
        ["reference", "33", "%", "2"],
        ["wiki", "17", "%", "1"],
        ["undecided", "50", "%", "3"],
    ]


def test_a_claim_looks_like_what_it_is(page: Page) -> None:
    for sentence, labels in (
        (0, ["✓ supported ≠ sources disagree"]),
        (1, ["✗ contradicted"]),
        (3, ["○ not found"]),
        (4, ["⚠ error", "⊘ error: refused by the model"]),
    ):
        page.goto("about:blank")
        claims = _open(page, sentence)
        expect(claims).to_have_count(len(labels))
        chips = [claim.locator(".claim-facts .chip").all_inner_texts() for claim in claims.all()]
        assert [" ".join(of_one) for of_one in chips] == labels
        # Nothing of what failed or is missing looks refuted.
        assert sentence < 3 or page.locator("#detail .bad").count() == 0
    claims.nth(1).get_by_role("button", name="Gold glows.").click()
    refused = page.locator(".evidence", has_text="refused by the model")
    expect(refused).to_contain_text("I cannot help with that.")


def test_evidence_says_who_says_what(page: Page) -> None:
    claim = _open(page, 2)
    evidence = claim.locator(".evidence")
    expect(evidence).to_have_count(3)
    nile = evidence.nth(0)
    expect(evidence.nth(1)).to_be_hidden()
    claim.get_by_text("2 do not answer").click()
    expect(evidence.nth(2)).to_contain_text("the source found no passage")
    link = nile.get_by_role("link", name="Nile")
    expect(link).to_have_attribute("href", "https://en.wikipedia.org/wiki/Nile")
    expect(link).to_have_attribute("rel", "noopener noreferrer")
    for words in (
        "✓ supports", "wiki · en.wikipedia.org · wiki · Course · published 2024-05-06",
        "Answer: in Africa", "Why: The passage says so.", "judge llm", "model judge-7b",
        "prompt 0123abcd", "probability 90 %", "cost $0.002100",
    ):  # fmt: skip
        expect(nile).to_contain_text(words)
    expect(nile.locator("mark")).to_have_text(QUOTE)
    assert len(nile.locator("blockquote").inner_text()) < 400
    nile.get_by_role("button", name="More").click()
    expect(nile.locator("blockquote")).to_contain_text(LONG.strip())
    nile.get_by_role("button", name="Less").click()
    assert len(nile.locator("blockquote").inner_text()) < 400


def test_nothing_of_a_run_is_markup(page: Page) -> None:
    page.goto("/#/runs/demo/responses/hostile%2F%3Cb%3E?all=1")
    evidence = page.locator(".evidence")
    expect(evidence).to_contain_text("<script>window.hacked=1</script>")
    expect(evidence.get_by_role("link")).to_have_count(0)
    expect(evidence.locator("img, script")).to_have_count(0)
    assert page.evaluate("window.hacked") is None


def test_each_state_has_the_word_of_the_glossary(page: Page) -> None:
    glossary = Path("docs/semantics.md").read_text(encoding="utf-8").split("## Outcomes")[0]
    words: dict[str, set[str]] = {}
    for names, where in re.findall(r"^\| ([^|]+) \| ([a-z]+)[;,]", glossary, re.MULTILINE):
        words.setdefault(where, set()).update(names.split(", "))
    page.goto(f"{ALDER}?all=1")
    for where, chips in (
        ("sentence", ".words + .chip"),
        ("claim", ".claim-facts > .chip:first-child"),
        ("evidence", ".evidence .chip"),
    ):
        expect(page.locator(chips).first).to_be_attached()
        texts = page.locator(chips).all_text_contents()
        # Some say after the word why it is so.
        shown = {re.split(r"[:(]", text.partition(" ")[2])[0].strip() for text in texts}
        assert shown <= words[where], where
        assert len(shown) > 2
