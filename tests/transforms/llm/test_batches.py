"""A provider's batches through the `openai` package, and what a run keeps of them on disk."""

import io
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.llm_server import LlmServer
from ufo.schemas.errors import RunError
from ufo.transforms.llm.batch_api import BatchState, OpenAiBatches, api_of
from ufo.transforms.llm.batch_store import BatchStore, Reply
from ufo.transforms.llm.endpoint import Endpoint
from ufo.transforms.llm.failures import SendError

LONG_AGO = 0.0


def body(number: int, **more: Any) -> dict[str, Any]:
    messages = [{"role": "user", "content": f"Who? {number}"}]
    return {"model": "offline-judge", "messages": messages, **more}


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
        return state, dict(self.api.replies(state))


@pytest.fixture
def submit(llm_server: LlmServer) -> Iterator[Submitting]:
    with closing(api_of(Endpoint("offline-judge", llm_server.base_url))) as api:
        yield Submitting(api)


def test_replies_are_those_to_the_requests(submit: Submitting, llm_server: LlmServer) -> None:
    llm_server.batches.polls = 2
    api = submit.api
    batch = submit(*map(body, range(6)))
    states = [api.state(batch) for _ in range(3)]
    assert [(one.code, one.done) for one in states[:2]] == [("in_progress", 2), ("in_progress", 4)]
    assert states[2].code == "completed"
    assert states[2].done == 6
    assert [one.ended for one in states] == [False, False, True]
    replies = dict(api.replies(states[-1]))
    assert set(replies) == {f"a{number}" for number in range(6)}
    message = replies["a5"].payload["choices"][0]["message"]
    assert message["content"].startswith("As far as I know, ? 5")
    assert len({(reply.status, reply.request_id) for reply in replies.values()}) == 6
    files = (states[-1].source, *states[-1].files)
    assert set(files) == set(llm_server.batches.files)
    for _ in range(2):  # again, after a kill
        api.discard(files)
    assert llm_server.batches.files == {}


def test_a_batch_is_found_by_its_name(submit: Submitting, llm_server: LlmServer) -> None:
    api = submit.api
    assert api.find("a", LONG_AGO) is None
    llm_server.batches.loses = 1
    error = submit.error(body(0), name="lost")
    assert error.transient
    assert "broke" in error.message
    for number in range(120):  # more than a page of the list
        submit(body(number + 1), name=f"n{number}")
    found = api.find("lost", LONG_AGO)
    assert found == "batch_" + "0" * 32
    assert [*dict(api.replies(api.state(found)))] == ["lost0"]
    assert api.find("other", LONG_AGO) is None
    assert llm_server.batches.repeated() == []
    # What is listed is older than the batch that is looked for: the next pages are not asked for.
    sent = len(llm_server.requests)
    assert api.find("other", 1e12) is None
    assert len(llm_server.requests) == sent + 1


@pytest.mark.parametrize("status", ["expired", "cancelled"])
def test_a_batch_that_ends_early_has_the_replies_there_are(
    submit: Submitting, llm_server: LlmServer, status: str
) -> None:
    batches = llm_server.batches
    (batches.expires if status == "expired" else batches.cancels).append(1)
    state, replies = submit.ended(body(0), body(1))
    assert state.code == status
    assert state.done == 1
    assert replies["a0"].status == "200"
    assert replies["a1"].status == f"batch_{status}"
    assert replies["a1"].payload is None
    assert "was not executed" in replies["a1"].message or "expired" in replies["a1"].message
    # The server sees what is asked twice: what was answered, not what was left.
    for number, repeated in ((1, 0), (0, 1)):
        submit(body(number), name="bc"[number])
        assert len(batches.repeated()) == repeated
    state, replies = submit.ended(body(0), body(1, model="other"))  # is wrong as a whole
    assert state.code == "model_not_found"
    assert replies == {}
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
