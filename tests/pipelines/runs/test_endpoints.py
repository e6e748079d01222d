"""What a run knows of its endpoints before it sends anything to a worker."""

from pathlib import Path

import pytest

from tests.llm_server import LlmServer
from ufo.pipelines.options.command_line import settings_of
from ufo.pipelines.runs.endpoints import probed


def test_all_processes_know_that_an_endpoint_answered_also_one_that_is_known_already(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with LlmServer() as server:
        monkeypatch.setenv("OPENAI_API_KEY", server.key)
        settings = settings_of(
            {
                "input": "-",
                "output": str(tmp_path),
                "judge": "llm",
                "model": "offline-judge",
                "base_url": server.base_url,
                "cache": str(tmp_path / "cache.sqlite"),
                "workers": 2,
            },
            ["reference"],
        )
        first, probes = probed(settings, ())
        again, no_probes = probed(settings, ())
    away, _ = probed(settings, ())
    assert first
    assert again
    assert away
    assert probes
    assert not no_probes
    assert first.reached == again.reached == {server.base_url}
    assert away.reached == frozenset()
