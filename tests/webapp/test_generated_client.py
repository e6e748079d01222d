"""A client that openapi-python-client generates of the service's document."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.webapp.conftest import read_events
from ufo.webapp.server import serve_in_thread
from ufo.webapp.service import Setup

pytestmark = pytest.mark.slow
TEXT = "Oslo is the capital of Norway."
CALLS = """
import json, sys
from client import Client, models
from client.api.check import check
from client.api.steps import extract_units, passages, search, verify

text = sys.argv[2]
with Client(base_url=sys.argv[1]) as client:
    extracted = extract_units.sync(client=client, body=models.ExtractRequest(text=text))
    claims = [models.Claim(claim=unit.claim, query=unit.query) for unit in extracted.fact_units]
    asked = models.PassagesRequest(claims=claims, references=[text])
    found = passages.sync(client=client, body=asked)
    hits = [hit.passage for answer in found.answers for hit in answer.hits]
    given = models.VerifyRequest(claims=claims, passages=hits)
    verdicts = verify.sync(client=client, body=given).verdicts
    answers = search.sync(client=client, body=models.SearchRequest(queries=["Oslo"]))
    events = check.sync_detailed(client=client, body=models.CheckRequest(text=text)).content
    wrong = search.sync(client=client, body=models.SearchRequest(queries=[]))
print(json.dumps({
    "claims": [unit.claim for unit in extracted.fact_units],
    "passages": [passage.text for passage in hits],
    "labels": [verdict.label for verdict in verdicts],
    "titles": [hit.passage.title for answer in answers for hit in answer.hits],
    "events": events.decode(),
    "wrong": [error.where for error in wrong.errors],
}))
"""


def test_it_gets_the_answers_of_the_steps(base: Setup, tmp_path: Path) -> None:
    with serve_in_thread(base) as url:
        generate = [sys.executable, "-m", "openapi_python_client", "generate", "--meta", "none"]
        generate += ["--url", f"{url}/openapi.json", "--output-path", str(tmp_path / "client")]
        process = subprocess.run(generate, cwd=tmp_path, capture_output=True, text=True)
        assert process.returncode == 0, process.stdout + process.stderr
        (tmp_path / "calls.py").write_text(CALLS)
        done = subprocess.run(
            [sys.executable, "calls.py", url, TEXT], cwd=tmp_path, capture_output=True, text=True
        )
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["claims"] == [TEXT]
    assert report["passages"][0] == TEXT  # of the references, and then those of the index
    assert report["labels"] == [1]
    assert "Oslo" in report["titles"]
    assert [event.name for event in read_events(report["events"].split("\n"))][-1] == "done"
    assert report["wrong"] == ["body.queries"]
