"""Find the category of a web host by rules, as in Facts&Evidence: news, government and so on.

`host_categories.yaml` has the categories of well-known hosts.
"""

from functools import cache
from importlib import resources

import yaml

from ufo.schemas.text import host_named, host_of

_SECOND_LEVELS = ("ac", "co", "com", "edu", "gov", "ne", "net", "or", "org")  # as in co.uk


@cache
def _rules() -> dict[str, dict[str, str]]:
    """Return the category of each entry of `host_categories.yaml`, by the kind of its list."""
    rules: dict[str, dict[str, str]] = {"domains": {}, "suffixes": {}, "subdomains": {}}
    file = resources.files(__package__) / "host_categories.yaml"
    for category, lists in yaml.safe_load(file.read_text("utf-8")).items():
        for shape, entries in lists.items():
            rules[shape] |= dict.fromkeys(entries, category)
    return rules


def category_of(hostname: str) -> str | None:
    """Return the category of a hostname, or None without a rule.

    An address (127.0.0.1) or a name of this machine has none.
    """
    host = host_named(hostname).removeprefix("www.")
    if not is_public_name(host):
        return None
    rules, parts = _rules(), host.split(".")
    endings = [".".join(parts[start:]) for start in range(len(parts))]
    of_country = len(parts) > 2 and parts[-2] in _SECOND_LEVELS and len(parts[-1]) == 2
    domains = [*endings, f"{parts[-3 if of_country else -2]}.*"]
    # "gov.??" matches every country.
    suffixes = [*endings, f"{parts[-2]}.??" if len(parts[-1]) == 2 else ""]
    known = [rules["domains"].get(one) for one in domains]
    known += [rules["suffixes"].get(one) for one in suffixes]
    if len(parts) > 2:
        known.append(rules["subdomains"].get(parts[0]))
    return next(filter(None, known), None)


def is_public_name(host: str) -> bool:
    """Return whether a name can be a public host's: it is no address, and not "localhost"."""
    return "." in host and not host.rsplit(".", 1)[1].isdigit()


def hostname_of(url: str | None) -> str:
    """Return the hostname of a URL without `www.`; "" where it has none."""
    return host_of(url).removeprefix("www.")
