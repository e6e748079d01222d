"""Run a job's pipeline as it was staged, in one process: `run_job.py PIPELINE.pb`.

Only its environment is another one: this process in place of a container.
"""

import sys
from pathlib import Path

from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.portability.api import beam_runner_api_pb2
from apache_beam.runners.pipeline_context import PipelineContext
from apache_beam.runners.portability.fn_api_runner import FnApiRunner
from apache_beam.transforms.environments import EmbeddedPythonEnvironment

pipeline = beam_runner_api_pb2.Pipeline.FromString(Path(sys.argv[1]).read_bytes())
here = EmbeddedPythonEnvironment.default().to_runner_api(PipelineContext())
for environment in pipeline.components.environments.values():
    environment.CopyFrom(here)
FnApiRunner().run_via_runner_api(pipeline, PipelineOptions([])).wait_until_finish()
