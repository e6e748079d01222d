"""Make the flex template's metadata of the options of `ufo evaluate`.

    python scripts/dataflow/metadata.py --write     puts it into metadata.json
    python scripts/dataflow/metadata.py --check     exit 1 where that is not what the flags are now

Dataflow checks a launch's parameters against it, and the console makes its form of it. The fields
are those of Dataflow's TemplateMetadata (REST API v1b3).
"""

import json
import sys
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))

from scripts.flags import write_or_check
from ufo.pipelines.options.groups import GROUPS
from ufo.pipelines.options.option import Option

FILE = Path(__file__).with_name("metadata.json")
REQUIRED = ("input", "output")
# Flags that say nothing there, or are refused (`pipelines/options/command_line.py`), and why. They
# are in the metadata, since it has every flag, and not in the console's form.
NOT_THERE = {
    "workers": "the launcher evaluates nothing; max_num_workers is the option of Dataflow",
    "chunk_size": "Dataflow cuts the work itself",
    "dry_run": "it makes no job, which a launch takes for a failure; run it on any machine",
    "max_cost": "it is kept by the processes of one machine together",
    "web_snapshot": "it is of the processes of one machine",
    "idle_seconds": "a stream there is ended by `gcloud dataflow jobs drain`",
    **dict.fromkeys(
        ("fail_under", "baseline", "fail_if_worse"),
        "a launch does not wait for the result; ask when the job is done, by `ufo evaluate … "
        "--if_finished skip` or `ufo compare`",
    ),
}
KINDS = {
    "input": "GCS_READ_FILE",
    "output": "GCS_WRITE_FOLDER",
    "index": "GCS_READ_FOLDER",
}
BUCKET = r"^gs://.+"
REGEXES = {"input": BUCKET, "output": BUCKET, "cache": r"^(gs://.+/|off)$"}
# Of Beam's own options, those that a launch of ufo needs.
BEAM = (
    Option(
        "max_num_workers",
        int,
        "workers at most (default 10); what an endpoint allows is divided among their processes, "
        "one a core",
        "N",
        low=1,
    ),
    Option(
        "sdk_container_image", str, "image of the workers (default: the template's own)", "IMAGE"
    ),
)


def parameter(option: Option, group: str) -> dict[str, Any]:
    """Return an option as Dataflow's ParameterMetadata."""
    found: dict[str, Any] = {
        "name": option.name,
        "label": option.name.replace("_", " ").capitalize(),
        "helpText": option.help,
        "groupName": group.capitalize(),
        "isOptional": option.name not in REQUIRED,
        "paramType": KINDS.get(option.name, "TEXT"),
    }
    if option.kind is bool:
        found["paramType"] = "BOOLEAN"
    elif option.choices:
        found["paramType"] = "ENUM"
        found["enumOptions"] = [{"value": value, "label": value} for value in option.choices]
    elif option.low is not None:
        found["paramType"] = "NUMBER"
        found["regexes"] = [r"^[0-9]+$" if option.kind is int else r"^[0-9]*\.?[0-9]+$"]
    if option.name in NOT_THERE:
        found["helpText"] += f". Not on Dataflow: {NOT_THERE[option.name]}"
        found["hiddenUi"] = True
    if option.name in REGEXES:
        found["regexes"] = [REGEXES[option.name]]
    return found


def metadata() -> dict[str, Any]:
    """Return the template's metadata, as plain JSON."""
    groups = {**GROUPS, "Dataflow": BEAM}
    return {
        "name": "ufo",
        "description": "Evaluates the factuality of LLM responses against fact sources; results "
        "are Parquet in a bucket.",
        "streaming": False,
        "parameters": [
            parameter(one, group) for group, options in groups.items() for one in options
        ],
    }


def text() -> str:
    """Return what metadata.json holds."""
    return json.dumps(metadata(), indent=1, ensure_ascii=False) + "\n"


def main() -> int:
    """Write metadata.json, or check that it is current; returns the exit code."""
    return write_or_check(FILE, text())


if __name__ == "__main__":
    sys.exit(main())
