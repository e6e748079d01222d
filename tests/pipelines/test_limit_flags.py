"""What the user says of limits reaches the client, and the processes together keep it."""

import json
from pathlib import Path

from tests.llm_server import LlmServer, faults
from tests.pipelines.conftest import ufo


def test_two_processes_together_keep_the_concurrency(tmp_path: Path, llm_server: LlmServer) -> None:
    source = tmp_path / "in.jsonl"
    source.write_text(
        "\n".join(
            json.dumps({"response": f"Oslo has {n} bridges.", "reference_answers": "Oslo."})
            for n in range(24)
        )
    )
    llm_server.latency = faults.fixed(0.05)
    done = ufo(
        *("evaluate", "--input", source, "--output", tmp_path / "out", "--sources", "reference"),
        *("--model", "offline-judge", "--base_url", llm_server.base_url, "--cache", "off"),
        *("--workers", 2, "--chunk_size", 8, "--concurrency", 5),
    )
    assert done.code == 0, done.err
    assert 1 < llm_server.max_in_flight <= 5
