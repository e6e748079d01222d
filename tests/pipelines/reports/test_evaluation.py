"""The results in Python: one checked text with its claims, and a finished run with its tables."""

import sys
from contextlib import ExitStack
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import rows_of, write_run
from tests.schemas.labelled import people, verdicts
from ufo.pipelines.reports.check_settings import CheckSettings
from ufo.pipelines.reports.checked import CheckedResponse
from ufo.pipelines.reports.claims import COLUMNS, claims_of, claims_of_text
from ufo.pipelines.reports.evaluation import Check, Evaluation, Recall
from ufo.pipelines.runs.remote_results import open_results
from ufo.schemas.errors import UsageError
from ufo.schemas.records import Failure
from ufo.transforms.check_text import CheckedText
from ufo.transforms.sources.fact_source import SourceSpec

SOURCES = [SourceSpec("ref", "reference"), SourceSpec("wiki", "wikipedia")]


def asked(mode: str, judge: str = "offline") -> CheckSettings:
    return CheckSettings(judge=judge, sources=SOURCES, mode=mode, tie="not_factual")


def checked(votes: Any, mode: str = "seq", failures: Any = (), **of_evidence: Any) -> Check:
    """The check of a text with these votes; all its evidence has the other fields."""
    rows = rows_of({"a": votes}, mode=mode)
    text = CheckedText(
        rows["responses"][0],
        rows["sentences"],
        rows["fact_units"],
        [replace(row, **of_evidence) for row in rows["evidence"]],
        rows["passages"],
        rows["verdicts"],
        list(failures),
    )
    return Check(text, asked(mode, of_evidence.get("judge", "offline")))


def test_a_check_says_the_score_in_numbers_and_words() -> None:
    check = checked({"u": {"ref": "s"}, "v": {"ref": "r"}, "w": {"ref": "n"}, "x": {"ref": "n"}})
    assert check.score == 0.25
    assert check.coverage == 0.5
    assert check.headline == "1 of 4 claims supported, 1 contradicted, 2 not found"
    assert check.states == ["supported", "contradicted", "not found", "not found"]


def test_the_score_of_all_modes_is_that_of_one_source_after_another() -> None:
    check = checked({"u": {"ref": "s", "wiki": "rr"}}, mode="all")
    assert check.score == 1.0
    assert [row["state"] for row in check.claims()] == ["supported"]


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        pytest.param({"model": "overlap@1"}, "Verifier overlap", id="a verifier"),
        pytest.param({}, "", id="no model"),
        pytest.param({"model": "gpt", "judge": "llm"}, "", id="another judge"),
    ],
)
def test_how_far_to_trust_it_is_said_of_verifiers(fields: dict[str, Any], text: str) -> None:
    judged_by = checked({"u": {"ref": "s"}}, **fields).judged_by
    assert judged_by.startswith(text)
    assert bool(judged_by) == bool(text)


def test_a_check_as_plain_values_has_its_rows_and_its_score() -> None:
    check = checked({"u": {"ref": "s"}}).to_dict()
    assert check.keys() == {field.name for field in fields(CheckedResponse)}
    assert (check["score"], check["score_in_words"]) == (
        1.0,
        "factuality score 1.000, coverage 1.000",
    )
    assert check["text"] == "Text of a."
    assert check["fact_units"][0]["claim"] == "Claim u."


REFUSED = Failure("extract", "a", "refused", "No.", None)
OURS = Failure("verify", "a", "refused", "the reply is cut", None)


@pytest.mark.parametrize(
    ("votes", "failures", "sentence"),
    [
        pytest.param({"u": {"ref": "s"}}, [], "", id="nothing"),
        pytest.param({}, [REFUSED], "no claim could be extracted from 1 of 1 response "
                     "(refused 1): No.", id="the claims"),
        pytest.param({"u": {"ref": "s"}}, [REFUSED], "", id="some claims"),
        pytest.param({"u": {"ref": "e", "wiki": "n"}}, [],
                     "1 of 2 judgements was unusable (transport 1)", id="a judgement"),
        pytest.param({"u": {"ref": "ee"}}, [replace(REFUSED, step="verify"), OURS],
                     "2 of 2 judgements were unusable (transport 2): No.", id="all judgements"),
    ],
)  # fmt: skip
def test_what_is_lost_of_a_text(votes: Any, failures: Any, sentence: str) -> None:
    assert checked(votes, failures=failures).lost.sentence == sentence


def claim_of(votes: str, wiki: str, changes: dict[int, dict[str, Any]], mode: str = "seq") -> Any:
    """The claim that has these votes, after changes of rows of evidence."""
    rows = rows_of({"a": {"u": {"ref": votes, "wiki": wiki}}}, mode=mode)
    evidence = [replace(row, **changes.get(at, {})) for at, row in enumerate(rows["evidence"])]
    text = CheckedText(rows["responses"][0], rows["sentences"], rows["fact_units"], evidence,
                       rows["passages"], rows["verdicts"])  # fmt: skip
    (claim,) = Check(text, asked(mode)).claims()
    return claim


@pytest.mark.parametrize(
    ("votes", "wiki", "changes", "mode", "best"),
    [
        pytest.param("rss", "s", {}, "seq", "ref:a-u-1", id="that agrees with the verdict"),
        pytest.param("ss", "s", {0: {"citation": None}}, "seq", "ref:a-u-1", id="with a quote"),
        pytest.param("rss", "s", {1: {"citation": None}, 2: {"citation": None}}, "seq",
                     "ref:a-u-1", id="that agrees, before one with a quote"),
        pytest.param("ss", "s", {0: {"rank": 7}}, "seq", "ref:a-u-1", id="of the best rank"),
        pytest.param("nn", "s", {}, "seq", "wiki:a-u-0", id="of the source that decided"),
        pytest.param("nn", "n", {0: {"citation": None}, 1: {"citation": None}}, "seq", "wiki:a-u-0",
                     id="of any source where none decided"),
        pytest.param("rn", "ss", {}, "mv", "wiki:a-u-0", id="of any source after a vote of all"),
    ],
)  # fmt: skip
def test_the_evidence_of_a_claim_is_the_strongest(
    votes: str, wiki: str, changes: Any, mode: str, best: str
) -> None:
    claim = claim_of(votes, wiki, changes, mode)
    assert claim["passage_id"] == best
    assert claim["evidence_source"] == best.partition(":")[0]
    assert claim["title"] == "Page u"
    assert claim["claim"] == "Claim u."


def test_a_claim_without_a_passage_has_no_title() -> None:
    claim = claim_of("-", "-", {})
    assert claim["title"] is None
    assert claim["url"] is None
    assert claim["state"] == "not found"


def test_a_check_is_a_line_in_a_list_and_its_claims_when_printed() -> None:
    check = checked({"u": {"ref": "s"}, "v": {"ref": "r"}})
    assert repr([check]) == (
        "[<ufo.Check: 1 of 2 claims supported, 1 contradicted; factuality score 0.500, "
        "coverage 1.000>]"
    )
    assert "contradicted by ref (0 for, 1 against)\n  claim     Claim v." in str(check)
    assert check._repr_html_() == f"<pre>{str(check).replace(chr(34), '&quot;')}</pre>"


# --- finished runs


@pytest.fixture
def run(tmp_path: Path) -> tuple[Evaluation, list[str]]:
    """A finished run, and what is done at its end."""
    rows = rows_of({"b": {"v": {"ref": "s"}, "u": {"ref": "sr"}}, "a": {"x": {"wiki": "n"}}},
                   mode="all")  # fmt: skip
    rows["failures"] = [REFUSED, Failure("extract", "A", "t", "", None), OURS]
    rows["evidence"].reverse()
    write_run(tmp_path, rows, mode="all")
    ended: list[str] = []
    temporary = ExitStack()
    temporary.callback(ended.append, "deleted")
    return Evaluation(open_results(str(tmp_path)), "the path", temporary), ended


@pytest.mark.parametrize(
    ("table", "columns"),
    [
        ("scores", ("mode", "source", "response_id")),
        ("verdicts", ("response_id", "unit_id", "mode", "source")),
        ("evidence", ("response_id", "unit_id", "source", "rank")),
        ("failures", ("step", "key")),
    ],
)
def test_a_table_is_in_order(run: Any, table: str, columns: tuple[str, ...]) -> None:
    rows = getattr(run[0], table).to_pylist()
    keys = [tuple(row[name] for name in columns) for row in rows]
    assert len(keys) > 2
    assert keys == sorted(keys)


def test_contributions_are_in_the_order_of_sources(run: Any) -> None:
    rows = run[0].contributions.to_pylist()
    assert [row["source"] for row in rows if row["mode"] == "seq"] == ["ref", "wiki", "none"]


def test_a_run_knows_its_name_and_its_place(run: Any) -> None:
    assert run[0].run == "r1"
    assert run[0].path == "the path"
    assert run[0].sql("SELECT ? AS n", [7]).to_pylist() == [{"n": 7}]


def test_what_is_temporary_is_deleted_once_where_a_run_is_closed(run: Any) -> None:
    evaluation, ended = run
    assert ended == []
    evaluation.close()
    evaluation.close()
    assert ended == ["deleted"]


def test_a_run_has_the_score_that_every_display_has(run: Any) -> None:
    evaluation, _ = run
    row = evaluation.sql("FROM scores_by_run WHERE mode = 'seq'").to_pylist()[0]
    assert evaluation.score == row["factuality_score"] == 0.25
    assert evaluation.coverage == row["coverage"] == 0.5
    assert evaluation.headline == "1 of 3 claims supported, 1 contradicted, 1 not found"
    assert evaluation.score_in_words.startswith("factuality score 0.250")


def test_a_run_without_a_claim_has_no_score(tmp_path: Path) -> None:
    write_run(tmp_path, rows_of({"a": {}}))
    evaluation = Evaluation(open_results(str(tmp_path)), "", ExitStack())
    assert evaluation.score is None
    assert evaluation.coverage is None
    assert (
        repr(evaluation) == "<ufo.Evaluation 'r1': No claim to check; no score: there is no claim>"
    )


def test_a_run_is_a_line_in_a_list_and_its_report_when_printed(run: Any) -> None:
    evaluation, _ = run
    assert repr([evaluation]).startswith("[<ufo.Evaluation 'r1': 1 of 3 claims supported, 1 ")
    assert "\n" not in repr(evaluation)
    assert str(evaluation).startswith(
        "1 of 3 claims supported, 1 contradicted, 1 not found\nfactuality score 0.250"
    )
    evaluation.close()
    assert repr(evaluation) == "<ufo.Evaluation 'r1': closed>"


@pytest.mark.usefixtures("run")
def test_the_claims_of_a_run_are_those_of_its_main_mode(tmp_path: Path) -> None:
    rows = claims_of(open_results(str(tmp_path))).to_pylist()
    shown = [(row["claim"], row["state"], row["label"], row["source"]) for row in rows]
    assert shown == [
        ("Claim x.", "not found", None, None),
        ("Claim v.", "supported", 1, "ref"),
        ("Claim u.", "contradicted", 0, "ref"),
    ]
    assert [row["evidence"] for row in rows] == [None, "what ref says of v", "what ref says of u"]
    assert [row["sentence"] for row in rows] == ["S x.", "S v.", "S u."]
    assert rows[0]["question"] == "What of a?"


def test_the_claims_of_a_text_have_the_same_columns() -> None:
    table = claims_of_text(checked({"u": {"ref": "s"}, "v": {"ref": "-", "wiki": "e"}}))
    assert table.schema == COLUMNS
    shown = [(row["claim"], row["state"], row["evidence"]) for row in table.to_pylist()]
    assert shown == [("Claim u.", "supported", "what ref says of u"), ("Claim v.", "error", None)]


def test_without_pandas_the_way_to_install_it_is_told(
    run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    for result in (run[0], checked({"u": {"ref": "s"}})):
        with pytest.raises(UsageError, match=r"pip install 'ufo-factuality\[pandas\]'"):
            result.to_pandas()


def test_a_recall_run_says_its_recall(tmp_path: Path) -> None:
    rows = rows_of({})
    for variant, letters in (("rag", "ttf"), ("plain", "tff")):
        rows["recall_verdicts"] += verdicts("one", variant, "tfn", letters, "ttt")
    rows["recall_verdicts"] += people("one", "rag", "ttt")
    counts = {"responses": 1, "units": 3, "answers": 2, "failures": 0}
    write_run(tmp_path, rows, mode="recall", counts=counts)
    recall_run = Recall(open_results(str(tmp_path)), "", ExitStack())
    assert recall_run.recall == {"tfn": {"plain": 1 / 3, "rag": 2 / 3}}
    assert repr(recall_run) == (
        "<ufo.Recall 'r1': 1 record, 3 facts, 2 answers; recall 0.333 to 0.667>"
    )
    assert str(recall_run).startswith("run r1: 1 record, 3 facts, 2 answers\n\nFactual recall")
    assert recall_run._repr_html_().startswith("<pre>run r1")


def test_a_recall_run_without_a_verdict_has_no_recall(tmp_path: Path) -> None:
    counts = dict.fromkeys(("responses", "units", "answers", "failures"), 0)
    write_run(tmp_path, rows_of({}), mode="recall", counts=counts)
    recall_run = Recall(open_results(str(tmp_path)), "", ExitStack())
    assert recall_run.recall == {}
    assert repr(recall_run).endswith("0 records, 0 facts, 0 answers; no recall>")
