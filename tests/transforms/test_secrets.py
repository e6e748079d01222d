"""Keys by the names of their secrets: read once, put into the environment, never shown."""

import os

import pytest

from ufo.schemas.errors import RunError, UsageError
from ufo.transforms import job
from ufo.transforms.job import into_environment, named_secrets

KEY = "sk-SECRET"


@pytest.fixture(autouse=True)
def _nothing_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job, "_read", {})
    monkeypatch.setenv("UFO_TEST_KEY", "")


def test_a_secret_is_named_by_its_variable() -> None:
    assert named_secrets("A_KEY=projects/p/secrets/a, B=projects/p-1/secrets/b_2/versions/3") == {
        "A_KEY": "projects/p/secrets/a/versions/latest",
        "B": "projects/p-1/secrets/b_2/versions/3",
    }


@pytest.mark.parametrize("text", [KEY, f"OPENAI_API_KEY={KEY}", f"{KEY}=projects/p/secrets/s"])
def test_a_key_in_its_place_is_refused_and_not_repeated(text: str) -> None:
    with pytest.raises(UsageError, match="projects/PROJECT/secrets/NAME") as raised:
        named_secrets(text)
    assert KEY not in raised.value.message


def test_a_process_reads_each_once() -> None:
    asked = []

    def read(name: str) -> bytes:
        asked.append(name)
        return f"{KEY}\n".encode()

    named = {"UFO_TEST_KEY": "projects/p/secrets/s/versions/1"}
    into_environment(named, read)
    into_environment(named, read)
    assert os.environ["UFO_TEST_KEY"] == KEY
    assert asked == ["projects/p/secrets/s/versions/1"]
    into_environment({})


def test_what_cannot_be_read_is_reported_with_the_remedy() -> None:
    def read(name: str) -> bytes:
        raise PermissionError("403")

    with pytest.raises(RunError, match=r"'projects/p/.*403.*secretAccessor"):
        into_environment({"UFO_TEST_KEY": "projects/p/secrets/s/versions/1"}, read)
    assert os.environ["UFO_TEST_KEY"] == ""
