"""A provider's batches through the `openai` package, and what a run keeps of them on disk."""

import io
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.llm_server import LlmServer
from ufo.schemas.errors import RunError
from ufo.transforms.llm.batch_api import BatchState, OpenAiBatches
from ufo.transforms.llm.batch_store import ASKING, STORED, Batch, BatchedRequest, BatchStore, Reply
from ufo.transforms.llm.endpoint import Endpoint
from ufo.transforms.llm.errors import SendError
from ufo.transforms.llm.usage import usage_row


def body(number: int, **more: Any) -> dict[str, Any]:
    messages = [{"role": "user", "content": f"Who? {number}"}]
    return {"model": "offline-judge", "messages": messages, **more}


def replies(api: OpenAiBatches, state: BatchState) -> dict[str, Reply]:
    """The replies in the files of a batch, by their keys."""
    return dict(line for file in state.files for line in api.replies(file) if line)


@dataclass
class Submitting:
    """Submits batches of bodies; the keys of batch `a` are `a0`, `a1`, …"""

    api: OpenAiBatches

    def __call__(self, *bodies: Any, name: str = "a") -> str:
        lines = [self.api.line_of(f"{name}{number}", one) for number, one in enumerate(bodies)]
        return self.api.create(self.api.upload(io.BytesIO(b"".join(lines)), name), name)

    def error(self, *bodies: Any, name: str = "a") -> SendError:
        """The error of a batch that is not taken, without the frames that hold connections."""
        with pytest.raises(SendError) as caught:
            self(*bodies, name=name)
        return caught.value.with_traceback(None)

    def ended(self, *bodies: Any) -> tuple[BatchState, dict[str, Reply]]:
        """What became of a batch of these bodies, and the replies by their keys."""
        state = self.api.state(self(*bodies))
        assert state.ended
        return state, replies(self.api, state)


@pytest.fixture
def submit(llm_server: LlmServer) -> Iterator[Submitting]:
    with closing(OpenAiBatches(Endpoint("offline-judge", llm_server.base_url))) as api:
        yield Submitting(api)


def test_replies_are_those_to_the_requests(submit: Submitting, llm_server: LlmServer) -> None:
    llm_server.batches.polls = 2
    api = submit.api
    batch = submit(*map(body, range(6)))
    states = [api.state(batch) for _ in range(3)]
    assert [(one.word, one.done) for one in states[:2]] == [("in_progress", 2), ("in_progress", 4)]
    assert states[2].word == "completed"
    assert states[2].done == 6
    assert [one.ended for one in states] == [False, False, True]
    by_key = replies(api, states[-1])
    assert set(by_key) == {f"a{number}" for number in range(6)}
    message = by_key["a5"].payload["choices"][0]["message"]
    assert message["content"].startswith("As far as I know, ? 5")
    assert len({(reply.status, reply.request_id) for reply in by_key.values()}) == 6
    files = (states[-1].source, *states[-1].files)
    assert set(files) == set(llm_server.batches.files)
    for _ in range(2):  # again, after a kill
        api.discard(files)
    assert llm_server.batches.files == {}


def test_a_batch_is_found_by_its_name(submit: Submitting, llm_server: LlmServer) -> None:
    api = submit.api
    assert api.find("a", "file-0") is None
    llm_server.batches.loses = 1
    error = submit.error(body(0), name="lost")
    assert error.transient
    assert "broke" in error.message
    for number in range(120):  # more than a page of the list
        submit(body(number + 1), name=f"n{number}")
    name = api.find("lost", "file-0")
    assert name == "batch_" + "0" * 32
    assert [*replies(api, api.state(name))] == ["lost0"]
    assert api.find("other", "file-0") is None
    assert llm_server.batches.repeated() == []


@pytest.mark.parametrize("status", ["expired", "cancelled"])
def test_a_batch_that_ends_early_has_the_replies_there_are(
    submit: Submitting, llm_server: LlmServer, status: str
) -> None:
    batches = llm_server.batches
    (batches.expires if status == "expired" else batches.cancels).append(1)
    state, by_key = submit.ended(body(0), body(1))
    assert state.code == status
    assert state.done == 1
    assert by_key["a0"].status == "200"
    assert by_key["a1"].status == f"batch_{status}"
    message = by_key["a1"].payload["error"]["message"]
    assert "was not executed" in message or "expired" in message
    # The server sees what is asked twice: what was answered, not what was left.
    for number, repeated in ((1, 0), (0, 1)):
        submit(body(number), name="bc"[number])
        assert len(batches.repeated()) == repeated
    state, by_key = submit.ended(body(0), body(1, model="other"))  # is wrong as a whole
    assert state.code == "model_not_found"
    assert by_key == {}
    assert "line 2" in state.message


def test_no_secret_is_in_an_error(submit: Submitting, llm_server: LlmServer) -> None:
    llm_server.keys = ("another",)  # and the server repeats the key that it does not know
    error = submit.error(body(0))
    assert error.final
    assert llm_server.key not in str(error)


def test_a_file_of_another_kind_is_refused_with_its_name(tmp_path: Path) -> None:
    path = tmp_path / "b.batches"
    path.write_text("no database" * 100)
    with pytest.raises(RunError, match=r"b\.batches"):
        BatchStore(str(path), "run")


# --- the file ---

HERE, THERE = Endpoint("m", "http://a.example/v1"), Endpoint("m", "http://b.example/v1")
ROW = usage_row("verify", None, "m", "r1")
ANSWER = Reply("200", {"choices": []}, "q1")


@pytest.fixture
def stores(tmp_path: Path) -> Iterator[list[BatchStore]]:
    """The stores of two runs in one file."""
    path = str(tmp_path / "cache.batches")
    with closing(BatchStore(path, "one")) as first, closing(BatchStore(path, "two")) as two:
        yield [first, two]


def sent(store: BatchStore, *keys: str, round_: int = 1, endpoint: Endpoint = HERE) -> Batch:
    """A batch of requests with these keys, each of which may cost two dollars."""
    for key in keys:
        store.ask(key, endpoint, body(1), ROW)
    return store.plan(endpoint, round_, dict.fromkeys(keys, 2.0))


def test_a_run_sees_nothing_of_another_run_in_the_file(stores: list[BatchStore]) -> None:
    first, two = stores
    batch = sent(first, "r-1-a-0", "r-2-a-0")
    first.put("r-1-a-0", ANSWER, ROW)
    first.ask("r-3-a-0", HERE, body(3), ROW)
    first.claim("owner", ["k"])
    assert two.ask("r-1-a-0", HERE, body(1), ROW) == (None, ROW)
    assert not two.knows("r-2")
    assert two.claimed("owner", ["k"]) == set()
    assert [key for key, _ in two.bodies(HERE, 9)] == ["r-1-a-0"]
    assert two.under_way() == []
    assert two.sent(batch) == {}
    assert two.batches() == []
    assert two.reserved() == 0.0


def test_what_a_run_ends_or_begins_changes_nothing_of_another(stores: list[BatchStore]) -> None:
    first, two = stores
    batch = sent(first, "r-2-a-0")
    first.ask("r-3-a-0", HERE, body(3), ROW)
    first.claim("owner", ["k"])
    two.begin()
    two.settle()
    two.take_back(batch)
    two.put("r-2-a-0", ANSWER, ROW)
    two.forget()
    assert [key for key, _ in first.bodies(HERE, 9)] == ["r-3-a-0"]
    assert first.sent(batch) == {"r-2-a-0": BatchedRequest(0, 2.0, ROW)}
    assert first.under_way() == [batch]
    assert first.claim("other", ["k"]) == ([], True)


def test_requests_of_an_endpoint_are_in_a_batch_of_their_own(stores: list[BatchStore]) -> None:
    store, _ = stores
    store.ask("r-1-a-0", THERE, body(1), ROW)
    for number in (3, 2):
        store.ask(f"r-{number}-a-0", HERE, body(number), ROW)
    assert store.new() == [HERE, THERE]
    assert list(store.bodies(HERE, 2)) == [("r-3-a-0", body(3)), ("r-2-a-0", body(2))]
    assert list(store.bodies(HERE, 1)) == [("r-3-a-0", body(3))]
    sent(store, "r-3-a-0")
    assert list(store.bodies(HERE, 9)) == [("r-2-a-0", body(2))]


def test_a_batch_is_under_way_until_its_replies_are_stored(stores: list[BatchStore]) -> None:
    store, _ = stores
    first = store.note(sent(store, "r-1-a-0", "r-2-a-0"), id="b1", done=1)
    second = store.note(sent(store, "r-3-a-0", round_=2), id="file-2", done=ASKING)
    assert store.under_way() == store.batches() == [first, second]
    first = store.note(first, ended=2e9, done=2)
    assert store.under_way() == [first, second]
    first = store.note(first, ended=STORED)
    assert store.under_way() == [second]
    assert store.batches() == [first, second]


def test_only_what_is_sent_and_not_answered_is_reserved(stores: list[BatchStore]) -> None:
    store, _ = stores
    keys = [f"r-{number}-a-0" for number in range(4)]
    batch = sent(store, *keys)
    assert store.reserved() == 8.0
    for key, reply in zip(keys, (ANSWER, None, ANSWER), strict=False):
        store.put(key, reply, ROW)
    assert store.reserved() == 2.0
    assert store.sent(batch) == {keys[3]: BatchedRequest(0, 2.0, ROW)}
    held = store.held()
    assert held["batch_requests"] == 1
    assert held["batch_replies"] == 2


def test_a_request_has_its_reply_but_one_that_is_to_be_repeated(stores: list[BatchStore]) -> None:
    store, _ = stores
    keys = [f"r-{number}-a-0" for number in range(3)]
    batch = sent(store, *keys)
    paid = replace(ROW, prompt_tokens=7, response_id="r2")
    for key, reply in zip(keys, (ANSWER, ANSWER, None), strict=True):
        store.put(key, reply, paid)
    answers = [store.ask(key, HERE, body(9), ROW) for key in keys]
    assert answers == [(ANSWER, paid), (ANSWER, paid), (None, paid)]
    assert list(store.bodies(HERE, 9)) == [(keys[2], body(1))]
    sent(store, keys[2])
    assert store.sent(batch) == {}
    assert [*store.sent(store.under_way()[-1]).values()] == [BatchedRequest(1, 2.0, paid)]


def test_a_process_forgets_requests_that_an_earlier_one_did_not_send(
    stores: list[BatchStore],
) -> None:
    store, _ = stores
    sent(store, "r-1-a-0", "r-2-a-0")
    store.put("r-1-a-0", None, ROW)  # is to be repeated
    store.ask("r-3-a-0", HERE, body(1), ROW)
    store.begin()
    assert not store.knows("r-3")
    assert store.knows("r-2")
    assert [key for key, _ in store.bodies(HERE, 9)] == ["r-1-a-0"]


def test_others_ask_for_what_was_claimed_without_success_once_all_is_settled(
    stores: list[BatchStore],
) -> None:
    store, _ = stores
    store.claim("owner", ["k"])
    assert store.claim("other", ["k"]) == ([], True)
    store.settle()
    assert store.claim("other", ["k"]) == ([["k"]], False)
    assert store.claim("owner", ["k"]) == ([["k"]], False)


def test_what_is_written_together_is_written_as_a_whole(stores: list[BatchStore]) -> None:
    store, _ = stores
    batch = sent(store, "r-1-a-0")

    def fail() -> None:
        with store.together():
            store.put("r-1-a-0", ANSWER, ROW)
            raise ValueError("not of the file")

    with pytest.raises(ValueError, match="not of the file"):
        fail()
    assert store.sent(batch) == {"r-1-a-0": BatchedRequest(0, 2.0, ROW)}


def test_requests_of_a_batch_that_was_not_taken_are_new_again(stores: list[BatchStore]) -> None:
    store, _ = stores
    batch, other = sent(store, "r-1-a-0"), sent(store, "r-2-a-0")
    store.take_back(batch)
    assert [key for key, _ in store.bodies(HERE, 9)] == ["r-1-a-0"]
    assert store.under_way() == [other]


def test_a_run_that_is_finished_leaves_nothing(stores: list[BatchStore]) -> None:
    store, _ = stores
    batch = sent(store, "r-1-a-0")
    store.claim("owner", ["k"])
    store.forget()
    assert not store.knows("r-1")
    assert store.sent(batch) == {}
    assert store.under_way() == []
    assert store.claim("other", ["k"]) == ([["k"]], False)


def test_a_request_is_known_by_the_whole_of_its_key(stores: list[BatchStore]) -> None:
    store, _ = stores
    store.ask("r-12-a-0", HERE, body(1), ROW)
    assert [store.knows(key) for key in ("r-12", "r-1", "r-123", "q-12")] == [True] + [False] * 3


def test_a_file_of_an_earlier_version_is_read_on(stores: list[BatchStore], tmp_path: Path) -> None:
    store, _ = stores
    batch, over = sent(store, "r-1-a-0"), sent(store, "r-2-a-0")
    store.put("r-2-a-0", ANSWER, ROW)
    store.close()
    with closing(sqlite3.connect(tmp_path / "cache.batches", isolation_level=None)) as db:
        db.execute("UPDATE batches SET ended = 1 WHERE name = ?", (over.name,))
        again = "INSERT INTO requests (run, key, state, tries) VALUES ('one', 'r-3', 'again', 1)"
        db.execute(again)
        db.execute("PRAGMA user_version = 0")
    with closing(BatchStore(str(tmp_path / "cache.batches"), "one")) as opened:
        assert opened.under_way() == [batch]
        assert opened.ask("r-2-a-0", HERE, body(1), ROW)[0] == ANSWER
        opened.begin()
        opened.ask("r-3", HERE, body(3), ROW)
        assert list(opened.bodies(HERE, 9)) == [("r-3", body(3))]


# --- claims ---

_KEYS = st.lists(st.sampled_from("abcdef"), min_size=1, unique=True)
_STEPS = st.lists(st.tuples(st.sampled_from(["r1", "r2", "r3"]), _KEYS, st.booleans()), max_size=12)


@given(_STEPS)
def test_a_judgement_is_asked_for_once_at_a_time(steps: list[tuple[str, list[str], bool]]) -> None:
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
                store.settle()
                settled.update(owner_of)
