"""A runner that keeps the pipeline that Dataflow would get, and fails, as nothing is submitted."""

import os
from pathlib import Path
from typing import Any

from apache_beam.runners.runner import PipelineRunner

WHERE = "RECORDED_PIPELINE"


class DataflowRecorder(PipelineRunner):
    """Writes a pipeline to the file that the environment variable names."""

    def run_pipeline(self, pipeline: Any, options: Any) -> Any:
        proto = pipeline.to_runner_api(use_fake_coders=False)
        Path(os.environ[WHERE]).write_bytes(proto.SerializeToString())
        raise RuntimeError("kept, not submitted")
