"""What differs between the Wikipedias: redirects, disambiguations, sections, dates, namespaces."""

import pytest

from ufo.indexes.wikis import (
    NOT_RANKED,
    date_style,
    is_disambiguation,
    language_of,
    missing_tables,
    names_without_text,
    redirect_target,
)

REDIRECTS = {  # of the largest Wikipedias
    "en": "#REDIRECT [[Ulm]]",
    "de": "#WEITERLEITUNG [[Ulm]]",
    "fr": "#REDIRECTION [[Ulm]]",
    "nl": "#DOORVERWIJZING [[Ulm]]",
    "ru": "#перенаправление [[Ulm]]",
    "es": "#REDIRECCIÓN [[Ulm]]",
    "it": "#RINVIA [[Ulm]]",
    "pl": "#PATRZ [[Ulm]]",
    "ja": "#転送 [[Ulm]]",
    "zh": "#重定向 [[Ulm]]",
    "sv": "#OMDIRIGERING [[Ulm]]",
    "uk": "#ПЕРЕНАПРАВЛЕННЯ [[Ulm]]",
    "vi": "#ĐỔI [[Ulm]]",
    "ar": "#تحويل [[Ulm]]",
    "pt": "#REDIRECIONAMENTO [[Ulm]]",
    "fa": "#تغییر_مسیر [[Ulm]]",
    "ca": "#REDIRECCIÓ [[Ulm]]",
    "ko": "#넘겨주기 [[Ulm]]",
    "id": "#ALIH [[Ulm]]",
    "no": "#OMDIRIGER [[Ulm]]",
    "cs": "#PŘESMĚRUJ [[Ulm]]",
}


@pytest.mark.parametrize("text", REDIRECTS.values(), ids=REDIRECTS)
def test_a_redirect_begins_with_the_word_of_its_language(text: str) -> None:
    assert redirect_target(text) == "Ulm"


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("#redirect [[Ulm]]", "Ulm"),
        ("\n # REDIRECT: [[ Ulm#History|label]] {{R from x}}", "Ulm#History"),
        ("#REDIRECT [[:Category:Ulm]]", "Category:Ulm"),
        ("#REDIRECT[[Ulm]]", "Ulm"),
        ("#पुनर्प्रेषित [[Ulm]]", "Ulm"),
        ("#เปลี่ยนทาง [[Ulm]]", "Ulm"),
        ("Ulm #REDIRECT [[Ulm]]", None),
        ("#REDIRECT Ulm", None),
        ("#REDIRECTED [[Ulm]]", None),
        ("# [[Ulm]]", None),
        ("", None),
    ],
)
def test_a_redirect_is_what_begins_as_one(text: str, target: str | None) -> None:
    assert redirect_target(text) == target


DISAMBIGUATIONS = {
    "en": "{{disambiguation}}",
    "de": "{{Begriffsklärung}}",
    "fr": "{{Homonymie}}",
    "nl": "{{dp}}",
    "ru": "{{неоднозначность}}",
    "es": "{{desambiguación}}",
    "it": "{{Disambigua}}",
    "pl": "{{Ujednoznacznienie}}",
    "ja": "{{aimai}}",
    "zh": "{{消歧义}}",
    "sv": "{{förgrening}}",
    "uk": "{{багатозначність}}",
    "vi": "{{trang định hướng}}",
    "ar": "{{توضيح}}",
    "pt": "{{Desambiguação}}",
    "fa": "{{ابهام‌زدایی}}",
    "ca": "{{Desambiguació}}",
    "ko": "{{동음이의}}",
    "id": "{{disambiguasi}}",
    "no": "{{peker}}",
    "cs": "{{Rozcestník}}",
}


@pytest.mark.parametrize(("language", "text"), DISAMBIGUATIONS.items(), ids=DISAMBIGUATIONS)
def test_a_disambiguation_has_the_template_of_its_language(language: str, text: str) -> None:
    assert is_disambiguation(f"'''A''' b:\n* [[C]]\n{text}", language)


def test_a_template_of_another_language_marks_no_disambiguation() -> None:
    assert not is_disambiguation("{{dp}}", "en")
    assert not is_disambiguation("{{hndis}}", "de")
    assert is_disambiguation("{{disambig}}", "xx")


@pytest.mark.parametrize(
    "text",
    [
        "'''Ada''' may refer to:\n* x\n{{disambiguation}}",
        "x {{Disambiguation|geo|hndis}}",
        "x {{ hndis | name = Ada }}",
        "x {{geodis<!-- here -->}}",
        "x {{School_disambiguation}}",
        "x {{disambiguation cleanup|date=May 2020}}",
        "x __DISAMBIG__",
        "x {{school disambig}}",
        "x {{template:dab}}",
    ],
)
def test_a_page_that_leads_to_others(text: str) -> None:
    assert is_disambiguation(text)


@pytest.mark.parametrize(
    "text",
    [
        "Mercury (disambiguation) links here. {{about|x|y|Mercury (disambiguation)}}",
        "[[Paris]]{{disambiguation needed}} is",
        "{{distinguish|x}} {{Discography}}",
        "{{other uses|Ada (disambiguation)}}",
        "",
    ],
)
def test_a_page_that_does_not(text: str) -> None:
    assert not is_disambiguation(text)


NAMES = """
    disambiguation disambig disamb dab dis dbig lnd disambiguation-cleanup hndis hndisambig
    hndab namedab geodis geo-dis geodab placedis mathdab mathdis numberdis bio-dab biodab
    schooldis roaddis hospitaldis molfile-dab mil-unit-dis milunitdis airportdis stationdis
    shipindex-dis wpdab tvdab sportdis letter-numbercombdisambig listdis songdis taxondis
    genusdis
"""


@pytest.mark.parametrize("name", NAMES.split())
def test_a_disambiguation_goes_by_each_of_these_names(name: str) -> None:
    assert is_disambiguation(f"A may be:{{{{{name}}}}}")


@pytest.mark.parametrize(
    "heading",
    [
        "citations",
        "external links",
        "footnotes",
        "further reading",
        "references",
        "see also",
        "weblinks",
        "liens externes",
        "enlaces externos",
        "ссылки",
        "外部リンク",
        "参考文献",
    ],
)
def test_a_section_of_links_is_not_ranked(heading: str) -> None:
    assert heading in NOT_RANKED


@pytest.mark.parametrize("language", REDIRECTS)
def test_the_largest_wikis_have_all_tables_but_that_of_months(language: str) -> None:
    assert set(missing_tables(language)) <= {"the names of months in templates"}


def test_what_is_not_known_for_a_language_is_said() -> None:
    assert missing_tables("xx") == [
        "which templates mark a disambiguation page",
        "which sections are lists of links",
        "the word for a redirect without its element",
        "the names of months in templates",
    ]


@pytest.mark.parametrize(
    ("code", "key"), [("zh-Hans-CN", "zh"), ("nb", "no"), ("simple", "en"), ("de", "de")]
)
def test_a_language_may_have_the_tables_of_another(code: str, key: str) -> None:
    assert language_of(code) == key


@pytest.mark.parametrize(
    ("language", "name"),
    [("de", "bild"), ("fr", "image"), ("es", "imagen"), ("ru", "изображение"), ("zh", "分类")],
)
def test_files_go_by_old_names_too(language: str, name: str) -> None:
    assert name in names_without_text(language)
    assert name not in names_without_text("xx")


@pytest.mark.parametrize(
    ("language", "name", "number"),
    [("de", "märz", 3), ("de", "june", 6), ("fr", "aout", 8), ("ru", "мая", 5), ("ru", "май", 5)],
)
def test_a_month_is_read_in_english_and_in_the_language(
    language: str, name: str, number: int
) -> None:
    style = date_style(language)
    assert style
    assert style.months[name] == number


def test_a_language_without_names_of_months_has_no_dates() -> None:
    assert date_style("xx") is None
