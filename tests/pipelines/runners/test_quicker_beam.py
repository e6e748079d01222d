"""What the processes of chunks change in Beam: the same answers, without the time."""

import subprocess
import sys

# In a process of its own, as the changes stay for as long as a process lives.
CHECKS = """
import pickle
import apache_beam as beam
from apache_beam.options.pipeline_options import PipelineOptions, StandardOptions, TypeOptions
from apache_beam.transforms import core, userstate
from apache_beam.coders import VarIntCoder
from apache_beam.runners.worker.statesampler import StateSampler
from pipelines.runners.quicker_beam import quicken

SUM = userstate.CombiningValueStateSpec("sum", VarIntCoder(), sum)
class Plain(beam.DoFn):
    def process(self, element):
        yield element
class Stateful(beam.DoFn):
    def process(self, element, total=beam.DoFn.StateParam(SUM)):
        total.add(element[1]); yield total.read()

def told(element, *rest, times=2, **more):
    return []
asked = [told, Plain.process, Plain().process, Stateful().process, len, str.upper, lambda x=1: x]
arguments = [core.get_function_args_defaults(f) for f in asked]
steps = [Plain(), Stateful(), beam.core.CallableWrapperDoFn(lambda x: [x])]
before = [userstate.get_dofn_specs(step) for step in steps]
quicken()
for _ in range(2):
    found = [core.get_function_args_defaults(f) for f in asked]
    assert found == arguments
    found[0][0].clear()
    assert beam.ParDo(Plain()).fn.get_function_arguments("process") == (["element"], [])
    assert [userstate.get_dofn_specs(step) for step in steps] == before
assert [userstate.is_stateful_dofn(step) for step in steps] == [False, True, False]

options = PipelineOptions(["--no_pipeline_type_check", "--streaming"])
types = options.view_as(TypeOptions)
assert types.pipeline_type_check is False and options.view_as(TypeOptions) is types
assert types.view_as(StandardOptions).streaming is True
types.runtime_type_check = True
assert options.view_as(TypeOptions).runtime_type_check is True
from apache_beam import coders
coders.ProtoCoder.from_type_hint = lambda kind, registry: None  # what it says would be taken
assert type(coders.registry.get_coder(Plain)) is coders.FastPrimitivesCoder
again = pickle.loads(pickle.dumps(options))
assert again.view_as(TypeOptions).runtime_type_check is True
assert "_kept_views" not in options.__getstate__()
assert PipelineOptions([]).view_as(TypeOptions).pipeline_type_check is True
"""


def test_steps_and_options_are_as_they_were() -> None:
    done = subprocess.run([sys.executable, "-c", CHECKS], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
