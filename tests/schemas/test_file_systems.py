"""What a file system that is missing, refuses or is silent says."""

import subprocess
import sys

import pytest

from tests.schemas.listed_system import Lists
from ufo.schemas import storage
from ufo.schemas.file_systems import Refused, RemoteError, Unreachable, is_remote

REMEDIES = {
    "azfs://account/path": "known are file, gs, s3, abfs, hdfs and",
    "://": "no scheme",
    **{f"{scheme}://box/x": "'ufo-factuality[gs]'" for scheme in ("gs", "gcs")},
    **{f"{scheme}://box/x": "'ufo-factuality[s3]'" for scheme in ("s3", "s3a")},
    **{f"{scheme}://box/x": "'ufo-factuality[abfs]'" for scheme in ("abfs", "az")},
    "sftp://host/x": "paramiko",
}


# In a process of its own: fsspec keeps the classes of what was once imported.
EACH_IS_ASKED_FOR = """
import sys
sys.modules |= dict.fromkeys(("gcsfs", "s3fs", "adlfs", "paramiko"))
from ufo.schemas import storage
from ufo.schemas.file_systems import RemoteError
for uri in sys.argv[1:]:
    try:
        storage.exists(uri)
    except RemoteError as error:
        print(error)
"""


def test_a_file_system_that_is_not_there_has_a_remedy() -> None:
    command = [sys.executable, "-c", EACH_IS_ASKED_FOR, *REMEDIES]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for message, (uri, remedy) in zip(done.stdout.splitlines(), REMEDIES.items(), strict=True):
        assert message.startswith(f"{uri}: ")
        assert remedy in message


def test_the_file_system_that_is_not_there_is_the_one_that_is_named() -> None:
    with pytest.raises(RemoteError, match=r"^azfs://b: "):
        storage.move("memory://a", "azfs://b")


def test_an_error_without_a_text_has_its_kind(lists: type[Lists]) -> None:
    lists.fault = ValueError()
    with pytest.raises(RemoteError, match=r"^lists://box: ValueError$"):
        storage.listed("lists://box")


class Answer(Exception):
    def __init__(self, text: str, code: int) -> None:
        super().__init__(text)
        self.code = code


@pytest.mark.parametrize(
    ("fault", "kind", "message"),
    [
        pytest.param(PermissionError("No"), Refused, "access is refused: No", id="denied"),
        pytest.param(Answer("No", 401), Refused, "access is refused: No", id="401"),
        pytest.param(Answer("No", 403), Refused, "access is refused: No", id="403"),
        pytest.param(Answer("No", 404), RemoteError, "No", id="another answer"),
        pytest.param(OSError("Forbidden: b"), Refused, "Forbidden: b", id="in words"),
        pytest.param(ConnectionError("off"), Unreachable, r"answer \(off\)", id="no net"),
        pytest.param(TimeoutError(), Unreachable, "in 20 seconds", id="silence"),
        pytest.param(ValueError("a\nTime: 3\nb\nc"), RemoteError, "a b$", id="one line"),
        pytest.param(ValueError("at x?sig=abc&b"), RemoteError, r"at x\?sig=…&b$", id="a secret"),
    ],
)
def test_what_a_client_raises_is_told_apart(
    lists: type[Lists], fault: Exception, kind: type[RemoteError], message: str
) -> None:
    lists.fault = fault
    with pytest.raises(RemoteError, match=f"^lists://box: .*{message}") as raised:
        storage.listed("lists://box")
    assert type(raised.value) is kind


def test_a_file_that_is_not_there_is_named() -> None:
    assert [is_remote(path) for path in ("gs://b/x", "s3://b", "a/b", "C:\\a")] == [1, 1, 0, 0]
    for nowhere in ("file:///nowhere", "memory://nowhere"):
        with pytest.raises(OSError, match="there is no such file"):
            storage.size(nowhere)
        with pytest.raises(OSError, match=nowhere):
            storage.read(nowhere)
