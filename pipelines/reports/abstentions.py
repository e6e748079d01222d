"""Count the responses that make no claim, and those of them that say that they do not know."""

from typing import TYPE_CHECKING

from ufo.transforms.extraction.clause import abstains

if TYPE_CHECKING:
    from ufo.schemas.results import Results

_SILENT = """
SELECT s.response_id, s.text
FROM sentences AS s
ANTI JOIN fact_units AS u ON u.run = s.run AND u.response_id = s.response_id
WHERE s.run = $run
"""


def without_claim(results: "Results") -> tuple[int, int]:
    """Return how many responses of the newest run make no claim, and how many of these abstain."""
    found = results.query(_SILENT, {"run": results.runs[-1].name}).to_pylist()
    abstained = {row["response_id"] for row in found if abstains(row["text"], english=False)}
    return len({row["response_id"] for row in found}), len(abstained)
