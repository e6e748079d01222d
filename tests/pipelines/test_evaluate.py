"""`ufo evaluate` whole: what it writes is a function of the input and the options alone."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from schemas.results import open_results

Ufo = Callable[..., Any]

CITIES = ["Oslo", "Lima", "Rome", "Cairo", "Quito", "Hanoi", "Bonn", "Perth"]
REFERENCE = "{0} is a large city. The river of {0} is long."


def records() -> list[dict[str, Any]]:
    """Twenty responses: claims that the reference, only the other source, or nobody knows."""
    found: list[dict[str, Any]] = []
    for number in range(20):
        city, other = CITIES[number % 8], CITIES[(number + 3) % 8]
        found.append(
            {
                "id": f"r{number}",
                "model": f"m{number % 2}",
                "response": f"{city} is a large city. {city} has 5 bridges. {other} was founded in "
                f"{900 + number % 4}. The trams of {other} are green.",
                "reference_answers": [REFERENCE.format(city)] if number % 3 else [],
                "label": number % 5 / 4,
                "metadata": {"n": number},
            }
        )
    return found


@pytest.fixture(scope="module")
def responses(tmp_path_factory: pytest.TempPathFactory, write_lines: Any) -> Path:
    path: Path = write_lines(
        tmp_path_factory.mktemp("input") / "in.jsonl",
        [*records()[:7], "not json", *records()[7:], records()[3]],
    )
    return path


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory, ufo: Ufo, write_lines: Any) -> Path:
    folder = tmp_path_factory.mktemp("index")
    text = "{0} has 5 bridges over its river. {0} was founded in 901. {0} has many parks."
    pages = [{"title": city, "text": text.format(city)} for city in CITIES]
    documents = write_lines(folder / "pages.jsonl", pages)
    assert ufo("index", "build", "--input", documents, "--output", folder / "index").code == 0
    return folder / "index"


@pytest.fixture(scope="module")
def evaluated(
    tmp_path_factory: pytest.TempPathFactory, ufo: Ufo, responses: Path, index: Path, tables: Any
) -> Callable[..., Any]:
    """Evaluates with some flags, each combination once; returns the folder and its tables."""
    known: dict[tuple[object, ...], tuple[Path, Any]] = {}

    def run(*flags: object) -> tuple[Path, Any]:
        if flags not in known:
            output = tmp_path_factory.mktemp("output")
            done = ufo(
                *("evaluate", "--input", responses, "--output", output, "--index", index),
                *("--sources", "reference,wikipedia", *flags),
            )
            assert done.code == 0, done.err
            known[flags] = output, tables(output)
        return known[flags]

    return run


def test_every_table_has_its_rows(evaluated: Any) -> None:
    _, found = evaluated("--workers", 1)
    assert len(found["responses"]) == 20
    assert len(found["fact_units"]) == len(found["verdicts"]) >= 60
    assert [(row[0], row[1], row[3]) for row in found["sources"]] == [
        (1, "reference", "used"),
        (2, "wikipedia", "used"),
    ]
    assert sorted(row[1] for row in found["failures"]) == ["in.jsonl:22", "in.jsonl:8"]
    deciders = {row[3] for row in found["verdicts"]}
    assert deciders == {"reference", "wikipedia", "none"}


@pytest.mark.parametrize(
    "flags",
    [
        ("--workers", 1, "--chunk_size", 7),
        ("--workers", 2, "--chunk_size", 6),
    ],
    ids=str,
)
def test_tables_are_equal_however_the_work_is_cut(evaluated: Any, flags: Any) -> None:
    _, expected = evaluated("--workers", 1)
    _, found = evaluated(*flags)
    assert found == expected


@pytest.mark.parametrize("tie", ["not_factual", "factual"])
@pytest.mark.parametrize("mode", ["seq", "mv", "all"])
def test_verdicts_recomputed_from_the_evidence_are_the_verdicts(
    evaluated: Any, mode: str, tie: str
) -> None:
    flags = () if (mode, tie) == ("seq", "not_factual") else ("--mode", mode, "--tie", tie)
    output, found = evaluated("--workers", 1, *flags)
    with open_results(output) as results:
        columns = results.query("SELECT * FROM verdicts LIMIT 0").column_names
        difference = " UNION ALL ".join(
            f"(SELECT {', '.join(columns)} FROM {one} EXCEPT ALL SELECT {', '.join(columns)} "
            f"FROM {other})"
            for one, other in (
                ("verdicts", "recomputed_verdicts"),
                ("recomputed_verdicts", "verdicts"),
            )
        )
        assert results.query(difference).num_rows == 0
    rows = {"seq": 1, "mv": 1, "all": 4}[mode]
    assert len(found["verdicts"]) == rows * len(found["fact_units"])


def test_single_asks_one_source_and_all_holds_what_each_mode_gives(
    evaluated: Any, ufo: Ufo, responses: Path, index: Path, tables: Any, tmp_path: Path
) -> None:
    alone = ("--sources", "wikipedia", "--index", index, "--mode", "single", "--workers", 1)
    assert ufo("evaluate", "--input", responses, "--output", tmp_path, *alone).code == 0
    with open_results(tmp_path) as results:
        columns = results.query("SELECT * EXCLUDE (run) FROM verdicts LIMIT 0").column_names
    at = {name: place for place, name in enumerate(columns)}
    everything = evaluated("--workers", 1, "--mode", "all", "--tie", "not_factual")[1]["verdicts"]
    for mode, expected in (
        ("single", tables(tmp_path)["verdicts"]),
        ("mv", evaluated("--workers", 1, "--mode", "mv", "--tie", "not_factual")[1]["verdicts"]),
        ("seq", evaluated("--workers", 1)[1]["verdicts"]),
    ):
        sources = {row[at["source"]] for row in expected} if mode == "single" else None
        rows = [
            row
            for row in everything
            if row[at["mode"]] == mode and (sources is None or row[at["source"]] in sources)
        ]
        assert rows == expected


def test_multi_seq_asks_a_later_source_only_what_is_open(evaluated: Any) -> None:
    _, found = evaluated("--workers", 1)
    decided = {row[1] for row in found["verdicts"] if row[3] == "reference"}
    asked = {row[1] for row in found["evidence"] if row[2] == "wikipedia"}
    units = {row[1] for row in found["fact_units"]}
    assert decided
    assert asked == units - decided
    assert {row[1] for row in found["evidence"] if row[2] == "reference"} == units


def test_each_passage_is_one_row_though_chunks_found_it_again(evaluated: Any) -> None:
    _, found = evaluated("--workers", 1, "--chunk_size", 7)
    ids = [row[-1] for row in found["passages"]]
    assert len(ids) == len(set(ids)) > 5
    cited = {row[3] for row in found["evidence"] if row[3]}
    assert cited == set(ids)


def test_plain_duckdb_over_the_folder_sees_what_our_readers_see(evaluated: Any) -> None:
    import duckdb

    output, found = evaluated("--workers", 1, "--chunk_size", 7)
    for table, rows in found.items():
        pattern = f"{output}/run=*/{table}/*.parquet"
        (count,) = duckdb.connect().execute(
            "SELECT count(*) FROM read_parquet(?)", [pattern]
        ).fetchone() or (None,)
        assert count == len(rows), table


def test_nothing_is_left_but_what_the_manifest_lists(evaluated: Any) -> None:
    output, found = evaluated("--workers", 2, "--chunk_size", 6)
    (folder,) = output.iterdir()
    manifest = json.loads((folder / "manifest.json").read_text())
    listed = {name for entry in manifest["tables"].values() for name in entry["files"]}
    present = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert present - {".lock"} == listed | {"manifest.json"}
    assert not list(folder.glob(".attempt-*"))
    for table, entry in manifest["tables"].items():
        assert entry["rows"] == len(found[table])
    assert manifest["counts"] == {
        "responses": 20,
        "units": len(found["fact_units"]),
        "failures": 2,
    }
    assert manifest["fingerprint"]["chunk_size"] == 6
    assert manifest["schema_version"] == 1


@pytest.mark.parametrize("kind", ["jsonl.gz", "parquet"])
def test_other_kinds_of_files_give_the_same_tables(
    evaluated: Any, tmp_path: Path, ufo: Ufo, tables: Any, index: Path, kind: str, responses: Path
) -> None:
    path = tmp_path / f"in.{kind}"
    if kind == "parquet":
        rows = [record | {"metadata": {"n": record["metadata"]["n"]}} for record in records()]
        pq.write_table(pa.Table.from_pylist(rows), path)
    else:
        path.write_bytes(gzip.compress(responses.read_bytes()))
    done = ufo(
        *("evaluate", "--input", path, "--output", tmp_path / "out", "--index", index),
        *("--sources", "reference,wikipedia", "--workers", 1),
    )
    assert done.code == 0, done.err
    _, expected = evaluated("--workers", 1)
    found = tables(tmp_path / "out")
    if kind == "jsonl.gz":
        keys = sorted(row[1] for row in found["failures"])
        assert keys == ["in.jsonl.gz:22", "in.jsonl.gz:8"]
    for table in expected.keys() - {"failures"}:
        assert found[table] == expected[table], table


def test_several_files_and_patterns(
    tmp_path: Path, ufo: Ufo, write_lines: Any, tables: Any
) -> None:
    folder = tmp_path / "with [brackets]"
    folder.mkdir()
    for name, ids in (("a-1", "ab"), ("a-2", "cd"), ("b", "e")):
        write_lines(
            folder / f"{name}.jsonl", [{"id": i, "response": "Hm.", "claims": []} for i in ids]
        )
    done = ufo(
        *("evaluate", "--input", folder / "b.jsonl", "--input", f"{tmp_path}/with*/a-*.jsonl"),
        *("--output", tmp_path / "o[u]t", "--sources", "reference", "--workers", 1),
        *("--chunk_size", 2),
    )
    assert done.code == 0, done.err
    assert [row[0] for row in tables(tmp_path / "o[u]t")["responses"]] == list("abcde")


def test_files_of_one_name_are_told_apart(tmp_path: Path, ufo: Ufo, write_lines: Any) -> None:
    paths = []
    for folder in ("x", "y"):
        (tmp_path / folder).mkdir()
        paths.append(write_lines(tmp_path / folder / "in.jsonl", ["nope"]))
    flags = ("--output", tmp_path / "out", "--sources", "reference")
    assert ufo("evaluate", "--input", *paths, *flags).code == 0
    with open_results(tmp_path / "out") as results:
        keys = results.query("SELECT key FROM failures ORDER BY key")["key"].to_pylist()
    assert keys == [f"{path}:1" for path in paths]


def test_the_summary_on_stdout_and_progress_on_stderr(
    ufo: Ufo, responses: Path, tmp_path: Path
) -> None:
    flags = ("--input", responses, "--output", tmp_path, "--sources", "reference", "--run", "one")
    done = ufo("evaluate", *flags, "--json")
    assert done.code == 0
    assert done.json.keys() >= {"run", "responses", "units", "failures", "factuality_score"}
    assert (done.json["run"], done.json["below"]) == ("one", False)
    assert done.json["path"] == f"{tmp_path}/run=one"
    assert 0 < done.json["factuality_score"] < 1
    assert "Judging offline" in done.err
    assert "responses" in done.err
    score = done.json["factuality_score"]
    plain = ufo("evaluate", *flags, "--if_finished", "skip", "--fail_under", score / 2)
    assert plain.code == 0
    assert f"factuality score {score:.3f}" in plain.out
    assert "left as it is" in plain.err
    below = ufo("evaluate", *flags, "--if_finished", "skip", "--fail_under", (score + 1) / 2)
    assert below.code == 3
    assert "--fail_under" in below.err


def test_a_flag_of_beam_is_taken(ufo_process: Ufo, responses: Path, tmp_path: Path) -> None:
    import subprocess
    import sys

    words = ["--input", str(responses), "--output", str(tmp_path), "--sources", "reference"]
    beam = ["--runner=DirectRunner", "--job_name=nightly", "--labels=team=a"]
    done = subprocess.run(
        [sys.executable, "-m", "pipelines.evaluate", *words, *beam, "--json"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["responses"] == 20
    wrong = ufo_process("evaluate", *words, "--job_nam=nightly")
    assert wrong.code == 2
    assert "--job_name" in wrong.err


def test_the_default_name_is_of_the_inputs_and_options_that_matter(
    ufo: Ufo, tmp_path: Path, write_lines: Any
) -> None:
    path = write_lines(tmp_path / "in.jsonl", [{"response": "Hm.", "claims": []}])

    def name(*flags: object) -> str:
        words = ("--input", path, "--output", tmp_path / "out", "--sources", "reference", "--json")
        return str(ufo("evaluate", *words, "--workers", 1, *flags).json["run"])

    first = name()
    assert name("--chunk_size", 7) == first
    assert name("--units", "sentence") != first
    assert name("--passages", 2) != first


class TestIfFinished:
    """What becomes of a run that is there already; one source fails while a file is there."""

    @pytest.fixture
    def run(self, tmp_path: Path, ufo: Ufo, recording: str, write_lines: Any) -> Callable[..., Any]:
        path = write_lines(
            tmp_path / "in.jsonl",
            [
                *({"id": c, "response": f"{c} is a large city."} for c in ("Rome", "Oslo", "Lima")),
                "not json",
            ],
        )
        config = tmp_path / "ufo.yaml"
        options = {"log": str(tmp_path / "log"), "fails": str(tmp_path / "down")}
        sources = [{"name": "mine", "type": recording, **options}]
        config.write_text(json.dumps({"sources": sources, "input": str(path), "run": "r"}))

        def evaluate(*flags: object) -> Any:
            (tmp_path / "log").write_text("")
            words = ("--config", config, "--output", tmp_path / "out", "--workers", 1, "--json")
            return ufo("evaluate", *words, *flags)

        return evaluate

    def asked(self, tmp_path: Path) -> list[str]:
        return sorted(line.split()[1] for line in (tmp_path / "log").read_text().splitlines())

    def test_skip_leaves_it(self, run: Any, tmp_path: Path, tables: Any) -> None:
        assert run().code == 0
        before = tables(tmp_path / "out")
        done = run("--if_finished", "skip", "--tie", "factual")
        assert done.code == 0
        assert self.asked(tmp_path) == []
        assert "options.tie" in done.err
        assert tables(tmp_path / "out") == before

    def test_replace_evaluates_everything_again(
        self, run: Any, tmp_path: Path, tables: Any
    ) -> None:
        first = run()
        assert run("--mode", "mv").code == 0
        assert self.asked(tmp_path) == ["Lima", "Oslo", "Rome"]
        assert {row[2] for row in tables(tmp_path / "out")["verdicts"]} == {"mv"}
        assert first.json["run"] == "r"
        assert len(list((tmp_path / "out/run=r/verdicts").iterdir())) == 1

    def test_retry_errors_evaluates_what_had_errors_and_keeps_the_rest(
        self, run: Any, tmp_path: Path, tables: Any
    ) -> None:
        assert run().code == 0
        expected = tables(tmp_path / "out")
        (tmp_path / "down").touch()
        assert run().code == 0
        failed = tables(tmp_path / "out")
        assert ("source:mine", "OSError") in {(row[0], row[2]) for row in failed["failures"]}
        assert "error" in {row[7] for row in failed["evidence"]}
        # Still down: the error is asked for again, and recorded again.
        assert run("--if_finished", "retry_errors").code == 0
        assert self.asked(tmp_path) == ["Oslo"]
        assert tables(tmp_path / "out") == failed
        (tmp_path / "down").unlink()
        done = run("--if_finished", "retry_errors")
        assert self.asked(tmp_path) == ["Oslo"]
        assert "2 responses kept, 1 with errors" in done.err
        assert (done.json["responses"], done.json["failures"]) == (3, 1)
        assert tables(tmp_path / "out") == expected
        assert run("--if_finished", "retry_errors").code == 0
        assert self.asked(tmp_path) == []
        assert tables(tmp_path / "out") == expected

    def test_retry_errors_with_other_options_is_told_what_differs(
        self, run: Any, tmp_path: Path
    ) -> None:
        assert run().code == 0
        done = run("--if_finished", "retry_errors", "--tie", "factual")
        assert done.code == 2
        assert 'options.tie: "not_factual" → "factual"' in done.err


class TestConfiguration:
    @pytest.fixture
    def config(self, tmp_path: Path, responses: Path, index: Path) -> Callable[[str], Path]:
        def write(text: str) -> Path:
            path = tmp_path / "ufo.yaml"
            path.write_text(f"input: {responses}\noutput: {tmp_path}/out\nworkers: 1\n{text}")
            return path

        return write

    def test_two_instances_of_one_type_serve_under_their_names(
        self, config: Any, ufo: Ufo, index: Path, tables: Any, tmp_path: Path
    ) -> None:
        path = config(
            f"sources:\n- {{name: one, type: wikipedia, index: {index}, passages: 1}}\n"
            f"- {{name: two, type: wikipedia, index: {index}, passages: 2}}\n- reference\n"
            "mode: all\n"
        )
        done = ufo("evaluate", "--config", path, "--json")
        assert done.code == 0, done.err
        assert done.json["sources"] == ["one", "two", "reference"]
        found = tables(tmp_path / "out")
        assert {row[2] for row in found["evidence"]} == {"one", "two", "reference"}
        assert [json.loads(row[5])["passages"] for row in found["sources"]] == [1, 2, 5]

    def test_a_flag_beats_the_file(self, config: Any, ufo: Ufo, index: Path) -> None:
        path = config(f"mode: mv\nindex: {index}\nsources: [wikipedia, reference]\njson: true\n")
        done = ufo("evaluate", "--config", path, "--mode", "seq", "--sources", "reference")
        assert (done.json["mode"], done.json["sources"]) == ("seq", ["reference"])
        done = ufo("evaluate", "--config", path)
        assert (done.json["mode"], done.json["sources"]) == ("mv", ["wikipedia", "reference"])

    def test_a_named_source_is_chosen_by_its_name(self, config: Any, ufo: Ufo) -> None:
        path = config("sources:\n- {name: one, type: reference}\n- {name: two, type: reference}\n")
        done = ufo("evaluate", "--config", path, "--sources", "two", "--json")
        assert done.json["sources"] == ["two"]

    @pytest.mark.parametrize(
        ("text", "messages"),
        [
            ("modee: seq\n", ["ufo.yaml", "unknown key 'modee'", "'mode'"]),
            ("modee: null\n", ["unknown key 'modee'"]),
            ("jason: false\n", ["unknown key 'jason'", "'json'"]),
            ("job_name: nightly\nmodee: seq\n", ["unknown key 'modee'"]),
            ("mode: sec\n", ["ufo.yaml", "unknown --mode 'sec'"]),
            ("passages: many\n", ["--passages 'many'"]),
            ("passages: true\n", ["--passages"]),
            ("sources: []\n", ["`sources` is a list"]),
            ("sources: [5]\n", ["a source is a name or"]),
            ("sources: [{name: x}]\n", ["a source is a name or"]),
            ("sources: [{type: reference, name: 5}]\n", ["a source's name is text"]),
            ("sources: [{type: reference}, {type: reference}]\n", ["two sources are named"]),
            ("sources: [{type: referenc}]\n", ["unknown fact source 'referenc'"]),
            ("sources: [{type: reference, pasages: 2}]\n", ["Did you mean 'passages'?"]),
            ("- a list\n", ["not YAML"]),
            ("mode: [\n", ["not YAML"]),
        ],
    )
    def test_what_is_wrong_in_the_file_is_told(
        self, config: Any, ufo: Ufo, text: str, messages: list[str]
    ) -> None:
        done = ufo("evaluate", "--config", config(text))
        assert done.code == 2, done
        for message in messages:
            assert message in done.err

    def test_a_file_that_is_no_mapping(self, tmp_path: Path, ufo: Ufo) -> None:
        path = tmp_path / "ufo.yaml"
        path.write_text("- a\n- list\n")
        done = ufo("evaluate", "--config", path)
        assert done.code == 2
        assert "is a mapping" in done.err
        path.write_bytes(b"\xff")
        assert "cannot be read" in ufo("evaluate", "--config", path).err

    def test_options_of_any_yaml_kind_are_recorded(
        self, config: Any, ufo: Ufo, recording: str, tmp_path: Path
    ) -> None:
        path = config(
            f"run: dated\nsources:\n- {{name: mine, type: '{recording}', log: {tmp_path}/log, "
            "word: 2020-01-01}\n"
        )
        # A date is no JSON, and a source that cannot use it is an error of each unit, not a crash.
        assert ufo("evaluate", "--config", path).code == 0
        done = ufo("evaluate", "--config", path, "--if_finished", "skip")
        assert (done.code, "other inputs or options" in done.err) == (0, False)
        done = ufo("evaluate", "--config", path, "--if_finished", "skip", "--tie", "factual")
        assert "options.tie" in done.err

    def test_what_looks_secret_is_nowhere_in_the_results(
        self, tmp_path: Path, config: Any, ufo: Ufo
    ) -> None:
        plug_in = tmp_path / "secret.py"
        plug_in.write_text(
            "from ufo import FactSource\n"
            "class Secret(FactSource):\n"
            "    def __init__(self, api_key): pass\n"
            "    def find(self, unit): return []\n"
        )
        path = config(f"sources:\n- {{name: s, type: '{plug_in}:Secret', api_key: hunter2}}\n")
        done = ufo("evaluate", "--config", path)
        assert done.code == 0, done.err
        files = [p for p in (tmp_path / "out").rglob("*") if p.is_file()]
        assert all(b"hunter2" not in p.read_bytes() for p in files)
        assert "hunter2" not in done.err + done.out
