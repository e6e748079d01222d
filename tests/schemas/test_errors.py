import pickle

import pytest

from ufo.schemas import errors
from ufo.schemas.errors import UfoError, unknown_value

TREE = [
    kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, UfoError)
]


@pytest.mark.parametrize("kind", TREE)
def test_errors_travel_between_processes(kind: type[UfoError]) -> None:
    back = pickle.loads(pickle.dumps(kind("what is wrong, and the remedy")))
    assert type(back) is kind
    assert back.message == str(back) == "what is wrong, and the remedy"
    assert back.exit_code == kind.exit_code


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("UsageError", 2),
        ("SourceUnavailable", 2),
        ("PluginError", 2),
        ("IndexUnusable", 2),
        ("RunError", 1),
        ("Interrupted", 1),
        ("CostCapped", 4),
    ],
)
def test_exit_codes(name: str, code: int) -> None:
    assert getattr(errors, name).exit_code == code


def test_an_unknown_value_is_reported_the_allowed_ones_and_the_nearest() -> None:
    message = unknown_value("mode", "sec", ["seq", "mv"])
    assert message == "unknown mode 'sec'; allowed: seq, mv. Did you mean 'seq'?"
    assert "Did you mean" not in unknown_value("mode", "xyzzy", ["seq", "mv"])
