"""The requests, batches and claims of a run on disk, without a provider."""

import tempfile
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ufo.schemas.errors import RunError
from ufo.transforms.llm.batch_store import BatchStore, Reply, store_path, summary
from ufo.transforms.llm.endpoint import Endpoint
from ufo.transforms.llm.usage import usage_row

PLACE = Endpoint("m", "http://localhost/v1", headers=(("X-Team", "TEAM"),))
BODY = {"model": "m", "messages": [{"role": "user", "content": "hello"}]}
ROW = usage_row("verify", "reference", "m", "r1")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[BatchStore]:
    with closing(BatchStore(str(tmp_path / "b.batches"), "run")) as opened:
        yield opened


def test_a_request_is_asked_for_until_it_has_a_reply(store: BatchStore) -> None:
    for _ in range(2):
        assert store.ask("k-1", PLACE, BODY, ROW) == (None, True)
    assert store.new() == [(PLACE, "m")]
    assert list(store.bodies(PLACE, "m", 9)) == [("k-1", BODY)]
    batch = store.plan(PLACE, "m", 1, {"k-1": 0.5})
    assert store.new() == []
    assert store.under_way() == [batch]
    assert store.reserved() == 0.5
    assert store.sent(batch) == {"k-1": (0, ROW)}
    store.put({"k-1": None}, 1)
    store.note(batch, state="completed")
    assert store.under_way() == []
    assert store.new() == []  # until a pass asks for it again
    assert store.ask("k-1", PLACE, BODY, ROW) == (None, True)
    again = store.plan(PLACE, "m", 2, dict.fromkeys(["k-1"], 0.5))
    assert store.sent(again) == {"k-1": (1, ROW)}
    reply = Reply("200", {"choices": []}, "req_1")
    store.put({"k-1": reply}, 0)
    assert store.ask("k-1", PLACE, BODY, ROW) == (reply, True)
    other = usage_row("verify", "reference", "m", "r2")
    assert store.ask("k-1", PLACE, BODY, other) == (reply, False)
    assert store.last_round() == 2
    store.forget()
    assert store.last_round() == 0


def test_a_batch_that_was_not_accepted_gives_its_requests_back(store: BatchStore) -> None:
    store.ask("k-1", PLACE, BODY, ROW)
    store.take_back(store.plan(PLACE, "m", 1, {"k-1": 0.0}))
    assert store.under_way() == []
    assert store.new() == [(PLACE, "m")]


def test_a_pass_forgets_what_none_asks_for_any_more(store: BatchStore) -> None:
    store.ask("k-1", PLACE, BODY, ROW)
    store.ask("k-2", PLACE, BODY, ROW)
    store.plan(PLACE, "m", 1, {"k-2": 0.0})
    store.put({"k-2": None}, 1)
    store.ask("k-2", PLACE, BODY, ROW)
    store.begin_pass()
    assert store.new() == []
    assert store.knows("k")
    assert not store.knows("x")
    store.ask("k-2", PLACE, BODY, ROW)
    (batch,) = [store.plan(PLACE, "m", 2, {key: 0.0 for key, _ in store.bodies(PLACE, "m", 9)})]
    assert store.sent(batch) == {"k-2": (1, ROW)}  # it is known how often it was tried


def test_runs_do_not_see_each_other(tmp_path: Path, store: BatchStore) -> None:
    path = str(tmp_path / "b.batches")
    store.ask("k-1", PLACE, BODY, ROW)
    with closing(BatchStore(path, "other")) as other:
        assert other.new() == []
        other.ask("k-1", PLACE, BODY, ROW)
        other.forget()
    assert store.new() == [(PLACE, "m")]
    held = summary(path)
    assert held is not None
    assert held["requests"] == {"new": 1}
    assert summary(str(tmp_path / "none")) is None


def test_a_file_of_another_kind_is_refused_with_its_name(tmp_path: Path) -> None:
    path = tmp_path / "b.batches"
    path.write_text("no database" * 100)
    for use in (lambda: BatchStore(str(path), "run"), lambda: summary(str(path))):
        with pytest.raises(RunError, match=r"b\.batches"):
            use()


def test_the_file_is_beside_the_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert store_path("/a/cache.sqlite") == "/a/cache.sqlite.batches"
    assert store_path("/a/cache/") == "/a/cache.batches"
    assert store_path("gs://b/ufo/").startswith(str(tmp_path))
    assert store_path("gs://b/ufo/") != store_path("gs://c/ufo/")


# --- claims ---

_KEYS = st.lists(st.sampled_from("abcdef"), min_size=1, unique=True)
_STEPS = st.lists(st.tuples(st.sampled_from(["r1", "r2", "r3"]), _KEYS, st.booleans()), max_size=12)


@given(_STEPS)
def test_a_judgement_is_asked_for_by_one_response_at_a_time(
    steps: list[tuple[str, list[str], bool]],
) -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        closing(BatchStore(f"{folder}/b.batches", "run")) as store,
    ):
        groups_of: dict[str, dict[str, frozenset[str]]] = defaultdict(dict)
        active: dict[str, str] = {}
        for owner, keys, settles in steps:
            claimed = store.claimed(owner, keys)
            assert claimed == groups_of[owner].keys() & set(keys)
            groups, theirs = store.claim(owner, keys)
            asked = [key for group in groups for key in group]
            assert theirs == any(active.get(key, owner) != owner for key in set(keys) - claimed)
            assert set(asked) | {k for k in keys if active.get(k, owner) != owner} == set(keys)
            for group in groups:
                for key in group:
                    earlier = groups_of[owner].get(key)
                    # What was asked for together stays together.
                    assert earlier is None or set(group) <= earlier
                    if earlier is None:
                        groups_of[owner][key] = frozenset(group)
                        active[key] = owner
            if settles:
                store.settle(owner, asked)
                active = {key: who for key, who in active.items() if key not in asked}
