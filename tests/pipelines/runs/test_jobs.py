"""What the workers of a run are told of its sources."""

from pathlib import Path

import pytest

from ufo.pipelines.runs.jobs import job_of_text


def test_files_that_workers_open_are_found_from_other_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SERPER_API_KEY", "key")
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "hostname_category_system.txt").write_text("Name the kind.\n")
    values = {"judge": "offline", "verifier": "overlap", "prompts": "own", "pages": 2}
    job = job_of_text(values, ["web"]).elsewhere()
    assert job.flags["prompts"] == str(tmp_path / "own")
    assert job.flags["pages"] == 2
