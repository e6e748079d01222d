"""The requests, batches and claims of a run on disk, without a provider."""

import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ufo.schemas.errors import RunError
from ufo.transforms.llm.batch_store import AGAIN, ANSWERED, BatchStore, Reply
from ufo.transforms.llm.client_settings import store_path
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
        assert store.ask("k-1", PLACE, BODY, ROW) == (None, ROW)
    store.take_back(store.plan(PLACE, 1, {"k-1": 0.0}))  # a batch that was not accepted
    assert (store.under_way(), store.new()) == ([], [PLACE])
    assert list(store.bodies(PLACE, 9)) == [("k-1", BODY)]
    batch = store.plan(PLACE, 1, {"k-1": 0.5})
    assert (store.under_way(), store.new()) == ([batch], [])
    assert store.reserved() == 0.5
    assert store.sent(batch) == {"k-1": (0, ROW)}
    lost = Reply("expired", None, "b/k-1", "the batch expired")
    store.put("k-1", AGAIN, lost, replace(ROW, request_id="b/k-1"))
    assert store.note(batch, ended=True, id="batch_1", done=1).id == "batch_1"
    assert store.counts(1) == (1, 1)
    assert (store.under_way(), store.new()) == ([], [])  # until a pass asks for it again
    assert store.ask("k-1", PLACE, BODY, ROW)[0] is None
    again = store.plan(PLACE, 2, {"k-1": 0.5})
    assert store.sent(again)["k-1"][0] == 1
    reply, paid = Reply("200", {"choices": []}, "req_1"), replace(ROW, request_id="req_1")
    store.put("k-1", ANSWERED, reply, paid)
    other = usage_row("verify", "reference", "m", "r2")
    assert store.ask("k-1", PLACE, BODY, other) == (reply, paid)
    assert store.last_round() == 2
    assert (store.held()["batch_requests"], store.held()["batch_replies"]) == (0, 1)
    store.forget()
    assert store.last_round() == 0


def test_a_pass_forgets_what_none_asks_for_any_more(store: BatchStore) -> None:
    store.ask("k-1", PLACE, BODY, ROW)
    store.ask("k-2", PLACE, BODY, ROW)
    store.plan(PLACE, 1, {"k-2": 0.0})
    store.put("k-2", AGAIN, Reply("500", None, "x", "broken"), ROW)
    store.ask("k-2", PLACE, BODY, ROW)
    store.begin_pass()
    assert store.new() == []
    assert store.knows("k")
    assert not store.knows("x")
    store.ask("k-2", PLACE, BODY, ROW)
    (batch,) = [store.plan(PLACE, 2, {key: 0.0 for key, _ in store.bodies(PLACE, 9)})]
    assert store.sent(batch) == {"k-2": (1, ROW)}  # it is known how often it was tried


def test_runs_do_not_see_each_other(tmp_path: Path, store: BatchStore) -> None:
    store.ask("k-1", PLACE, BODY, ROW)
    with closing(BatchStore(str(tmp_path / "b.batches"), "other")) as other:
        assert other.new() == []
        other.ask("k-1", PLACE, BODY, ROW)
        other.forget()
    assert store.new() == [PLACE]


def test_a_file_of_another_kind_is_refused_with_its_name(tmp_path: Path) -> None:
    path = tmp_path / "b.batches"
    path.write_text("no database" * 100)
    with pytest.raises(RunError, match=r"b\.batches"):
        BatchStore(str(path), "run")


def test_the_file_is_beside_the_cache() -> None:
    assert store_path("/a/cache.sqlite") == "/a/cache.sqlite.batches"
    assert store_path("/a/cache/") == "/a/cache.batches"


# --- claims ---

_KEYS = st.lists(st.sampled_from("abcdef"), min_size=1, unique=True)
_STEPS = st.lists(st.tuples(st.sampled_from(["r1", "r2", "r3"]), _KEYS, st.booleans()), max_size=12)


@given(_STEPS)
def test_a_judgement_is_asked_for_by_one_response_at_a_time(
    steps: list[tuple[str, list[str], bool]],
) -> None:
    with tempfile.TemporaryDirectory() as folder, closing(BatchStore(f"{folder}/b", "r")) as store:
        owner_of: dict[str, str] = {}
        settled: set[str] = set()
        for owner, keys, settles in steps:
            groups, theirs = store.claim(owner, keys)
            for key in keys:
                owner_of.setdefault(key, owner)
            own = [key for key in keys if owner_of[key] == owner]
            failed = [key for key in keys if key not in own and key in settled]
            assert groups == ([own] if own else []) + [[key] for key in failed]
            assert theirs == (len(own) + len(failed) < len(keys))
            assert store.claimed(owner, "abcdef") == {
                key for key, who in owner_of.items() if who == owner
            }
            if settles:
                store.settle(own + failed)
                settled.update(own + failed)
