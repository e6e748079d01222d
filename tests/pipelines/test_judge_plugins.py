"""Judges of other people: a file, an installed package, an object, a named one; and broken ones."""

import inspect
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ufo as python
from examples.own_judge import Contained
from schemas.records import ERROR, NOANS, REFUTED, SUPPORTED
from tests.llm_server import LlmServer
from tests.pipelines.installed import install
from tests.pipelines.llm_runs import ENVIRONMENT, rows

Ufo = Callable[..., Any]

EXAMPLE = Path(__file__).parents[2] / "examples/own_judge.py"
OUTCOMES = "SELECT outcome, judge FROM evidence ORDER BY response_id"
RECORDS = [
    {"id": "a", "response": "Oslo is large.", "reference_answers": "They say Oslo is large."},
    {"id": "b", "response": "Rome is large.", "reference_answers": "Oslo is quite small."},
]

# Its outcome is the first word of each passage.
SAYS = '''
from ufo import Judge, Judgement

class Says(Judge):
    """Takes a passage at its first word."""

    def __init__(self, word="", api_key=""):
        self.word = word

    def outcome(self, unit, passage):
        return Judgement(self.word or passage.text.split()[0], rationale="it says so")

class Sided(Says):
    abstains = False

class Broken(Says):
    def unavailable(self):
        return "it is broken; mend it"

class Extracts(Judge):
    async def extract(self, record, sentences):
        raise AssertionError

class Asks(Judge):
    """Asks a model about each passage."""

    needs_endpoint = True

    def __init__(self, client, llm_settings=None, model=None):
        pass

class Plain(Judge):
    """Asks a model about each passage, in words of its own."""

    needs_endpoint = True

    def __init__(self, client, model=None):
        self.client, self.model = client, model

    async def outcome(self, unit, passage):
        from transforms.llm.base import VERIFIER, Message, Request

        asked = [Message("system", "Task: own"), Message("user", unit.claim + passage.text)]
        said = await self.client().complete(Request(VERIFIER, self.model, asked, step="verify"))
        return Judgement("supported", rationale=said.choices[0].text)

class First(Judge):
    """Takes quotations for supported, and asks the LLM judge about the rest."""

    needs_endpoint = True

    def __init__(self, llm_judge):
        self.llm_judge = llm_judge

    async def verify(self, open_units, source, found):
        return await self.llm_judge.verify(open_units, source, found)

class Far(Judge):
    """Asks a service that is none of a model."""

    async def outcome(self, unit, passage):
        raise AssertionError("it was asked")

class Sloppy(Judge):
    async def verify(self, open_units, source, found):
        from ufo import Judged
        return Judged()
'''


@pytest.fixture(name="says")
def _says(tmp_path: Path) -> Callable[[str], str]:
    (tmp_path / "says.py").write_text(SAYS)
    return lambda name: f"{tmp_path}/says.py:{name}"


@pytest.fixture(name="words")
def _words(tmp_path: Path, write_lines: Any, monkeypatch: pytest.MonkeyPatch) -> tuple[object, ...]:
    """The words of a command over two responses with a reference."""
    for name in ENVIRONMENT:
        monkeypatch.delenv(name, raising=False)
    path = write_lines(tmp_path / "in.jsonl", RECORDS)
    return ("evaluate", "--input", path, "--output", tmp_path / "out", "--sources", "reference")


def test_a_class_of_under_25_lines_that_imports_nothing_but_ufo() -> None:
    lines = inspect.getsource(Contained).splitlines()
    assert len([line for line in lines if line.strip()]) < 25
    imports = [line for line in EXAMPLE.read_text().splitlines() if "import " in line]
    assert imports == ["import ufo"]


def test_an_installed_package_judges_without_an_edit_here(
    tmp_path: Path, ufo_process: Ufo, words: tuple[object, ...]
) -> None:
    entry = "contained = acme_facts:Contained"
    environment = install(tmp_path, EXAMPLE.read_text(), "ufo.judges", entry)
    done = ufo_process(
        # Workers of their own find it too.
        *(*words, "--judge", "contained", "--workers", 2, "--chunk_size", 1),
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


@pytest.mark.parametrize("runner", [(), ("--runner", "DirectRunner")])
def test_a_file_by_a_relative_path(
    tmp_path: Path,
    ufo: Ufo,
    words: tuple[object, ...],
    monkeypatch: pytest.MonkeyPatch,
    runner: tuple[str, ...],
) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/judge.py").write_text(EXAMPLE.read_text())
    monkeypatch.chdir(tmp_path)
    done = ufo(*words, "--judge", "mine/judge.py:Contained", "--chunk_size", 1, *runner)
    assert done.code == 0, done.err
    assert [row["outcome"] for row in rows(tmp_path / "out", OUTCOMES)] == [SUPPORTED, NOANS]
    (manifest,) = (tmp_path / "out").glob("run=*/manifest.json")
    assert json.loads(manifest.read_text())["judge"] == "Contained"


@pytest.mark.parametrize(
    ("text", "flags", "judge", "outcome"),
    [
        ("judge: {name: mine, type: TYPE, word: refuted}", (), "mine", REFUTED),
        ("judge: {type: TYPE, word: refuted}", ("--judge", "offline"), "offline", NOANS),
        ("judges: [{name: a, type: TYPE, word: noans}, offline]", (), "a", NOANS),
        ("judges: [{name: a, type: TYPE}, {name: b, type: TYPE, word: refuted}]\njudge: b", (),
         "b", REFUTED),
        ("judges: [offline, {name: b, type: TYPE, word: refuted}]", ("--judge", "b"), "b", REFUTED),
    ],
)  # fmt: skip
def test_a_named_judge_of_the_configuration(
    tmp_path: Path,
    ufo: Ufo,
    words: tuple[object, ...],
    says: Any,
    text: str,
    flags: tuple[str, ...],
    judge: str,
    outcome: str,
) -> None:
    config = tmp_path / "ufo.yaml"
    config.write_text(text.replace("TYPE", json.dumps(says("Says"))))
    done = ufo(*words, "--workers", 1, "--config", config, *flags)
    assert done.code == 0, done.err
    assert [tuple(row.values()) for row in rows(tmp_path / "out", OUTCOMES)][1] == (outcome, judge)


def test_a_changed_option_or_file_is_another_run(
    tmp_path: Path, ufo: Ufo, words: tuple[object, ...], says: Any
) -> None:
    config = tmp_path / "ufo.yaml"
    config.write_text(f"judge: {{name: mine, type: '{says('Says')}', word: noans, api_key: hunt}}")
    flags = (*words, "--workers", 1, "--config", config)
    assert ufo(*flags).code == 0
    assert all(b"hunt" not in path.read_bytes() for path in tmp_path.glob("out/run=*/*.json"))
    config.write_text(f"judge: {{name: mine, type: '{says('Says')}', word: refuted}}")
    assert ufo(*flags).code == 0
    (tmp_path / "says.py").write_text(SAYS + "# another word\n")
    assert ufo(*flags).code == 0
    assert len(list((tmp_path / "out").glob("run=*"))) == 3
    again = (*flags, "--run", "r")
    assert ufo(*again).code == 0
    (tmp_path / "says.py").write_text(SAYS)
    done = ufo(*again, "--if_finished", "retry_errors")
    assert done.code == 2
    assert "options.judge" in done.err


@pytest.mark.parametrize(
    ("judge", "messages"),
    [
        ("ofline", ["unknown judge 'ofline'", "Did you mean 'offline'?", "path/to/file.py:Class"]),
        ("nowhere.py:Mine", ["no file", "judge 'Mine'"]),
        ("Nobody", ["has no class 'Nobody'"]),
        ("Judgement", ["is not a judge: it must be a subclass of ufo.Judge"]),
        ("Extracts", ["verifies nothing", "`outcome` or `verify`"]),
        ("Broken", ["the judge 'Broken' cannot judge: it is broken; mend it"]),
        ("Says --verifier overlap", ["--verifier is for --judge offline or --judge cascade"]),
        ("Says --formulation stepwise", ["--formulation is for --judge cascade or --judge llm"]),
        ("Says --model m", ["--model 'm' would be passed over", "'Says'"]),
        ("Sided --sources reference,llm --base_url http://127.0.0.1:1/v1",
         ["the judge 'Sided' cannot say that a passage does not tell", "--mode mv"]),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_before_anything_is_read(
    ufo: Ufo, words: tuple[object, ...], says: Any, judge: str, messages: list[str]
) -> None:
    name, *flags = judge.split()
    named = says(name) if name[0].isupper() else name
    done = ufo(*words, "--workers", 1, "--judge", named, *flags)
    assert done.code == 2, done
    for message in messages:
        assert message in done.err


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        ("judge: {name: x}", ["ufo.yaml", "a judge is a name or"]),
        ("judges: []", ["ufo.yaml", "`judges` is a list"]),
        ("judges: [{type: offline, name: 5}]", ["a judge's name is text"]),
        ("judges: [{type: offline}, {type: offline}]", ["two judges are named 'offline'"]),
        ("judge: {type: oflline}", ["unknown judge 'oflline'"]),
        ("judge: {name: o, type: offline, verifer: x}",
         ["option of the judge 'o' (offline)", "Did you mean 'verifier'?"]),
        ("judge: {name: o, type: offline, formulation: prompt}", ["option of the judge 'o'"]),
        ("judge: {name: m, type: llm, formulation: promt}", ["unknown --formulation 'promt'"]),
        ("judge: {name: m, type: llm, client: x}", ["option of the judge 'm' (llm)"]),
    ],
)  # fmt: skip
def test_what_is_wrong_in_the_file_is_told(
    tmp_path: Path, ufo: Ufo, words: tuple[object, ...], text: str, messages: list[str]
) -> None:
    config = tmp_path / "ufo.yaml"
    config.write_text(text)
    done = ufo(*words, "--config", config)
    assert done.code == 2, done
    for message in messages:
        assert message in done.err


def test_objects_and_descriptions_from_python(says: Any) -> None:
    found = python.evaluate(RECORDS, ["reference"], judge=Contained(), workers=1, quiet=True)
    assert found.evidence["outcome"].to_pylist() == [SUPPORTED, NOANS]
    assert set(found.evidence["judge"].to_pylist()) == {"Contained"}
    found.close()
    checked = python.check_sync(
        "Oslo is large.",
        references=["Rome."],
        sources=["reference"],
        judge={"name": "mine", "type": says("Says"), "word": "refuted"},
    )
    assert [(row.judge, row.outcome) for row in checked.evidence] == [("mine", REFUTED)]
    with pytest.raises(python.UsageError, match="a judge is a name or"):
        python.check_sync("Oslo is large.", judge=5)


def test_recall_asks_it_too() -> None:
    record = {
        "question": "How large is Oslo?",
        "ground_truth": "Oslo is large.",
        "answers": {"one": "They say that Oslo is large.", "two": "It is small."},
    }
    found = python.recall([record], judge=Contained(), quiet=True)
    assert found.scores["recall"].to_pylist() == [1.0, 0.0]
    assert set(found.scores["formulation"].to_pylist()) == {"Contained"}
    found.close()


def test_a_named_judge_of_recall_takes_its_flags_alone(
    tmp_path: Path, ufo: Ufo, write_lines: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "ufo.yaml"
    config.write_text("judge: {name: m, type: llm, formulation: prompt}")
    path = write_lines(tmp_path / "in.jsonl", [{"question": "?", "ground_truth": "Oslo."}])
    done = ufo("recall", "--input", path, "--output", tmp_path / "out", "--config", config)
    assert done.code == 2
    assert "unknown option of the judge 'm' (llm) 'formulation'" in done.err
    assert "'formulations'?" in done.err


def test_garbage_from_a_judge_is_an_error_of_that_passage_and_no_more(
    tmp_path: Path, ufo: Ufo, words: tuple[object, ...], says: Any, write_lines: Any
) -> None:
    said = ["supported it is", "nonsense", "refuted", "error"]
    write_lines(
        tmp_path / "in.jsonl",
        [
            {"id": str(n), "response": "Oslo is large.", "reference_answers": text}
            for n, text in enumerate(said)
        ],
    )
    done = ufo(*words, "--workers", 1, "--judge", says("Says"))
    assert done.code == 0, done.err
    found = [row["outcome"] for row in rows(tmp_path / "out", OUTCOMES)]
    assert found == [SUPPORTED, ERROR, REFUTED, ERROR]
    (failure,) = rows(tmp_path / "out", "SELECT step, error_type, message FROM failures")
    assert (failure["step"], failure["error_type"]) == ("verify", "ValueError")
    assert "'nonsense' is no outcome" in failure["message"]


def test_a_judge_that_leaves_units_out_has_judged_nothing(
    tmp_path: Path, ufo: Ufo, words: tuple[object, ...], says: Any
) -> None:
    assert ufo(*words, "--workers", 1, "--judge", says("Sloppy")).code == 0
    assert [row["outcome"] for row in rows(tmp_path / "out", OUTCOMES)] == [ERROR, ERROR]


def test_one_that_needs_an_endpoint_is_told_as_the_llm_judge_is(
    ufo: Ufo, words: tuple[object, ...], says: Any
) -> None:
    done = [ufo(*words, "--workers", 1, "--judge", judge) for judge in ("llm", says("Plain"))]
    assert [one.code for one in done] == [1, 1]
    assert all("wants a key: set OPENAI_API_KEY" in one.err for one in done)


def _models(server: LlmServer) -> tuple[object, ...]:
    return ("--base_url", server.base_url, "--model", "offline-judge", "--cache", "off")


def test_one_that_asks_a_model_gets_the_client_of_the_run(
    tmp_path: Path,
    ufo: Ufo,
    words: tuple[object, ...],
    says: Any,
    llm_server: LlmServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", llm_server.key)
    flags = (*words, "--workers", 1, *_models(llm_server))
    told = ufo(*flags, "--judge", says("Plain"), "--dry_run", "--json").json
    (calls,) = [row["calls"] for row in told["rows"] if row["step"] == "verify"]
    assert (calls, llm_server.requests) == (2, [])
    done = ufo(*flags, "--judge", says("Plain"))
    assert done.code == 0, done.err
    found = rows(tmp_path / "out", "SELECT DISTINCT judge, model FROM evidence")
    assert [tuple(row.values()) for row in found] == [("Plain", "offline-judge")]


def test_one_may_ask_the_llm_judge_which_its_flags_describe(
    tmp_path: Path,
    ufo: Ufo,
    words: tuple[object, ...],
    says: Any,
    llm_server: LlmServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", llm_server.key)
    flags = (*words, "--workers", 1, *_models(llm_server), "--formulation", "prompt")
    told = ufo(*flags, "--judge", says("First"), "--dry_run", "--json").json
    assert [row["calls"] for row in told["rows"] if row["step"] == "verify"] == [2]
    assert llm_server.requests == []
    done = ufo(*flags, "--judge", says("First"))
    assert done.code == 0, done.err
    assert {row["judge"] for row in rows(tmp_path / "out", OUTCOMES)} == {"llm"}


def test_a_dry_run_sends_nothing_to_a_service_and_counts_each_passage(
    ufo: Ufo, words: tuple[object, ...], says: Any
) -> None:
    told = ufo(*words, "--judge", says("Far"), "--dry_run", "--json").json
    assert [(row["step"], row["calls"]) for row in told["rows"]] == [("verify", 2)]


def test_a_named_llm_judge_takes_its_flags_as_options(
    tmp_path: Path,
    ufo: Ufo,
    words: tuple[object, ...],
    llm_server: LlmServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", llm_server.key)
    config = tmp_path / "ufo.yaml"
    config.write_text(
        "judge: {name: strict, type: llm, formulation: prompt, model: offline-judge, "
        f"base_url: '{llm_server.base_url}'}}"
    )
    done = ufo(*words, "--workers", 1, "--config", config, "--cache", "off")
    assert done.code == 0, done.err
    assert {row["judge"] for row in rows(tmp_path / "out", OUTCOMES)} == {"strict"}
    assert {entry.step for entry in llm_server.chats} >= {"prompt"}
