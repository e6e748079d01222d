"""Where answers are kept: what a store gives back, and what it does with files that are not its."""

import os
import sqlite3
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from ufo.schemas.errors import UsageError
from ufo.schemas.storage import OFF, checked_cache, default_cache
from ufo.transforms.llm.answer_store import SqliteStore, Store, StoreError, open_store
from ufo.transforms.llm.memory import key_of, packed, unpacked

A, B, C = (key_of(kind, "x") for kind in "jrc")
Open = partial[Store]


@pytest.fixture(params=["cache.sqlite", "folder/", "file://"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Open:
    if request.param == "file://":
        return partial(open_store, f"file://{tmp_path}/below/")
    return partial(open_store, checked_cache(f"{tmp_path}/{request.param}"))


def silent(message: str) -> None:
    raise AssertionError(message)


def test_what_was_put_is_there_for_the_next_one(opened: Open) -> None:
    store = opened()
    store.put_many({A: b"1", B: b"\0\xff"})
    store.put_many({A: b"2"})
    store.close()
    again = opened()
    assert again.get_many([A, B, C]) == {A: b"2", B: b"\0\xff"}
    assert again.get_many([]) == {}
    assert {(entry.key, entry.size) for entry in again.entries()} == {(A, 1), (B, 2)}
    assert all(entry.written > 1e9 for entry in again.entries())
    again.remove([A, C])
    assert again.get_many([A, B]) == {B: b"\0\xff"}
    again.close()


def test_more_keys_than_one_statement_takes(opened: Open) -> None:
    store = opened()
    entries = {key_of("r", n): str(n).encode() for n in range(1200)}
    store.put_many(entries)
    assert store.get_many(list(entries)) == entries
    store.close()


WRITER = """
import sys
from ufo.transforms.llm.memory import key_of
from ufo.transforms.llm.answer_store import open_store
store = open_store(sys.argv[1])
for n in range(100):
    store.put_many({key_of("r", sys.argv[2], n): sys.argv[2].encode()})
"""


def test_several_processes_write_one_store(opened: Open) -> None:
    (uri,) = opened.args
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, uri, name], stderr=subprocess.PIPE)
        for name in ("one", "two")
    ]
    for writer in writers:
        _, err = writer.communicate(timeout=60)
        assert not err
    store = opened()
    assert len(list(store.entries())) == 200
    store.close()


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"this is no database at all, but some notes of mine " * 50, "not a SQLite file"),
        (b"SQLite format 3\0" + b"\x7f" * 5000, "not a SQLite file"),
    ],
)
def test_what_is_no_cache_is_set_aside(tmp_path: Path, content: bytes, why: str) -> None:
    path = tmp_path / "cache.sqlite"
    path.write_bytes(content)
    said: list[str] = []
    store = SqliteStore(str(path), said.append)
    (message,) = said
    assert why in message
    aside = tmp_path / "cache.sqlite.aside-1"
    assert str(aside) in message
    assert aside.read_bytes() == content
    store.put_many({A: b"1"})
    assert store.get_many([A]) == {A: b"1"}
    store.close()


def test_another_programs_database_is_set_aside_whole(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite"
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE entries (key, value, written)")
        other.execute("INSERT INTO entries VALUES (?, ?, 0)", [A, packed("not ours")])
    other.close()
    said: list[str] = []
    store = SqliteStore(str(path), said.append)
    assert "another program" in said[0]
    assert store.get_many([A]) == {}
    store.close()
    kept = sqlite3.connect(tmp_path / "cache.sqlite.aside-1")
    assert kept.execute("SELECT count(*) FROM entries").fetchone() == (1,)
    kept.close()


def test_a_later_version_is_set_aside(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite"
    SqliteStore(str(path), silent).close()
    with sqlite3.connect(path) as later:
        later.execute("PRAGMA user_version = 9")
    later.close()
    said: list[str] = []
    SqliteStore(str(path), said.append).close()
    assert "version 9" in said[0]


def test_a_file_that_breaks_in_use_is_set_aside_then(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite"
    store = SqliteStore(str(path), silent)
    store.put_many({key_of("r", n): os.urandom(2000) for n in range(200)})
    store.close()
    with open(path, "r+b") as file:  # every page but the first, which has the header
        file.seek(4096)
        file.write(b"\xa5" * (path.stat().st_size - 4096))
    said: list[str] = []
    store = SqliteStore(str(path), said.append)
    assert store.get_many([key_of("r", n) for n in range(200)]) == {}
    store.put_many({A: b"1"})
    assert store.get_many([A]) == {A: b"1"}
    assert len(said) == 1
    assert "damaged" in said[0]
    store.close()


def test_a_full_disk_is_an_error_and_what_was_kept_stays(tmp_path: Path) -> None:
    store = SqliteStore(str(tmp_path / "cache.sqlite"), silent)
    store.put_many({A: b"1"})
    store._connection.execute("PRAGMA max_page_count = 10")  # as a full disk is to SQLite
    with pytest.raises(StoreError, match="full"):
        store.put_many({key_of("r", n): os.urandom(4000) for n in range(100)})
    assert store.get_many([A]) == {A: b"1"}
    store.put_many({B: b"2"})
    assert store.get_many([A, B]) == {A: b"1", B: b"2"}
    store.close()


def test_a_file_that_cannot_be_written_is_read(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite"
    store = SqliteStore(str(path), silent)
    store.put_many({A: b"1"})
    store.close()
    (tmp_path / "cache.sqlite.lock").unlink(missing_ok=True)
    (tmp_path / "cache.sqlite.lock").mkdir()  # stands in for a folder without permission
    store = SqliteStore(str(path), silent)
    assert store.get_many([A]) == {A: b"1"}
    with pytest.raises(StoreError, match="readonly"):
        store.put_many({B: b"2"})
    store.close()


@pytest.mark.parametrize("uri", ["{file}/cache.sqlite", "{file}/folder/", "nosuch://bucket/x/"])
def test_no_place_for_a_store(tmp_path: Path, uri: str) -> None:
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(StoreError):
        open_store(uri.format(file=file))


def test_uris(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert checked_cache(OFF) == OFF
    assert checked_cache("gs://bucket/ufo/") == "gs://bucket/ufo/"
    assert checked_cache("a.sqlite") == str(tmp_path / "a.sqlite")
    assert checked_cache("below/") == f"{tmp_path}/below/"
    for wrong in ("a.db", "gs://bucket/ufo", "gs://bucket/a.sqlite", "on", ""):
        with pytest.raises(UsageError, match="--cache"):
            checked_cache(wrong)


def test_the_default_is_in_the_users_cache_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("UFO_CACHE")
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", "/some/cache")
    assert default_cache() == "/some/cache/ufo/answers.sqlite"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert default_cache() == str(Path.home() / ".cache/ufo/answers.sqlite")
    monkeypatch.setattr(sys, "platform", "darwin")
    assert default_cache() == str(Path.home() / "Library/Caches/ufo/answers.sqlite")
    monkeypatch.setenv("UFO_CACHE", "/team/cache/")
    assert default_cache() == "/team/cache/"


def test_values_that_are_not_whole_are_none() -> None:
    value = {"text": "Zürich \ud800", "list": [1, None]}
    data = packed(value)
    assert unpacked(data) == value
    assert unpacked(data[:-1]) is None
    assert unpacked(data[:-3] + b"xyz") is None
    assert unpacked(b"{}") is None


def test_what_is_kept_is_for_its_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "kept" / "cache.sqlite"
    SqliteStore(str(path)).put_many({"k": b"v"})
    assert path.parent.stat().st_mode & 0o077 == 0
    assert all(
        file.stat().st_mode & 0o077 == 0
        for file in path.parent.glob("*sqlite*")
        if file.suffix != ".lock"
    )
