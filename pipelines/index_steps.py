"""Turn slices of the input into blocks of passages on disk: the pipeline of `ufo index build`."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import apache_beam as beam
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.runners.portability.fn_api_runner import FnApiRunner

from ufo.indexes import folder
from ufo.indexes.blocks import process_block, write_block
from ufo.indexes.reader import Block, read_blocks
from ufo.indexes.slices import Slice


def write_blocks(
    slices: Sequence[Slice], building: str, words: int, block_pages: int, options: Sequence[str]
) -> None:
    """Write the blocks of the slices, in this process."""
    # Named, not "DirectRunner": that one tries another runner first, whose binary it downloads.
    runner = FnApiRunner()
    with beam.Pipeline(runner=runner, options=PipelineOptions(list(options))) as pipeline:
        (
            pipeline
            | "Slices" >> beam.Create(slices)
            | "ReadBlocks" >> beam.ParDo(ReadBlocks(block_pages))
            | "WriteBlocks" >> beam.ParDo(WriteBlock(building, words))
        )


class ReadBlocks(beam.DoFn):  # type: ignore[misc]
    """A slice of an input file → its blocks, as they are read."""

    def __init__(self, block_pages: int) -> None:
        self._block_pages = block_pages

    def process(self, element: Slice) -> Iterator[Block]:
        yield from read_blocks(element, self._block_pages)


class WriteBlock(beam.DoFn):  # type: ignore[misc]
    """A block → its files in `building`."""

    def __init__(self, building: str, words: int) -> None:
        self._blocks = Path(building) / folder.BLOCKS
        self._words = words

    def process(self, element: Block) -> None:
        write_block(self._blocks, element, process_block(element, self._words))
