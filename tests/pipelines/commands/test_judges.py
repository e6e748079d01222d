"""`ufo judges`: what is listed and said."""

from tests.pipelines.conftest import ufo


def test_the_list_has_judges_and_verifiers_with_package_and_help() -> None:
    rows = ufo("judges", "--json").json
    assert {("judge", "offline"), ("judge", "llm")} <= {(row["kind"], row["type"]) for row in rows}
    assert ("verifier", "overlap") in {(row["kind"], row["type"]) for row in rows}
    assert all(row["package"] and row["help"] for row in rows)
    out = ufo("judges").out
    assert "judges (--judge)\n" in out
    assert "verifiers (--verifier)\n" in out
    for row in rows:
        assert f"  {row['type']}  ({row['package']})\n    {row['help']}\n" in out
    (llm,) = [row for row in rows if row["type"] == "llm"]
    assert {"formulation", "model"} <= set(llm["flags"])
    assert llm["options"] == {}
    assert "    extracts, verifies, abstains, needs an endpoint\n" in out
    assert "    flags: --verifier\n" in out
