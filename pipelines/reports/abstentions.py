"""Count the responses that make no claim, and those of them that say that they do not know."""

from typing import TYPE_CHECKING

from ufo.transforms.extraction.clause import abstains

if TYPE_CHECKING:
    from ufo.schemas.results import Results

_CLAIMING = "SELECT count(DISTINCT response_id) FROM fact_units WHERE run = $run"
_SILENT = """
SELECT s.response_id, s.text
FROM sentences AS s
ANTI JOIN fact_units AS u ON u.run = s.run AND u.response_id = s.response_id
WHERE s.run = $run
"""


def without_claim(results: "Results") -> int:
    """Return how many responses of the newest run make no claim."""
    run = results.runs[-1]
    ((claiming,),) = results.query(_CLAIMING, {"run": run.name}).to_pydict().values()
    return int(run.counts["responses"]) - int(claiming)


def abstained(results: "Results") -> int:
    """Return how many of the newest run's responses without a claim say that they do not know."""
    found = results.query(_SILENT, {"run": results.runs[-1].name}).to_pylist()
    return len({row["response_id"] for row in found if abstains(row["text"], english=False)})
