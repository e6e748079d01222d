"""`ufo judges`: what is listed and said."""

from collections.abc import Callable
from pathlib import Path
from typing import Any


def test_the_list_has_judges_and_verifiers_with_package_and_help(ufo: Callable[..., Any]) -> None:
    rows = ufo("judges", "--json").json
    assert {("judge", "offline"), ("judge", "llm")} <= {(row["kind"], row["type"]) for row in rows}
    assert ("verifier", "overlap") in {(row["kind"], row["type"]) for row in rows}
    assert all(row["package"] and row["help"] for row in rows)
    out = ufo("judges").out
    assert "judges (--judge)\n" in out
    assert "verifiers (--verifier)\n" in out
    for row in rows:
        assert f"  {row['type']}  ({row['package']})\n    {row['help']}\n" in out


def test_the_list_says_what_a_judge_can_do_and_the_docs_say_the_same(
    ufo: Callable[..., Any],
) -> None:
    rows = [row for row in ufo("judges", "--json").json if row["kind"] == "judge"]
    (llm,) = [row for row in rows if row["type"] == "llm"]
    assert {"formulation", "model"} <= set(llm["flags"])
    assert llm["options"] == {}
    out = ufo("judges").out
    assert "    extracts, verifies, abstains, needs an endpoint\n" in out
    assert "    flags: --verifier\n" in out
    columns = ("extracts", "verifies", "abstains", "needs_endpoint")
    docs = (Path(__file__).parents[3] / "docs/judging.md").read_text()
    for row in rows:
        if row["package"] == "ufo-factuality":
            said = " | ".join("yes" if row[name] else "no" for name in columns)
            assert f"| `{row['type']}` | {said} |\n" in docs
