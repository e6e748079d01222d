"""Pages as they come from the web, for tests."""

from ufo.transforms.sources.web.documents import FetchedPage

RETRIEVED = "2026-03-01T12:00:00+00:00"
PARAGRAPHS = (
    "Lake Veyra lies in the north of the province, at a height of 1,204 metres above the sea. "
    "It is the deepest lake of the region, and reaches 214 metres near its eastern shore.",
    "The first survey of the lake was made in 1887 by the engineer Marta Olsen, who measured its "
    "depth with a line of hemp. Her map is kept in the town hall of Brannick.",
    "Since 1974 the lake has been a nature reserve. Boats with engines are forbidden, and the "
    "number of visitors a day is limited to four hundred in summer.",
)
ARTICLE = "".join(f"<p>{paragraph}</p>" for paragraph in PARAGRAPHS)


def html(body: str = ARTICLE, head: str = "<title>Lake Veyra</title>", around: str = "") -> str:
    """A page with an article, and what stands around it."""
    return (
        f'<!DOCTYPE html><html lang="en"><head>{head}</head><body>{around}'
        f"<main><article><h1>Lake Veyra</h1>{body}</article></main></body></html>"
    )


def fetched(
    body: str | bytes,
    content_type: str = "text/html",
    charset: str | None = None,
    url: str = "https://lakes.example/veyra",
    reason: str | None = None,
) -> FetchedPage:
    """A page as `fetch` gives it."""
    raw = body.encode() if isinstance(body, str) else body
    return FetchedPage(url, url, 200, content_type, raw, charset, RETRIEVED, reason)


def pdf(*pages: str, title: str = "Lakes", created: str = "D:20240517093000Z") -> bytes:
    """A PDF of a page for each text, a line of the page for each of its lines."""
    kids = " ".join(f"{4 + 2 * n} 0 R" for n in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    for n, text in enumerate(pages):
        shown = " ".join(f"({line}) Tj T*" for line in text.split("\n"))
        stream = f"BT /F1 12 Tf 14 TL 50 750 Td {shown} ET" if text else ""
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents {5 + 2 * n} 0 R"
            " /Resources << /Font << /F1 3 0 R >> >> >>"
        )
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
    objects.append(f"<< /Title ({title}) /CreationDate ({created}) >>")
    out = b"%PDF-1.4\n"
    places = []
    for number, content in enumerate(objects, 1):
        places.append(len(out))
        out += f"{number} 0 obj\n{content}\nendobj\n".encode("latin-1")
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    size = len(objects) + 1
    trailer = f"trailer\n<< /Size {size} /Root 1 0 R /Info {len(objects)} 0 R >>"
    return out + (
        f"xref\n0 {size}\n0000000000 65535 f \n{table}{trailer}\nstartxref\n{len(out)}\n%%EOF"
    ).encode("latin-1")
