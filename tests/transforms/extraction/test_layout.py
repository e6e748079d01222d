from hypothesis import given
from hypothesis import strategies as st

from ufo.transforms.extraction.markdown import LayoutBlock, layout

TEXT = """# Marie *Curie* #
Born in 1867,
she was **great** with `code_x`, 2*3*4 and snake_case, [a **b**](https://x.y/z_(q)) \\* end.

| A | B **b** |
|---|---|
| 1 | x \\| y |

- one
  - two ***both***
1. three
> quoted *text*

---
```py
x = *1*
```
Title
===
**bold**text *args, **kwargs <https://a.b>"""


def shown(text: str, block: LayoutBlock) -> list[list[tuple[str, str]]]:
    return [[(text[one.start : one.end], one.style) for one in cell] for cell in block.cells]


def test_markdown_is_shown_as_read() -> None:
    found = layout(TEXT)
    assert [(one.kind, one.level, one.marker) for one in found] == [
        ("heading", 1, ""),
        ("paragraph", 0, ""),
        ("row", 0, ""),
        ("row", 0, ""),
        ("item", 0, "•"),
        ("item", 1, "•"),
        ("item", 0, "1."),
        ("quote", 0, ""),
        ("rule", 0, ""),
        ("code", 0, ""),
        ("heading", 1, ""),
        ("paragraph", 0, ""),
    ]
    assert [one.head for one in found if one.kind == "row"] == [True, False]
    assert shown(TEXT, found[0]) == [[("Marie ", ""), ("Curie", "em")]]
    assert shown(TEXT, found[1]) == [
        [
            ("Born in 1867,\nshe was ", ""),
            ("great", "strong"),
            (" with ", ""),
            ("code_x", "code"),
            (", 2*3*4 and snake_case, ", ""),
            ("a ", "link"),
            ("b", "link"),
            (" ", ""),
            ("*", ""),
            (" end.", ""),
        ]
    ]
    assert ["".join(words for words, _ in cell) for cell in shown(TEXT, found[3])] == ["1", "x | y"]
    assert shown(TEXT, found[5]) == [[("two ", ""), ("both", "strong em")]]
    assert shown(TEXT, found[9]) == [[("x = *1*", "code")]]
    assert shown(TEXT, found[11])[0] == [
        ("bold", "strong"),
        ("text *args, **kwargs ", ""),
        ("https://a.b", "link"),
    ]


WORDS = st.text("ab1 .,\n*_`|#>-\\[](){}~=\t\r", max_size=60)


@given(st.one_of(WORDS, st.lists(st.sampled_from(TEXT.split(" "))).map(" ".join)))
def test_pieces_are_in_order_and_lose_no_word(text: str) -> None:
    at, covered = 0, 0
    for block in layout(text):
        assert block.kind == "row" or len(block.cells) <= 1
        covered += sum(map(str.isalnum, block.marker))
        for one in (piece for cell in block.cells for piece in cell):
            assert at <= one.start < one.end <= len(text)
            covered += sum(map(str.isalnum, text[one.start : one.end]))
            at = one.end
    if "://" not in text and "```" not in text and "~~~" not in text and "](" not in text:
        assert covered == sum(map(str.isalnum, text))


@given(
    st.lists(st.from_regex(r"[a-d]{2,6}([ \n][a-d][a-d1,.]{1,5}){0,4}", fullmatch=True), min_size=1)
)
def test_a_plain_text_is_shown_whole(paragraphs: list[str]) -> None:
    text = "\n\n".join(paragraphs)
    assert [shown(text, one) for one in layout(text)] == [[[(one, "")]] for one in paragraphs]
