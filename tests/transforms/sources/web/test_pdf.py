"""What is above or below a line of a PDF, by the ways in which programs write it."""

import pytest

from tests.local_web.pdf import written
from tests.transforms.sources.web.pages import fetched
from ufo.transforms.sources.web.documents import Document
from ufo.transforms.sources.web.reading import document_of


def read(stream: str) -> Document:
    return document_of(fetched(written([stream.encode("latin-1")]), "application/pdf"))


WRITTEN = {
    "text rise": """BT /F1 12 Tf 72 700 Td (It cost 1,200) Tj /F1 8 Tf 4 Ts (3) Tj /F1 12 Tf 0 Ts
        ( marks and 10) Tj /F1 8 Tf 4 Ts (6) Tj /F1 12 Tf 0 Ts ( cars.) Tj ET""",
    "text rise alone": """BT /F1 12 Tf 72 700 Td (It cost 1,200) Tj 4 Ts (3) Tj 0 Ts
        ( marks and 10) Tj 4 Ts (6) Tj 0 Ts ( cars.) Tj ET""",
    "moves": """BT /F1 12 Tf 72 700 Td (It cost 1,200) Tj /F1 8 Tf 74 4 Td (3) Tj
        /F1 12 Tf 5 -4 Td ( marks and 10) Tj /F1 8 Tf 80 4 Td (6) Tj /F1 12 Tf 5 -4 Td
        ( cars.) Tj ET""",
    "arrays": """BT /F1 12 Tf 72 700 Td [(It)-278(cost)-278(1,200)] TJ /F1 8 Tf 73 4 Td [(3)] TJ
        /F1 12 Tf 5 -4 Td [(\\040mar)20(ks)-278(and)-278(10)] TJ /F1 8 Tf 76 4 Td [(6)] TJ
        /F1 12 Tf 5 -4 Td [(\\040cars.)] TJ ET""",
    "a font of size 1": """BT /F1 1 Tf 12 0 0 12 72 700 Tm (It cost 1,200) Tj 8 0 0 8 145 704 Tm
        (3) Tj 12 0 0 12 150 700 Tm ( marks and 10) Tj 8 0 0 8 226 704 Tm (6) Tj
        12 0 0 12 231 700 Tm ( cars.) Tj ET""",
    "a block for each piece": """BT /F1 12 Tf 1 0 0 1 72 700 Tm (It cost 1,200) Tj ET
        BT /F1 8 Tf 1 0 0 1 146 704 Tm (3) Tj ET BT /F1 12 Tf 1 0 0 1 151 700 Tm
        ( marks and 10) Tj ET BT /F1 8 Tf 1 0 0 1 230 704 Tm (6) Tj ET
        BT /F1 12 Tf 1 0 0 1 236 700 Tm ( cars.) Tj ET""",
    "a page upside down": """1 0 0 -1 0 792 cm BT /F1 12 Tf 1 0 0 -1 72 92 Tm (It cost 1,200) Tj
        ET BT /F1 8 Tf 1 0 0 -1 146 88 Tm (3) Tj ET BT /F1 12 Tf 1 0 0 -1 151 92 Tm
        ( marks and 10) Tj ET BT /F1 8 Tf 1 0 0 -1 230 88 Tm (6) Tj ET
        BT /F1 12 Tf 1 0 0 -1 236 92 Tm ( cars.) Tj ET""",
    "saved states": """BT /F1 12 Tf 72 700 Td (It cost 1,200) Tj ET q 4 Ts BT /F1 8 Tf 146 700 Td
        (3) Tj ET Q BT /F1 12 Tf 151 700 Td ( marks and 10) Tj ET q 4 Ts BT /F1 8 Tf 230 700 Td
        (6) Tj ET Q BT /F1 12 Tf 236 700 Td ( cars.) Tj ET""",
}


@pytest.mark.parametrize("stream", WRITTEN.values(), ids=WRITTEN)
def test_a_mark_of_a_note_is_left_out_and_a_power_kept(stream: str) -> None:
    assert " ".join(read(stream).text.split()) == "It cost 1,200 marks and 10^6 cars."


LINES = {
    "lowered": (
        """BT /F1 12 Tf 72 700 Td (The H) Tj /F1 8 Tf 32 -3 Td (2) Tj /F1 12 Tf 5 3 Td (O is log) Tj
        /F1 8 Tf 42 -3 Td (10) Tj /F1 12 Tf 9 3 Td (100.) Tj ET""",
        "The H2O is log10 100.",
    ),
    "a fraction": (
        """BT /F1 12 Tf 72 700 Td (It is 5) Tj /F1 8 Tf 4 Ts (1) Tj 0 Ts /F1 12 Tf (/) Tj
        /F1 8 Tf -2 Ts (2) Tj 0 Ts /F1 12 Tf ( inches.) Tj ET""",
        "It is 5 1/2 inches.",
    ),
    "the number of a note": (
        "BT /F1 5 Tf 72 703 Td (3) Tj /F1 8 Tf 4 -3 Td (The count was wrong.) Tj ET",
        "The count was wrong.",
    ),
    "several marks": (
        """BT /F1 12 Tf 72 700 Td (It cost 1,200) Tj /F1 8 Tf 4 Ts (3) Tj (,4) Tj /F1 12 Tf 0 Ts
        ( marks.) Tj ET""",
        "It cost 1,200 marks.",
    ),
    "small letters on the line": (
        "BT /F1 12 Tf 72 700 Td (N) Tj /F1 9 Tf (ATO 1949) Tj /F1 12 Tf ( met.) Tj ET",
        "NATO 1949 met.",
    ),
    "a small line below": (
        "BT /F1 12 Tf 72 700 Td (It is old.) Tj /F1 8 Tf 0 -14 Td (Page 3) Tj ET",
        "It is old.\nPage 3",
    ),
    "an ordinal at the end of a line": (
        """BT /F1 12 Tf 14 TL 72 700 Td (On the 3) Tj /F1 8 Tf 4 Ts (rd) Tj /F1 12 Tf 0 Ts
        (of May it fell.) ' ET""",
        "On the 3rd of May it fell.",
    ),
}


@pytest.mark.parametrize(("stream", "text"), LINES.values(), ids=LINES)
def test_a_line_of_a_pdf(stream: str, text: str) -> None:
    assert read(stream).text == text


def test_a_sentence_that_cannot_be_told_is_left_out_and_counted() -> None:
    document = read(
        """BT /F1 12 Tf 14 TL 72 700 Td (It is red. It cost 45) Tj /F1 8 Tf 4 Ts (7) Tj
        /F1 12 Tf 0 Ts ( marks.) Tj T* (It is old.) Tj ET"""
    )
    assert document.text == "It is red.\nIt is old."
    assert document.left_out == 1


def test_marks_go_on_from_page_to_page() -> None:
    first = "BT /F1 12 Tf 72 700 Td (The marks) Tj /F1 8 Tf 4 Ts (3) Tj ET"
    second = (
        "BT /F1 12 Tf 72 700 Td (Of these 12) Tj /F1 8 Tf 4 Ts (4) Tj /F1 12 Tf 0 Ts ( fell.) Tj ET"
    )
    file = written([first.encode(), second.encode()])
    assert document_of(fetched(file, "application/pdf")).text == "The marks\n\nOf these 12 fell."


def test_the_font_says_which_letters_bytes_are() -> None:
    document = read(r"BT /F1 12 Tf 72 700 Td (It is \223Gr\374n\224 \226 5 \200.) Tj ET")
    assert document.text == "It is “Grün” – 5 €."


def test_a_page_without_contents_has_no_text() -> None:
    file = written([b""]).replace(b"/Contents 6 0 R", b"/Nothing 6 0 R ")
    assert document_of(fetched(file, "application/pdf")).reason == "no_text"
