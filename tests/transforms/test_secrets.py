"""Keys by the names of their secrets, each read once in a process."""

import os
from unittest.mock import Mock

import pytest

from ufo.schemas.errors import RunError, UsageError
from ufo.schemas.forks import Opened
from ufo.transforms import secrets
from ufo.transforms.secrets import into_environment, named_secrets

KEY = "sk-SECRET"
SECRET = {"UFO_TEST_KEY": "projects/p/secrets/s/versions/1"}


@pytest.fixture(autouse=True)
def _nothing_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secrets, "_read", Opened())
    monkeypatch.setenv("UFO_TEST_KEY", "")


def test_a_secret_is_named_by_its_variable() -> None:
    assert named_secrets("A_KEY=projects/p/secrets/a, B=projects/p-1/secrets/b_2/versions/3") == {
        "A_KEY": "projects/p/secrets/a/versions/latest",
        "B": "projects/p-1/secrets/b_2/versions/3",
    }
    # A key in its place is refused, and not repeated.
    for text in (KEY, f"OPENAI_API_KEY={KEY}", f"{KEY}=projects/p/secrets/s"):
        with pytest.raises(UsageError, match="projects/PROJECT/secrets/NAME") as raised:
            named_secrets(text)
        assert KEY not in raised.value.message


def test_a_process_reads_each_once() -> None:
    read = Mock(return_value=f"{KEY}\n".encode())
    for _ in range(2):
        into_environment(SECRET, read)
    into_environment({})
    read.assert_called_once_with(*SECRET.values())
    assert os.environ["UFO_TEST_KEY"] == KEY


def test_what_cannot_be_read_is_reported_with_the_remedy() -> None:
    with pytest.raises(RunError, match=r"'projects/p/.*403.*secretAccessor"):
        into_environment(SECRET, Mock(side_effect=PermissionError("403")))
    assert os.environ["UFO_TEST_KEY"] == ""
