"""What a model can say and no table can hold."""

import ufo
from ufo.schemas.tables import to_arrow

HALF = "\ud83d"


def test_half_characters_and_nul_in_replies_reach_no_table() -> None:
    client = ufo.FakeClient(
        [
            {
                "facts": [{"sentence": 1, "claim": f"Oslo{HALF} is big.", "query": "How\0 big?"}],
                "no_claim": [],
            },
            {"f1": {"answer": f"big{HALF}", "rationale": f"It says{HALF} so.", "verdict": "T"}},
        ]
    )
    checked = ufo.check_sync(
        "Oslo is big.",
        references=["Oslo is big."],
        sources=["reference"],
        judge="llm",
        client=client,
    )
    assert checked.score == 1.0
    assert [unit.claim for unit in checked.fact_units] == ["Oslo\ufffd is big."]
    for name in ("fact_units", "evidence", "failures"):
        to_arrow(name, getattr(checked, name))
