"""Check the options of a run on Dataflow: what it needs, and what its workers cannot reach.

Workers are machines of their own, made for the job from a container image: they find buckets, and
files of that image. What they would not find is refused before anything is staged, and what is
usual for this project there is filled in.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from ufo.pipelines.options.beam_flags import NO_WAIT, value_of, waits
from ufo.pipelines.options.settings import OPENED_BY_WORKERS, Settings
from ufo.schemas.errors import UsageError
from ufo.schemas.storage import is_remote
from ufo.transforms.llm.store import OFF
from ufo.transforms.registry import is_file_type

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
_IN_THE_IMAGE = "put it into the image (scripts/dataflow/Dockerfile), and launch the template"


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
    for name, paths in (("input", settings.input), ("output", (settings.output,))):
        for path in paths:
            if not is_remote(path):
                raise UsageError(
                    f"--{name} {path!r} is on this machine, and Dataflow's workers are not; name a "
                    f"bucket, gs://BUCKET/…{'; ' + _copied(path) if name == 'input' else ''}"
                )
    cache = settings.cache_uri()
    if cache != OFF and not is_remote(cache):
        raise UsageError(
            f"--cache {cache!r} is on this machine, and Dataflow's workers are not; name a bucket "
            "prefix that ends in /, or off, or leave it out: it is then below --output"
        )
    if settings.web_snapshot:
        raise UsageError(
            "--web_snapshot is taken down, and replayed, by the processes of one machine, and "
            "Dataflow's workers are many; leave it out, or --runner"
        )
    if os.environ.get(IMAGE):
        return  # a path is one of the image, which the workers have too
    for what, path in _files(settings):
        if not is_remote(path):
            raise UsageError(
                f"{what} {path!r} is on this machine, and Dataflow's workers are not; "
                + (_copied(path) if what == "--index" else _IN_THE_IMAGE)
            )


def _copied(path: str) -> str:
    return f"`gcloud storage cp --recursive {path} gs://BUCKET/…` copies it to a bucket"


def _files(settings: Settings) -> Iterator[tuple[str, str]]:
    """Yield what the workers open by a path: what it is for the user, and the path."""
    for name in OPENED_BY_WORKERS:
        value = getattr(settings, name)
        if value:
            yield f"--{name}", value
    if settings.embedder and os.path.isdir(settings.embedder):
        yield "--embedder", settings.embedder
    judge = settings.judge
    if judge.instance is not None:
        raise UsageError(f"the judge {judge.name!r} is an object of this process; name its class")
    if is_file_type(judge.type):
        yield f"the judge {judge.name!r}, in", judge.type.rpartition(":")[0]
    for item in settings.sources or ():
        if not isinstance(item, str):
            raise UsageError(f"the source {item!r} is an object of this process; name its class")
        definition: Mapping[str, Any] = settings.source_definitions.get(item, {"type": item})
        path, colon, _ = str(definition["type"]).rpartition(":")
        if colon and path.endswith(".py"):
            yield f"the source {item!r}, in", path
        for name in OPENED_BY_WORKERS:
            value = definition.get("options", {}).get(name)
            if isinstance(value, str) and value:
                yield f"{name} of the source {item!r},", value
