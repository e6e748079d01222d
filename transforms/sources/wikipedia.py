"""Use a local index as a fact source, made by `ufo index build` from a Wikipedia dump."""

from typing import TYPE_CHECKING

from ufo.schemas.records import OpenUnits
from ufo.transforms.sources import defaults
from ufo.transforms.sources.fact_source import FactSource, Found, Retrieved

if TYPE_CHECKING:
    from ufo.indexes.index import Index, ScoredPassage


class WikipediaSource(FactSource):
    """Checks against an encyclopaedia: the articles of an index.

    The passages for all units of a response are retrieved in one batch. Passages of a page whose
    title or alias is in the claim are candidates, whatever their rank. `retriever` is bm25, dense
    or hybrid. An index with vectors from another `embedder` is refused.
    """

    def __init__(
        self,
        index: str = "",
        passages: int = defaults.PASSAGES,
        retriever: str = defaults.RETRIEVER,
        embedder: str | None = None,
    ) -> None:
        self.index = index
        self.passages = passages
        self.retriever = retriever
        self.embedder = embedder

    def unavailable(self) -> str | None:
        """Return an error message if no index is named, else None.

        Raises:
            IndexUnusable: the folder is not an index.
        """
        if not self.index:
            return "no index is named; build one with `ufo index build` and pass --index DIR"
        self._folder()
        return None

    def fingerprint(self) -> str:
        """Return the checksum of the index's manifest."""
        return self._folder().fingerprint

    def open(self) -> None:
        """Open the index, which all sources of the process share."""
        self._index = self._folder()

    def _folder(self) -> "Index":
        # Slow to import, and the class is loaded to list the installed sources.
        from ufo.indexes.index import open_index

        return open_index(self.index, self.retriever, embedder=self.embedder)

    async def look_up(self, open_units: OpenUnits) -> list[Found]:
        """Return the best passages for each unit, best first."""
        units = open_units.units
        hits = self._index.search(
            [f"{unit.claim} {unit.query}" for unit in units],
            self.passages,
            [self._index.names_in(unit.claim) for unit in units],
        )
        return [Found([self._retrieved(hit) for hit in found]) for found in hits]

    def _retrieved(self, hit: "ScoredPassage") -> Retrieved:
        article = hit.passage.url or hit.passage.title
        return Retrieved(hit.passage.as_passage(self.name), hit.score, document=article)
