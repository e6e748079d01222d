"""Where the cache is, and what is deleted of it."""

import os
import time
from pathlib import Path

import pytest

from ufo.schemas.cache_folder import cache_folder, cache_uri, cached_folder, default_cache
from ufo.schemas.errors import UsageError


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "ufo"


def unused_for(folder: Path, days: float) -> None:
    moment = time.time() - days * 86_400
    os.utime(folder / ".used", (moment, moment))


def test_what_was_not_used_for_long_goes_when_the_next_comes(cache: Path) -> None:
    folders = {name: cached_folder("indexes", name) for name in ("old", "fresh", "used")}
    for name in ("old", "used"):
        (folders[name] / "data").write_text(name)
        unused_for(folders[name], 30.1)
    unused_for(folders["fresh"], 29.9)
    other = cached_folder("runs", "old")
    unused_for(other, 30.1)
    assert cached_folder("indexes", "used") == folders["used"]
    assert (folders["used"] / "data").read_text() == "used"
    assert sorted(path.name for path in (cache / "indexes").iterdir()) == ["fresh", "used"]
    assert other.is_dir()  # another kind's


@pytest.mark.parametrize("lacking", ["the folder", "the right to write"])
def test_without_a_cache_folder_it_is_among_temporary_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lacking: str
) -> None:
    if lacking == "the folder":
        (tmp_path / "file").touch()
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    else:
        monkeypatch.setattr("os.access", lambda *of: False)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "shared"))
    folder = cached_folder("indexes", "one")
    assert folder == tmp_path / f"shared/ufo-{os.getuid()}/indexes/one"
    assert folder.is_dir()
    assert folder.parent.stat().st_mode & 0o777 == 0o700
    assert cached_folder("indexes", "one") == folder


@pytest.mark.parametrize(
    ("platform", "variable", "value", "folder"),
    [
        ("linux", "XDG_CACHE_HOME", "/caches", "/caches/ufo"),
        ("linux", "XDG_CACHE_HOME", "", "/home/me/.cache/ufo"),
        ("darwin", "XDG_CACHE_HOME", "/caches", "/home/me/Library/Caches/ufo"),
        ("win32", "LOCALAPPDATA", "/local", "/local/ufo"),
        ("win32", "LOCALAPPDATA", "", "/home/me/AppData/Local/ufo"),
    ],
)
def test_the_cache_is_where_the_platform_has_its_own(
    monkeypatch: pytest.MonkeyPatch, platform: str, variable: str, value: str, folder: str
) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    monkeypatch.setenv(variable, value)
    monkeypatch.setattr("sys.platform", platform)
    assert str(cache_folder()) == folder


@pytest.mark.parametrize(
    ("uri", "kept"),
    [
        *(("off", "off"), ("gs://b/ufo/", "gs://b/ufo/"), ("/a/b.sqlite", "/a/b.sqlite")),
        *(("/a/b/", "/a/b/"), ("~/x.sqlite", "/home/me/x.sqlite"), ("~/b/", "/home/me/b/")),
        *(("x.sqlite", "/x.sqlite"), ("b/", "/b/")),
    ],
)
def test_a_cache_is_off_or_a_file_or_a_prefix(
    monkeypatch: pytest.MonkeyPatch, uri: str, kept: str
) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    monkeypatch.chdir("/")
    assert cache_uri(uri) == kept
    monkeypatch.setenv("UFO_CACHE", f" {uri} ")
    assert default_cache() == kept


@pytest.mark.parametrize("uri", ["", "OFF", "a.db", "/a/b", "gs://b/ufo", "gs://b/a.sqlite"])
def test_what_cannot_be_a_cache_says_what_can(uri: str) -> None:
    with pytest.raises(UsageError, match=f"^--cache '{uri}' cannot be a cache: name a file"):
        cache_uri(uri)


def test_without_a_choice_the_cache_is_in_the_user_s_folder(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UFO_CACHE", " ")
    assert default_cache() == str(cache / "answers.sqlite")
    monkeypatch.setenv("UFO_CACHE", "a.db")
    with pytest.raises(UsageError, match=r"^UFO_CACHE 'a\.db' cannot"):
        default_cache()
