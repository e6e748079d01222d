"""Which passages count in scores; the scores themselves are in tests/golden."""

import pytest

from tests.conftest import blank
from ufo.schemas.records import Evidence, Passage
from ufo.transforms.scores import Selection, band_of, is_unusable

NEWS = Passage("", hostname="news.example.org", source_category="news")
PLAIN = Passage("")


@pytest.mark.parametrize(
    ("chosen", "passage", "kept"),
    [
        pytest.param({}, NEWS, True, id="all"),
        pytest.param({"without_passages": ["p"]}, NEWS, False, id="without it"),
        pytest.param({"without_passages": ["q"]}, NEWS, True, id="without another"),
        pytest.param({"without_categories": ["news"]}, NEWS, False, id="without its kind"),
        pytest.param({"without_categories": ["blog"]}, NEWS, True, id="without another kind"),
        pytest.param({"without_categories": ["other"]}, PLAIN, False, id="no kind is other"),
        pytest.param({"without_categories": ["other"]}, None, False, id="no passage is other"),
        pytest.param({"only_categories": ["news"]}, NEWS, True, id="only its kind"),
        pytest.param({"only_categories": ["blog"]}, NEWS, False, id="only another kind"),
        pytest.param({"only_categories": []}, NEWS, False, id="no kind at all"),
        pytest.param({"without_domains": ["example.org"]}, NEWS, False, id="without its domain"),
        pytest.param({"without_domains": ["*.org"]}, NEWS, False, id="without a wildcard"),
        pytest.param({"without_domains": ["ample.org"]}, NEWS, True, id="without a part of a name"),
        pytest.param({"without_domains": ["*"]}, PLAIN, True, id="no host is in no domain"),
        pytest.param({"only_domains": ["news.example.org"]}, NEWS, True, id="only its host"),
        pytest.param({"only_domains": ["example.com"]}, NEWS, False, id="only another domain"),
        pytest.param({"only_domains": ["*"]}, PLAIN, False, id="only hosts"),
        pytest.param({"only_domains": []}, NEWS, False, id="no domain at all"),
    ],
)
def test_which_passages_count(
    chosen: dict[str, list[str]], passage: Passage | None, kept: bool
) -> None:
    assert Selection(**chosen).keeps("p", passage) is kept


@pytest.mark.parametrize(
    ("credibility", "band"),
    [
        (None, "grey"),
        (0.0, "red"),
        (0.29, "red"),
        (0.3, "orange"),
        (0.59, "orange"),
        (0.6, "green"),
        (1.0, "green"),
    ],
)
def test_the_band_of_a_credibility(credibility: float | None, band: str) -> None:
    assert band_of(credibility) == band


@pytest.mark.parametrize(
    ("outcome", "reason", "unusable"),
    [
        pytest.param("error", "transport", True, id="a request that failed"),
        pytest.param("noans", "unsupported_language", True, id="another language"),
        pytest.param("noans", None, False, id="no answer"),
        pytest.param("refuted", None, False, id="an answer"),
    ],
)
def test_a_judgement_that_cannot_be_used(outcome: str, reason: str | None, unusable: bool) -> None:
    assert is_unusable(blank(Evidence, outcome=outcome, reason=reason)) is unusable
