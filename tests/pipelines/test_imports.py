"""What our own program does not import, though it is installed."""

import subprocess
import sys

import pytest

from pipelines.imports import without

CHUNK = """
import sys
import pipelines.preload
hidden = {"pandas", "pymongo"} & set(sys.modules)
assert not hidden, hidden
import pyarrow as pa
pa.array([1]).to_pylist()
assert "pandas" not in sys.modules
import pandas
assert pa.array([1]).to_pylist() == [1] and pandas.Series([1]).sum() == 1
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
