"""`ufo status` on runs that are finished, running, killed, and of before it was there."""

from pathlib import Path

import pytest

from tests.pipelines.conftest import ufo, ufo_process, write_lines


def test_a_password_in_an_address_is_not_kept(tmp_path: Path) -> None:
    given = tmp_path / "in.jsonl"
    given.write_text('{"response": "Oslo is large.", "claims": [{"claim": "Oslo is large."}]}\n')
    address = "http://me:geheim@127.0.0.1:1/v1?key=geheim"
    words = ("--input", given, "--output", tmp_path / "out", "--judge", "llm")
    llm = ("--base_url", address, "--model", "m", "--retry_seconds", 0, "--run", "r")
    ufo_process("evaluate", *words, *llm, "--sources", "llm")
    notes = list((tmp_path / "out").rglob("process.json"))
    assert all("geheim" not in note.read_text() for note in notes)


@pytest.mark.parametrize("manifest", ["{", "{}", "5"])
def test_a_damaged_manifest_is_reported_by_whoever_reads_it(tmp_path: Path, manifest: str) -> None:
    folder = tmp_path / "run=r"
    folder.mkdir()
    (folder / "manifest.json").write_text(manifest)
    (found,) = ufo("status", tmp_path, "--json").json
    assert found["state"] == "damaged"
    assert "remove" in found["next"]
    shown = ufo("status", tmp_path)
    assert shown.code == 1
    assert "r  damaged" in shown.out
    assert found["next"] in shown.err
    given = write_lines(tmp_path / "in.jsonl", [{"response": "Oslo is a city."}])
    for flags in (["--run", "r"], ["--run", "s", "--since", "r"]):
        done = ufo("evaluate", "--input", given, "--output", tmp_path, "--workers", 1, *flags)
        assert done.code == 1
        assert f"remove {str(folder)!r}" in done.err


def test_nothing_there(tmp_path: Path) -> None:
    assert "no run in" in ufo("status", tmp_path).out
