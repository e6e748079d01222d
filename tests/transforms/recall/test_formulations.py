import pytest

from ufo.schemas.errors import UsageError
from ufo.transforms.recall.formulations import DEFAULT, KNOWN, canonical


def test_names_are_written_one_way_and_each_comes_once() -> None:
    assert canonical(["T/F/N+citation", "tfn+citation", "prompt", "tf+xml+citation"]) == (
        "tfn+citation",
        "prompt",
        "tf+citation+xml",
    )
    assert canonical(KNOWN) == KNOWN
    assert canonical(DEFAULT, "xml") == (
        "prompt",
        *("tf+xml", "tf+citation+xml", "tfn+xml", "tfn+citation+xml"),
    )


@pytest.mark.parametrize(
    "name", ["", "function", "prompt+citation", "prompt+xml", "tf+", "tf+cite"]
)
def test_other_names_are_refused_with_those_there_are(name: str) -> None:
    with pytest.raises(UsageError, match=r"unknown formulation .* allowed: prompt, tf, "):
        canonical([name])
