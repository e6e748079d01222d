"""The smallest PDF with a text: a font, a page for each list of lines."""

from collections.abc import Sequence


def pdf(title: str, *pages: Sequence[str], created: str = "20240517093000Z") -> bytes:
    """Return a PDF 1.4 file; texts are Latin-1."""
    streams = []
    for lines in pages:
        shown = "\n".join(f"({_escaped(line)}) Tj T*" for line in lines)
        streams.append(f"BT /F1 12 Tf 14 TL 72 760 Td\n{shown}\nET".encode("latin-1"))
    return written(streams, f"/Title ({_escaped(title)}) /CreationDate (D:{created})")


def written(streams: Sequence[bytes], info: str = "", coding: bytes = b"") -> bytes:
    """Return a file of a page for each stream."""
    kids = b" ".join(b"%d 0 R" % (5 + 2 * n) for n in range(len(streams)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [%s] /Count %d >>" % (kids, len(streams)),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        f"<< {info} >>".encode("latin-1"),
    ]
    for n, stream in enumerate(streams):
        objects += [
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents %d 0 R"
            b" /Resources << /Font << /F1 3 0 R >> >> >>" % (6 + 2 * n),
            b"<< /Length %d%s >>\nstream\n%s\nendstream" % (len(stream), coding, stream),
        ]
    out, table = b"%PDF-1.4\n", b"0000000000 65535 f \n"
    for number, content in enumerate(objects, 1):
        table += b"%010d 00000 n \n" % len(out)
        out += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    size = len(objects) + 1
    trailer = b"trailer\n<< /Size %d /Root 1 0 R /Info 4 0 R >>\nstartxref\n" % size
    return out + b"xref\n0 %d\n%s%s%d\n%%%%EOF\n" % (size, table, trailer, len(out))


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")
