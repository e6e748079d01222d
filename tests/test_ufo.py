"""The Python interface, as a script, a notebook and a plug-in use it."""

import asyncio
import doctest
import gc
import json
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import ufo
from ufo.transforms.llm.request import LlmError

ETNA = "Mount Etna is in Sicily."
RECORDS: list[dict[str, Any]] = [
    {"id": "a", "response": ETNA, "reference_answers": ETNA},
    {"id": "b", "response": "Oslo is the capital of Norway."},
]


class Knows(ufo.FactSource):
    """A source as a user writes one in a notebook."""

    def __init__(self, word: str) -> None:
        self.word = word

    def find(self, unit: ufo.FactUnit) -> Iterable[ufo.Passage]:
        return [ufo.Passage(unit.claim)] if self.word in unit.claim else []


class Divided(ufo.FactSource):
    """A source that has a passage for a claim and one against it, and keeps what it was given."""

    async def look_up(self, open_units: ufo.OpenUnits) -> list[ufo.Found]:
        self.units = open_units
        passages = [ufo.Retrieved(ufo.Passage(text)) for text in ("supported", "refuted")]
        return [ufo.Found(passages) for _ in open_units.units]


class Literal(ufo.Judge):
    """A judge that takes a passage at its word."""

    def outcome(self, unit: ufo.FactUnit, passage: ufo.Passage) -> ufo.Judgement:
        return ufo.Judgement(passage.text)


class Waits(Knows):
    async def find(self, unit: ufo.FactUnit) -> Iterable[ufo.Passage]:  # type: ignore[override]
        await asyncio.sleep(0)
        return super().find(unit)


def test_the_examples_in_the_docstrings() -> None:
    failed, tried = doctest.testmod(ufo)
    assert failed == 0
    assert tried > 5


def test_every_public_name_is_described_and_in_the_reference() -> None:
    page = (Path(__file__).parents[1] / "docs/python.md").read_text(encoding="utf-8")
    words = set(re.findall(r"\w+", page))
    assert [name for name in ufo.__all__ if name not in words] == []
    assert [name for name in ufo.__all__ if not getattr(ufo, name).__doc__] == []


def test_what_an_evaluation_has(tmp_path: Path) -> None:
    result = ufo.evaluate(RECORDS, sources=["reference"], quiet=True)
    assert isinstance(result.contributions, pa.Table)
    assert result.scores["response_id"].to_pylist() == ["a", "b"]
    assert result.scores["factuality_score"].to_pylist() == [1.0, 0.0]
    assert result.verdicts["label"].to_pylist() == [1, None]
    assert ETNA in result.evidence["text"].to_pylist()
    assert result.failures.num_rows == 0
    assert result.contributions["source"].to_pylist() == ["reference", "none"]
    table = result.sql("SELECT count(*) AS n FROM verdicts WHERE source = ?", ["reference"])
    assert table["n"].to_pylist() == [1]
    with pytest.raises(ufo.UsageError, match="nowhere"):
        result.sql("SELECT * FROM nowhere")
    assert "factuality" in str(result).lower()
    html, path = result._repr_html_(), tmp_path / "report.html"
    for words in ("1 of 2 claims supported, 1 not found", "Factuality score", "Who decided"):
        assert words in html
    assert "<script" not in html
    result.report(path)
    assert "1 of 2 claims supported, 1 not found" in path.read_text(encoding="utf-8")
    result.close()


def test_a_gate_says_what_the_run_does_not_pass(tmp_path: Path) -> None:
    """As the command does by its exit code; nothing is raised."""
    true = {"response": ETNA, "reference_answers": ETNA}
    asked = [true | {"question": f"Q{n}"} for n in range(5)]
    half = [one | {"response": f"{ETNA} Ada bought a zebra."} for one in asked]

    def gated(records: list[dict[str, Any]], run: str, **gates: Any) -> ufo.Evaluation:
        return ufo.evaluate(
            records, ["reference"], output=tmp_path, run=run, quiet=True, judge="offline", **gates
        )

    base = gated(asked, "base", fail_under=1, min_scored=1)
    assert (base.failed_gates, base.comparison) == ([], None)
    worse = gated(half, "worse", baseline="base", fail_under=0.9)
    assert [said.split(":")[0] for said in worse.failed_gates] == [
        "Below --fail_under 0.9",
        "Significantly worse than --baseline base",
    ]
    assert worse.comparison is not None
    assert (worse.comparison["worse"], worse.comparison["difference"]) == (True, -0.5)
    few = gated(half[:2], "few", baseline="base")
    assert few.failed_gates == [
        "Whether it is worse cannot be decided: 2 of 5 questions are in both with a score, less "
        "than --least_shared 0.5"
    ]
    assert gated(
        half[:2], "fewer", baseline="base", least_shared=0.4, fail_if_worse=0.3
    ).failed_gates
    none = gated([true | {"question": "another"}], "none", baseline="base")
    assert none.comparison is None
    assert "share no question" in none.failed_gates[0]
    assert gated(asked, "again", baseline="base").failed_gates == []


def test_a_gate_counts_a_response_without_a_claim_as_it_is_told(tmp_path: Path) -> None:
    def gated(**gates: Any) -> list[str]:
        done = ufo.evaluate(
            [{"response": "Hm.", "claims": []}],
            ["reference"],
            output=tmp_path,
            run="silent",
            quiet=True,
            judge="offline",
            **gates,
        )
        return done.failed_gates

    assert gated(fail_under=0.5) == ["Below --fail_under 0.5: no score: there is no claim"]
    assert gated(fail_under=0.5, no_claim="pass") == []
    assert gated(fail_under=0.5, no_claim="fail") == [
        "Below --fail_under 0.5: 0.000 by --no_claim fail, with 1 response without a claim; no "
        "score: there is no claim"
    ]


@pytest.mark.parametrize(
    ("no_claim", "scores"),
    [("left_out", (0.5, None, None)), ("pass", (0.5, 1.0, None)), ("fail", (0.5, 0.0, None))],
)
def test_the_score_that_a_gate_looks_at(
    no_claim: str, scores: tuple[float | None, float | None, float | None]
) -> None:
    half = ufo.check_sync(f"{ETNA} Ada bought a zebra.", references=[ETNA], judge="offline")
    silent = ufo.check_sync("Hm, what do you think?", references=[ETNA], judge="offline")
    failed = ufo.check_sync(
        ETNA, references=[ETNA], judge="llm", model="m", client=ufo.FakeClient(["no JSON"] * 9)
    )
    assert not failed.fact_units
    gate_scores = tuple(one.gate_score(no_claim) for one in (half, silent, failed))
    assert gate_scores == scores


def test_another_word_for_what_no_claim_means_is_refused() -> None:
    checked = ufo.check_sync(ETNA, references=[ETNA], judge="offline")
    with pytest.raises(ufo.UsageError, match=r"unknown no_claim 'passed'.*Did you mean 'pass'"):
        checked.gate_score("passed")


def test_texts_alone_and_what_is_left_out(tmp_path: Path) -> None:
    result = ufo.evaluate(
        [ETNA, "Hm."], [Knows("Etna")], output=tmp_path, run="mine", workers=1, quiet=True
    )
    assert result.run == "mine"
    assert result.path == f"{tmp_path}/run=mine"
    assert sorted(result.verdicts["source"].to_pylist()) == ["Knows"]
    assert result.scores["factuality_score"].to_pylist().count(None) == 1
    result.close()


COLUMNS: dict[str, list[Any]] = {
    "id": [7, 5, 3],
    "response": [ETNA, "Oslo is in Norway.", ETNA],
    "label": [0.5, float("nan"), 1.0],
    "question": ["Where?", None, None],
    "reference_answers": [[ETNA], None, [ETNA, "Oslo."]],
}


# A table of whatever library: it has nothing but the protocol.
PLAIN = SimpleNamespace(__arrow_c_stream__=pa.table(COLUMNS).__arrow_c_stream__)


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame(COLUMNS),
        pd.DataFrame(COLUMNS).set_index("id"),
        pl.DataFrame(COLUMNS, schema_overrides={"question": pl.Categorical}),
        PLAIN,
    ],
    ids=["pandas", "pandas with an index", "Polars with categories", "the protocol alone"],
)
def test_tables_as_they_are(table: Any) -> None:
    result = ufo.evaluate(table, "reference", workers=1, quiet=True)
    scores = result.sql("FROM scores ORDER BY CAST(response_id AS INT) DESC").to_pydict()
    assert result.failures.num_rows == 0
    expected = {"response_id": ["7", "5", "3"], "factuality_score": [1.0, 0.0, 1.0]}
    expected |= {"human_score": [0.5, None, 1.0], "question": ["Where?", None, None]}
    assert {name: scores[name] for name in expected} == expected
    assert result.sql("SELECT DISTINCT metadata FROM responses")["metadata"].to_pylist() == [None]
    result.close()


def test_the_row_numbers_of_a_data_frame_are_no_column_and_its_column_is_a_list() -> None:
    frame = pd.DataFrame(COLUMNS).drop(columns="id").iloc[[2, 0, 1]]
    for responses in (frame, frame["response"]):
        result = ufo.evaluate(responses, [Knows("Etna")], workers=1, quiet=True)
        assert result.sql("SELECT DISTINCT metadata FROM responses").num_rows == 1
        assert result.verdicts.num_rows == 3 if responses is frame else 2
        result.close()


def test_recall_of_a_table() -> None:
    answers = [{"rag": ETNA, "closed": None}, {"rag": "Hm.", "closed": ETNA}]
    frame = pd.DataFrame({"question": ["a", "b"], "ground_truth": [ETNA] * 2, "answers": answers})
    result = ufo.recall(frame, judge="offline", workers=1, quiet=True)
    assert result.failures.num_rows == 0
    assert set(result.verdicts["variant"].to_pylist()) == {"rag", "closed"}
    result.close()


def test_a_path_and_options_by_their_flags_names(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text("\n".join(map(json.dumps, RECORDS)) + "\nnope\n")
    result = ufo.evaluate(path, [{"name": "refs", "type": "reference"}], "all", tie="factual")
    assert result.failures["key"].to_pylist() == ["in.jsonl:3"]
    assert set(result.verdicts["mode"].to_pylist()) == {"seq", "mv", "single"}
    assert "refs" in result.verdicts["source"].to_pylist()
    result.close()
    assert result.path.startswith("/")


@pytest.mark.slow
def test_objects_as_sources_in_several_processes() -> None:
    first, second = Knows("Etna"), Waits("Oslo")
    first.name, second.name = "one", "two"
    result = ufo.evaluate(RECORDS, [first, second], workers=2, chunk_size=1, quiet=True)
    assert result.verdicts["source"].to_pylist() == ["one", "two"]
    assert result.contributions["source"].to_pylist()[:2] == ["one", "two"]
    result.close()


MIXED = pd.DataFrame({"response": [ETNA, 5]})


WRONG = {
    "an empty list": (([],), "responses is empty; there is nothing to evaluate"),
    "nothing": ((None,), "responses is a path, a list .* or a table, not NoneType"),
    "one record": (({"response": ETNA},), "responses is a path, a list .* or a table, not dict"),
    "bytes": ((b"text",), "not bytes"),
    "mixed types": ((MIXED,), r"no table that Arrow can hold: .*frame.to_dict\('records'\)"),
    "an empty table": (
        (pa.table({"response": []}),),
        "responses is empty; there is nothing to evaluate",
    ),
    "a number as a response": (([5],), r"responses\[0\] is neither a text nor a record"),
    "no sources": (([ETNA], []), "`sources` is a list of names"),
    "a source as a record": (([ETNA], [{"name": "x"}]), "a source is a name or"),
    "two of one name": (([ETNA], [Knows("a"), Knows("b")]), "two sources are named 'Knows'"),
    "a misspelt source": (([ETNA], "referense"), "Did you mean 'reference'"),
}


@pytest.mark.parametrize(("arguments", "message"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_raised(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ufo.UsageError, match=message):
        ufo.evaluate(*arguments, quiet=True)


def test_a_value_that_is_none_of_json_costs_its_record_alone() -> None:
    result = ufo.evaluate([ETNA, {"response": object()}], sources=["reference"], quiet=True)
    assert result.failures["key"].to_pylist() == ["responses.jsonl:2"]


def test_references_that_are_a_mapping_are_refused() -> None:
    with pytest.raises(ufo.UsageError, match="references is a text, a Path or a list of them"):
        ufo.check_sync(ETNA, references={ETNA: 1})


def test_an_unknown_option_is_answered_with_the_nearest() -> None:
    with pytest.raises(ufo.UsageError, match="did you mean passages"):
        ufo.evaluate([ETNA], ["reference"], pasages=3)  # type: ignore[call-arg]


def test_nothing_is_left_where_a_run_could_not_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    for responses, mode in (([ETNA], "no such mode"), ("nowhere.jsonl", "seq")):
        with pytest.raises(ufo.UsageError):
            ufo.evaluate(responses, ["reference"], mode)
        assert list(tmp_path.iterdir()) == []


def test_results_without_a_folder_of_yours_live_as_long_as_their_object() -> None:
    first, other = (ufo.evaluate([ETNA], [Knows("x")], workers=1, quiet=True) for _ in range(2))
    folder, forgotten, scores = Path(first.path).parent, Path(other.path).parent, first.scores
    assert folder.is_dir()
    first.close()
    del other
    gc.collect()
    assert not folder.exists()
    assert not forgotten.exists()
    assert scores.num_rows == 1


class TestCheck:
    def test_a_text_with_references(self) -> None:
        result = ufo.check_sync(f"{ETNA} Oslo is green.", references=[ETNA], sources=["reference"])
        assert result.score == 0.5
        assert result.coverage == 0.5
        assert [v.label for v in result.verdicts] == [1, None]
        assert result.text[result.sentences[1].start :] == "Oslo is green."
        heading = "1 of 2 claims supported, 1 not found\nfactuality score 0.500, coverage 0.500\n"
        assert str(result).startswith(heading)
        assert result.states == ["supported", "not found"]
        assert "supported by reference (1 for, 0 against)\n  claim     " + ETNA in str(result)
        assert "? not found\n  claim" in str(result)
        plain = json.loads(json.dumps(result.to_dict()))
        assert plain["score"] == 0.5
        assert plain["evidence"][0]["outcome"] == "supported"
        assert plain["passages"][0]["text"] == ETNA
        assert ufo.check_sync(ETNA, references=ETNA, sources="reference").score == 1.0
        assert ufo.check_sync(ETNA, references=None).score == 0.0
        nothing = ufo.check_sync("Hello!", sources=[Knows("x")])
        assert nothing.score is None
        assert nothing.coverage is None
        assert str(nothing) == "No claim to check\nno score: there is no claim"

    def test_a_claim_of_which_one_source_has_nothing_and_another_does_not_tell(self) -> None:
        result = ufo.check_sync(
            "Oslo is green.", references=[ETNA], sources=["reference", Knows("x")]
        )
        assert [(row.rank, row.outcome) for row in result.evidence] == [
            (1, "noans"),
            (None, "noans"),
        ]
        assert "? not found\n  claim  Oslo is green." in str(result)

    def test_a_source_sees_the_text_its_question_and_its_references(self) -> None:
        asked = Divided()
        ufo.check_sync(ETNA, question="Where?", references=["A", "B"], sources=[asked])
        assert asked.units.text == ETNA
        assert asked.units.question == "Where?"
        assert asked.units.references == ["A", "B"]
        ufo.check_sync(ETNA, sources=[asked])
        assert asked.units.question is None
        assert asked.units.references == []

    @pytest.mark.parametrize(
        ("options", "mode", "source", "score"),
        [
            pytest.param({}, "seq", "Divided", 0.0, id="in order"),
            pytest.param({"mode": "mv"}, "mv", "multi", 0.0, id="by vote"),
            pytest.param({"mode": "mv", "tie": "factual"}, "mv", "multi", 1.0, id="a tie is true"),
        ],
    )
    def test_votes_are_counted_by_the_mode_and_the_rule_for_ties(
        self, options: dict[str, Any], mode: str, source: str, score: float
    ) -> None:
        result = ufo.check_sync(ETNA, sources=[Divided()], judge=Literal(), **options)
        assert [row.mode for row in result.verdicts] == [mode]
        assert [row.source for row in result.verdicts] == [source]
        assert result.score == score
        assert result.states == ["supported" if score else "contradicted"]

    def test_a_model_that_cannot_be_asked_ends_the_check(self) -> None:
        wrong = LlmError("wrong key; set another", final=True)
        client = ufo.FakeClient([wrong])
        with pytest.raises(ufo.RunError, match=r"^wrong key; set another$"):
            ufo.check_sync(ETNA, sources=[Knows("Etna")], judge="llm", client=client)

    def test_inside_a_running_loop_and_awaited(self) -> None:
        for mode in ("seq", "mv", "single", "all"):
            assert ufo.check_sync(ETNA, sources=[Knows("Etna")], mode=mode).score == 1.0

        async def notebook_cell() -> tuple[float | None, float | None]:
            awaited = await ufo.check(ETNA, sources=[Waits("Etna")])
            return awaited.score, ufo.check_sync(ETNA, sources=[Waits("Etna")]).score

        assert asyncio.run(notebook_cell()) == (1.0, 1.0)

    def test_a_source_that_breaks_is_an_error_row(self) -> None:
        broken = Knows("Etna")
        broken.find = Mock(side_effect=OSError("down"))  # type: ignore[method-assign]
        result = ufo.check_sync(ETNA, sources=[broken, "reference"], references=[ETNA])
        outcomes = [(row.source, row.outcome) for row in result.evidence]
        assert outcomes == [("Knows", "error"), ("reference", "supported")]
        assert result.verdicts[0].past_error
        assert result.failures[0].message == "error in source Knows: OSError: down"

    def test_what_is_wrong_is_raised(self) -> None:
        wrong: list[tuple[str, dict[str, Any], str]] = [
            ("", {}, "empty"),
            ("\ud83d", {}, "surrogate"),
            (ETNA, {"sources": ["referense"]}, "Did you mean"),
            (ETNA, {"mode": "single", "sources": [Knows("a"), "reference"]}, 'mode="single" asks'),
            (ETNA, {"sources": ["reference"], "pasages": 3}, "mean passages"),
        ]
        for text, options, message in wrong:
            with pytest.raises(ufo.UsageError, match=message):
                ufo.check_sync(text, **options)


def python(code: str) -> str:
    words = [sys.executable, "-c", code, "--runner=Nonsense", "--input", "x", "extra"]
    return subprocess.check_output(words, text=True)


@pytest.mark.slow
def test_help_and_the_import_do_without_what_is_heavy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTHONPATH")  # has no pandas
    loaded = "print({'apache_beam', 'openai', 'pandas'} & set(sys.modules))"
    assert python(f"import sys, ufo; {loaded}") == "set()\n"
    # Workers of an engine import it by its name while other threads import `ufo`.
    assert python("import sys, ufo; print('ufo.transforms.job' in sys.modules)") == "False\n"
    helped = (
        "import sys, contextlib, io, ufo.pipelines.cli\n"
        "with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):\n"
        "    ufo.pipelines.cli.main({})\n"
    )
    assert python(helped.format(["--help"]) + loaded) == "set()\n"
    assert python(helped.format(["evaluate", "--help"]) + loaded) == "set()\n"
    # It works under a foreign argv and without a main guard; equal texts are one record.
    code = (
        "import ufo\n"
        "flags = {'workers': 2, 'chunk_size': 1, 'quiet': True}\n"
        f"found = ufo.evaluate([{ETNA!r}] * 3, ['reference'], **flags)\n"
        "print(found.scores.num_rows, found.failures.num_rows)\n"
    )
    assert python(code) == "1 0\n"


@pytest.mark.parametrize("module", ["ufo", "ufo.transforms.sources.web.reading"])
def test_what_is_slow_and_large_is_imported_when_it_is_used(module: str) -> None:
    code = f"import sys, {module}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    large = {"apache_beam", "duckdb", "numpy", "openai", "pyarrow"}
    assert large.isdisjoint(done.stdout.split())


def test_a_check_by_references_does_without_what_is_slow_to_import() -> None:
    code = (
        "import sys, ufo\n"
        f"ufo.check_sync({ETNA!r}, references=[{ETNA!r}], judge='offline').score\n"
        "print(*sys.modules)"
    )
    loaded = subprocess.check_output([sys.executable, "-c", code], text=True).split()
    assert {"numpy", "pyarrow", "duckdb", "openai"}.isdisjoint(loaded)
