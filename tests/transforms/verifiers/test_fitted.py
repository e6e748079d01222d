"""A verifier with a refitted last layer: what it answers, its folder, and when it refuses."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ufo.schemas.errors import UsageError
from ufo.transforms.verifiers.base import Head, Pair
from ufo.transforms.verifiers.fitted import (
    Fit,
    FittedVerifier,
    is_fitted,
    read_fit,
    write_fit,
)
from ufo.transforms.verifiers.registry import content_of, make_verifier

CODE = '''
import numpy as np
from ufo.transforms.verifiers.base import Head, Probabilities, Verifier

class Counting(Verifier):
    """Reads how long claim, passage and title are."""

    reason = None

    def unavailable(self):
        return self.reason

    def open(self):
        self.is_open = True

    def close(self):
        self.is_open = False

    def vectors(self, pairs):
        assert self.is_open
        return np.array([[len(text) / 10 for text in pair] for pair in pairs], dtype=np.float32)

    def settled(self, pairs):
        return [Probabilities(0.1, 0.2, 0.7) if pair.passage == "D" else None for pair in pairs]

    def head(self):
        return Head(np.eye(3, dtype=np.float32), np.zeros(3, dtype=np.float32))
'''
HEAD = Head(
    np.arange(9, dtype=np.float32).reshape(3, 3) / np.float32(7),
    np.array([0.1, -0.2, 0.3], dtype=np.float32),
)
TRAINED = {
    "run": "r1",
    "n_claims": 1200,
    "gains": {"balanced_accuracy": {"after": 0.75, "after_low": 0.7, "after_high": 0.8}},
}
PAIRS = [Pair("A claim.", "A passage.", "Title"), Pair("B.", "Another passage."), Pair("C", "D")]


@pytest.fixture(name="base")
def _base(tmp_path: Path) -> str:
    (tmp_path / "counting.py").write_text(CODE)
    return f"{tmp_path}/counting.py:Counting"


@pytest.fixture(name="folder")
def _folder(tmp_path: Path, base: str) -> Path:
    write_fit(tmp_path / "mine", Fit(base, content_of(base), HEAD, TRAINED), "# mine\n")
    return tmp_path / "mine"


def test_a_folder_gives_the_verifier_that_was_written(folder: Path, base: str) -> None:
    below: Any = make_verifier(base)
    below.open()
    fitted = make_verifier(str(folder))
    fitted.open()
    assert fitted.name == "mine"
    assert np.array_equal(fitted.vectors(PAIRS), below.vectors(PAIRS))
    assert fitted.predict(PAIRS[:2]) == HEAD.probabilities(below.vectors(PAIRS[:2]))
    assert fitted.predict(PAIRS)[:2] != below.predict(PAIRS)[:2]
    assert np.array_equal(fitted.head().weights, HEAD.weights)
    assert (folder / "card.md").read_text() == "# mine\n"
    assert sorted(path.name for path in folder.iterdir()) == ["card.md", "verifier.json"]


def test_a_pair_is_judged_the_same_in_any_company(folder: Path) -> None:
    fitted = make_verifier(str(folder))
    fitted.open()
    together = fitted.predict(PAIRS)
    assert [fitted.predict([pair])[0] for pair in PAIRS] == together
    assert fitted.predict(PAIRS[::-1]) == together[::-1]
    assert fitted.predict([]) == []


def test_what_the_one_below_answers_without_a_last_layer_stays(folder: Path) -> None:
    fitted = make_verifier(str(folder))
    fitted.open()
    assert fitted.predict(PAIRS)[2] == (0.1, 0.2, 0.7)
    assert fitted.predict(PAIRS[2:]) == [(0.1, 0.2, 0.7)]


def test_it_is_opened_and_closed_with_the_one_below(base: str) -> None:
    below: Any = make_verifier(base)
    fitted = FittedVerifier("mine", below, Fit(base, "", HEAD, TRAINED))
    fitted.open()
    assert below.is_open
    fitted.close()
    assert not below.is_open
    below.reason = "no model is here"
    assert fitted.unavailable() == "no model is here"


def test_a_folder_of_another_verifier_is_none_of_ours(folder: Path) -> None:
    assert is_fitted(folder)
    (folder / "verifier.json").write_text('{"weights": []}')
    assert not is_fitted(folder)
    assert not is_fitted(folder / "nowhere")


def test_it_says_how_often_it_agreed_with_the_labels(folder: Path) -> None:
    assert make_verifier(str(folder)).accuracy() == (
        "balanced accuracy 0.75 (0.70 to 0.80) on 1,200 claims that were labelled for it, of run r1"
    )


def test_its_fingerprint_is_that_of_both_layers(base: str) -> None:
    def fingerprint(checksum: str, head: Head) -> str:
        return FittedVerifier("", make_verifier(base), Fit(base, checksum, head, {})).fingerprint()

    other = Head(HEAD.weights, HEAD.bias + 1)
    found = [fingerprint("a", HEAD), fingerprint("b", HEAD), fingerprint("a", other)]
    assert len(set(found)) == 3
    assert found[0] == fingerprint("a", Head(HEAD.weights.copy(), HEAD.bias.copy()))


def test_it_is_refused_where_the_one_below_has_changed(folder: Path, base: str) -> None:
    path = folder.parent / "counting.py"
    path.write_text(path.read_text() + "\n# another version\n")
    with pytest.raises(UsageError) as raised:
        make_verifier(str(folder))
    assert f"--verifier {base} --output {folder}" in raised.value.message
    assert "fit it again" in raised.value.message


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": 2}, "has the format 2, and this version of ufo reads 1"),
        ({"weights": [[1], [2]]}, "of the shapes (2, 1) and (3,)"),
        ({"weights": "many"}, "cannot be read: ValueError"),
        ({"bias": None}, "of the shapes (3, 3) and ()"),
    ],
)
def test_a_folder_that_cannot_be_used_says_why(
    folder: Path, change: dict[str, Any], message: str
) -> None:
    path = folder / "verifier.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(UsageError, match=re.escape(message)):
        read_fit(folder)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": 1}'])
def test_a_damaged_file_is_a_usage_error(folder: Path, text: str) -> None:
    (folder / "verifier.json").write_text(text)
    with pytest.raises(UsageError, match="write it again: ufo judges fit"):
        read_fit(folder)
