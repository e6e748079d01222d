"""Where sources differ, and where people do: small tables, computed by hand."""

from dataclasses import replace
from typing import Any

import pytest

VOTES = {
    "a": {
        "even": {"ref": "s", "wiki": "r", "web": "n"},
        "most": {"ref": "sss", "wiki": "r", "web": "-"},
        "tied": {"ref": "ss", "wiki": "sr", "web": "e"},
        "same": {"ref": "s", "wiki": "s", "web": "s"},
    },
    "b": {
        "open": {"ref": "n", "wiki": "-", "web": "n"},
        "lost": {"ref": "e", "wiki": "n", "web": "n"},
        "past": {"ref": "e", "wiki": "r", "web": "n"},
    },
}
SOURCES = ("ref", "wiki", "web")
MODELS = {"a": "alder", "b": "birch"}


@pytest.fixture(name="found")
def _found(rows_of: Any, ask: Any) -> Any:
    """A function: the rows of a query over that run, under a rule for ties, with labels."""

    def found(query: str, tie: str = "not_factual", labels: Any = None) -> Any:
        rows = rows_of(VOTES, mode="all", sources=SOURCES, models=MODELS, tie=tie)
        rows["fact_units"] = [
            replace(row, human_label=(labels or {}).get(row.unit_id)) for row in rows["fact_units"]
        ]
        return ask(rows, "all", tie=tie)(query)

    return found


SOURCES_DIFFER = """
SELECT unit_id, severity, sources_for, sources_against FROM disagreements
WHERE kind = 'sources' ORDER BY severity DESC, unit_id
"""


def test_sources_differ_the_worst_first_and_a_tie_is_on_the_side_of_its_rule(found: Any) -> None:
    assert found(SOURCES_DIFFER) == [
        ("even", 1.0, "ref", "wiki"),
        ("most", 0.5, "ref", "wiki"),
        ("tied", 0.5, "ref", "wiki"),
    ]
    assert found(SOURCES_DIFFER, tie="factual") == [
        ("even", 1.0, "ref", "wiki"),
        ("most", 0.5, "ref", "wiki"),
    ]


def test_verdicts_differ_from_people_by_the_votes_against_them(found: Any) -> None:
    query = """
    SELECT unit_id, label, human_label, severity FROM disagreements
    WHERE kind = 'people' ORDER BY unit_id
    """
    labels = {"even": 0, "same": 1, "open": 1, "past": 1}
    assert found(query, labels=labels) == [("even", 1, 0, 1.0), ("past", 0, 1, 1.0)]
