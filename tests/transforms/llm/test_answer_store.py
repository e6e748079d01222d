"""Where answers are kept: what a store gives back, and what it does with files that are not its."""

import os
import sqlite3
import sys
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from ufo.schemas.storage import checked_cache, default_cache
from ufo.transforms.llm.answer_store import SqliteStore, StoreError, open_store
from ufo.transforms.llm.memory import key_of, packed, unpacked

A, B, C = (key_of(kind, "x") for kind in "jrc")
MANY = {key_of("r", n): os.urandom(500) for n in range(1200)}  # more than one statement takes


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "kept" / "cache.sqlite"


def silent(message: str) -> None:
    raise AssertionError(message)


@pytest.mark.parametrize("place", ["cache.sqlite", "folder/", "file://"])
def test_what_was_put_is_there_for_the_next_one(tmp_path: Path, place: str) -> None:
    files = place == "file://"
    uri = f"file://{tmp_path}/below/" if files else checked_cache(f"{tmp_path}/{place}")
    store = open_store(uri)
    store.put_many({A: b"1", B: b"\0\xff"})
    store.put_many({A: b"2"})
    store.close()
    again = open_store(uri)
    assert again.get_many([A, B, C]) == {A: b"2", B: b"\0\xff"}
    assert again.get_many([]) == {}
    assert {(entry.key, entry.size) for entry in again.entries()} == {(A, 1), (B, 2)}
    assert all(entry.written > 1e9 for entry in again.entries())
    again.remove([A, C])
    assert again.get_many([A, B]) == {B: b"\0\xff"}
    again.put_many(MANY)
    assert again.get_many(list(MANY)) == MANY
    again.close()


def of_another(path: Path) -> None:
    with closing(sqlite3.connect(path)) as other, other:
        other.execute("CREATE TABLE entries (key, value, written)")
        other.execute("INSERT INTO entries VALUES (?, ?, 0)", [A, packed("not ours")])


def later(path: Path) -> None:
    SqliteStore(str(path), silent).close()
    with closing(sqlite3.connect(path)) as other, other:
        other.execute("PRAGMA user_version = 9")


def taken(store: SqliteStore) -> None:
    """Put an answer into a store that is set up anew, and get it back."""
    store.put_many({A: b"1"})
    assert store.get_many([A]) == {A: b"1"}
    store.close()


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda path: path.write_bytes(b"notes of mine " * 250), "not a SQLite file"),
        (lambda path: path.write_bytes(b"SQLite format 3\0" + b"\x7f" * 5000), "not a SQLite"),
        (of_another, "another program"),
        (later, "version 9"),
    ],
)
def test_what_is_no_cache_is_set_aside_whole(path: Path, make: partial[None], why: str) -> None:
    path.parent.mkdir()
    make(path)
    content = path.read_bytes()
    said: list[str] = []
    store = SqliteStore(str(path), said.append)
    (message,) = said
    assert why in message
    aside = path.with_name("cache.sqlite.aside-1")
    assert str(aside) in message
    assert aside.read_bytes() == content
    assert store.get_many([A]) == {}
    taken(store)


def test_a_file_that_breaks_in_use_is_set_aside_then(path: Path) -> None:
    store = SqliteStore(str(path), silent)
    store.put_many(MANY)
    store.close()
    # What is kept is for its owner only.
    assert path.parent.stat().st_mode & 0o077 == path.stat().st_mode & 0o077 == 0
    with open(path, "r+b") as file:  # every page but the first, which has the header
        file.seek(4096)
        file.write(b"\xa5" * (path.stat().st_size - 4096))
    said: list[str] = []
    store = SqliteStore(str(path), said.append)
    assert store.get_many(list(MANY)) == {}
    taken(store)
    (message,) = said
    assert "damaged" in message


@pytest.mark.parametrize("uri", ["{file}/cache.sqlite", "{file}/folder/", "nosuch://bucket/x/"])
def test_no_place_for_a_store(tmp_path: Path, uri: str) -> None:
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(StoreError):
        open_store(uri.format(file=file))


def test_the_default_is_in_the_users_cache_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("UFO_CACHE")
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", "/some/cache")
    assert default_cache() == "/some/cache/ufo/answers.sqlite"
    monkeypatch.delenv("XDG_CACHE_HOME")
    for platform, folder in (("linux", ".cache"), ("darwin", "Library/Caches")):
        monkeypatch.setattr(sys, "platform", platform)
        assert default_cache() == str(Path.home() / folder / "ufo/answers.sqlite")
    monkeypatch.setenv("UFO_CACHE", "/team/cache/")
    assert default_cache() == "/team/cache/"


def test_values_that_are_not_whole_are_none() -> None:
    value = {"text": "Zürich \ud800", "list": [1, None]}
    data = packed(value)
    assert unpacked(data) == value
    assert [unpacked(bad) for bad in (data[:-1], data[:-3] + b"xyz", b"{}")] == [None] * 3
