"""Values of addresses and of the browser's storage: those that cannot be used are named, and the
default takes their place. The title of the window."""

import json
from urllib.parse import quote, urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, expect

# An address, how what cannot be used is named, and the address that is left.
WRONG = [
    ("/check?mode=zzz", ["mode “zzz”: it can be seq, mv, single, all"], "/check"),
    ("/check?mode=mv&tie=", ["tie “”: it can be not_factual, factual"], "/check?mode=mv"),
    (
        "/check?passages=0&temperature=2.1&samples=1.5&pages=five",
        [
            "passages “0”: it can be a whole number from 1 to 1000",
            "temperature “2.1”: it can be a number from 0 to 2",
            "samples “1.5”: it can be a whole number from 1 to 128",
            "pages “five”: it can be a whole number from 1 to 100",
        ],
        "/check",
    ),
    ("/check?citation=perhaps", ["citation “perhaps”: it can be true, false"], "/check"),
    (
        "/check?sources=reference,books",
        ["sources “reference,books”: it can be reference, wikipedia, web, llm"],
        "/check",
    ),
    (
        "/check?sources=web",
        ["sources “web”: it needs a search engine: set SERPER_API_KEY (or SERPER_BASE_URL)"],
        "/check",
    ),
    (
        "/check?retriever=dense",
        ["retriever “dense”: the index has no vectors: `ufo index build --embedder` makes them"],
        "/check",
    ),
    ("/check?judge=gpt", ["judge “gpt”: it can be offline"], "/check"),
    ("/check?colour=red", ["colour “red”: there is no such setting"], "/check"),
    ("/check?show=perhaps", ["show “perhaps”: it can be 1"], "/check"),
    (
        "/check?draft=zzz",
        ["draft “zzz”: its name has 12 of the characters 0 to 9 and a to f"],
        "/check",
    ),
    (
        "/results/zzz",
        ["result “zzz”: its name has 32 of the characters 0 to 9 and a to f"],
        "/check",
    ),
    ("/results", ["address “/results”: there is no such page"], "/check"),
    ("/check/more", ["address “/check/more”: there is no such page"], "/check"),
    ("/nowhere?mode=mv", ["address “/nowhere”: there is no such page"], "/check?mode=mv"),
    ("nowhere", ["address “nowhere”: there is no such page"], "/check"),
    (
        "/runs?sort=zzz&page=0&low=1",
        [
            "sort “zzz”: it can be date, -score, score, -claims, -size, title",
            "page “0”: it can be a whole number from 1",
            "low: nothing here has this name",
        ],
        "/runs",
    ),
    ("/runs?page=9", ["page “9”: the last one is 1"], "/runs"),
    (
        "/runs/many?sort=-id&page=3&claims=2&model=gpt&dataset=x&failures=no",
        [
            "sort “-id”: it can be contradicted, -score, credibility, coverage, disagreements,"
            " errors, id, model",
            "failures “no”: it can be 1",
            "model “gpt”: it can be even, odd",
            "dataset “x”: it can be set",
            "page “3”: the last one is 2",
            "claims “2”: the last one is 1",
        ],
        "/runs/many?page=2",
    ),
    ("/runs/many?page=3", ["page “3”: the last one is 2"], "/runs/many?page=2"),
    ("/runs/many/none", ["address “/runs/many/none”: there is no such page"], "/runs/many"),
    (
        "/runs/many/compare?model=even&model=gpt",
        ["model “gpt”: it can be even, odd"],
        "/runs/many/compare",
    ),
    (
        "/runs/many/compare?baseline=none",
        ["baseline “none”: there is no such run"],
        "/runs/many/compare",
    ),
    (
        "/runs/demo/responses/alder-1?sentence=99&claim=none&without=x&only=good&all=0",
        [
            "all “0”: it can be 1",
            "only “good”: it can be supported, contradicted, partly supported, not found, error,"
            " no claim",
            "sentence “99”: the last one of the text is 5",
            "claim “none”: the text has no such claim",
            "without “x”: no such passage was found",
        ],
        "/runs/demo/responses/alder-1",
    ),
    (
        "/runs/demo/responses/alder-1?sentence=-1&support=1",
        ["sentence “-1”: it can be a whole number from 0"],
        "/runs/demo/responses/alder-1?support=1",
    ),
    (f"/check?mode={'z' * 999}", [f"mode “{'z' * 80}…”: it can be seq, mv, single, all"], "/check"),
]


def _named(page: Page) -> Locator:
    return page.get_by_role("alert").get_by_role("listitem")


@pytest.mark.parametrize(("address", "named", "left"), WRONG, ids=[one[0][:40] for one in WRONG])
def test_what_cannot_be_used_is_named_and_the_default_used(
    page: Page, address: str, named: list[str], left: str
) -> None:
    page.goto(f"/#{address}")
    expect(_named(page)).to_have_text(named)
    page.wait_for_function("left => location.hash === `#${left}`", arg=left)
    page.reload()
    expect(page.get_by_role("navigation")).to_be_visible()
    expect(page.get_by_role("button", name="Close this message")).to_have_count(0)


def test_a_link_with_a_wrong_setting_leaves_the_check_to_the_reader(page: Page) -> None:
    reference = "Oslo is the capital of Norway."
    page.goto(f"/#/check?text={quote(reference)}&reference={quote(reference)}&tie=zzz&show=1")
    expect(_named(page)).to_have_text(["tie “zzz”: it can be not_factual, factual"])
    report = Axe().run(page)
    assert report.violations_count == 0, report.generate_report()
    page.get_by_role("button", name="Close this message").click()
    expect(page.get_by_role("alert")).to_have_count(0)
    page.get_by_role("button", name="Check", exact=True).click()
    expect(page.get_by_role("heading", name="1 of 1 claim supported")).to_be_visible()
    expect(page).to_have_title("1 of 1 supported · ufo")


@pytest.mark.parametrize(
    ("address", "message"),
    [
        (f"/results/{'0' * 32}", "no result is kept under that name"),
        ("/check?draft=000000000000", "no text is kept under that name"),
        ("/runs/none", "no finished run of that name"),
        ("/runs/demo/responses/none", "has no response of that id"),
    ],
)
def test_what_is_not_there_is_said_with_ways_on(page: Page, address: str, message: str) -> None:
    page.goto(f"/#{address}")
    expect(page.get_by_role("alert")).to_contain_text(message)
    page.get_by_role("button", name="Check another text").click()
    expect(page.get_by_role("alert")).to_have_count(0)
    expect(page.get_by_label("Text to check")).to_be_editable()


@pytest.mark.parametrize(
    "draft",
    ["{", "5", "[]", json.dumps({"text": 5, "question": "", "references": []})]
    + [json.dumps({"text": "a", "question": "", "references": value}) for value in ("b", [1])],
)
def test_what_the_browser_kept_is_checked_too(page: Page, draft: str) -> None:
    page.goto("/")
    page.evaluate("theme => localStorage.setItem('theme', theme)", "purple")
    page.evaluate("draft => sessionStorage.setItem('draft', draft)", draft)
    page.reload()
    expect(_named(page)).to_have_text(
        [
            "the text that this tab kept: it cannot be read",
            "theme “purple”: it can be auto, light, dark",
        ]
    )
    expect(page.get_by_label("Text to check")).to_have_value("")
    assert page.evaluate("document.documentElement.dataset.theme") == "auto"


def test_a_browser_without_storage_shows_the_page(page: Page) -> None:
    denied = "Object.defineProperty(window, '{}', {{ get() {{ throw new DOMException('no'); }} }})"
    for name in ("localStorage", "sessionStorage"):
        page.add_init_script(denied.format(name))
    page.goto("/#/check?text=Oslo%20is%20big.")
    expect(page.get_by_label("Text to check")).to_have_value("Oslo is big.")
    page.get_by_role("button", name="Colours: as the system").click()
    assert page.evaluate("document.documentElement.dataset.theme") == "light"
    expect(page.get_by_role("alert")).to_have_count(0)


def test_a_field_takes_what_an_address_may_have(page: Page) -> None:
    page.goto("/")
    page.locator(".settings > summary").click()
    field = page.get_by_label("Passages of each source").first
    field.fill("0")
    field.press("Tab")
    page.get_by_label("Text to check").fill("Oslo is big.")
    page.keyboard.press("Control+Enter")
    assert field.evaluate("field => field.validity.valid") is False
    assert urlsplit(page.url).fragment in ("", "/check")
    field.fill("7")
    field.press("Tab")
    assert urlsplit(page.url).fragment == "/check?passages=7"


@pytest.mark.parametrize(
    ("address", "title"),
    [
        ("/check", "Check a text"),
        ("/runs", "Runs"),
        ("/runs/many", "many"),
        ("/runs/many/compare", "many compared"),
        ("/runs/many/reports", "Reports of many"),
        ("/runs/demo/responses/alder-1", "1 of 6 contradicted"),
        ("/runs/none", "There is no such thing"),
    ],
)
def test_the_window_is_named_after_what_it_shows(page: Page, address: str, title: str) -> None:
    page.goto(f"/#{address}")
    expect(page).to_have_title(f"{title} · ufo")
