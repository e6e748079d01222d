"""Files of Markdown, text, HTML and PDF as documents of an index."""

import re
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.case_files import cases
from ufo.pipelines.text_files import TextFiles, check_installed, parse_markdown
from ufo.schemas.documents import Document
from ufo.schemas.errors import UsageError
from ufo.schemas.row import UnusableValue

MARKDOWN = cases(Path(__file__).with_name("markdown.txt"))


@pytest.mark.parametrize(
    ("text", "lines"), [row[1:] for row in MARKDOWN], ids=[row[0] for row in MARKDOWN]
)
def test_markdown_is_what_a_reader_sees(text: str, lines: str) -> None:
    _, sections = parse_markdown(text)
    assert " / ".join(line for section in sections for line in section.lines) == lines


def test_headings_are_those_of_sections_but_for_the_first() -> None:
    text = "# Title\nlead\n\n## A\na\n\n### B\nb\n\n## C\nc\n\nD\n===\nd\n"
    title, sections = parse_markdown(text)
    assert title == "Title"
    assert [(one.heading, one.lines) for one in sections] == [
        ("", ("lead",)),
        ("A", ("a",)),
        ("A > B", ("b",)),
        ("C", ("c",)),
        ("D", ("d",)),
    ]


def test_front_matter_has_the_title_and_is_no_text() -> None:
    title, [section] = parse_markdown('---\ndate: 1931\ntitle: "A bridge"\n---\nIt opened.\n')
    assert title == "A bridge"
    assert section.lines == ("It opened.",)


MARKS = ["<sup>", "</sup>", "<sub>", "</sub>", "<td>", "<del>", "</del>", "~~", "![](x)", "[^1]"]


@given(st.lists(st.sampled_from([*MARKS, "12", "345", " ", "word", "\n\n"])))
@example(["12", "</sup>", "345"])
@example(["10<sup>12</sup>", "345"])
@example(["12", "~~word~~", "345"])
@example(["12", "![](x)", "345"])
@example(["12", "[^1]", "345"])
def test_no_number_is_made_by_markdown(parts: list[str]) -> None:
    _, sections = parse_markdown("".join(parts))
    numbers = {number for one in sections for number in re.findall(r"\d+", " ".join(one.lines))}
    assert numbers <= set(re.findall(r"\d+", "".join(parts)))


@pytest.fixture
def files() -> Iterator[TextFiles]:
    with closing(TextFiles()) as text_files:
        yield text_files


def read(files: TextFiles, path: Path, content: bytes) -> Document:
    path.write_bytes(content)
    return files.read(path, f"notes/{path.name}")


def lines(document: Document) -> list[str]:
    return [line for section in document.sections for line in section.lines]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("name", ["Müller.txt", "Müller.md"])
def test_text_is_unicode(files: TextFiles, tmp_path: Path, name: str, encoding: str) -> None:
    document = read(files, tmp_path / name, "Köln\r\n\r\n1911".encode(encoding))
    assert document.title == "Müller"
    assert document.url == f"notes/{name}"
    assert lines(document) == ["Köln", "1911"]


@pytest.mark.parametrize("name", ["a.txt", "a.md"])
def test_text_in_another_encoding_is_refused(files: TextFiles, tmp_path: Path, name: str) -> None:
    with pytest.raises(UnusableValue, match=r"not UTF-8: byte 2 is invalid; convert.*iconv"):
        read(files, tmp_path / name, b"K\xf6ln")


PAGE = """<html><head><title>The bridge</title></head><body><article>
<p>The bridge over the river Vara was opened in 1932 by the king after a long dispute.</p>
<p>It is 210 metres long and cost 45 million marks, of which the state paid the half.</p>
</article></body></html>"""


@pytest.mark.parametrize("name", ["a.html", "a.HTM", "a.xhtml"])
def test_a_page_is_its_main_text(files: TextFiles, tmp_path: Path, name: str) -> None:
    document = read(files, tmp_path / name, PAGE.encode())
    assert document.title == "The bridge"
    assert "1932" in lines(document)[0]
    assert "210 metres" in lines(document)[1]


def test_a_file_that_is_no_pdf_says_so(files: TextFiles, tmp_path: Path) -> None:
    with pytest.raises(UnusableValue, match="no text: unreadable pdf"):
        read(files, tmp_path / "a.pdf", b"%PDF-1.7 no more")


def test_a_file_that_is_too_large_says_so(files: TextFiles, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    with path.open("wb") as stream:
        stream.truncate((64 << 20) + 1)
    with pytest.raises(UnusableValue, match="over 67,108,864 bytes"):
        files.read(path, "a.txt")


def test_pages_need_an_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "trafilatura", None)
    check_installed([Path("a.md"), Path("a.txt")])
    with pytest.raises(UsageError, match=r"reading a\.html needs .*web"):
        check_installed([Path("a.md"), Path("a.html")])
