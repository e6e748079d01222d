"""Which evidence counts: what a user takes off or restricts to on the page and in `*_if` views."""

from collections.abc import Collection
from dataclasses import dataclass

from schemas.records import Passage

OTHER = "other"
"""The category of a passage that has none."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Which passages count: all but those left out; `only_…` None restricts nothing.

    A passage without a category is of `other`. A domain covers its subdomains; a passage without a
    host is of none.
    """

    without_passages: Collection[str] = ()
    without_categories: Collection[str] = ()
    only_categories: Collection[str] | None = None
    without_domains: Collection[str] = ()
    only_domains: Collection[str] | None = None

    def keeps(self, passage_id: str, passage: Passage | None) -> bool:
        """Tell whether the evidence of a passage counts."""
        category = (passage and passage.source_category) or OTHER
        host = passage.hostname if passage else None
        return not (
            passage_id in self.without_passages
            or category in self.without_categories
            or (self.only_categories is not None and category not in self.only_categories)
            or _of_any(host, self.without_domains)
            or (self.only_domains is not None and not _of_any(host, self.only_domains))
        )


def _of_any(host: str | None, domains: Collection[str]) -> bool:
    return host is not None and any(host == one or host.endswith(f".{one}") for one in domains)
