"""Where runs are found, and what is said of one that is not there: the folder to give instead."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import rows_of, write_run
from ufo.schemas.errors import UsageError
from ufo.schemas.run_folders import RunNotFound, choose_runs, runs_below, why_not_found


def write(folder: Path, name: str) -> None:
    write_run(folder, rows_of({}), name)


def begin(folder: Path, name: str) -> None:
    (folder / f"run={name}" / ".attempt-0a").mkdir(parents=True)


@pytest.fixture(name="tree")
def _tree(tmp_path: Path) -> Path:
    """A run in the folder itself, and runs in folders below it, one of which is not finished."""
    write(tmp_path, "own")
    write(tmp_path / "examples", "alder")
    write(tmp_path / "examples", "birch")
    begin(tmp_path / "examples", "maple")
    write(tmp_path / "team" / "deep", "cedar")
    write(tmp_path / ".hidden", "oak")
    write(tmp_path / "run=own", "inner")
    (tmp_path / "run=empty").mkdir()
    (tmp_path / "examples" / "up").symlink_to(tmp_path)
    return tmp_path


def as_path(folder: Path) -> str:
    return str(folder)


def as_address(folder: Path) -> str:
    return f"file://{folder}"


@pytest.mark.parametrize("named", [as_path, as_address])
def test_runs_of_a_folder_and_of_those_below_it(tree: Path, named: Callable[[Path], str]) -> None:
    runs = [
        (run.directory.rpartition(str(tree))[2], run.name, run.finished)
        for run in runs_below(named(tree))
        if run.name != "maple"  # a remote folder without a file is none
    ]
    assert runs == [
        ("", "own", True),
        ("/examples", "alder", True),
        ("/examples", "birch", True),
        ("/team/deep", "cedar", True),
    ]


def test_an_attempt_is_a_run_that_is_not_finished(tree: Path) -> None:
    assert [run.name for run in runs_below(str(tree)) if not run.finished] == ["maple"]


def test_a_link_to_a_run_is_a_run(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "run=linked").symlink_to(tree / "run=own")
    assert [run.name for run in runs_below(str(elsewhere))] == ["linked"]
    assert [run.name for run in choose_runs(elsewhere)] == ["linked"]


def test_a_message_looks_into_no_more_folders_than_it_is_told(tree: Path) -> None:
    assert [run.name for run in runs_below(str(tree), 1)] == ["own"]


@pytest.mark.parametrize(
    ("folder", "names", "message"),
    [
        pytest.param(
            "", ["alder"],
            "run 'alder' is not in 'DIR' itself but in 'DIR/examples': give that folder instead of "
            "'DIR'.",
            id="one that is below",
        ),
        pytest.param(
            "", ["alder", "birch"],
            "runs 'alder' and 'birch' are not in 'DIR' itself but in 'DIR/examples': give that "
            "folder instead of 'DIR'.",
            id="two in one folder below",
        ),
        pytest.param(
            "", ["alder", "cedar"],
            "run 'alder' is in 'DIR/examples', run 'cedar' is in 'DIR/team/deep'; give runs of "
            "one folder, or move the folder 'run=NAME' of one to the other's.",
            id="two in two folders",
        ),
        pytest.param(
            "", ["own", "cedar"],
            "run 'own' is in 'DIR', run 'cedar' is in 'DIR/team/deep'; give runs of one folder, or "
            "move the folder 'run=NAME' of one to the other's.",
            id="one here and one below",
        ),
        pytest.param(
            "", ["ownn"],
            "unknown run 'ownn'; allowed: own. Did you mean 'own'? Only finished runs can "
            "be read.",
            id="nearly one that is here",
        ),
        pytest.param(
            "", ["own", "ceder"],
            "unknown run 'ceder'; allowed: own. Did you mean 'cedar' in 'DIR/team/deep'? "
            "Only finished runs can be read.",
            id="nearly one that is below",
        ),
        pytest.param(
            "", ["x"],
            "unknown run 'x'; allowed: own. Only finished runs can be read. The folders below "
            "have 3 more runs: 'ufo status DIR' lists them.",
            id="one that is nowhere",
        ),
        pytest.param(
            "team", ["x"],
            "unknown run 'x'; there is no finished run in 'DIR/team'. Only finished runs can be "
            "read. The folders below have 1 more run: 'ufo status DIR/team' lists them.",
            id="one that is nowhere, and there is none here",
        ),
        pytest.param(
            "examples", ["maple"],
            "run 'maple' in 'DIR/examples' is not finished, and only finished runs can be read; "
            "'ufo status DIR/examples' shows how far it is, and the command that completes it.",
            id="one that is not finished",
        ),
        pytest.param(
            "team", [],
            "no finished run in 'DIR/team' itself, but in folders below it; give one of them: "
            "DIR/team/deep (cedar).",
            id="any, and there is one below",
        ),
        pytest.param(
            "run=empty", ["x"],
            "'DIR/run=empty' is the folder of one run; give its parent, and --run empty.",
            id="one in the folder of a run",
        ),
    ],
)  # fmt: skip
def test_what_is_said_of_a_run_that_is_not_there(
    tree: Path, folder: str, names: list[str], message: str
) -> None:
    assert why_not_found(str(tree / folder), names).replace(str(tree), "DIR") == message


def test_of_many_runs_the_first_are_named(tmp_path: Path) -> None:
    for at in range(23):
        write(tmp_path, f"r{at:02d}")
    with pytest.raises(RunNotFound, match=r"allowed: r00, .*, r19 and 3 more\. Only"):
        choose_runs(tmp_path, "other")


def test_a_run_that_is_not_there_is_a_wrong_usage() -> None:
    assert issubclass(RunNotFound, UsageError)
