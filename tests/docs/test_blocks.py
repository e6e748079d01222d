"""What the tests of pages take for a block, for a command, and for the same output."""

import pytest

from tests.docs.blocks import Block, agrees, blocks, run, with_outputs

PAGE = """A text.

```python
x = 3
```

```python
print(x)
```

```
4
```

```json
{}
```

```sh
export A=b
ufo report --list  # all
```

It prints:

```
nothing
```
"""


def test_a_block_is_run_and_what_follows_it_is_what_it_prints() -> None:
    in_page = list(blocks(PAGE))
    assert [(block.language, block.shown) for block in in_page] == [
        ("python", None), ("python", "4\n"), ("sh", None),
    ]  # fmt: skip
    names: dict[str, object] = {}
    first, second, listed = [run(block, names) for block in in_page]
    assert (first, second) == ("", "3\n")
    assert "correlations" in listed
    assert with_outputs(PAGE, {in_page[1].start: second}) == PAGE.replace("4\n", "3\n")


def test_a_command_that_fails_says_what_it_said() -> None:
    with pytest.raises(AssertionError, match="unknown format"):
        run(Block("sh", 'ufo import nothing \\\n  "a\nb"\n', None), {})


@pytest.mark.parametrize(
    ("shown", "same"),
    [
        ("a\nb\nc\n", True),
        ("a\nb\n", False),
        ("a\n…\n", True),
        ("…\nb\n…\n", True),
        ("…\nc\n", True),
        ("a\n…\nc\n…\n", True),
        ("…\nd\n…\n", False),
    ],
)
def test_an_ellipsis_stands_for_any_lines(shown: str, same: bool) -> None:
    assert agrees("a\nb\nc\n", shown) == same
