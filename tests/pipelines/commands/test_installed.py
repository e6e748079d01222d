"""`ufo sources` and `ufo judges`: what is told of each that is installed."""

import pytest

from tests.pipelines.conftest import ok


@pytest.mark.parametrize(
    ("command", "text"),
    [
        pytest.param("sources", "\n    passages (default 5)\n", id="an option with its default"),
        pytest.param("sources", "\n    index\n", id="an option that is empty by default"),
        pytest.param("sources", "\n    embedder\n", id="an option without a default"),
        pytest.param(
            "sources",
            "\n    allow_private_hosts (default False)\n",
            id="an option that is off by default",
        ),
        pytest.param("judges", "judges (--judge)\n", id="judges"),
        pytest.param("judges", "verifiers (--verifier)\n", id="verifiers"),
        pytest.param("judges", "\n    Verifier overlap (a first look", id="how a verifier judged"),
        pytest.param("judges", "\n    extracts, verifies, abstains\n", id="what a judge can do"),
        pytest.param(
            "judges",
            "\n    extracts, verifies, abstains, needs an endpoint\n",
            id="what a judge needs",
        ),
        pytest.param("judges", "\n    flags: --", id="the flags of a judge"),
    ],
)
def test_a_list_of_what_is_installed_has(command: str, text: str) -> None:
    assert text in ok(command).out
