"""Fact sources, judges and verifiers of other people."""

import html
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ufo as python
from tests.llm_server import LlmServer
from tests.pipelines.conftest import ok, tables, ufo, ufo_process, write_lines
from tests.pipelines.installed import install
from tests.pipelines.llm_runs import ENVIRONMENT, at, rows
from tests.pipelines.other_judges import judge as judge_of
from tests.transforms.judges.stated import STATED
from ufo.examples.own_judge import Contained
from ufo.schemas.records import ERROR, NOANS, REFUTED, SUPPORTED
from ufo.transforms.judges.offline import trust
from ufo.transforms.verifiers.by_name import shown

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


@pytest.fixture
def responses(tmp_path: Path) -> Path:
    path: Path = write_lines(
        tmp_path / "in.jsonl",
        [{"response": f"{name} is a large city."} for name in ("Rome", "Oslo", "Bern", "Nice")],
    )
    return path


def test_an_installed_package_serves_without_an_edit_here(tmp_path: Path, responses: Path) -> None:
    environment = install(tmp_path, PLUG_IN)
    done = ufo_process(
        *("evaluate", "--input", responses, "--output", tmp_path / "out", "--sources", "acme"),
        *("--workers", 1, "--json"),
        env=environment,
        cwd=tmp_path,
    )
    assert done.code == 0, done.err
    assert done.json["sources"] == ["acme"]
    labels = [row[4] for row in tables(tmp_path / "out")["verdicts"]]
    assert (labels.count(1), labels.count(None)) == (1, 3)
    listed = ufo_process("sources", "--json", env=environment)
    assert listed.code == 0
    (row,) = [row for row in listed.json if row["type"] == "acme"]
    assert (row["package"], row["options"]) == ("acme-facts", {"limit": 1})
    assert row["help"] == "Looks facts up in the archive of Acme."
    (own,) = [row for row in listed.json if row["type"] == "reference"]
    assert (own["package"], own["options"]) == ("ufo-factuality", {"passages": 5})
    assert "wikipedia  (ufo-factuality)" in ufo("sources").out
    # One that does not load is named, and disturbs no other.
    (tmp_path / "site" / "acme_facts.py").write_text("import a_module_that_is_not_there\n")
    words = ("evaluate", "--input", responses, "--output", tmp_path / "out", "--workers", 1)
    wrong = ufo_process(*words, "--sources", "acme", env=environment)
    assert wrong.code == 2
    assert "package 'acme-facts'" in wrong.err
    assert "a_module_that_is_not_there" in wrong.err
    assert "Traceback" not in wrong.err
    assert ufo_process(*words, "--sources", "reference", env=environment).code == 0


def test_a_file_of_the_user_s_by_a_relative_path(
    tmp_path: Path, responses: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/acme.py").write_text(PLUG_IN)
    monkeypatch.chdir(tmp_path)
    words = ("evaluate", "--input", responses.name, "--output", "out", "--json", "--chunk_size", 2)
    mine = (*words, "--sources", "mine/acme.py:Acme", "--run", "r")
    done = ok(*mine, "--workers", 2)
    assert done.json["sources"] == ["Acme"]
    assert [row[7] for row in tables(tmp_path / "out")["evidence"]].count("supported") == 1
    # An edited file is another source.
    (tmp_path / "mine/acme.py").write_text(PLUG_IN + "\n# another word\n")
    other = ufo(*mine, "--if_finished", "retry_errors")
    assert (other.code, "sources" in other.err) == (2, True)


def test_garbage_from_a_source_is_an_error_of_that_unit_and_no_more(tmp_path: Path) -> None:
    plug_in = tmp_path / "garbage.py"
    plug_in.write_text(
        "import numpy\n"
        "from ufo import FactSource, Passage, Retrieved\n"
        "class Garbage(FactSource):\n"
        "    def find(self, unit):\n"
        "        word = unit.claim.split()[0]\n"
        "        if word == 'Rome': return [Passage('half a character \\ud83d')]\n"
        "        if word == 'Oslo': return [Passage('text', title=5)]\n"
        "        if word == 'Bonn': return 5\n"
        "        if word == 'Lima': raise UnicodeError('\\udead' * 3 + 'x' * 99999)\n"
        "        if word == 'Cairo': return [Passage(unit.claim, published_at='\\0')]\n"
        "        return [Retrieved(Passage(unit.claim), numpy.float32(0.5))]\n"
        "class Waits(FactSource):\n"
        "    async def look_up(self, open_units):\n"
        "        import asyncio\n"
        "        await asyncio.sleep(0)\n"
    )
    cities = ["Rome", "Oslo", "Bonn", "Lima", "Perth"]
    path = write_lines(
        tmp_path / "in.jsonl", [{"id": c, "response": f"{c} is a large city."} for c in cities]
    )
    ok(
        *("evaluate", "--input", path, "--output", tmp_path / "out", "--workers", 1, "--json"),
        *("--sources", f"{plug_in}:Garbage"),
    )
    found = tables(tmp_path / "out")
    outcomes = {row[0]: row[7] for row in found["evidence"]}
    assert outcomes == dict.fromkeys(cities[:4], "error") | {"Perth": "supported"}
    assert len(found["failures"]) == 4
    assert json.dumps(found["failures"])
    ok("report", tmp_path / "out")
    words = ("--input", path, "--output", tmp_path / "waits", "--sources", f"{plug_in}:Waits")
    waits = ufo("evaluate", *words)
    assert (waits.code, "must set `remote = True`" in waits.err) == (1, True)


# --- Judges of other people: a file, an installed package, an object; and broken ones.


OUTCOMES = "SELECT outcome, judge FROM evidence ORDER BY response_id"
CASCADE = Path(__file__).parents[2] / "examples/own_judge.py:Cascade"
EXAMPLE = Path(__file__).parents[2] / "examples/own_judge.py"


def test_an_installed_package_judges_without_an_edit_here(
    tmp_path: Path, two_responses: tuple[object, ...]
) -> None:
    entry = "contained = acme_facts:Contained"
    environment = install(tmp_path, EXAMPLE.read_text(), "ufo.judges", entry)
    done = ufo_process(
        *(*two_responses, "--judge", "contained", "--workers", 1),
        env=environment,
        cwd=tmp_path,
    )
    assert done.code == 0, done.err
    found = rows(tmp_path / "out", OUTCOMES)
    assert [tuple(row.values()) for row in found] == [
        (SUPPORTED, "contained"),
        (NOANS, "contained"),
    ]
    listed = ufo_process("judges", "--json", env=environment)
    (row,) = [row for row in listed.json if row["type"] == "contained"]
    assert (row["package"], row["options"]) == ("acme-facts", {"share": 0.9, "letters": 4})
    assert (row["extracts"], row["verifies"], row["abstains"]) == (False, True, True)
    assert (row["needs_endpoint"], row["flags"]) == (False, [])


def test_a_file_by_a_relative_path_on_beams_direct_runner(
    tmp_path: Path, two_responses: tuple[object, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/judge.py").write_text(EXAMPLE.read_text())
    monkeypatch.chdir(tmp_path)
    ok(*two_responses, "--judge", "mine/judge.py:Contained", "--runner", "DirectRunner")
    assert [row["outcome"] for row in rows(tmp_path / "out", OUTCOMES)] == [SUPPORTED, NOANS]
    (manifest,) = (tmp_path / "out").glob("run=*/manifest.json")
    assert json.loads(manifest.read_text())["judge"] == "Contained"


def test_objects_and_descriptions_from_python() -> None:
    records = [{"response": "Oslo is large.", "reference_answers": "They say Oslo is large."}]
    found = python.evaluate(records, ["reference"], judge=Contained(), workers=1, quiet=True)
    assert found.evidence["outcome"].to_pylist() == [SUPPORTED]
    assert set(found.evidence["judge"].to_pylist()) == {"Contained"}
    found.close()
    checked = python.check_sync(
        "Oslo is large.",
        references=["Rome."],
        sources=["reference"],
        judge={"name": "mine", "type": judge_of("Says"), "word": "refuted"},
    )
    assert [(row.judge, row.outcome) for row in checked.evidence] == [("mine", REFUTED)]
    with pytest.raises(python.UsageError, match="a judge is a name or"):
        python.check_sync("Oslo is large.", judge=5)
    record: dict[str, Any] = {"question": "How large?", "ground_truth": "Oslo is large."}
    record["answers"] = {"one": "They say that Oslo is large.", "two": "It is small."}
    recalled = python.recall([record], judge=Contained(), quiet=True)
    assert recalled.scores["recall"].to_pylist() == [1.0, 0.0]
    assert set(recalled.scores["formulation"].to_pylist()) == {"Contained"}
    recalled.close()


def test_garbage_from_a_judge_is_an_error_of_that_passage_and_no_more(
    tmp_path: Path, two_responses: tuple[object, ...]
) -> None:
    said = ["supported it is", "nonsense", "refuted", "error"]
    write_lines(
        tmp_path / "in.jsonl",
        [
            {"id": str(n), "response": "Oslo is large.", "reference_answers": text}
            for n, text in enumerate(said)
        ],
    )
    ok(*two_responses, "--workers", 1, "--judge", judge_of("Says"))
    found = [row["outcome"] for row in rows(tmp_path / "out", OUTCOMES)]
    assert found == [SUPPORTED, ERROR, REFUTED, ERROR]
    (failure,) = rows(tmp_path / "out", "SELECT step, error_type, message FROM failures")
    assert (failure["step"], failure["error_type"]) == ("verify", "ValueError")
    assert "unknown outcome 'nonsense'" in failure["message"]
    # One that leaves units out has judged nothing.
    ufo(*two_responses, "--workers", 1, "--judge", judge_of("Sloppy"))
    assert {row["outcome"] for row in rows(tmp_path / "out", OUTCOMES)} == {ERROR}


# --- under names of their own, in the configuration file


@pytest.mark.parametrize(
    ("text", "flags", "judge", "outcome"),
    [
        ("judge: {name: mine, type: TYPE, word: refuted}", (), "mine", REFUTED),
        ("judge: {type: TYPE, word: refuted}", ("--judge", "offline"), "offline", NOANS),
        ("judges: [{name: a, type: TYPE}, {name: b, type: TYPE, word: refuted}]\njudge: b", (),
         "b", REFUTED),
        ("judges: [offline, {name: b, type: TYPE, word: refuted}]", ("--judge", "b"), "b", REFUTED),
    ],
)  # fmt: skip
def test_a_named_judge_of_the_configuration(
    tmp_path: Path,
    two_responses: tuple[object, ...],
    text: str,
    flags: tuple[str, ...],
    judge: str,
    outcome: str,
) -> None:
    config = tmp_path / "ufo.yaml"
    config.write_text(text.replace("TYPE", json.dumps(judge_of("Says"))))
    ok(*two_responses, "--workers", 1, "--config", config, *flags)
    assert [tuple(row.values()) for row in rows(tmp_path / "out", OUTCOMES)][1] == (outcome, judge)


# --- those that ask a model, or another service


@pytest.fixture
def asked(
    two_responses: tuple[object, ...], llm_server: LlmServer, monkeypatch: pytest.MonkeyPatch
) -> tuple[object, ...]:
    """The words of a command over two responses, whose models are at the server."""
    monkeypatch.setenv("OPENAI_API_KEY", llm_server.key)
    return (*two_responses, *at(llm_server))


def test_one_that_asks_a_model_gets_the_client_of_the_run(
    tmp_path: Path,
    two_responses: tuple[object, ...],
    asked: tuple[object, ...],
    llm_server: LlmServer,
) -> None:
    estimate = ufo(*asked, "--judge", judge_of("Plain"), "--dry_run", "--json").json
    (calls,) = [row["calls"] for row in estimate["rows"] if row["step"] == "verify"]
    assert (calls, llm_server.requests) == (2, [])
    # A service that is none of a model is counted too.
    far = ufo(*two_responses, "--judge", judge_of("Far"), "--dry_run", "--json").json
    assert [(row["step"], row["calls"]) for row in far["rows"]] == [("verify", 2)]
    ok(*asked, "--judge", judge_of("Plain"))
    found = rows(tmp_path / "out", "SELECT DISTINCT judge, model FROM evidence")
    assert [tuple(row.values()) for row in found] == [("Plain", "offline-judge")]


def test_the_cascade_of_the_examples_asks_a_model_where_it_is_not_sure(
    tmp_path: Path, asked: tuple[object, ...], llm_server: LlmServer
) -> None:
    chances = {"Lima": "0.4 0.2 0.4 said.", "Oslo": "0.95 0 0.05 said.", "Rome": "0 1 0 said."}
    records = [
        {"id": city, "response": f"{city} is large.", "reference_answers": text}
        for city, text in chances.items()
    ]
    write_lines(tmp_path / "in.jsonl", records)  # in the place of the two responses
    words = ("--verifier", STATED, "--formulation", "prompt", "--judge", CASCADE)
    flags = (*asked, *words)
    estimate = ufo(*flags, "--dry_run", "--json").json
    assert [row["calls"] for row in estimate["rows"] if row["step"] == "verify"] == [2]
    assert llm_server.requests == []
    done = ok(*flags)
    found = rows(tmp_path / "out", "SELECT judge FROM evidence ORDER BY response_id")
    assert [row["judge"] for row in found] == ["llm", "offline", "llm"]
    assert "Verifier stated (a first look" in done.out


# --- `--verifier`: who judges is told, recorded, and part of what results depend on.


REFUTING = "0.2 0.7 0.1\n\nOslo was founded in 1801."


@pytest.fixture
def evaluate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """One response, and a reference that states its probabilities and a ground for them."""
    for name in ENVIRONMENT:
        monkeypatch.delenv(name, raising=False)
    record = {"response": "Oslo was founded in 1901.", "reference_answers": REFUTING}
    path = write_lines(tmp_path / "in.jsonl", [record])

    def run(*flags: object) -> Any:
        words = ("--input", path, "--output", tmp_path / "out", "--workers", 1)
        return ufo("evaluate", *words, "--sources", "reference", *flags)

    return run


def test_its_verdicts_its_name_and_its_accuracy_are_seen(evaluate: Any, tmp_path: Path) -> None:
    done = evaluate("--verifier", STATED)
    assert done.code == 0, done.err
    assert "Judging offline, without a language model. Verifier: stated." in done.err
    assert "Verifier stated (a first look; for findings use a language model): always" in done.out
    (row,) = rows(tmp_path / "out", "SELECT outcome, probability, judge, model FROM evidence")
    assert (row["outcome"], row["probability"], row["judge"]) == ("refuted", 0.2, "offline")
    assert row["model"].startswith("stated@")
    (manifest,) = (tmp_path / "out").glob("run=*/manifest.json")
    told = json.loads(manifest.read_text())["fingerprint"]["options"]["verifier"]
    assert told["name"] == "stated"
    assert row["model"] == f"stated@{told['content'][:12]}"
    # Another verifier is another run.
    (tmp_path / "ufo.yaml").write_text("verifier: overlap\n")
    assert evaluate("--config", tmp_path / "ufo.yaml").code == 0
    assert len(list((tmp_path / "out").glob("run=*"))) == 2


def test_every_place_that_shows_a_result_says_how_often_the_verifier_is_right(
    evaluate: Any, tmp_path: Path
) -> None:
    line = trust([shown("overlap")], ["reference"])
    done = evaluate("--verifier", "overlap")
    assert f"\n{line}\n" in done.out
    results = tmp_path / "out"
    assert line in " ".join(ufo("report", results).out.split())
    ok("report", results, "--html", tmp_path / "page.html")
    assert line in html.unescape((tmp_path / "page.html").read_text())
    found = python.evaluate(["Oslo is big."], ["reference"], verifier="overlap", quiet=True)
    assert "Verifier overlap" not in found._repr_html_()  # nobody judged: there was no reference
    text = "Oslo was founded in 1901."
    checked = python.check_sync(text, references=["Oslo is old."], verifier="overlap")
    assert line in " ".join(repr(checked).split())
    assert checked.to_dict()["judged_by"] == line


def test_recall_and_one_text_ask_it_too(tmp_path: Path) -> None:
    text = "Oslo was founded in 1901."
    record = {"question": "When?", "ground_truth": text, "answers": {"one": "0.9 0.05 0.05 said."}}
    path = write_lines(tmp_path / "in.jsonl", [record])
    words = ("recall", "--input", path, "--output", tmp_path / "out", "--judge", "offline")
    done = ok(*words, "--verifier", STATED)
    assert "Verifier stated (a first look; for findings use a language model): always" in done.out
    (row,) = rows(tmp_path / "out", "SELECT judge, model FROM recall_verdicts")
    assert (row["judge"], row["model"].partition("@")[0]) == ("offline", "stated")
    assert ufo(*words, "--verifier", STATED, "--facts_only").code == 2
    checked = python.check_sync(text, references=[REFUTING], judge="offline", verifier=STATED)
    assert [row.outcome for row in checked.evidence] == ["refuted"]


# --- `ufo judges`: what is listed and said.


def test_the_list_has_judges_and_verifiers_with_package_and_help() -> None:
    rows = ufo("judges", "--json").json
    assert {("judge", "offline"), ("judge", "llm")} <= {(row["kind"], row["type"]) for row in rows}
    assert ("verifier", "overlap") in {(row["kind"], row["type"]) for row in rows}
    assert all(row["package"] and row["help"] for row in rows)
    out = ufo("judges").out
    assert "judges (--judge)\n" in out
    assert "verifiers (--verifier)\n" in out
    for row in rows:
        assert f"  {row['type']}  ({row['package']})\n    {row['help']}\n" in out
    docs = (Path(__file__).parents[2] / "docs/judging.md").read_text()
    for row in rows:
        if row["kind"] == "judge" and row["package"] == "ufo-factuality":
            can = (row[name] for name in ("extracts", "verifies", "abstains", "needs_endpoint"))
            said = " | ".join("yes" if one else "no" for one in can)
            assert f"| `{row['type']}` | {said} |\n" in docs
    (llm,) = [row for row in rows if row["type"] == "llm"]
    assert {"formulation", "model"} <= set(llm["flags"])
    assert llm["options"] == {}
    assert "    extracts, verifies, abstains, needs an endpoint\n" in out
    assert "    flags: --verifier\n" in out
