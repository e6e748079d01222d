"""Where answers are kept: what a store gives back, and what it does with files that are not its."""

import os
import sqlite3
import sys
import zlib
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from ufo.schemas.cache_folder import cache_uri, default_cache
from ufo.transforms.llm.cache import key_of
from ufo.transforms.llm.store import (
    KINDS,
    SqliteStore,
    StoreError,
    open_store,
    pack,
    unpack,
)

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
    uri = f"file://{tmp_path}/below/" if files else cache_uri(f"{tmp_path}/{place}")
    store = open_store(uri)
    store.put_many({A: b"1", B: b"\0\xff"})
    store.put_many({A: b"2"})
    store.close()
    again = open_store(uri)
    assert again.get_many([A, B, C]) == {A: b"2", B: b"\0\xff"}
    assert again.get_many([]) == {}
    assert {(entry.key, entry.size) for entry in again.entries()} == {(A, 1), (B, 2)}
    assert min(entry.written for entry in again.entries()) > 1e9
    again.remove([A, C])
    assert again.get_many([A, B]) == {B: b"\0\xff"}
    again.close()


@pytest.mark.parametrize("kind", KINDS)
def test_an_entry_of_each_kind_below_a_prefix_is_listed(tmp_path: Path, kind: str) -> None:
    store = open_store(f"{tmp_path}/folder/")
    store.put_many({key_of(kind, "x"): b"123"})
    assert [(entry.key, entry.size) for entry in store.entries()] == [(key_of(kind, "x"), 3)]
    store.close()


@pytest.mark.parametrize(
    "name",
    ["notes.txt", f"x{A[1:]}", A[:-1], f"{A}0", f"{A[:-1]}g", f"{A}.tmp", A.replace("-", "_")],
)
def test_another_file_below_a_prefix_is_no_entry(tmp_path: Path, name: str) -> None:
    store = open_store(f"{tmp_path}/folder/")
    (tmp_path / "folder" / name).write_bytes(b"mine")
    assert list(store.entries()) == []
    store.close()


@pytest.mark.parametrize("number", [499, 500, 501, 1000, 1001])
def test_any_number_of_keys_is_read(path: Path, number: int) -> None:
    entries = {key_of("r", n): b"%d" % n for n in range(number)}
    with closing(SqliteStore(str(path), silent)) as store:
        store.put_many(entries)
        assert store.get_many(list(entries)) == entries


def test_an_entry_stays_as_it_is_where_it_is_not_to_be_overwritten(path: Path) -> None:
    with closing(SqliteStore(str(path), silent)) as store:
        store.put_many({A: b"first"})
        store.put_many({A: b"second", B: b"new"}, over=False)
        assert store.get_many([A, B]) == {A: b"first", B: b"new"}


def test_a_store_that_is_only_read_is_not_made(path: Path) -> None:
    path.parent.mkdir()
    with pytest.raises(StoreError):
        SqliteStore(str(path), silent, read_only=True)
    assert list(path.parent.iterdir()) == []


def test_a_store_that_is_only_read_cannot_be_written(path: Path) -> None:
    with closing(SqliteStore(str(path), silent)) as store:
        store.put_many({A: b"1"})
    with closing(SqliteStore(str(path), silent, read_only=True)) as store:
        assert store.get_many([A]) == {A: b"1"}
        with pytest.raises(StoreError):
            store.put_many({B: b"2"})


def test_a_copy_has_all_entries_in_one_file(path: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.sqlite"
    with closing(SqliteStore(str(path), silent)) as store:
        store.put_many({A: b"1", B: b"2"})
        store.copy_to(str(copy))
    with closing(SqliteStore(str(copy), silent, read_only=True)) as store:
        assert store.get_many([A, B]) == {A: b"1", B: b"2"}


def test_space_of_removed_entries_is_freed(path: Path) -> None:
    with closing(SqliteStore(str(path), silent)) as store:
        store.put_many({A: os.urandom(200_000), B: b"2"})
        store.remove([A])
        store.compact()
    assert path.stat().st_size < 100_000


def test_each_file_that_is_set_aside_has_a_name_of_its_own(path: Path) -> None:
    path.parent.mkdir()
    for number in (1, 2, 3):
        path.write_bytes(b"notes of mine %d " % number * 250)
        SqliteStore(str(path), lambda message: None).close()
    kept = [path.with_name(f"cache.sqlite.aside-{number}").read_bytes() for number in (1, 2, 3)]
    assert [text[:15] for text in kept] == [b"notes of mine %d" % number for number in (1, 2, 3)]


def of_another(path: Path) -> None:
    with closing(sqlite3.connect(path)) as other, other:
        other.execute("CREATE TABLE entries (key, value, written)")
        other.execute("INSERT INTO entries VALUES (?, ?, 0)", [A, pack("not ours")])


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
    ids=["a text", "a broken file", "another program's file", "a later version's file"],
)
def test_what_is_no_cache_is_set_aside_whole(path: Path, make: partial[None], why: str) -> None:
    path.parent.mkdir()
    make(path)
    content = path.read_bytes()
    messages: list[str] = []
    store = SqliteStore(str(path), messages.append)
    (message,) = messages
    assert why in message
    aside = path.with_name("cache.sqlite.aside-1")
    assert str(aside) in message
    assert aside.read_bytes() == content
    assert store.get_many([A]) == {}
    taken(store)


def test_a_file_that_breaks_in_use_is_set_aside_for_the_next_one(path: Path) -> None:
    store = SqliteStore(str(path), silent)
    store.put_many(MANY)
    store.close()
    # What is kept is for its owner only.
    assert path.parent.stat().st_mode & 0o077 == path.stat().st_mode & 0o077 == 0
    with open(path, "r+b") as file:  # every page but the first, which has the header
        file.seek(4096)
        file.write(b"\xa5" * (path.stat().st_size - 4096))
    messages: list[str] = []
    # Two processes that find it damaged, and a third that begins in between.
    first, second = (SqliteStore(str(path), messages.append) for _ in range(2))
    with closing(first), pytest.raises(StoreError):
        first.get_many(list(MANY))
    taken(SqliteStore(str(path), silent))
    with closing(second), pytest.raises(StoreError):
        second.get_many(list(MANY))
    (message,) = messages
    assert "is damaged; it was moved to" in message
    with closing(SqliteStore(str(path), silent)) as store:
        assert store.get_many([A]) == {A: b"1"}


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
    data = pack(value)
    assert unpack(data) == value
    for bad in (
        data[:-1],
        data[:-3] + b"xyz",
        b"{}",
        b"",
        zlib.compress(b"{"),
        zlib.compress(b"\xff"),
    ):
        assert unpack(bad) is None, bad
