"""Your own fact source, in your own file:

    ufo evaluate … --sources examples/own_source.py:Glossary,reference

It answers from a few definitions; a real one would ask a database or a service. `find` may be a
coroutine (`async def find`), and then many units are asked at once.
"""

import ufo

DEFINITIONS = {
    "aorta": "The aorta is the largest artery of the human body.",
    "fjord": "A fjord is a long, narrow inlet of the sea that was carved by a glacier.",
    "monsoon": "A monsoon is a seasonal wind that brings heavy rain to South Asia in summer.",
}


class Glossary(ufo.FactSource):
    """Definitions of the terms that a claim names."""

    def __init__(self, passages: int = 5) -> None:
        self.passages = passages

    def find(self, unit: ufo.FactUnit) -> list[ufo.Passage]:
        claim = unit.claim.lower()
        definitions = [text for term, text in DEFINITIONS.items() if term in claim]
        return [ufo.Passage(text, title="Glossary") for text in definitions[: self.passages]]
