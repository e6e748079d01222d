"""robots.txt (RFC 9309): what a site asks robots to leave alone, and how fast it wants them."""

import re
from typing import Final
from urllib.parse import urlsplit

from protego import Protego

from ufo.transforms.sources.web.documents import TOO_MANY_REDIRECTS, FetchedPage

NAME: Final = "ufo"
"""By which rules are for us; the first word of our User-Agent."""
_USER_AGENT: Final = re.compile(r"\s*user(?:-|\s+)?agent[\s:]+(.*)", re.IGNORECASE)
MOST_BYTES: Final = 500 * 1024  # RFC 9309, 2.5: what a robot has to read at least


def address(url: str) -> str:
    """Return where the rules for a URL are."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}/robots.txt"


class Rules:
    """What one site allows."""

    def __init__(self, parsed: Protego | None, everything: bool = True) -> None:
        """Without a parsed file, everything or nothing."""
        self._parsed = parsed
        self._everything = everything

    def allow(self, url: str) -> bool:
        """Return whether we may ask for a URL."""
        return self._everything if self._parsed is None else self._parsed.can_fetch(url, NAME)

    @property
    def crawl_delay(self) -> float | None:
        """Seconds that the site wants between two requests, where it says so."""
        return None if self._parsed is None else self._parsed.crawl_delay(NAME)


def _few_robots(line: str) -> str:
    """Return the line with one name in place of every robot that is not this one.

    Protego keeps the rules of a group once for each robot, so that a file of thousands of robots
    and rules would take minutes and gigabytes.
    """
    found = _USER_AGENT.match(line)
    robot = found and found[1].partition("#")[0].strip().lower()
    if not robot:
        return line
    robot = robot.replace("*", "") or "*"  # as Protego reads it
    return f"User-agent: {robot if robot == '*' or NAME.startswith(robot) else '-'}"


def rules_of(page: FetchedPage) -> Rules:
    """Return the rules in a robots.txt that was fetched, or tried to.

    A site that has none (any 4xx, or redirects without end) allows everything; one that cannot
    tell (5xx, no reply) allows nothing for now (RFC 9309, 2.3.1).
    """
    if page.reason is None:
        # Always UTF-8, by the RFC; other lines than rules are ignored.
        lines = page.body.decode("utf-8-sig", "replace").splitlines()
        return Rules(Protego.parse("\n".join(map(_few_robots, lines))))
    none = 400 <= page.status < 500 or page.reason == TOO_MANY_REDIRECTS
    return Rules(None, everything=none)
