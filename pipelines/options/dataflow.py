"""Check the options of a run on Dataflow: what it needs, and what its workers cannot reach.

Workers are machines of their own, made for the job from a container image: they find buckets, and
files of that image. What they would not find is refused before anything is staged, and what is
usual for this project there is filled in.
"""

import os
from collections.abc import Iterator
from dataclasses import replace
from typing import TypeVar

from ufo.pipelines.options.beam_flags import NO_WAIT, value_of, waits
from ufo.pipelines.options.settings import OPENED_BY_WORKERS, Settings
from ufo.schemas.errors import UsageError
from ufo.schemas.storage import is_remote
from ufo.transforms.llm.store import OFF
from ufo.transforms.registry import Spec, is_file_type
from ufo.transforms.sources.registry import SOURCES

S = TypeVar("S", bound=Settings)

IMAGE = "UFO_IMAGE"
"""The variable with the name of our container image, set in it: there a launcher finds the same
files as the workers."""
_NEEDED = ("project", "region", "temp_location")
_BRINGS_UFO = ("sdk_container_image", "setup_file", "extra_package", "extra_packages")
# Our functions are in modules that the image has, so nothing of the submitter's session or
# environment is wanted there: it would only tell where he keeps his files.
_USUAL = ("--no_save_main_session", "--experiments=disable_logging_submission_environment")
_MACHINE = "e2-standard-2"
_MOST_WORKERS = 10


def with_defaults(settings: S) -> S:
    """Return the settings of a run on Dataflow with the defaults for it.

    Raises:
        UsageError: something that its workers cannot reach, or would not know.
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
            "has it; scripts/dataflow/build makes one and prints its name"
        )
    usual = [flag for flag in _USUAL if flag not in flags]
    if not any(value_of(flags, name) for name in ("machine_type", "worker_machine_type")):
        usual.append(f"--machine_type={_MACHINE}")
    if not any(value_of(flags, name) for name in ("max_num_workers", "num_workers")):
        usual.append(f"--max_num_workers={_MOST_WORKERS}")
    if value_of(flags, "template_location") and waits(flags):
        usual.append(NO_WAIT)  # a template is not a job yet, so there is nothing to wait for
    return replace(settings, beam=(*flags, *usual))


def _check_places(settings: Settings) -> None:
    """Raise a UsageError for what the workers would not find: it is on this machine."""
    if settings.web_snapshot:
        raise UsageError(
            "--web_snapshot is taken down, and replayed, by the processes of one machine, and "
            "Dataflow's workers are many; leave it out, or --runner"
        )
    bucket = "a bucket, gs://BUCKET/…: `gcloud storage cp --recursive {path} gs://BUCKET/…`"
    places = [("--input", path, bucket) for path in settings.input]
    places.append(("--output", settings.output, "a bucket, gs://BUCKET/…"))
    cache = settings.cache_uri()
    if cache != OFF:
        places.append(("--cache", cache, "a bucket prefix that ends in /, or off, or leave it out"))
    if not os.environ.get(IMAGE):  # else a path is one of the image, which the workers have too
        image = "what is in the image: put it there (scripts/dataflow/Dockerfile)"
        places += [
            (what, path, bucket if what == "--index" else image) for what, path in _files(settings)
        ]
    for what, path, better in places:
        if not is_remote(path):
            raise UsageError(
                f"{what} {path!r} is on this machine, and Dataflow's workers are not; name "
                f"{better.format(path=path)}"
            )


def _files(settings: Settings) -> Iterator[tuple[str, str]]:
    """Yield what the workers open by a path: what it is for the user, and the path."""
    yield from ((f"--{name}", path) for name, path in settings.given(*OPENED_BY_WORKERS).items())
    if settings.embedder and os.path.isdir(settings.embedder):
        yield "--embedder", settings.embedder
    for what, item in (("judge", settings.judge), *(("source", one) for one in _sources(settings))):
        if item.instance is not None:
            raise UsageError(
                f"the {what} {item.name!r} is an object of this process; name its class"
            )
        if is_file_type(item.type):
            yield f"the {what} {item.name!r}, in", item.type.rpartition(":")[0]
        for name in OPENED_BY_WORKERS:
            value = item.options.get(name)
            if isinstance(value, str) and value:
                yield f"{name} of the {what} {item.name!r},", value


def _sources(settings: Settings) -> Iterator[Spec]:
    for item in settings.sources or ():
        yield SOURCES.spec(item, settings.source_definitions)
