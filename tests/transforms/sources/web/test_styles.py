"""What of a page a browser shows: each element, attribute and declaration that hides a text."""

from typing import Any

import pytest
from lxml.html import document_fromstring

from ufo.transforms.sources.web.styles import apply_styles, hides


def shown(body: str, head: str = "") -> str:
    """The text of a page that is left, its head included."""
    page = f"<html><head>{head}</head><body><div>{body} and the rest</div></body></html>"
    tree: Any = document_fromstring(page)
    apply_styles(tree)
    text = " ".join(str(tree.text_content()).split())
    assert text.endswith("and the rest")
    return text.removesuffix("and the rest").strip()


def by_style(style: str) -> str:
    return shown(f'<p style="{style}">An order.</p>')


NOT_SHOWN = """script style template noscript svg object iframe canvas audio video datalist select
    option textarea button dialog"""


@pytest.mark.parametrize("tag", NOT_SHOWN.split())
def test_the_text_of_an_element_that_is_no_text_is_left_out(tag: str) -> None:
    assert shown(f"Seen. <{tag}>An order.</{tag}>") == "Seen."


@pytest.mark.parametrize("tag", ["embed", "input"])
def test_an_element_to_use_is_left_out(tag: str) -> None:
    tree: Any = document_fromstring(f"<body><p>Seen. <{tag} title='An order.'></p></body>")
    apply_styles(tree)
    assert list(tree.iter(tag)) == []


@pytest.mark.parametrize(
    "element",
    [
        "<p>An order.</p>",
        "<dialog open>An order.</dialog>",
        "<p hidden='until-found'>An order.</p>",
        "<p hidden='UNTIL-FOUND'>An order.</p>",
        "<p aria-hidden='false'>An order.</p>",
        "<main aria-hidden='true'>An order.</main>",
        "<article style='display:none'>An order.</article>",
        "<font color='black'>An order.</font>",
        "<script type='application/ld+json'>An order.</script>",
        "<p color='white'>An order.</p>",
    ],
)
def test_a_text_that_a_reader_sees_or_a_program_reads_stays(element: str) -> None:
    assert shown(element) == "An order."


@pytest.mark.parametrize("tag", ["html", "body", "main", "article"])
def test_a_whole_page_is_shown_once_its_script_has_run(tag: str) -> None:
    page = "<html><body><main><article>A text.</article></main></body></html>"
    tree: Any = document_fromstring(
        page.replace(f"<{tag}>", f"<{tag} class='x' style='opacity:0'>")
    )
    style = document_fromstring("<style>.x{display:none}</style>").find(".//style")
    tree.append(style)
    apply_styles(tree)
    assert tree.text_content() == "A text."


@pytest.mark.parametrize(
    "attribute",
    [
        "hidden",
        "hidden='hidden'",
        "hidden='x'",
        "aria-hidden='true'",
        "aria-hidden=' TRUE '",
        "style='display:none'",
        "class='b secret'",
        "id='secret'",
        "type='application/ld+json' hidden",
    ],
)
def test_an_attribute_hides_an_element(attribute: str) -> None:
    sheet = "<style>.secret, #secret { display: none }</style>"
    assert shown(f"<p {attribute}>An order.</p>", sheet) == ""


WHITE = ("#fff", "#FFFFFF", "white", "rgb(255, 255, 255)", "rgba(255,255,255,1)")


@pytest.mark.parametrize("colour", WHITE)
def test_white_text_is_not_seen(colour: str) -> None:
    assert by_style(f"color: {colour}") == ""
    assert shown(f"<font color='{colour}'>An order.</font>") == ""
    assert by_style(f"color: {colour}; background: url(dark.png)") == "An order."
    assert by_style(f"color: {colour}; background-color: #000") == "An order."


@pytest.mark.parametrize(
    ("colour", "ground"),
    [("#123", "#112233"), ("black", "black"), ("rgb(1, 2, 3)", "rgb(1,2,3)"), ("#FFF", "white")],
)
def test_a_text_in_the_colour_of_its_background_is_not_seen(colour: str, ground: str) -> None:
    assert by_style(f"color:{colour};background:{ground}") == ""
    assert by_style(f"background-color:{ground};color:{colour}") == ""


ZEROS = ("0", "0.0", ".0", "00", "0px", "0em", "0rem", "0pt", "0%", "0vw", "0vh")
PLACES = ("left", "top", "right", "bottom", "text-indent", "margin-left", "margin-top")
SIZES = ("width", "height", "max-width", "max-height")
OTHER_MEDIA = ("print", "speech", "screen and (max-width: 9px)", "not all")


@pytest.mark.parametrize(
    "style",
    [
        "display:none",
        "DISPLAY : NONE !important",
        "color:red;display:none",
        "visibility:hidden",
        "visibility:collapse",
        "content-visibility:hidden",
        *(f"{name}:{zero}" for name in ("opacity", "font-size") for zero in ZEROS),
        *(f"{place}:-100{unit}" for place in PLACES for unit in ("px", "")),
        *(f"left:-999.5{unit}" for unit in ("px", "em", "rem", "pt", "%")),
        "color:transparent",
        "clip:rect(0,0,0,0)",
        "clip:rect(1px, 1px, 1px, 1px)",
        "clip:rect(0 0 0 0)",
        "clip-path:inset(50%)",
        "clip-path: inset( 100% )",
        "transform:scale(0)",
        "transform: scale( 0 )",
        *(f"{size}:{value};overflow:hidden" for size in SIZES for value in ("0", "0px", "1px")),
        *(
            f"width:0;overflow{axis}:{how}"
            for axis in ("", "-x", "-y")
            for how in ("hidden", "clip")
        ),
    ],
)
def test_a_style_hides(style: str) -> None:
    assert hides(style)


@pytest.mark.parametrize(
    "style",
    [
        "",
        ";;;",
        "color",
        "display",
        "display:",
        "display:block",
        "x-display:none",
        pytest.param("x" * 9999, id="a very long word"),
        "visibility:visible",
        "content-visibility:auto",
        "opacity:.5",
        "opacity:0.05",
        "font-size:0.9em",
        "font-size:05px",
        *(f"{place}:-99px" for place in PLACES),
        "left:100px",
        "padding-left:-100px",
        "color:black",
        "clip:rect(2px,2px,2px,2px)",
        "clip-path:inset(49%)",
        "transform:scale(0.5)",
        "overflow:hidden",
        "width:0",
        *(f"{size}:2px;overflow:hidden" for size in SIZES),
        "width:0;overflow:visible",
        "min-width:0;overflow:hidden",
        "color:red;background:blue",
    ],
    ids=lambda style: style[:40] or "nothing",
)
def test_another_style_hides_nothing(style: str) -> None:
    assert not hides(style)


@pytest.mark.parametrize(
    ("media", "left"),
    [
        *((media, "") for media in ("", " media=''", " media='all'", " media=' Screen '")),
        *((f" media='{media}'", "An order.") for media in OTHER_MEDIA),
    ],
)
def test_a_style_sheet_for_the_screen_hides(media: str, left: str) -> None:
    sheet = f"<style{media}>.x{{display:none}}</style>"
    assert shown("<p class='x'>An order.</p>", sheet) == left


@pytest.mark.parametrize(
    "sheet",
    [
        ".x{display:none}",
        "p.x{display:none}",
        ".y, .x{display:none}",
        "#i{display:none}",
        "@import url(a.css);.x{display:none}",
        "@charset 'utf-8';.x{display:none}",
        "@namespace svg url(a);.x{display:none}",
        "/* } */.x{display:none}",
        "@media print{.y{color:red}}.x{display:none}",
        "}.x{display:none}",
        ".x{display:none}/* an open comment",
        f"{' ' * (200_000 - 16)}.x{{display:none}}",
    ],
    ids=lambda sheet: sheet.strip(),
)
def test_a_rule_hides_a_class_or_an_id(sheet: str) -> None:
    assert shown("<p class='x' id='i'>An order.</p>", f"<style>{sheet}</style>") == ""


@pytest.mark.parametrize(
    "sheet",
    [
        ".x{color:red}",
        "x{display:none}",
        ".X1{display:none}",
        ".x:hover{display:none}",
        "div .x{display:none}",
        ".x.y{display:none}",
        "*{display:none}",
        "@media print{.x{display:none}}",
        "/* .x{display:none} */",
        "",
        ".y{color:red}@media print{.y{color:red}.x{display:none}}.y{color:red}",
        "@supports (a:b){@media print{.x{display:none}}.x{display:none}}",
        "/* an open comment .x{display:none}",
        f"{' ' * (200_000 - 15)}.x{{display:none}}",
    ],
    ids=lambda sheet: sheet.strip(),
)
def test_a_rule_that_does_not_always_apply_hides_nothing(sheet: str) -> None:
    assert shown("<p class='x' id='i'>An order.</p>", f"<style>{sheet}</style>") == "An order."


@pytest.mark.parametrize("tag", ["button", "object"])
def test_only_a_dialog_is_opened(tag: str) -> None:
    assert shown(f"Seen. <{tag} open>An order.</{tag}>") == "Seen."


def test_the_title_of_a_page_stays_and_a_hidden_description_of_it() -> None:
    head = "<title>Lakes</title><meta name='a' hidden><link rel='b' hidden><base href='c' hidden>"
    tree: Any = document_fromstring(f"<html><head>{head}</head><body><p>A text.</p></body></html>")
    apply_styles(tree)
    assert [element.tag for element in tree.find("head")] == ["title", "meta", "link", "base"]
    assert tree.text_content() == "LakesA text."


STRUCK_OUT = (
    "<del>@</del>",
    "<s>@</s>",
    "<strike>@</strike>",
    "<del><b>@</b></del>",
    "<b><s>@</s></b>",
    "<span role='deletion'>@</span>",
    "<span style='text-decoration: line-through'>@</span>",
    "<p style='text-decoration:underline line-through'>@</p>",
    "<i style='text-decoration-line:line-through'>@</i>",
    "<b class='line-through'>@</b>",
    "<u class='x Strikethrough'>@</u>",
)


@pytest.mark.parametrize("element", STRUCK_OUT)
def test_text_that_is_struck_out_is_left_out(element: str) -> None:
    assert shown(f"It is {element.replace('@', '40')} <ins>45</ins> m long,") == "It is 45 m long,"


def test_a_rule_of_the_page_strikes_out() -> None:
    sheet = "<style>.old { text-decoration: line-through red }</style>"
    assert shown("<b class='old'>40</b> 45 m,", sheet) == "45 m,"


@pytest.mark.parametrize(
    "element",
    [
        "<ins>45</ins>",
        "<u>45</u>",
        "<b style='text-decoration:underline'>45</b>",
        "<b class=s>45</b>",
    ],
)
def test_other_marks_of_an_edit_stay(element: str) -> None:
    assert shown(f"It is {element} m long,") == "It is 45 m long,"


@pytest.mark.parametrize(
    ("body", "left"),
    [
        ("It is <b aria-hidden='true'>45</b> m long,", "It is 45 m long,"),
        ("It is <b aria-hidden='true'>45</b><i class='sr-only'>one</i> m,", "It is 45 m,"),
        ("It is <button>45</button> m long,", "It is 45 m long,"),
        ("It is <i class='icon' aria-hidden='true'>x</i> long,", "It is long,"),
        ("It is long. <b aria-hidden='true'>45</b> It is red,", "It is long. It is red,"),
        ("<b aria-hidden='true'>45</b> it is red,", "it is red,"),
        ("It is long. <button>Share</button> It is red,", "It is long. It is red,"),
        ("It is <b class='visually-hidden'>x</b> long,", "It is long,"),
    ],
)
def test_a_sentence_keeps_what_it_shows(body: str, left: str) -> None:
    assert shown(body) == left
