"""Building an index from files of several kinds, in several processes, again and interrupted."""

import bz2
import gzip
import multiprocessing
import os
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from tests.embedder import write_embedder
from tests.pipelines.conftest import write_lines
from ufo.indexes.index import Index, open_index
from ufo.indexes.manifest import read_manifest
from ufo.indexes.store import read_mapped
from ufo.pipelines.build_index import build
from ufo.schemas.errors import Interrupted, RunError, UsageError


def _page(title: str, text: str = "", *, redirect: str = "", ns: int = 0) -> str:
    lead = f'<redirect title="{redirect}" />' if redirect else ""
    return (
        f"<page><title>{title}</title><ns>{ns}</ns><id>1</id>{lead}<revision><id>2</id>"
        f"<timestamp>2025-01-02T03:04:05Z</timestamp><text>{text}</text></revision></page>\n"
    )


HEAD = "<mediawiki><siteinfo><base>https://w.example.org/wiki/Main</base></siteinfo>\n"
TAIL = "</mediawiki>"


def _dump(pages: Sequence[str]) -> bytes:
    return "".join([HEAD, *pages, TAIL]).encode()


PAGES = [
    _page("Big river", redirect="Danube#Course"),
    _page("Danube", "The [[Danube]] is a river.\n== Course ==\nIt has ten countries."),
    _page("Donau", redirect="Big river"),
    _page("Loop A", redirect="Loop B"),
    _page("Loop B", redirect="Loop A"),
    _page("Lost", redirect="Nowhere"),
    _page("Mercury", "* [[Danube]]\n{{disambiguation}}"),
    _page("To Mercury", redirect="Mercury"),
    _page("Talk:Danube", "Talk.", ns=1),
    _page("Ulm", "Ulm lies on the Danube."),
]
COUNTS = {
    "pages": 10,
    "articles": 2,
    "redirects": 6,
    "disambiguations": 1,
    "other_namespaces": 1,
    "failures": 0,
    "empty_articles": 0,
    "other_namespace_redirects": 0,
    "sentences_left_out": 0,
    "passages": 3,
    "aliases": 2,
    "unresolved_redirects": 4,
}


def _tables(path: Path) -> dict[str, list[dict[str, Any]]]:
    return {file.name: read_mapped(file).to_pylist() for file in path.glob("*.arrow")}


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    path = tmp_path / "pages.xml.bz2"
    path.write_bytes(bz2.compress(_dump(PAGES)))
    return path


def test_a_dump_becomes_an_index(dump: Path, tmp_path: Path) -> None:
    result = build(dump, tmp_path / "out" / "index")
    assert result.counts == COUNTS
    assert result.warnings == []
    index = open_index(result.path)
    [[hit]] = index.search(["ten countries"], 1)
    assert hit.passage.section == "Course"
    assert hit.passage.text == "It has ten countries."
    assert hit.passage.url == "https://w.example.org/wiki/Danube"
    assert hit.passage.published_at == "2025-01-02"
    # An alias of an alias leads to the page too; what leads nowhere is no name.
    assert {index.names.pages(name) for name in ("danube", "Big river", "Donau")} == {(0,)}
    nowhere = ("Loop A", "Lost", "Mercury", "To Mercury")
    assert {index.names.pages(name) for name in nowhere} == {()}
    manifest, _ = read_manifest(result.path)
    assert manifest["counts"] == COUNTS
    assert manifest["dump_date"] == "2025-01-02"
    assert manifest["inputs"][0]["name"] == "pages.xml.bz2"
    assert [p.name for p in result.path.parent.iterdir()] == ["index"]


def test_files_of_several_kinds_and_what_their_names_tell(dump: Path, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in/b.jsonl").write_text('{"title": "B", "text": "b"}\nnot json\n')
    (tmp_path / "in/a.xml").write_bytes(_dump([_page("A", "a")]))
    result = build(f"{tmp_path}/in/*", tmp_path / "index")
    assert [p.title for p in open_index(result.path).store.get([0, 1])] == ["A", "B"]
    assert "the first: b.jsonl:2" in result.warnings[0]
    # The index is replaced; its revisions are of another day. What lists a dump is none.
    named = dump.rename(tmp_path / "enwiki-20250301-pages.xml.bz2")
    index = tmp_path / "enwiki-20250301-multistream-index.txt.bz2"
    index.write_bytes(bz2.compress(b"0:1:T\n"))
    assert build(f"{tmp_path}/enwiki-*", result.path).counts == COUNTS
    manifest, _ = read_manifest(result.path)
    assert manifest["dump_date"] == "2025-03-01"
    assert len(manifest["inputs"]) == 1
    with pytest.raises(UsageError, match="give the dump"):
        build(index, tmp_path / "index")
    # A build that fails leaves what was there, and a cut file gives its whole pages.
    named.write_bytes(bz2.compress(_dump([])))
    with pytest.raises(RunError, match="no article"):
        build(named, result.path)
    assert read_manifest(result.path)[0] == manifest
    named.write_bytes(bz2.compress(_dump(PAGES)) + bz2.compress(b"more" * 1000)[:30])
    cut = build(named, result.path)
    assert cut.counts["articles"] == 2
    assert cut.counts["failures"] == 1
    assert "the bzip2 file is truncated" in cut.warnings[0]
    (row,) = pq.read_table(cut.path / "failures.parquet").to_pylist()
    assert row["step"] == "index"
    assert sorted(p.name for p in tmp_path.iterdir() if p.is_dir()) == ["in", "index"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param(
            _dump([_page("A", redirect="B")]),
            "dump: 1 pages, 1 redirects, 1 unresolved redirects; an index is made from",
            id="redirects only",
        ),
        pytest.param(b"<html></html>", "dump: 1 failures; first failure: this is", id="html"),
        pytest.param(b"{}", "first failure: ", id="no title"),
        pytest.param(b"", "dump; an index is made from", id="empty"),
        pytest.param(bz2.compress(b""), "dump; an index is", id="nothing compressed"),
    ],
)
def test_no_article_cannot_finish(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "dump").write_bytes(content)
    with pytest.raises(RunError, match=r"no article in .*dump.* pages-articles") as error:
        build(tmp_path / "dump", tmp_path / "index")
    assert message in error.value.message
    assert [p.name for p in tmp_path.iterdir()] == ["dump"]


@pytest.fixture
def many(tmp_path: Path) -> Path:
    """The dump in a stream a page."""
    path = tmp_path / "many.bz2"
    streams = (part.encode() for part in (HEAD, *PAGES, TAIL))
    path.write_bytes(b"".join(map(bz2.compress, streams)))
    return path


def test_slices_in_several_processes_give_the_same_index(
    dump: Path, many: Path, tmp_path: Path, capfd: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ufo.pipelines.build_index._PROGRESS_SECONDS", 0.0)
    alone = build(dump, tmp_path / "one")
    lines: list[str] = []
    cut: dict[str, Any] = {"slice_bytes": 400, "block_pages": 1, "progress": lines.append}
    other = build(many, tmp_path / "two", workers=2, **cut)
    *reading, indexing = lines
    assert reading[-1].startswith(f"{len(PAGES)} blocks of 1 page done after")
    assert indexing.startswith("indexing")
    assert alone.counts == other.counts
    assert _tables(alone.path) == _tables(other.path)
    assert capfd.readouterr().err == ""  # no remark of Beam's


def test_ctrl_c_leaves_no_folder_and_no_process(
    many: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ctrl_c(*arguments: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("ufo.pipelines.build_index.wait", ctrl_c)
    with pytest.raises(Interrupted, match=r"interrupted; the index .* is not built$"):
        build(many, tmp_path / "index", workers=2, slice_bytes=400)
    assert not multiprocessing.active_children()
    assert list(tmp_path.iterdir()) == [many]


def test_vectors_that_were_made_are_kept_where_a_build_stops(
    dump: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*arguments: object) -> None:
        raise OSError("No space left on device")

    model = write_embedder(tmp_path / "model", "danube river sea")
    with monkeypatch.context() as patch:
        patch.setattr("ufo.indexes.dense.write_vectors", full)
        with pytest.raises(RunError, match=r"No space left.*the same command goes on with them"):
            build(dump, tmp_path / "index", embedder=str(model))
    assert len(list(tmp_path.glob(".index.building-vectors/*.npy"))) == 1
    with monkeypatch.context() as patch:
        patch.setattr("ufo.indexes.embedders.OnnxEmbedder.embed", full)  # nothing is asked again
        assert build(dump, tmp_path / "index", embedder=str(model)).counts == COUNTS
    assert not list(tmp_path.glob(".index*"))


def test_a_build_that_fails_without_vectors_keeps_none(
    dump: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*arguments: object) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr("ufo.indexes.bm25.build", full)
    with pytest.raises(RunError, match=r"index could not be built: No space left on device$"):
        build(dump, tmp_path / "index")


def test_an_embedder_is_checked_before_anything_is_read(dump: Path, tmp_path: Path) -> None:
    lines: list[str] = []
    with pytest.raises(UsageError):
        build(dump, tmp_path / "index", embedder=str(tmp_path), progress=lines.append)
    assert lines == []


def test_paths_may_begin_with_the_home_folder(
    dump: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert build("~/pages.xml.bz2", "~/index").path == tmp_path / "index"


def test_what_failed_is_counted_and_the_first_is_told(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "in.jsonl", [{"title": "A", "text": "a"}, "no", "no"])
    (warning,) = build(path, tmp_path / "index").warnings
    message = "2 pages or parts of the input failed, see failures.parquet; the first: in.jsonl:2: "
    assert warning.startswith(message)


def test_what_was_left_out_and_what_is_not_known_is_said(tmp_path: Path) -> None:
    sentences = [f"It is {{{{t{n:02}}}}}." for n in range(12) for _ in range(20 - n)]
    head = HEAD.replace("<mediawiki>", '<mediawiki xml:lang="xx">')
    (tmp_path / "dump").write_bytes(
        (head + _page("A", f"So it is. {' '.join(sentences)}") + TAIL).encode()
    )
    result = build(tmp_path / "dump", tmp_path / "index")
    left_out, unknown = result.warnings
    assert result.counts["sentences_left_out"] == 174
    assert left_out.startswith("174 sentences were left out, since the text of a template")
    assert left_out.endswith(
        "; the most frequent: " + ", ".join(f"t{n:02} ({20 - n})" for n in range(10))
    )
    assert unknown.startswith("for the language 'xx' it is not known which templates mark a")
    manifest, _ = read_manifest(result.path)
    assert manifest["left_out_by"] == {f"t{n:02}": 20 - n for n in range(10)}
    assert manifest["languages"] == ["xx"]


@pytest.mark.parametrize(("words", "passages"), [(100, 1), (20, 2)])
def test_a_passage_has_about_so_many_words(tmp_path: Path, words: int, passages: int) -> None:
    text = " ".join(f"This is the sentence of number {n}." for n in range(5))
    path = write_lines(tmp_path / "in.jsonl", [{"title": "A", "text": text}])
    result = build(path, tmp_path / "index", words=words)
    assert result.counts["passages"] == passages
    assert read_manifest(result.path)[0]["settings"]["words"] == words


# --- documents ------------------------------------------------------------------------------------


def _titles(path: Path) -> list[str]:
    titles: list[str] = read_mapped(path / "pages.arrow").column("title").to_pylist()
    return titles


def test_a_folder_of_text_is_an_index_whatever_the_workers(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    (notes / "sub").mkdir(parents=True)
    (notes / "a.md").write_text("# A bridge\n\n## History\nIt opened in 1932.")
    (notes / "sub/b.txt").write_text("It has two tracks.")
    (notes / "c.txt").write_bytes(b"K\xf6ln")
    (notes / "d.docx").touch()
    for workers in (1, 2):
        result = build(notes, tmp_path / "index", workers=workers)
        assert _titles(result.path) == ["A bridge", "b"]
        assert result.counts["failures"] == 1
        assert result.warnings[0] == f"left out of {notes}: 1 other file (1 .docx)"
        assert "c.txt: not UTF-8: byte 2" in result.warnings[1]
        [[hit]] = open_index(result.path).search(["1932"], 1)
        assert hit.passage.section == "History"
        assert hit.passage.url == "a.md"
    [inputs] = read_manifest(result.path)[0]["inputs"]
    assert inputs == {"name": "notes", "bytes": 63}


def test_the_name_of_a_file_may_be_no_unicode(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    Path(os.fsdecode(os.fsencode(notes / "K") + b"\xf6ln.txt")).write_text("It is on the Rhine.")
    assert _titles(build(notes, tmp_path / "index").path) == ["K\ufffdln"]


def test_a_folder_without_text_says_what_it_has(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").touch()
    with pytest.raises(UsageError, match=r"without a file of Markdown.*\(in it: 1 \.jsonl\)"):
        build(tmp_path, tmp_path / "index")


def test_a_file_of_text_is_a_document(tmp_path: Path) -> None:
    path = tmp_path / "Oslo.txt"
    path.write_text("Oslo has 5 bridges.")
    assert _titles(build(path, tmp_path / "index").path) == ["Oslo"]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        pytest.param(b"PK\x03\x04 and more", "a ZIP archive.*unpack it", id="ZIP"),
        pytest.param(b"SQLite format 3\0 and more", "an SQLite database", id="SQLite"),
        pytest.param(b"{\0}\0{\0}\0", "UTF-16 without a byte order mark", id="UTF-16"),
    ],
)
def test_another_format_is_refused_with_those_that_are_read(
    tmp_path: Path, content: bytes, says: str
) -> None:
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(UsageError, match=f"{says}.*an index is made from a MediaWiki"):
        build(tmp_path / "x", tmp_path / "index")


def test_another_format_in_a_compressed_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "x.gz").write_bytes(gzip.compress(b"PK\x03\x04 and more"))
    with pytest.raises(RunError, match=r"first failure: it is a ZIP archive.*an index is made"):
        build(tmp_path / "x.gz", tmp_path / "index")


def test_streams_that_end_in_the_middle_of_a_page_are_one_dump(tmp_path: Path) -> None:
    data = _dump([_page(f"T{number}", "It is so. " * 9) for number in range(30)])
    pieces = [data[at : at + 700] for at in range(0, len(data), 700)]
    (tmp_path / "x.xml.bz2").write_bytes(b"".join(map(bz2.compress, pieces)))
    result = build(tmp_path / "x.xml.bz2", tmp_path / "index", slice_bytes=100)
    assert result.counts["articles"] == 30
    assert result.counts["failures"] == 0


def test_streams_of_rows_are_one_file(tmp_path: Path) -> None:
    data = "".join(f'{{"title": "T{n}", "text": "x"}}\n' for n in range(30)).encode()
    pieces = [data[at : at + 100] for at in range(0, len(data), 100)]
    (tmp_path / "x.jsonl.bz2").write_bytes(b"".join(map(bz2.compress, pieces)))
    result = build(tmp_path / "x.jsonl.bz2", tmp_path / "index", slice_bytes=100)
    assert result.counts["articles"] == 30
    assert result.counts["failures"] == 0


def test_a_dump_that_is_damaged_in_its_first_mebibyte_keeps_what_precedes(tmp_path: Path) -> None:
    chance = random.Random(5)
    texts = [" ".join(f"w{chance.getrandbits(32)}" for _ in range(300)) for _ in range(800)]
    data = bz2.compress(_dump([_page(f"T{number}", text) for number, text in enumerate(texts)]))
    at = len(data) // 2
    assert at < 1 << 20
    (tmp_path / "x.xml.bz2").write_bytes(data[:at] + bytes(20) + data[at + 20 :])
    result = build(tmp_path / "x.xml.bz2", tmp_path / "index")
    titles = _titles(result.path)
    assert titles == [f"T{number}" for number in range(len(titles))]
    assert len(titles) > 150
    assert "damaged bzip2 data" in result.warnings[0]


# --- scripts without spaces ----------------------------------------------------------------------

SCRIPTS = {
    "zh": ("武汉长江大桥全长1670米,1957年10月15日通车。", "武汉长江大桥是哪一年通车的?"),
    "zh, another": ("黄河发源于青海省,全长5464公里。", "黄河有多长"),
    "zh, mixed": ("2024年のCOVID-19ワクチンは無料であった。", "COVID-19ワクチン"),
    "ja": ("琵琶湖は滋賀県にある日本最大の湖である。", "日本最大の湖はどこにありますか"),
    "ja, a name": ("アルベルト・シュヴァイツァーは医師である。", "アルベルト･ｼｭｳﾞｧｲﾂｧｰ"),
    "th": ("แม่น้ำเจ้าพระยาไหลลงสู่อ่าวไทยที่จังหวัดสมุทรปราการ", "แม่น้ำเจ้าพระยาไหลไปไหน"),
    "th, digits": ("เขื่อนภูมิพลสร้างเสร็จเมื่อ พ.ศ. ๒๕๐๗", "เขื่อนใดสร้างเสร็จ 2507"),
    "ko": ("세종대왕은 1443년에 한글을 창제하였다.", "세종대왕이 한글을 창제한 해"),
    "km": ("ទន្លេសាបជាបឹងធំជាងគេនៅកម្ពុជា", "ទន្លេសាប"),
    "lo": ("ແມ່ນ້ຳຂອງໄຫຼຜ່ານນະຄອນຫຼວງວຽງຈັນ", "ແມ່ນ້ຳຂອງ"),
    "my": ("ရွှေတိဂုံစေတီတော်သည်ရန်ကုန်မြို့တွင်ရှိသည်။", "ရွှေတိဂုံစေတီ"),
    "hi": ("गंगा नदी भारत में बहती है।", "गंगा नदी कहाँ है"),
    "ar": ("يقع نهر النيل في مصر.", "نَهْر النِّيل"),
    "he": ("ים המלח נמצא בישראל.", "יַם הַמֶּלַח"),
}


@pytest.fixture(scope="module")
def scripts(tmp_path_factory: pytest.TempPathFactory) -> Index:
    folder = tmp_path_factory.mktemp("scripts")
    rows = [{"title": name, "text": text} for name, (text, _) in SCRIPTS.items()]
    path = write_lines(folder / "documents.jsonl", rows)
    return open_index(build(path, folder / "index").path)


@pytest.mark.parametrize("name", SCRIPTS)
def test_the_passage_that_a_query_means_is_first_in_any_script(scripts: Index, name: str) -> None:
    _, query = SCRIPTS[name]
    [hits] = scripts.search([query], 3, [scripts.names_in(query)])
    assert hits[0].passage.title == name
