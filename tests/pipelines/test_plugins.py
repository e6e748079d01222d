"""Fact sources of other people: a file, an installed package, and ones that do not load."""

import json
from pathlib import Path

import pytest

from tests.pipelines.conftest import tables, ufo, ufo_process, write_lines
from tests.pipelines.installed import install

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
    words += ("--sources", "mine/acme.py:Acme", "--run", "r")
    done = ufo(*words, "--workers", 2)
    assert done.code == 0, done.err
    assert done.json["sources"] == ["Acme"]
    assert [row[7] for row in tables(tmp_path / "out")["evidence"]].count("supported") == 1
    # An edited file is another source.
    (tmp_path / "mine/acme.py").write_text(PLUG_IN + "\n# another word\n")
    other = ufo(*words, "--if_finished", "retry_errors")
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
    done = ufo(
        *("evaluate", "--input", path, "--output", tmp_path / "out", "--workers", 1, "--json"),
        *("--sources", f"{plug_in}:Garbage"),
    )
    assert done.code == 0, done.err
    found = tables(tmp_path / "out")
    outcomes = {row[0]: row[7] for row in found["evidence"]}
    assert outcomes == dict.fromkeys(cities[:4], "error") | {"Perth": "supported"}
    assert len(found["failures"]) == 4
    assert json.dumps(found["failures"])
    assert ufo("report", tmp_path / "out").code == 0
    words = ("--input", path, "--output", tmp_path / "waits", "--sources", f"{plug_in}:Waits")
    waits = ufo("evaluate", *words)
    assert (waits.code, "must set `remote = True`" in waits.err) == (1, True)
