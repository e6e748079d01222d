"""Who did what to whom: the roles of two names around the same event."""

from pathlib import Path

import pytest

from tests.case_files import cases
from ufo.schemas.records import SUPPORTED
from ufo.transforms.verifiers.grounds import apply_rules
from ufo.transforms.verifiers.overlap import OverlapVerifier
from ufo.transforms.verifiers.roles import same_roles
from ufo.transforms.verifiers.texts import match
from ufo.transforms.verifiers.verifier import Pair

ROLES = cases(Path(__file__).parent / "roles.txt")


def outcome(claim: str, passage: str) -> str:
    pair = Pair(claim, passage)
    return apply_rules(match(pair), OverlapVerifier().predict([pair])[0]).outcome


@pytest.mark.parametrize(("passage", "claim", "exchanged"), ROLES)
def test_only_the_names_in_their_roles_are_supported(
    passage: str, claim: str, exchanged: str
) -> None:
    assert outcome(claim, passage) == SUPPORTED
    assert exchanged == "-" or outcome(exchanged, passage) != SUPPORTED


@pytest.mark.parametrize(
    ("claim", "passage", "same"),
    [
        pytest.param("Ann hired Bob.", "Ann hired Bob.", True, id="the same"),
        pytest.param("Ann hired Bob.", "Bob hired Ann.", False, id="exchanged"),
        pytest.param("Ann hired Bob.", "Ann was hired by Bob.", False, id="a passive"),
        pytest.param("Ann hired Bob.", "Bob hired Ann. Ann hired Bob.", True, id="both"),
        pytest.param("Ann hired Bob.", "Bob paid Ann.", None, id="another event"),
        pytest.param("Ann hired Bob.", "Ann hired Cora.", None, id="one name"),
        pytest.param("Ann hired the man.", "The man hired Ann.", None, id="only one is a name"),
        pytest.param("Ann met Bob.", "Bob met Ann.", None, id="without roles"),
        pytest.param("Ann lived in Oslo.", "Oslo lived in Ann.", None, id="a place"),
        pytest.param("Ann lost to Bob.", "Bob defeated Ann.", True, id="from the other side"),
    ],
)
def test_the_roles_of_two_names(claim: str, passage: str, same: bool | None) -> None:
    matched = match(Pair(claim, passage))
    assert same_roles(matched.claim, matched.passage.clauses) is same
