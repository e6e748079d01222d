"""Documents that were made to take long, much memory, or whoever reads them down."""

import zlib

from tests.local_web.pages import Reply, html

_HTML = {"content-type": "text/html"}


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
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R"
        b" /Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream" % (len(stream), stream),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    out = bytearray(b"%PDF-1.4\n")
    offsets = []
    for number, content in enumerate(objects, 1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    at = len(out)
    out += b"xref\n0 6\n0000000000 65535 f \n" + table
    return bytes(out) + b"trailer\n<< /Size 6 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % at


def hostile() -> dict[str, tuple[Reply, set[str | None]]]:
    """Return by path what it answers, and the reasons that may stand for it; None for a text."""
    # The last of these is a path, where a scheme without `//` is read as that of the page.
    lost: set[str | None] = {"refused_address", "http_404"}
    moved = {
        f"/to-{n}": (Reply(b"", 302, {"location": to}), lost)
        for n, to in enumerate(["javascript:void(0)", "data:text/html,x", "http:host/x"])
    }
    said: dict[str, tuple[Reply, set[str | None]]] = {
        f"/in-{name}": (
            Reply(html("Tower", ["The tower is 31 metres high."] * 20), 200, _declared(name)),
            {None},
        )
        for name in ("undefined", "idna", "punycode")
    }
    return {
        **moved,
        **said,
        "/attributes": (Reply(attributes(), 200, _HTML), {"too_many_elements"}),
        "/links": (Reply(links(), 200, _HTML), {"too_many_elements"}),
        "/slow.pdf": (
            Reply(slow_pdf(), 200, {"content-type": "application/pdf"}),
            {"too_slow", "too_much_memory", "unreadable", "unreadable_pdf"},
        ),
    }


def _declared(charset: str) -> dict[str, str]:
    return {"content-type": f"text/html; charset={charset}"}
