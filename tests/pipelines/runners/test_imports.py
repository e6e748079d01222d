"""What our own program does not import, though it is installed."""

import subprocess
import sys

import pytest

from pipelines.runners.imports import later, without

CHUNK = """
import sys
import pipelines.runners.preload
hidden = {"pandas", "pymongo", "beartype", "fastavro", "httplib2", "pyarrow.compute"}
hidden |= {"dateutil", "google.protobuf.text_format", "grpc.aio", "proto", "pytz", "yaml"}
hidden &= set(sys.modules)
assert not hidden, hidden
import pyarrow as pa
pa.array([1]).to_pylist()
assert "pandas" not in sys.modules
import pandas
assert pa.array([1]).to_pylist() == [1] and pandas.Series([1]).sum() == 1
import apache_beam as beam
from apache_beam.internal.http_client import proxy_info_from_environment_var
from apache_beam.typehints.typehints import is_consistent_with
assert is_consistent_with(bool, int) and not is_consistent_with(str, int)
import os
os.environ["http_proxy"] = "http://proxy.example:8080"
assert proxy_info_from_environment_var("http_proxy").proxy_port == 8080
from apache_beam.utils.timestamp import Timestamp
assert Timestamp.from_rfc3339("2020-01-02T03:04:05Z").to_utc_datetime().year == 2020
from apache_beam.coders import ProtoPlusCoder
assert ProtoPlusCoder.from_type_hint
from google.protobuf import text_format
from google.protobuf.wrappers_pb2 import StringValue
assert text_format.MessageToString(StringValue(value="a")).strip() == 'value: "a"'
import grpc
assert grpc.aio.Metadata(("a", "b"))["a"] == "b"
import fastavro, httplib2
assert "Http" in dir(httplib2) and "reader" in dir(fastavro)
"""


def test_a_process_of_chunks_has_no_pandas_until_somebody_asks_for_it() -> None:
    done = subprocess.run([sys.executable, "-c", CHUNK], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_module_is_absent_in_the_context_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "colorsys", raising=False)
    with without("colorsys"), pytest.raises(ModuleNotFoundError, match="colorsys"):
        import colorsys
    import colorsys

    assert colorsys.rgb_to_hsv(0, 0, 0) == (0, 0, 0)


def test_a_module_is_stood_in_for_until_it_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("wsgiref", "wsgiref.util"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    with later("wsgiref"):
        import wsgiref.util
        from wsgiref.util import guess_scheme
    assert "wsgiref" not in sys.modules
    assert guess_scheme({"HTTPS": "on"}) == "https"
    assert "wsgiref.util" in sys.modules
    assert wsgiref.util.FileWrapper.__name__ == "FileWrapper"


def test_a_module_is_whole_once_the_context_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("wsgiref", "wsgiref.util", "wsgiref.headers"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    with later("wsgiref.util"):
        import wsgiref.headers
        import wsgiref.util
    assert "wsgiref.headers" in sys.modules
    assert "wsgiref.util" not in sys.modules
    assert issubclass(wsgiref.util.FileWrapper, object)
    assert wsgiref.util is sys.modules["wsgiref.util"]


def test_what_is_used_at_once_is_imported_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("wsgiref", "wsgiref.util", "wsgiref.headers"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    with later("wsgiref"):
        from wsgiref.headers import Headers
        from wsgiref.util import guess_scheme

        assert guess_scheme({"HTTPS": "on"}) == "https"
        import wsgiref.util

        assert wsgiref.util.__file__
    assert Headers([("a", "b")])["a"] == "b"


def test_what_is_imported_already_is_not_stood_in_for() -> None:
    import json.decoder

    with later("json"):
        from json import loads

    assert loads is json.loads
