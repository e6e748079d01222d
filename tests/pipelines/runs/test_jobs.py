"""What the workers of a run are told of its sources."""

from pathlib import Path

import pytest

from ufo.pipelines.runs.jobs import job_of_text


def test_files_that_workers_open_are_found_from_other_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SERPER_API_KEY", "key")
    (tmp_path / "kinds.yaml").write_text("blog: {domains: [example.org]}\n")
    values = {"judge": "offline", "verifier": "overlap", "categories": "kinds.yaml", "pages": 2}
    job = job_of_text(values, ["web"]).elsewhere()
    assert job.flags["categories"] == str(tmp_path / "kinds.yaml")
    assert job.flags["pages"] == 2
