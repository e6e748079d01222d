"""Documents that were made to take long, much memory, or whoever reads them down."""

import zlib

from tests.local_web.pages import HTML, Reply, html
from tests.local_web.pdf import written


def attributes(count: int = 20_000) -> bytes:
    """One tag with so many attributes: to read it takes time that grows with their square."""
    named = b" ".join(b"a%d=1" % n for n in range(count))
    return b"<html><body><p " + named + b">x</p></body></html>"


def links(count: int = 500_000) -> bytes:
    """A page of so many links."""
    return b"<html><body>" + b"<a href=x>y</a>" * count + b"</body></html>"


def slow_pdf(shown: int = 2_500_000) -> bytes:
    """A PDF of some kilobytes, whose one page shows so many texts."""
    stream = zlib.compress(b"BT /F1 12 Tf " + b"(a) Tj T* " * shown + b"ET", 9)
    return written([stream], coding=b" /Filter /FlateDecode")


def hostile() -> dict[str, tuple[Reply, set[str | None]]]:
    """Return by path what it answers, and the reasons that may stand for it; None for a text."""
    # The last of these is a path, where a scheme without `//` is read as that of the page.
    moves = ["javascript:void(0)", "data:text/html,x", "http:host/x"]
    tower = html("Tower", ["The tower is 31 metres high."] * 20)
    slow: set[str | None] = {"too_slow", "too_much_memory", "unreadable", "unreadable_pdf"}
    replies: dict[str, tuple[Reply, set[str | None]]] = {
        "/attributes": (Reply(attributes(), 200, HTML), {"too_many_elements"}),
        "/links": (Reply(links(), 200, HTML), {"too_many_elements"}),
        "/slow.pdf": (Reply(slow_pdf(), 200, {"content-type": "application/pdf"}), slow),
    }
    for n, to in enumerate(moves):
        replies[f"/to-{n}"] = Reply(b"", 302, {"location": to}), {"refused_address", "http_404"}
    for name in ("undefined", "idna", "punycode"):
        headers = {"content-type": f"text/html; charset={name}"}
        replies[f"/in-{name}"] = Reply(tower, 200, headers), {None}
    return replies
