"""Prepare the options of a run on Dataflow.

Its workers are machines made for the job from a container image. They can reach only buckets and
files of the image. Other paths are refused before anything is staged. Options that this project
usually needs there are filled in.
"""

from dataclasses import replace

from ufo.pipelines.options.beam_flags import value_of
from ufo.pipelines.options.settings import S, Settings
from ufo.schemas.cache_folder import OFF
from ufo.schemas.errors import UsageError
from ufo.schemas.file_systems import is_remote

_NEEDED = ("project", "region", "temp_location")
_BRINGS_UFO = ("sdk_container_image", "setup_file", "extra_package", "extra_packages")
# The image has the modules of our functions. The submitter's session and environment are not
# needed, and would reveal the paths of their files.
_USUAL = ("--no_save_main_session", "--experiments=disable_logging_submission_environment")
_MACHINE = "e2-standard-2"
_MOST_WORKERS = 10


def add_defaults(settings: S) -> S:
    """Return the settings of a run on Dataflow with Dataflow's defaults filled in.

    Raises:
        UsageError: a value names something that the workers cannot reach.
    """
    flags = settings.beam
    _check_places(settings)
    for name in _NEEDED:
        if not value_of(flags, name):
            raise UsageError(
                f"--{name} is missing; DataflowRunner needs --project, --region and "
                "--temp_location gs://BUCKET/temp"
            )
    if not any(value_of(flags, name) for name in _BRINGS_UFO):
        raise UsageError(
            "--sdk_container_image is missing: Dataflow's workers have no ufo unless their image "
            "has it; scripts/dataflow/Dockerfile makes it"
        )
    usual = [flag for flag in _USUAL if flag not in flags]
    if not any(value_of(flags, name) for name in ("machine_type", "worker_machine_type")):
        usual.append(f"--machine_type={_MACHINE}")
    if not any(value_of(flags, name) for name in ("max_num_workers", "num_workers")):
        usual.append(f"--max_num_workers={_MOST_WORKERS}")
    return replace(settings, beam=(*flags, *usual))


def _check_places(settings: Settings) -> None:
    """Raise a UsageError for a path of this machine, which the workers would not find."""
    if settings.web_snapshot:
        raise UsageError(
            "--web_snapshot needs the processes of one machine, but Dataflow's workers are on "
            "several; leave it out, or --runner"
        )
    bucket = "a bucket, gs://BUCKET/…: `gcloud storage cp --recursive {path} gs://BUCKET/…`"
    places = [("--input", path, bucket) for path in settings.input]
    places.append(("--output", settings.output, "a bucket, gs://BUCKET/…"))
    cache = settings.cache_uri()
    if cache != OFF:
        places.append(("--cache", cache, "a bucket prefix that ends in /, or off, or leave it out"))
    if settings.index:
        places.append(("--index", settings.index, bucket))
    for what, path, better in places:
        if not is_remote(path):
            raise UsageError(
                f"{what} {path!r} is on this machine, and Dataflow's workers are not; name "
                f"{better.format(path=path)}"
            )
