"""Every record survives Beam's row coder, Arrow and Parquet, here and in another process."""

import dataclasses
import io
import json
import re
import subprocess
import sys
from collections.abc import Sequence
from hashlib import sha256
from typing import Any, get_args, get_origin, get_type_hints

import pyarrow.parquet as pq
import pytest
from apache_beam import coders
from apache_beam.coders.row_coder import RowCoder
from apache_beam.runners.pipeline_context import PipelineContext
from hypothesis import given, settings
from hypothesis import strategies as st

from ufo.schemas import records
from ufo.schemas.records import content_id, passage_id, unit_ids
from ufo.schemas.tables import TABLES, arrow_schema, from_arrow, to_arrow
from ufo.transforms.beam.files import RECORDS

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
PLAIN: dict[Any, st.SearchStrategy[Any]] = {
    str: TEXT,
    int: st.integers(-(2**63), 2**63 - 1),
    float: st.floats(allow_nan=False),
    bool: st.booleans(),
}


def values_of(hint: Any) -> st.SearchStrategy[Any]:
    if hint in PLAIN:
        return PLAIN[hint]
    if dataclasses.is_dataclass(hint):
        return instances(hint)
    if get_origin(hint) is Sequence:
        return st.lists(values_of(get_args(hint)[0]), max_size=3)
    inner, none = get_args(hint)
    assert none is type(None)
    return st.none() | values_of(inner)


def instances(kind: Any) -> st.SearchStrategy[Any]:
    return st.builds(kind, **{name: values_of(h) for name, h in get_type_hints(kind).items()})


def example(kind: Any) -> Any:
    """One instance with every field filled, and not with a default."""
    plain = {str: "é😀", int: -7, float: 0.25, bool: True}

    def value(hint: Any) -> Any:
        if dataclasses.is_dataclass(hint):
            return example(hint)
        if get_origin(hint) is Sequence:
            return [value(get_args(hint)[0])] * 2
        return plain[hint] if hint in plain else value(get_args(hint)[0])

    return kind(**{name: value(hint) for name, hint in get_type_hints(kind).items()})


def test_every_dataclass_of_the_module_is_a_record_and_every_table_has_one() -> None:
    assert set(TABLES.values()) <= set(RECORDS)
    assert len(RECORDS) == sum(map(dataclasses.is_dataclass, vars(records).values()))
    for kind in RECORDS:
        schema = str(coders.registry.get_coder(kind).schema)
        assert "any" not in schema.replace("many", ""), "a field is pickled"
        assert "logical_type" not in schema


@pytest.mark.parametrize("kind", RECORDS, ids=lambda kind: kind.__name__)
@settings(max_examples=25)
@given(data=st.data())
def test_round_trips(kind: Any, data: st.DataObject) -> None:
    rows = data.draw(st.lists(instances(kind), max_size=3))
    coder = coders.registry.get_coder(kind)
    assert isinstance(coder, RowCoder)
    for row in rows:
        back = coder.decode(coder.encode(row))
        assert type(back) is kind
        assert back == row
    for table in [name for name, record in TABLES.items() if record is kind]:
        sink = io.BytesIO()
        pq.write_table(to_arrow(table, rows), sink, compression="zstd")
        sink.seek(0)
        arrow = pq.read_table(sink)
        assert arrow.schema.equals(arrow_schema(table))
        assert from_arrow(table, arrow) == rows


DECODES = """
import json, sys
from apache_beam.coders import Coder
from apache_beam.portability.api import beam_runner_api_pb2
from apache_beam.runners.pipeline_context import PipelineContext
for travels, data in json.load(sys.stdin):
    proto = beam_runner_api_pb2.Coder.FromString(bytes.fromhex(travels))
    coder = Coder.from_runner_api(proto, PipelineContext())
    print(ascii(coder.decode(bytes.fromhex(data))))
"""


def test_a_process_that_has_not_imported_us_decodes_the_same_dataclasses() -> None:
    sent = []
    for kind in RECORDS:
        coder = coders.registry.get_coder(kind)
        travels = coder.to_runner_api(PipelineContext()).SerializeToString()
        sent.append([travels.hex(), coder.encode(example(kind)).hex()])
    words = [sys.executable, "-c", DECODES]
    printed = subprocess.check_output(words, input=json.dumps(sent), text=True)
    assert printed.splitlines() == [ascii(example(kind)) for kind in RECORDS]


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("OUTCOMES", "supported refuted noans error"),
        (
            "REASONS",
            "no_passages no_references abstained refused filtered truncated unparsable transport "
            "exception unsupported_language",
        ),
        (
            "CATEGORIES",
            "news blog wiki social_media scientific_medical_article government_website other",
        ),
        ("NO_SOURCE", "none"),
        ("MULTI", "multi"),
    ],
    ids=["outcomes", "reasons", "categories", "no source", "several sources"],
)
def test_the_words_of_tables_are_a_contract(name: str, values: str) -> None:
    words = getattr(records, name)
    assert (words if isinstance(words, str) else " ".join(words)) == values


ANY_TEXT = st.text(st.characters(), max_size=20)


def test_a_unit_id_is_what_the_contract_says() -> None:
    # 16 hex digits of SHA-256 over (response id, sentence index, NFC claim).
    joined = "\x1f".join(["r1", "0", "caf\u00e9"])
    expected = sha256(joined.encode()).hexdigest()[:16]
    assert unit_ids("r1", [(0, "cafe\u0301"), (0, "caf\u00e9")]) == [expected, f"{expected}-1"]
    # Repeats are numbered within sentence and claim.
    ids = unit_ids("r", [(0, "a"), (1, "a"), (0, "a"), (None, "a"), (0, "a"), (0, "b")])
    assert ids[2] == f"{ids[0]}-1"
    assert ids[4] == f"{ids[0]}-2"
    assert "-" not in ids[1] + ids[3] + ids[5]


@given(ANY_TEXT, st.lists(st.tuples(st.none() | st.integers(0, 3), ANY_TEXT), max_size=8))
def test_unit_ids_are_unique_and_a_function_of_the_content(
    response_id: str, claims: list[tuple[int | None, str]]
) -> None:
    ids = unit_ids(response_id, claims)
    assert len(set(ids)) == len(claims)
    # What comes later never renames what came before.
    assert unit_ids(response_id, claims[:-1]) == ids[:-1]
    # Parts do not run together.
    assert content_id(response_id + "x", "") != content_id(response_id, "x")


def test_a_passage_id_names_its_source_and_tells_repeats_apart() -> None:
    plain: Any = ("wiki", "https://e.org/a", "text")
    others = [(*plain, 1), ("wiki", None, "text"), ("web", *plain[1:]), (*plain[:2], "text!")]
    assert len({passage_id(*one) for one in [plain, *others]}) == 5
    assert re.fullmatch("wiki:[0-9a-f]{16}", passage_id(*plain))
    assert passage_id("wiki", None, "text") == passage_id("wiki", "", "text")
