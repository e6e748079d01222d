"""What evaluating a chunk imports, imported: for processes that do nothing else."""

import gc
from importlib import import_module
from importlib.util import find_spec

from pipelines.quiet import quiet_beam
from pipelines.runners.imports import later, settle_arrow, without
from pipelines.runners.quicker_beam import quicken

_MODULES = (
    "apache_beam.runners.portability.fn_api_runner",
    "loky.process_executor",
    "pipelines.runners.local",
    "pyarrow.parquet",
    "transforms.beam.check",
    "transforms.beam.extract",
    "transforms.beam.read",
    "transforms.beam.write",
    "transforms.extraction.drafts",
    "transforms.judges.offline.judge",
    "transforms.sources.reference",
    "transforms.sources.registry",
)
_NEVER = ("pandas", "pymongo", "bson", "apache_beam.io.gcp.bigquery")
_SELDOM: tuple[str, ...] = ("beartype", "fastavro")
_SELDOM_WITHOUT_CLOUDS = (
    "apache_beam.runners.portability.stager",
    "apache_beam.utils.subprocess_server",
    "apache_beam.utils.transform_service_launcher",
    "cProfile",
    "cryptography",
    "dateutil",
    "google.protobuf.internal.python_message",
    "google.protobuf.text_format",
    "grpc.aio",
    "httplib2",
    "multiprocessing.pool",
    "proto",
    "pstats",
    "pytz",
    "urllib.request",
    "yaml",
)
# Where a cloud's libraries are installed Beam imports them, and they build on these at once.
if not any(map(find_spec, ("google.auth", "boto3", "azure"))):
    _SELDOM += _SELDOM_WITHOUT_CLOUDS


# Beam's import makes remarks, so it is quietened first.
quiet_beam()
# All of this stays until the process ends: looking for garbage in it finds none.
gc.disable()
# Beam imports these for types that are not checked here, and for files that a chunk does not read.
with without(*_NEVER), later(*_SELDOM):
    for _name in _MODULES:
        import_module(_name)
    settle_arrow()
quicken()
gc.freeze()
gc.enable()
