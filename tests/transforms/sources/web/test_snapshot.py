"""Snapshots of the web: what was recorded is what is read, whoever wrote it."""

import json
from pathlib import Path

import pytest

from ufo.schemas.errors import RunError, UsageError
from ufo.transforms.sources.web.documents import FetchedPage
from ufo.transforms.sources.web.snapshot import NOT_RECORDED, Snapshot, finish_recording

PAGE = FetchedPage(
    "http://a.example/x",
    "http://a.example/y",
    200,
    "text/html",
    "<p>käse \U0001f9c0</p>".encode(),
    "utf-8",
    "2026-01-02T03:04:05+00:00",
)
LOST = FetchedPage("http://a.example/z", "http://a.example/z", 404, "", b"", None, "t", "http_404")
FOUND = {"reply": {"organic": [{"snippet": "ä \ud800"}]}, "at": "t", "error": "", "request": "r"}


def test_what_is_recorded_is_read_back_by_another_process(tmp_path: Path) -> None:
    folder = str(tmp_path / "snapshot")
    first = Snapshot(folder)
    assert first.search("q") is None
    assert first.page(PAGE.url) is None
    assert first.keep_search("q", FOUND) == FOUND
    assert first.keep_page(PAGE) == PAGE
    assert first.keep_page(LOST) == LOST
    other = Snapshot(folder)
    assert not other.finished
    assert other.search("q") == FOUND
    assert other.page(PAGE.url) == PAGE
    assert other.page(LOST.url) == LOST


def test_who_is_first_has_recorded_for_all(tmp_path: Path) -> None:
    one, two = Snapshot(str(tmp_path)), Snapshot(str(tmp_path))
    assert one.begin() == two.begin()
    one.keep_search("q", FOUND)
    later = {**FOUND, "at": "later"}
    assert two.keep_search("q", later) == FOUND
    assert two.keep_search("q", later, again=True) == later
    assert one.search("q") == later


def test_equal_bodies_are_kept_once(tmp_path: Path) -> None:
    snapshot = Snapshot(str(tmp_path))
    for url in ("http://a.example/1", "http://a.example/2"):
        snapshot.keep_page(FetchedPage(url, url, 200, "text/plain", b"the same", None, "t"))
    assert len(list(tmp_path.glob("bodies/*/*"))) == 1
    assert len(list(tmp_path.glob("pages/*/*.json"))) == 2


def test_the_manifest_comes_last_and_makes_it_read_only(tmp_path: Path) -> None:
    snapshot = Snapshot(str(tmp_path))
    identity = snapshot.begin()
    snapshot.keep_search("q", FOUND)
    snapshot.keep_page(PAGE)
    finish_recording(str(tmp_path))
    finished = Snapshot(str(tmp_path))
    assert finished.finished
    assert finished.begin() == identity
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert (manifest["searches"], manifest["pages"], manifest["bodies"]) == (1, 1, 1)
    missing = finished.missing("http://b.example/")
    assert (missing.reason, missing.body) == (NOT_RECORDED, b"")
    assert "record another with --web_snapshot" in missing.detail
    before = (tmp_path / "manifest.json").read_bytes()
    finish_recording(str(tmp_path))
    assert (tmp_path / "manifest.json").read_bytes() == before


def test_a_new_recording_in_the_same_folder_is_another(tmp_path: Path) -> None:
    import shutil

    folder = tmp_path / "snapshot"
    before = Snapshot(str(folder)).begin()
    shutil.rmtree(folder)
    assert Snapshot(str(folder)).begin() != before


def test_a_damaged_snapshot_is_reported_and_not_guessed_at(tmp_path: Path) -> None:
    snapshot = Snapshot(str(tmp_path))
    snapshot.keep_page(PAGE)
    snapshot.keep_search("q", FOUND)
    (body,) = tmp_path.glob("bodies/*/*")
    body.write_bytes(b"other")
    with pytest.raises(RunError, match=r"damaged at http://a\.example/x"):
        snapshot.page(PAGE.url)
    (entry,) = tmp_path.glob("searches/*/*")
    entry.write_bytes(b"{")
    with pytest.raises(RunError, match="damaged at q"):
        snapshot.search("q")


@pytest.mark.parametrize(
    "content", ['{"format": "x"}', "{", '{"format": "ufo-web-snapshot"}', "[]"]
)
def test_a_manifest_of_something_else_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "manifest.json").write_text(content)
    with pytest.raises(UsageError, match="none of a snapshot"):
        Snapshot(str(tmp_path))


def test_a_newer_version_is_refused(tmp_path: Path) -> None:
    text = json.dumps({"format": "ufo-web-snapshot", "version": 99})
    (tmp_path / "manifest.json").write_text(text)
    with pytest.raises(UsageError, match="this version of ufo reads"):
        Snapshot(str(tmp_path))


def test_somebody_else_s_folder_or_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("…")
    for place in (tmp_path, tmp_path / "thesis.tex"):
        with pytest.raises(UsageError, match="neither a snapshot nor empty"):
            Snapshot(str(place))
