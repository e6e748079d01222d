"""Select the evidence that counts, as a user filters it on the page and in `*_if` views."""

from collections.abc import Collection
from dataclasses import dataclass

from ufo.schemas.records import Passage

OTHER = "other"
"""The category of a passage without a category."""


@dataclass(frozen=True, slots=True)
class Selection:
    """A filter of passages: all but those excluded; an `only_…` of None does not restrict.

    A passage without a category has the category `other`. A domain includes its subdomains; a
    passage without a host is in no domain.
    """

    without_passages: Collection[str] = ()
    without_categories: Collection[str] = ()
    only_categories: Collection[str] | None = None
    without_domains: Collection[str] = ()
    only_domains: Collection[str] | None = None

    def keeps(self, passage_id: str, passage: Passage | None) -> bool:
        """Return whether the evidence of a passage counts."""
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
