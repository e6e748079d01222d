"""Errors and their remedies: exit codes, and a lack of memory."""

import pickle

import pytest

from ufo.schemas import errors
from ufo.schemas.errors import UsageError, unknown_value

CODES = {"UsageError": 2, "SourceUnavailable": 2, "PluginError": 2, "IndexUnusable": 2}
CODES |= {"UfoError": 1, "RunError": 1, "Interrupted": 1, "CostCapped": 4, "BatchesUnderWay": 5}
CODES |= {"NothingUsable": 1, "NothingToEvaluate": 1, "InputChanged": 2, "DoesNotFit": 2}
ERRORS = [kind for kind in vars(errors).values() if isinstance(kind, type)]
TREE = [kind for kind in ERRORS if issubclass(kind, errors.UfoError)]


@pytest.mark.parametrize("kind", TREE, ids=lambda kind: kind.__name__)
def test_an_error_travels_between_processes(kind: type[errors.UfoError]) -> None:
    back = pickle.loads(pickle.dumps(kind("what is wrong, and the remedy")))
    assert type(back) is kind
    assert back.message == "what is wrong, and the remedy"
    assert str(back) == "what is wrong, and the remedy"


def test_every_error_has_its_exit_code() -> None:
    assert {kind.__name__: kind.exit_code for kind in TREE} == CODES


def test_exit_codes_are_a_contract() -> None:
    names = ("DONE", "FAILED", "USAGE", "BELOW", "CAPPED", "WAITING")
    assert [getattr(errors, f"EXIT_{name}") for name in names] == [0, 1, 2, 3, 4, 5]


LACKING = [
    MemoryError(),
    OSError("realloc failed"),
    ImportError("x: failed to map segment from"),
    OSError("Cannot allocate memory"),
    RuntimeError("std::bad_alloc"),
    RuntimeError("bad alloc"),
    RuntimeError("out of memory"),
    AssertionError("not enough memory"),
    SystemError("bad-alloc"),
    RuntimeError("failed to allocate 3"),
    RuntimeError("Unable to allocate 3 GiB"),
    RuntimeError("can't start new thread"),
]


OTHERS = ValueError("out of memory"), OSError("no such file"), RuntimeError("the memory is fine")


@pytest.mark.parametrize("error", [*LACKING, *OTHERS], ids=str)
def test_a_lack_of_memory_is_one_whatever_tells_of_it(error: Exception) -> None:
    assert errors.lacks_memory(error) is (error in LACKING)
    assert errors.ends_run(error) is (error in LACKING)


def test_what_ends_a_run_would_occur_for_every_response() -> None:
    class Final(Exception):
        final = True

    assert errors.ends_run(UsageError("x"))
    assert errors.ends_run(errors.RunError("x"))
    assert errors.ends_run(Final())
    assert not errors.ends_run(KeyError("x"))


def test_an_unknown_value_is_reported_the_allowed_ones_and_the_nearest() -> None:
    message = unknown_value("mode", "sec", ["seq", "mv"])
    assert message == "unknown mode 'sec'; allowed: seq, mv. Did you mean 'seq'?"
    assert unknown_value("mode", "mx", ["seq", "mv"]).endswith(" Did you mean 'mv'?")
    assert "Did you mean" not in unknown_value("mode", "xyzzy", ["seq", "mv"])
