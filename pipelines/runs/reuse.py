"""Reuse results of an earlier run (`--since`), or of this run to retry its errors."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ufo.pipelines.runs.attempt import differences
from ufo.pipelines.runs.remote_results import choose_runs, open_results
from ufo.schemas import storage
from ufo.schemas.errors import UsageError
from ufo.schemas.records import InputRecord, Part
from ufo.schemas.tables import arrow_schema, check_part, manifest_of, read_rows, write_part
from ufo.transforms.llm.usage_log import COMPLETION_TOKENS, COST, PROMPT_TOKENS, REQUESTS
from ufo.transforms.read import record_hash

REUSED = "reused"

# Failures are not reused: reading the input repeats those of step `read`, and a response with
# another failure is evaluated again.
_BY_RESPONSE = ("responses", "sentences", "fact_units", "evidence", "verdicts", "usage")

_SPENT = f"""
    SELECT
        CAST(count(*) AS DOUBLE) AS {REQUESTS},
        CAST(coalesce(sum(prompt_tokens), 0) AS DOUBLE) AS {PROMPT_TOKENS},
        CAST(coalesce(sum(completion_tokens), 0) AS DOUBLE) AS {COMPLETION_TOKENS},
        coalesce(sum(cost_usd), 0.0) AS {COST}
    FROM usage WHERE NOT (cached OR coalesced)
"""  # noqa: S608

_WITHOUT_ERRORS = """
    SELECT response_id, record_hash FROM responses WHERE response_id NOT IN (
        SELECT response_id FROM evidence WHERE outcome = 'error'
        UNION
        SELECT key FROM failures WHERE step <> 'read'
    )
"""


@dataclass(slots=True)
class Reuse:
    """The results that a run reuses from an earlier run: those of responses without an error.

    `hashes` maps each such response to the hash of its record. With `compared` a response is reused
    only if its record is unchanged. `taken` are the responses found in the input so far; `again` is
    the number of responses with an error. `spent` is what this run spent before, by the names of
    the usage log.
    """

    run: str
    attempt: str
    hashes: dict[str, str | None]
    again: int
    compared: bool
    spent: dict[str, float] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)

    @property
    def source(self) -> str:
        """The run and its attempt, as `run@attempt`."""
        return f"{self.run}@{self.attempt}"

    def takes(self, record: InputRecord) -> bool:
        """Return whether the results of this record are reused."""
        if record.response_id not in self.hashes:
            return False
        if self.compared and self.hashes[record.response_id] != record_hash(record):
            return False
        self.taken.add(record.response_id)
        return True


def reuse_from(
    output: str, run: str, earlier: Mapping[str, Any], fingerprint: Mapping[str, Any], since: bool
) -> Reuse:
    """Return what can be reused from a finished run, whose manifest is `earlier`.

    With `since` the input may differ; without it the errors of the run are retried.

    Raises:
        UsageError: the run was made with other options, or with another input without `since`.
    """
    left_out = ("inputs", "chunk_size") if since else ()
    old, new = (
        {key: value for key, value in fingerprinted.items() if key not in left_out}
        for fingerprinted in (earlier["fingerprint"], fingerprint)
    )
    changed = differences(old, new)
    if changed:
        what = "options" if since else "inputs or options"
        remedy = "evaluate without --since" if since else "use --if_finished replace"
        raise UsageError(
            f"run {run!r} was made with other {what}; its results cannot be kept:\n  "
            + "\n  ".join(changed)
            + f"\nGive the options it was made with, {remedy}, or another --run."
        )
    with open_results(output, run) as results:
        rows = results.query(_WITHOUT_ERRORS)
        total = results.query("SELECT count(*) AS n FROM responses")["n"][0].as_py()
        spent = {} if since else results.query(_SPENT).to_pylist()[0]
    hashes = dict(
        zip(rows["response_id"].to_pylist(), rows["record_hash"].to_pylist(), strict=True)
    )
    return Reuse(run, earlier["attempt"], hashes, total - len(hashes), since, spent)


def since_run(output: str, run: str) -> dict[str, Any]:
    """Return the manifest of the finished run that `--since` names.

    Raises:
        UsageError: there is no such run.
        RunError: it is damaged.
    """
    manifest = manifest_of(storage.join(output, f"run={run}"))
    if manifest is None:
        choose_runs(output, run)
        raise UsageError(f"--since {run!r}: there is no finished run of that name in {output!r}")
    return manifest


def copy_reused(output: str, reuse: Reuse, folder: str) -> list[Part]:
    """Copy the rows of the reused responses, and the passages they cite, into `folder`."""
    parts = []
    with open_results(output, reuse.run) as results:
        (source,) = results.runs
    ids = pa.array(sorted(reuse.taken), pa.string())
    cited: set[str] = set()
    for table in (*_BY_RESPONSE, "passages"):
        key, wanted = "response_id", ids
        if table == "passages":
            key, wanted = "passage_id", pa.array(sorted(cited), pa.string())
        for number, path in enumerate(source.files[table]):
            if digest := source.checksums.get(path):
                check_part(str(path), digest)
            rows = read_rows(str(path))
            # When errors are retried, the table `usage` keeps all requests of the run.
            if table != "usage" or reuse.compared:
                rows = rows.filter(pc.is_in(rows[key], value_set=wanted))
            if table == "evidence":
                cited.update(filter(None, rows["passage_id"].to_pylist()))
            for column in arrow_schema(table):
                if column.name not in rows.column_names:  # of an earlier schema version
                    rows = rows.append_column(column, pa.nulls(len(rows), column.type))
            rows = rows.select(arrow_schema(table).names)
            if table == "usage" and reuse.compared:
                rows = _paid_before(rows)
            if len(rows):
                target = storage.join(folder, f"{table}-{number:05d}.parquet")
                parts.append(write_part(table, target, rows))
    return parts


def _paid_before(usage: "pa.Table") -> "pa.Table":
    """Mark usage rows of another run as cached and free of cost: what they cost is saved."""
    sent = pc.invert(pc.or_(usage["cached"], usage["coalesced"]))
    columns = {
        "cached": pa.repeat(True, len(usage)),
        "cost_usd": pa.repeat(0.0, len(usage)),
        "saved_usd": pc.if_else(sent, usage["cost_usd"], usage["saved_usd"]),
    }
    for name, column in columns.items():
        at = usage.schema.get_field_index(name)
        usage = usage.set_column(at, usage.schema.field(at), column)
    return usage
