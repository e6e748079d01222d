"""Select the passages of a vote by the category or the domain of their hosts."""

from collections.abc import Iterable, Sequence

from ufo.schemas.errors import UsageError, unknown_value
from ufo.schemas.records import CATEGORIES
from ufo.schemas.text import host_named
from ufo.transforms.scores import Selection


def hosts_chosen(
    include_categories: Sequence[str] = (),
    exclude_categories: Sequence[str] = (),
    include_domains: Sequence[str] = (),
    exclude_domains: Sequence[str] = (),
) -> Selection:
    """Return the selection of passages by category and domain of their hosts.

    A domain includes its subdomains, and may have wildcards ("*.gov", "news.*").

    Raises:
        UsageError: a value is not a category or domain.
    """
    for flag, kinds in (
        ("include_categories", include_categories),
        ("exclude_categories", exclude_categories),
    ):
        for kind in kinds:
            if kind not in CATEGORIES:
                raise UsageError(unknown_value(f"--{flag}", kind, CATEGORIES))
    return Selection(
        without_categories=exclude_categories,
        only_categories=include_categories or None,
        without_domains=_patterns("exclude_domains", exclude_domains),
        only_domains=_patterns("include_domains", include_domains) or None,
    )


def _patterns(flag: str, domains: Iterable[str]) -> list[str]:
    """Return domains in the form of hostnames."""
    patterns = []
    for domain in domains:
        pattern = host_named(domain, wild=True).removeprefix("www.")
        if not pattern:
            raise UsageError(
                f"--{flag} {domain!r} is not a domain; write it as in example.org or *.gov, "
                "without http:// and path"
            )
        patterns.append(pattern)
    return patterns
