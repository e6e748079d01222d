"""`ufo cache`: what is counted, and exactly what is deleted."""

import time
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path

import pytest

from tests.pipelines.conftest import ends, ok
from ufo.transforms.llm.store import KINDS, SqliteStore

DAY = 86_400.0
NAMES = {"old": "a", "middle": "b", "new": "c"}


def key(name: str, kind: str = "j") -> str:
    return f"{kind}-{name * 40}"


@pytest.fixture(name="keep")
def _keep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Writes entries into a cache on a day, the present one from then on; returns its path."""
    path = tmp_path / "cache.sqlite"

    def keep(day: float, entries: Mapping[str, bytes]) -> Path:
        monkeypatch.setattr(time, "time", lambda: day * DAY)
        with closing(SqliteStore(str(path))) as store:
            store.put_many(entries)
        return path

    return keep


@pytest.fixture(name="cache")
def _cache(keep: Callable[..., Path]) -> Path:
    """A cache of three entries that are two days, one day and no time old."""
    keep(10, {key(NAMES["old"]): b"x" * 600_000})
    keep(11, {key(NAMES["middle"]): b"x" * 400_000})
    return keep(12, {key(NAMES["new"]): b""})


@pytest.mark.parametrize(
    ("flags", "left"),
    [
        pytest.param(("--older_than", 2), ["old", "middle", "new"], id="just two days"),
        pytest.param(("--older_than", 1.999), ["middle", "new"], id="a little less"),
        pytest.param(("--older_than", 1), ["middle", "new"], id="just one day"),
        pytest.param(("--older_than", 0), ["new"], id="of this moment"),
        pytest.param(("--max_mb", 1), ["old", "middle", "new"], id="just all bytes"),
        pytest.param(("--max_mb", 0.999999), ["middle", "new"], id="a byte less"),
        pytest.param(("--max_mb", 0.4), ["middle", "new"], id="the newest first"),
        pytest.param(("--max_mb", 0), ["new"], id="all that takes a byte"),
        pytest.param(("--max_mb", 0.3, "--older_than", 9), ["new"], id="either of two limits"),
        pytest.param(("--max_mb", 9, "--older_than", 1.5), ["middle", "new"], id="the other"),
    ],
)
def test_what_is_older_or_too_large_is_deleted(
    cache: Path, flags: tuple[object, ...], left: list[str]
) -> None:
    ok("cache", "prune", "--cache", cache, *flags)
    with closing(SqliteStore(str(cache))) as store:
        kept = {entry.key for entry in store.entries()}
    assert [name for name, letter in NAMES.items() if key(letter) in kept] == left


def test_what_was_deleted_is_told_and_frees_the_disk(cache: Path) -> None:
    before = cache.stat().st_size
    printed = ok("cache", "prune", "--cache", cache, "--older_than", 1).out
    assert printed == f"1 of 3 entries forgotten (0.6 MB) in {cache}\n"
    assert cache.stat().st_size < before - 500_000


def test_of_entries_of_one_time_the_first_by_their_keys_are_kept(
    keep: Callable[..., Path],
) -> None:
    names = ["b", "d", "a", "c"]
    cache = keep(1, {key(name): b"x" * 500_000 for name in names})
    ok("cache", "prune", "--cache", cache, "--max_mb", 1)
    with closing(SqliteStore(str(cache))) as store:
        assert {entry.key for entry in store.entries()} == {key("a"), key("b")}


def test_more_than_a_thousand_entries_are_deleted(keep: Callable[..., Path]) -> None:
    cache = keep(1, {f"j-{n:040x}": b"" for n in range(1_001)})
    keep(3, {})
    printed = ok("cache", "prune", "--cache", cache, "--older_than", 1).out
    assert printed.startswith("1,001 of 1,001 entries forgotten")
    with closing(SqliteStore(str(cache))) as store:
        assert list(store.entries()) == []


def test_without_a_limit_nothing_is_deleted(cache: Path) -> None:
    done = ends(2, "cache", "prune", "--cache", cache)
    assert "say what to delete: --older_than DAYS, --max_mb MB, or both" in done.err


@pytest.mark.parametrize(("kind", "name"), KINDS.items())
def test_entries_are_counted_by_kind(
    keep: Callable[..., Path], kind: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = keep(1, {key("a", kind): b"xy", key("b", kind): b"z"})
    monkeypatch.setenv("UFO_CACHE", str(cache))
    printed = ok("cache", "stats", "--json").json
    assert printed == {
        "cache": str(cache),
        **dict.fromkeys(KINDS.values(), 0),
        name: 2,
        "bytes": 3,
        "oldest": "1970-01-02T00:00:00+00:00",
        "newest": "1970-01-02T00:00:00+00:00",
    }


def test_the_oldest_and_the_newest_entry_are_told(cache: Path) -> None:
    printed = ok("cache", "stats", "--cache", cache, "--json").json
    assert printed["oldest"] == "1970-01-11T00:00:00+00:00"
    assert printed["newest"] == "1970-01-13T00:00:00+00:00"


def test_an_empty_cache_is_told_with_dashes(keep: Callable[..., Path]) -> None:
    lines = ok("cache", "stats", "--cache", keep(1, {})).out.splitlines()
    assert lines[1].split() == ["judgements", "0"]
    assert lines[-1].split() == ["newest", "–"]
