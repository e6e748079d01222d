"""Beam's row coder for every record, under ids that are the same in every process."""

import dataclasses
import uuid
from typing import Any

from apache_beam import coders
from apache_beam.coders.row_coder import RowCoder
from apache_beam.typehints.native_type_compatibility import convert_to_beam_type
from apache_beam.typehints.schemas import schema_from_element_type

from ufo.schemas import records

RECORDS: tuple[type, ...] = tuple(
    kind
    for kind in vars(records).values()
    if isinstance(kind, type) and dataclasses.is_dataclass(kind)
)
_NAMESPACE = uuid.uuid5(uuid.NAMESPACE_DNS, "ufo.records")


_schemas: dict[type, Any] = {}


class RecordCoder(RowCoder):  # type: ignore[misc]
    """The row coder of one record, so that decoding imports this module.

    A row coder travels as a schema. A worker that has not imported us yet, because the step that
    needs us comes later in the same bundle, makes named tuples of the rows. So ours travels as a
    reference to this module, whose package registers the records when it is imported.
    """

    to_runner_api_parameter = coders.Coder.to_runner_api_parameter

    @classmethod
    def from_type_hint(cls, kind: type, registry: Any) -> "RecordCoder":
        """Return the coder of a record."""
        return _coder_of(kind)

    def __reduce__(self) -> tuple[Any, ...]:
        return _coder_of, (self.to_type_hint(),)


def _coder_of(kind: type) -> RecordCoder:
    return RecordCoder(_schemas[kind])


def typed(collection: Any, kind: Any) -> Any:
    """Return the collection as one of `kind`, so that its coder is that of the kind.

    A pipeline whose types are not checked forgets what its steps say of theirs, and pickles what is
    shuffled.
    """
    collection.element_type = convert_to_beam_type(kind)
    return collection


def register() -> None:
    """Register the row coder for every record; calling it again changes nothing.

    Beam gives a row type a random id. A worker in another process would not find the type behind
    it and hand named tuples to our functions, so the id is made from the record's name.
    """
    if _schemas:
        return
    for kind in RECORDS:
        kind._beam_schema_id = str(uuid.uuid5(_NAMESPACE, kind.__name__))  # type: ignore[attr-defined]
        coders.registry.register_row(kind)
    for kind in RECORDS:
        _schemas[kind] = schema_from_element_type(kind)
    for kind in RECORDS:
        coders.registry.register_coder(kind, RecordCoder)
