"""Give tests the fixture `ufo`, which checks texts offline (extra `pytest`).

pytest loads this module in every project where ufo is installed, so it imports nothing that only
the fixture needs.
"""

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from ufo.pipelines.reports.evaluation import Check


@pytest.fixture(scope="session")
def ufo() -> "TextChecks":
    """Check texts: `ufo.assert_factual(text, references=[…])`. It needs no network and no key."""
    return TextChecks()


class TextChecks:
    """The fixture `ufo`: checks of texts, and an assertion on their score."""

    def check(self, text: Any, references: Any = None, **options: Any) -> "Check":
        """Return the result of `ufo.check_sync` with these options.

        The default judge is `offline` and the default source `reference`, whatever keys the
        environment has. A file of `config` may name others.
        """
        from ufo import check_sync

        usual = {} if "config" in options else {"judge": "offline", "sources": ["reference"]}
        return check_sync(text, references=references, **{**usual, **options})

    def assert_factual(
        self,
        text: Any,
        references: Any = None,
        *,
        at_least: float = 1.0,
        no_claim: str = "left_out",
        **options: Any,
    ) -> "Check":
        """Fail unless the score of a text is at least this; return its check.

        `no_claim` says what a text without a claim means: `left_out` (it has no score, and fails),
        `pass` or `fail`. `options` are those of `check`.
        """
        __tracebackhide__ = True
        from ufo import UsageError
        from ufo.pipelines.reports.terminal import shortfall

        if not 0 <= at_least <= 1:
            raise UsageError(f"at_least={at_least!r} is not a number from 0 to 1")
        checked = self.check(text, references, **options)
        score = checked.gate_score(no_claim)
        if score is None or score < at_least:
            raise AssertionError(f"below at_least={at_least:g}: {shortfall(checked, no_claim)}")
        return checked
