"""The two pipelines of `ufo index build`: slices of the input to blocks on disk, names to pages."""

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any
from zlib import crc32

import apache_beam as beam
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.runners.portability.fn_api_runner import FnApiRunner

from indexes import folder
from indexes.blocks import is_written, names_in_block, process_block, write_block
from indexes.reader import Block, read_blocks
from indexes.slices import Slice

_ALIAS_PARTS = 16
_HOPS = 3  # a redirect to a redirect is rare and not followed by MediaWiki; longer ones are loops


def write_blocks(
    slices: Sequence[Slice], building: str, words: int, block_pages: int, options: Sequence[str]
) -> None:
    """Write the blocks of the slices, in this process; those that are written are left."""
    with _pipeline(options) as pipeline:
        (
            pipeline
            | "Slices" >> beam.Create(slices)
            | "ReadBlocks" >> beam.ParDo(ReadBlocks(block_pages))
            | "WriteBlocks" >> beam.ParDo(WriteBlock(building, words))
        )


def write_aliases(building: str, options: Sequence[str]) -> None:
    """Write which aliases lead to which pages, out of the blocks that are written."""
    blocks = sorted(str(path) for path in (Path(building) / folder.BLOCKS).glob("*.json"))
    with _pipeline(options) as pipeline:
        pages, redirects = (
            pipeline
            | "Blocks" >> beam.Create(blocks)
            | "ReadNames"
            >> beam.ParDo(ReadNames())
            .with_output_types(tuple[str, int], redirects=tuple[str, str])
            .with_outputs(ReadNames.REDIRECTS, main="pages")
        )
        (
            {"pages": pages, "redirects": redirects}
            | "ResolveRedirects" >> ResolveRedirects()
            | "Parts" >> beam.Map(_with_part).with_output_types(tuple[int, tuple[str, int]])
            | "GroupParts" >> beam.GroupByKey()
            | "WriteAliases" >> beam.ParDo(WriteAliases(building))
        )


def _pipeline(options: Sequence[str]) -> beam.Pipeline:
    # Named, not "DirectRunner": that one tries another runner first, whose binary it downloads.
    return beam.Pipeline(runner=FnApiRunner(), options=PipelineOptions(list(options)))


def _with_part(alias: tuple[str, int]) -> tuple[int, tuple[str, int]]:
    return crc32(alias[0].encode("utf-8", "replace")) % _ALIAS_PARTS, alias


class ReadBlocks(beam.DoFn):  # type: ignore[misc]
    """A slice of an input file → its blocks, as they are read."""

    def __init__(self, block_pages: int) -> None:
        self._block_pages = block_pages

    def process(self, element: Slice) -> Iterator[Block]:
        yield from read_blocks(element, self._block_pages)


class WriteBlock(beam.DoFn):  # type: ignore[misc]
    """A block → its files in `building`, unless they are there."""

    def __init__(self, building: str, words: int) -> None:
        self._blocks = Path(building) / folder.BLOCKS
        self._words = words

    def process(self, element: Block) -> None:
        if not is_written(self._blocks, element):
            write_block(self._blocks, element, process_block(element, self._words))


class ReadNames(beam.DoFn):  # type: ignore[misc]
    """The path of a block → (title, page), with (target, alias) on the side."""

    REDIRECTS = "redirects"

    def process(self, element: str) -> Iterator[Any]:
        pages, redirects = names_in_block(Path(element))
        yield from pages
        for redirect in redirects:
            yield beam.pvalue.TaggedOutput(self.REDIRECTS, redirect)


class ResolveRedirects(beam.PTransform):  # type: ignore[misc]
    """(title, page) and (target, alias) → (alias, page); what leads to no page gives nothing."""

    def expand(self, inputs: Any) -> Any:
        known, waiting = inputs["pages"], inputs["redirects"]
        resolved = []
        for hop in range(1, _HOPS + 1):
            joined = {"pages": known, "aliases": waiting} | f"Join{hop}" >> beam.CoGroupByKey()
            known = joined | f"Resolve{hop}" >> beam.FlatMap(_resolved).with_output_types(
                tuple[str, int]
            )
            resolved.append(known)
            waiting = joined | f"Open{hop}" >> beam.FlatMap(_unresolved).with_output_types(
                tuple[str, str]
            )
        return tuple(resolved) | beam.Flatten()


def _resolved(group: tuple[str, dict[str, Iterable[int | str]]]) -> Iterator[tuple[str, int]]:
    pages = sorted(group[1]["pages"])
    if pages:
        for alias in group[1]["aliases"]:
            yield str(alias), int(pages[0])


def _unresolved(group: tuple[str, dict[str, Iterable[int | str]]]) -> Iterator[tuple[str, str]]:
    if not any(True for _ in group[1]["pages"]):
        for alias in group[1]["aliases"]:
            yield group[0], str(alias)


class WriteAliases(beam.DoFn):  # type: ignore[misc]
    """(part, [(alias, page)]) → a file; written twice, it is the same."""

    def __init__(self, building: str) -> None:
        self._folder = Path(building) / folder.ALIAS_PARTS

    def process(self, element: tuple[int, Iterable[tuple[str, int]]]) -> None:
        part, aliases = element
        unfinished = self._folder / f".{part:02d}.json"
        unfinished.write_text(json.dumps(sorted(aliases)))
        unfinished.rename(self._folder / f"{part:02d}.json")
