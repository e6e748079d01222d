"""A project that uses ufo beside files of its own with the names of ufo's packages.

It has no `if __name__ == "__main__"`, as scripts often do not; two worker processes evaluate.
"""

import indexes
import ufo
from pipelines import nightly

records = [{"response": nightly.TEXT, "reference_answers": nightly.TEXT, "id": n} for n in range(4)]
options = {"workers": 2, "chunk_size": 1, "quiet": True}
result = ufo.evaluate(records, sources=["reference"], judge="offline", output="results", **options)
print(nightly.NAME, indexes.__name__, result.scores["factuality_score"].to_pylist())
