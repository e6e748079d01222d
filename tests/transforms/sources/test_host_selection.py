"""Which hosts may vote."""

import json
from pathlib import Path

import pytest

from tests.case_files import cases
from ufo.schemas.records import Passage
from ufo.transforms.sources.host_selection import hosts_chosen


@pytest.mark.parametrize(
    ("chosen", "host", "kind", "outcome"), cases(Path(__file__).with_name("chosen.txt"))
)
def test_what_is_admitted(chosen: str, host: str, kind: str, outcome: str) -> None:
    passage = Passage("", hostname=host, source_category=kind)
    assert hosts_chosen(**json.loads(chosen)).keeps("", passage) is (outcome == "admitted")
