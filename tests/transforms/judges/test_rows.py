"""A citation is looked up, not trusted."""

import pytest

from ufo.transforms.judges.rows import citation_found

PASSAGE = "The Alma Bridge\nwas  opened in 1932.\u00a0It is “long”."


@pytest.mark.parametrize(
    ("citation", "found"),
    [
        ("was opened in 1932", True),
        (" The Alma\tBridge ", True),
        ("“was opened in 1932.”", True),
        ("1932. It is", True),
        ("It is “long”.", True),
        ("was opened in 1933", False),
        ("the alma bridge", False),
        ("The Alma Bridge … 1932", False),
        ("", False),
        ('""', False),
    ],
)
def test_a_citation_is_an_exact_quote_up_to_white_space(citation: str, found: bool) -> None:
    assert citation_found(citation, PASSAGE) is found
