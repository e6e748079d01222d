"""Fact sources, judges and verifiers of other people."""

import html
import json
import os
from pathlib import Path
from typing import Any

import pytest
import yaml

import ufo as python
from tests.llm_server import LlmServer
from tests.pipelines.conftest import ends, evaluation, ok, tables, ufo, ufo_process, write_lines
from tests.pipelines.llm_runs import at, rows
from tests.pipelines.other_judges import judge as judge_of
from tests.transforms.judges.stated import STATED
from ufo.examples.own_judge import Contained
from ufo.pipelines.reports.unusable import unusable
from ufo.schemas.records import ERROR, NOANS, REFUTED, SUPPORTED
from ufo.schemas.results import open_results
from ufo.transforms.judges.trust import trust_figures, trust_line
from ufo.transforms.verifiers.by_name import model_column

PLUG_IN = """\
from ufo import FactSource, Passage

FACTS = ["Rome is a large city.", "The Tiber flows through Rome."]


class Acme(FactSource):
    \"\"\"Looks facts up in the archive of Acme.\"\"\"

    def __init__(self, limit: int = 1):
        self.limit = limit

    def find(self, unit):
        words = set(unit.claim.split())
        hits = [fact for fact in FACTS if words & set(fact.split()) - {"is", "a", "The"}]
        return [Passage(fact, url="https://acme.example/") for fact in hits[: self.limit]]
"""

ENTRIES = """\
[ufo.fact_sources]
acme = acme_facts:Acme
[ufo.judges]
contained = acme_facts:Contained
"""
CITIES = ("Rome", "Oslo", "Bern", "Nice")
RECORDS = [{"id": f"{n}", "response": f"{city} is a large city."} for n, city in enumerate(CITIES)]
NAMED = yaml.safe_load(Path(__file__).with_name("named_judges.yaml").read_text(encoding="utf-8"))
OUTCOMES = "SELECT outcome, judge FROM evidence ORDER BY response_id"
EXAMPLE = Path(__file__).parents[2] / "examples/own_judge.py"


def install(folder: Path, code: str, entries: str) -> dict[str, str]:
    """Write a package as its wheel leaves it; returns an environment that sees it."""
    target = folder / "site"
    info = target / "acme_facts-1.0.dist-info"
    info.mkdir(parents=True)
    (target / "acme_facts.py").write_text(code)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-facts\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(entries)
    return {**os.environ, "PYTHONPATH": str(target)}


@pytest.mark.slow
def test_an_installed_package_serves_and_judges_without_an_edit_here(tmp_path: Path) -> None:
    environment = install(tmp_path, PLUG_IN + EXAMPLE.read_text(), ENTRIES)
    words = evaluation(tmp_path, RECORDS, "--json")
    ours = ("--sources", "acme", "--judge", "contained")
    done = ufo_process(*words, *ours, env=environment, cwd=tmp_path)
    assert done.code == 0, done.err
    assert done.json["sources"] == ["acme"], done.err
    selected = rows(tmp_path / "out", OUTCOMES)
    assert [row["outcome"] for row in selected] == [SUPPORTED, NOANS, NOANS, NOANS]
    assert {row["judge"] for row in selected} == {"contained"}
    listed = {row["type"]: row for row in ufo_process("sources", "--json", env=environment).json}
    acme, own = listed["acme"], listed["reference"]
    assert acme["package"] == "acme-facts"
    assert acme["options"] == {"limit": 1}
    assert acme["help"] == "Looks facts up in the archive of Acme."
    assert own["package"] == "ufo-factuality"
    assert own["options"] == {"passages": 5}
    assert "wikipedia  (ufo-factuality)" in ufo("sources").out
    judges = ufo_process("judges", "--json", env=environment).json
    (row,) = [row for row in judges if row["type"] == "contained"]
    assert row["package"] == "acme-facts"
    assert row["options"] == {"share": 0.9, "letters": 4}
    assert row["extracts"] is False
    assert row["verifies"] is True
    assert row["abstains"] is True
    assert row["needs_endpoint"] is False
    assert row["flags"] == []
    # One that does not load is named, and disturbs no other.
    (tmp_path / "site" / "acme_facts.py").write_text("import a_module_that_is_not_there\n")
    wrong = ufo_process(*words, "--sources", "acme", env=environment)
    assert wrong.code == 2
    assert "Traceback" not in wrong.err
    assert "package 'acme-facts'" in wrong.err
    assert "a_module_that_is_not_there" in wrong.err
    assert ufo_process(*words, env=environment).code == 0


@pytest.mark.slow
def test_a_file_of_the_user_s_by_a_relative_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/acme.py").write_text(PLUG_IN)
    (tmp_path / "mine/judge.py").write_text(EXAMPLE.read_text())
    monkeypatch.chdir(tmp_path)
    flags = ("--sources", "mine/acme.py:Acme", "--judge", "mine/judge.py:Contained", "--run", "r")
    mine = evaluation(tmp_path, RECORDS, *flags, "--chunk_size", 2)
    for engine in (("--workers", 2), ("--runner", "DirectRunner", "--fresh")):
        assert ok(*mine, "--json", *engine).json["sources"] == ["Acme"]
        selected = rows(tmp_path / "out", OUTCOMES)
        assert [row["outcome"] for row in selected] == [SUPPORTED, NOANS, NOANS, NOANS]
        assert {row["judge"] for row in selected} == {"Contained"}
    # An edited file is another source.
    (tmp_path / "mine/acme.py").write_text(PLUG_IN + "\n# another word\n")
    assert "sources" in ends(2, *mine, "--if_finished", "retry_errors").err


GARBAGE = """
import numpy
from ufo import FactSource, Passage, Retrieved
class Garbage(FactSource):
    def find(self, unit):
        word = unit.claim.split()[0]
        if word == "Oslo": return [Passage("text", title=5)]
        if word == "Bonn": return 5
        if word == "Lima": raise UnicodeError("\\udead" * 3 + "x" * 99999)
        return [Retrieved(Passage(unit.claim), numpy.float32(0.5))]
class Waits(FactSource):
    async def look_up(self, open_units):
        import asyncio
        await asyncio.sleep(0)
"""


def test_garbage_from_a_source_is_an_error_of_that_unit_and_no_more(tmp_path: Path) -> None:
    plug_in = tmp_path / "garbage.py"
    plug_in.write_text(GARBAGE)
    cities = ["Oslo", "Bonn", "Lima", "Perth"]
    records = [{"id": city, "response": f"{city} is a large city."} for city in cities]
    words = evaluation(tmp_path, records, "--sources")
    ok(*words, f"{plug_in}:Garbage")
    rows_by_table = tables(tmp_path / "out")
    outcomes = {row[0]: row[7] for row in rows_by_table["evidence"]}
    assert outcomes == dict.fromkeys(cities[:3], "error") | {"Perth": "supported"}
    assert len(rows_by_table["failures"]) == 3
    assert json.dumps(rows_by_table["failures"])
    ok("report", tmp_path / "out")
    assert "must set `remote = True`" in ends(1, *words, f"{plug_in}:Waits").err


FAULTY = """\
from ufo import FactSource, Judge, Judgement, Passage

class Faulty:
    def __init__(self, at: str = ""):
        self.at = at

    def fail(self, name):
        if self.at == name:
            raise ValueError("their own fault")

    def open(self):
        self.fail("open")

    def close(self):
        self.fail("close")

    def fingerprint(self):
        self.fail("fingerprint")
        return ""

    def unavailable(self):
        self.fail("unavailable")
        return None

class Source(Faulty, FactSource):
    def find(self, unit):
        return [Passage(unit.claim)]

class Verdicts(Faulty, Judge):
    async def extract(self, record, sentences):
        self.fail("extract")
        return await super().extract(record, sentences)

    def outcome(self, unit, passage):
        return Judgement("supported")
"""


@pytest.mark.parametrize("at", ["open", "fingerprint", "unavailable"])
@pytest.mark.parametrize("kind", ["source", "judge"])
@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_before_the_first_question_names_the_plug_in(
    tmp_path: Path, at: str, kind: str, workers: int
) -> None:
    plug_in = tmp_path / "faulty.py"
    plug_in.write_text(FAULTY)
    source: dict[str, Any] = {"name": "mine", "type": f"{plug_in}:Source"}
    judge: dict[str, Any] = {"name": "mine", "type": f"{plug_in}:Verdicts"}
    (source if kind == "source" else judge)["at"] = at
    message = rf"error in (fact )?{kind} mine, {at}\(\): ValueError: their own fault"
    with pytest.raises(python.PluginError, match=message):
        python.evaluate(
            RECORDS[:2], [source], judge=judge, workers=workers, chunk_size=1, quiet=True
        )
    if (kind, at) != ("judge", "fingerprint"):  # of a run alone
        with pytest.raises(python.PluginError, match=message):
            python.check_sync("Oslo is large.", sources=[source], judge=judge)


def test_an_error_of_extraction_has_one_name_everywhere(tmp_path: Path) -> None:
    plug_in = tmp_path / "faulty.py"
    plug_in.write_text(FAULTY)
    judge: dict[str, Any] = {"name": "mine", "type": f"{plug_in}:Verdicts", "at": "extract"}
    message = "(exception 1): error in judge mine: ValueError: their own fault"
    out = tmp_path / "out"
    python.evaluate(RECORDS[:1], ["reference"], judge=judge, output=out, quiet=True).close()
    with open_results(out) as results:
        assert message in unusable(results).sentence
    checked = python.check_sync("Oslo is large.", sources=["reference"], judge=judge)
    assert message in checked.lost.sentence


@pytest.mark.parametrize("kind", ["source", "judge"])
def test_an_error_of_closing_is_a_warning(
    tmp_path: Path, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    plug_in = tmp_path / "faulty.py"
    plug_in.write_text(FAULTY)
    source: dict[str, Any] = {"name": "mine", "type": f"{plug_in}:Source"}
    judge: dict[str, Any] = {"name": "mine", "type": f"{plug_in}:Verdicts"}
    (source if kind == "source" else judge)["at"] = "close"
    evaluation = python.evaluate(RECORDS[:1], [source], judge=judge, quiet=True)
    assert evaluation.evidence["outcome"].to_pylist() == [SUPPORTED]
    evaluation.close()
    message = f"error in {kind} mine, close(): ValueError: their own fault"
    assert {record.getMessage() for record in caplog.records if record.name == "ufo"} == {message}
    assert "Traceback" not in caplog.text


# --- Judges of other people: objects, and broken ones.


def test_objects_and_descriptions_from_python() -> None:
    records = [{"response": "Oslo is large.", "reference_answers": "They say Oslo is large."}]
    evaluation = python.evaluate(records, ["reference"], judge=Contained(), workers=1, quiet=True)
    assert evaluation.evidence["outcome"].to_pylist() == [SUPPORTED]
    assert set(evaluation.evidence["judge"].to_pylist()) == {"Contained"}
    evaluation.close()
    checked = python.check_sync(
        "Oslo is large.",
        references=["Rome."],
        sources=["reference"],
        judge={"name": "mine", "type": judge_of("Says"), "word": "refuted"},
    )
    assert [(row.judge, row.outcome) for row in checked.evidence] == [("mine", REFUTED)]
    with pytest.raises(python.UsageError, match="a judge is a name or"):
        python.check_sync("Oslo is large.", judge=5)  # type: ignore[arg-type]
    record: dict[str, Any] = {"question": "How large?", "ground_truth": "Oslo is large."}
    record["answers"] = {"one": "They say that Oslo is large.", "two": "It is small."}
    recalled = python.recall([record], judge=Contained(), quiet=True)
    assert recalled.scores["recall"].to_pylist() == [1.0, 0.0]
    assert set(recalled.scores["formulation"].to_pylist()) == {"Contained"}
    recalled.close()


def test_garbage_from_a_judge_is_an_error_of_that_passage_and_no_more(tmp_path: Path) -> None:
    texts = ["supported it is", "nonsense", "refuted", "error"]
    records = [
        {"id": str(n), "response": "Oslo is large.", "reference_answers": text}
        for n, text in enumerate(texts)
    ]
    words = evaluation(tmp_path, records, "--judge")
    ok(*words, judge_of("Says"))
    outcomes = [row["outcome"] for row in rows(tmp_path / "out", OUTCOMES)]
    assert outcomes == [SUPPORTED, ERROR, REFUTED, ERROR]
    (failure,) = rows(tmp_path / "out", "SELECT step, error_type, message FROM failures")
    assert failure["step"] == "verify"
    assert failure["error_type"] == "ValueError"
    assert "unknown outcome 'nonsense'" in failure["message"]
    # One that leaves units out has judged nothing.
    ufo(*words, judge_of("Sloppy"))
    assert {row["outcome"] for row in rows(tmp_path / "out", OUTCOMES)} == {ERROR}


# --- under names of their own, in the configuration file


@pytest.mark.parametrize("case", NAMED.values(), ids=NAMED)
def test_a_named_judge_of_the_configuration(tmp_path: Path, two_responses: Any, case: Any) -> None:
    config = tmp_path / "ufo.yaml"
    config.write_text(case["config"].replace("TYPE", json.dumps(judge_of("Says"))))
    ok(*two_responses, "--config", config, *case["flags"].split())
    expected = {"outcome": case["judged"], "judge": case["by"]}
    assert rows(tmp_path / "out", OUTCOMES)[1] == expected


# --- those that ask a model, or another service


def test_one_that_asks_a_model_gets_the_client_of_the_run(
    tmp_path: Path, two_responses: Any, llm_server: LlmServer
) -> None:
    asked = (*two_responses, *at(llm_server))
    estimate = ufo(*asked, "--judge", judge_of("Plain"), "--dry_run", "--json").json
    (calls,) = [row["calls"] for row in estimate["rows"] if row["step"] == "verify"]
    assert calls == 2
    assert llm_server.requests == []
    # A service that is none of a model is counted too.
    far = ufo(*two_responses, "--judge", judge_of("Far"), "--dry_run", "--json").json
    assert [(row["step"], row["calls"]) for row in far["rows"]] == [("verify", 2)]
    ok(*asked, "--judge", judge_of("Plain"))
    selected = rows(tmp_path / "out", "SELECT DISTINCT judge, model FROM evidence")
    assert [tuple(row.values()) for row in selected] == [("Plain", "offline-judge")]


def test_the_cascade_of_the_examples_asks_a_model_where_it_is_not_sure(
    tmp_path: Path, llm_server: LlmServer
) -> None:
    chances = {"Lima": "0.4 0.2 0.4 said.", "Oslo": "0.95 0 0.05 said.", "Rome": "0 1 0 said."}
    records = [
        {"id": city, "response": f"{city} is large.", "reference_answers": text}
        for city, text in chances.items()
    ]
    flags = ("--verifier", STATED, "--formulation", "prompt", "--judge", f"{EXAMPLE}:Cascade")
    words = evaluation(tmp_path, records, *at(llm_server), *flags)
    estimate = ufo(*words, "--dry_run", "--json").json
    assert [row["calls"] for row in estimate["rows"] if row["step"] == "verify"] == [2]
    assert llm_server.requests == []
    done = ok(*words)
    assert [row["judge"] for row in rows(tmp_path / "out", OUTCOMES)] == ["llm", "offline", "llm"]
    assert "A first look; for findings use a model" in done.out


# --- `--verifier`: who judges is told, recorded, and part of what results depend on.


SHOWN = "A first look; for findings use a model. The verifier's author says: always"
# A reference that states its probabilities, and a ground for them.
REFUTING = "0.2 0.7 0.1\n\nOslo was founded in 1801."
STATING = {"response": "Oslo was founded in 1901.", "reference_answers": REFUTING}


def test_its_verdicts_its_name_and_its_accuracy_are_seen(tmp_path: Path) -> None:
    words = evaluation(tmp_path, [STATING])
    done = ok(*words, "--verifier", STATED)
    assert "Judging offline, without a language model. Verifier: stated." in done.err
    assert SHOWN in done.out
    (row,) = rows(tmp_path / "out", "SELECT outcome, probability, judge, model FROM evidence")
    assert row["outcome"] == "refuted"
    assert row["probability"] == 0.2
    assert row["judge"] == "offline"
    (manifest,) = (tmp_path / "out").glob("run=*/manifest.json")
    verifier = json.loads(manifest.read_text())["fingerprint"]["options"]["verifier"]
    assert verifier["name"] == "stated"
    assert row["model"] == f"stated@{verifier['content'][:12]}"
    # Another verifier is another run.
    (tmp_path / "ufo.yaml").write_text("verifier: overlap\n")
    ok(*words, "--config", tmp_path / "ufo.yaml")
    assert len(list((tmp_path / "out").glob("run=*"))) == 2


@pytest.mark.slow
def test_every_place_that_shows_a_result_says_how_often_the_verifier_is_right(
    tmp_path: Path,
) -> None:
    line = trust_line(["offline"], [model_column("overlap")], ["reference"])
    assert f"\n{line}\n" in ok(*evaluation(tmp_path, [STATING], "--verifier", "overlap")).out
    ok("report", tmp_path / "out", "--html", tmp_path / "page.html")
    page = html.unescape((tmp_path / "page.html").read_text())
    figures = trust_figures([model_column("overlap")], ["reference"])
    assert line in page
    assert figures in page
    report = ok("report", tmp_path / "out").out
    assert " ".join(report.split()).partition(" coverage ")[2][6:].startswith(line)
    assert figures not in " ".join(report.split())
    result = python.evaluate(["Oslo is big."], ["reference"], verifier="overlap", quiet=True)
    assert "Verifier overlap" not in result._repr_html_()  # nobody judged: there was no reference
    text = "Oslo was founded in 1901."
    checked = python.check_sync(text, references=["Oslo is old."], verifier="overlap")
    assert line in str(checked).splitlines()
    assert checked.to_dict()["trust"] == line
    assert checked.to_dict()["judged_by"] == figures


def test_recall_and_one_text_ask_it_too(tmp_path: Path) -> None:
    text = "Oslo was founded in 1901."
    record = {"question": "When?", "ground_truth": text, "answers": {"one": "0.9 0.05 0.05 said."}}
    path = write_lines(tmp_path / "in.jsonl", [record])
    words = ("recall", "--input", path, "--output", tmp_path / "out", "--judge", "offline")
    notice = "A first look; for findings use a model. It was not measured on evidence of this kind."
    assert notice in " ".join(ok(*words, "--verifier", STATED).out.split())
    (row,) = rows(tmp_path / "out", "SELECT judge, model FROM recall_verdicts")
    assert row["judge"] == "offline"
    assert row["model"].partition("@")[0] == "stated"
    assert ufo(*words, "--verifier", STATED, "--facts_only").code == 2
    checked = python.check_sync(text, references=[REFUTING], judge="offline", verifier=STATED)
    assert [row.outcome for row in checked.evidence] == ["refuted"]


# --- `ufo judges`: what is listed and said.


def test_the_list_has_judges_and_verifiers_with_package_and_help() -> None:
    rows = ufo("judges", "--json").json
    assert {("judge", "offline"), ("judge", "llm")} <= {(row["kind"], row["type"]) for row in rows}
    assert ("verifier", "overlap") in {(row["kind"], row["type"]) for row in rows}
    assert [row for row in rows if not (row["package"] and row["help"])] == []
    out = ufo("judges").out
    assert "judges (--judge)\n" in out
    assert "verifiers (--verifier)\n" in out
    for row in rows:
        line = f"{row['type']} ({row['package']}) {row['help']}"
        assert " ".join(line.split()) in " ".join(out.split())
    docs = (Path(__file__).parents[2] / "docs/judging.md").read_text()
    for row in rows:
        if row["kind"] == "judge" and row["package"] == "ufo-factuality":
            can = (row[name] for name in ("extracts", "verifies", "abstains", "needs_endpoint"))
            cells = " | ".join("yes" if one else "no" for one in can)
            assert f"| `{row['type']}` | {cells} |" in docs
    (llm,) = [row for row in rows if row["type"] == "llm"]
    assert {"formulation", "model"} <= set(llm["flags"])
    assert llm["options"] == {}
    assert "    extracts, verifies, abstains, needs an endpoint\n" in out
    assert "    flags: --verifier\n" in out
