"""A service whose judge waits for good at words of the text, so that a test knows where a check is.

`python -m tests.webapp.browser.patient_service FOLDER PORT` serves it in a process that can be
killed.
"""

import asyncio
import sys
from collections.abc import Sequence

from ufo.pipelines.commands.serve import setup
from ufo.schemas.records import InputRecord, OpenUnits
from ufo.transforms.judges.judge import Drafts, Judged
from ufo.transforms.judges.offline.offline_judge import OfflineJudge
from ufo.transforms.sentences import Span
from ufo.transforms.sources.fact_source import Found
from ufo.webapp.server import serve
from ufo.webapp.service import Setup

NOT_READ = "xyzzy"
"""A text with this word is not read to its end."""

NOT_JUDGED = "plugh"
"""A claim with this word is not judged, nor are those after it."""


class PatientJudge(OfflineJudge):
    """The offline judge, but for the two words."""

    async def extract(self, record: InputRecord, sentences: Sequence[Span]) -> Drafts:
        """Extract the claims."""
        if NOT_READ in record.text:
            await asyncio.Event().wait()
        return await super().extract(record, sentences)

    async def verify(self, open_units: OpenUnits, source: str, found: Sequence[Found]) -> Judged:
        """Return the evidence."""
        if any(NOT_JUDGED in unit.claim for unit in open_units.units):
            await asyncio.Event().wait()
        return await super().verify(open_units, source, found)


def patient(folder: str) -> Setup:
    """Return the set-up of such a service."""
    return setup(folder, flags={"judge": PatientJudge()})


if __name__ == "__main__":
    serve(patient(sys.argv[1]), port=int(sys.argv[2]))
