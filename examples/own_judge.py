"""Your own judge, in your own file:

    ufo evaluate … --judge examples/own_judge.py:Contained

It calls a claim supported where a passage has nearly all of it, letter by letter, in any language.
A real one would ask a model or a service. `outcome` may be a coroutine (`async def outcome`), and
then many responses are judged at once. Claims are extracted by rules, unless the judge has a method
`extract`.
"""

import ufo


class Contained(ufo.Judge):
    """Looks how many of a claim's pieces of a few letters a passage has."""

    def __init__(self, share: float = 0.9, letters: int = 4) -> None:
        self.share = share
        self.letters = letters

    def outcome(self, unit: ufo.FactUnit, passage: ufo.Passage) -> ufo.Judgement:
        wanted, there = self._pieces(unit.claim), self._pieces(passage.text)
        found = len(wanted & there) / max(len(wanted), 1)
        said = "supported" if found >= self.share else "noans"
        return ufo.Judgement(said, rationale=f"the passage has {found:.0%} of the claim")

    def _pieces(self, text: str) -> set[str]:
        shown = "".join(filter(str.isalnum, text.lower()))
        return {shown[at : at + self.letters] for at in range(len(shown) - self.letters + 1)}
