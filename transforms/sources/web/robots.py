"""Read the rules of a robots.txt (RFC 9309)."""

import re
from typing import Final

from protego import Protego

from ufo.transforms.sources.web import documents as reasons
from ufo.transforms.sources.web.documents import FetchedPage
from ufo.transforms.sources.web.transport import (
    ROBOT,
)

_USER_AGENT: Final = re.compile(r"\s*user(?:-|\s+)?agent[\s:]+(.*)", re.IGNORECASE)


def rules_of(page: FetchedPage) -> Protego | FetchedPage:
    """Return the rules of a robots.txt; the page itself if there was no reply.

    A site without a robots.txt (any 4xx, or endless redirects) allows everything. A site that
    cannot answer (5xx) allows nothing for now (RFC 9309, 2.3.1).
    """
    rules = "User-agent: *\nDisallow: /"
    if page.reason is None:
        # Always UTF-8, by the RFC; other lines than rules are ignored.
        lines = page.body.decode("utf-8-sig", "replace").splitlines()
        rules = "\n".join(map(_few_robots, lines))
    elif page.reason == reasons.TOO_MANY_REDIRECTS or 400 <= page.status < 500:
        rules = ""
    elif not page.status:
        return page
    return Protego.parse(rules)


def _few_robots(line: str) -> str:
    """Return a line with "-" in place of the name of any other robot.

    Protego stores the rules of a group once for each robot. A file with thousands of robots and
    rules would take minutes and gigabytes.
    """
    match = _USER_AGENT.match(line)
    robot = match and match[1].partition("#")[0].strip().lower()
    if not robot:
        return line
    robot = robot.replace("*", "") or "*"  # as Protego reads it
    return f"User-agent: {robot if robot == '*' or ROBOT.startswith(robot) else '-'}"
