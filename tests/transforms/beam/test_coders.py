"""What is shuffled is coded as rows."""

import apache_beam as beam
from apache_beam import coders
from apache_beam.options.pipeline_options import PipelineOptions

from ufo.schemas.records import OpenUnits
from ufo.transforms.beam.calls import AskSource
from ufo.transforms.beam.files import RecordCoder
from ufo.transforms.job import Job
from ufo.transforms.sources.fact_source import SourceSpec


def test_what_a_source_is_asked_is_no_pickle_where_types_are_not_checked() -> None:
    pipeline = beam.Pipeline(options=PipelineOptions(["--no_pipeline_type_check"]))
    units = pipeline | beam.Create([]) | beam.Map(lambda row: row).with_output_types(OpenUnits)
    job = Job((SourceSpec("reference", "reference"),), shards=2)
    _ = units | "source" >> AskSource(job, 0)
    shuffled = {}
    for step in pipeline.transforms_stack[0].parts[-1].parts:
        for made in step.outputs.values():
            shuffled[step.full_label] = coders.registry.get_coder(made.element_type)
    _, value = shuffled["source/key"].coders()
    assert isinstance(value, RecordCoder)
    _, values = shuffled["source/batch"].coders()
    assert isinstance(values.value_coder(), RecordCoder)
