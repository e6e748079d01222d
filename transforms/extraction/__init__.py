"""Extract fact units by rules: claims that can be checked, and a query for each."""

from ufo.transforms.extraction.by_rules import (
    ExtractedUnit,
    extract,
    extract_record,
    paragraph_starts,
    query_of,
)

__all__ = ["ExtractedUnit", "extract", "extract_record", "paragraph_starts", "query_of"]
