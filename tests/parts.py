"""The parts that some tests need beside Python.

A test has the marker of a part where it uses the fixture that starts it. Without the part it is
skipped and tells what to do; in CI that is a failure.
"""

import os
from typing import NoReturn

import pytest

MARKERS = {
    "browser": "browser",
    "cluster": "flink",
    "airflow": "airflow",
    "with_torch": "model",
    "local_model": "model",
    "with_tools": "tools",
}
"""The marker of each fixture."""
PATIENCE = 120_000
"""Milliseconds that a browser waits: a busy machine may take long, and no test decides by time."""


def missing(remedy: str) -> NoReturn:
    if os.environ.get("CI"):
        pytest.fail(remedy)
    pytest.skip(remedy)
