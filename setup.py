"""Packaging. The versions that were tested together are in constraints.txt; here are ranges.

A comment says what a package is for and, after a colon, what needs the lowest version. Where it
does not, that is only the first that we test. `.ci/try_versions` tests the lowest versions, and the
newest.
"""

import os
import re
from pathlib import Path

from setuptools import find_packages, setup

HERE = Path(__file__).parent
# The address of the repository, which a release gives: docs/releasing.md.
REPOSITORY = os.environ.get("UFO_REPOSITORY", "").rstrip("/")
VERSION = re.search(r'VERSION = "(.+)"', (HERE / "ufo/pipelines/version.py").read_text())[1]
PACKAGE_DATA = {
    "ufo": ["py.typed"],
    "ufo.indexes": ["*.toml", "*.txt"],
    "ufo.schemas": ["*.txt"],
    "ufo.schemas.views": ["*.sql"],
    "ufo.pipelines.reports": ["templates/*"],
    "ufo.transforms": ["*.toml"],
    "ufo.transforms.english": ["*.toml"],
    "ufo.transforms.extraction": ["*.toml"],
    "ufo.transforms.judges.llm": ["*.toml"],
    "ufo.transforms.llm": ["*.sql", "*.toml", "*.yaml"],
    "ufo.transforms.prompts": ["*.txt"],
    "ufo.transforms.verifiers": ["*.json", "*.toml"],
    "ufo.transforms.verifiers.bundled": ["*.onnx", "*.json", "*.md"],
    "ufo.transforms.sources": ["*.yaml"],
    "ufo.transforms.sources.web": ["*.yaml"],
    "ufo.webapp": ["page/**"],
    "ufo.examples": ["*", "notebooks/*", "papers/**"],
}

ONNX = (  # the verifiers and embedders that are ONNX models
    "onnxruntime>=1.19,<2",  # runs them: NumPy 2; 1.17 cannot read verifiers/bundled/model.onnx
    "tokenizers>=0.15,<1",  # their input
)
EXTRAS = {
    "llm": [
        "openai>=2.0,<4",  # the client of any OpenAI-compatible endpoint; brings its httpx
    ],
    "web": [
        "httpx>=0.28,<0.29",  # web search and pages
        "httpcore>=1.0,<2",  # what httpx is built on; connections go to checked addresses there
        "protego>=0.7,<1",  # robots.txt
        "trafilatura>=2.3,<3",  # the main text of a page: captions, lists in lists, <pre>
        "lxml_html_clean>=0.4,<1",  # trafilatura imports it where lxml is new
        "pypdf>=6.19,<8",  # the text of a PDF: earlier ones join superscripts to the text
    ],
    "serve": [
        "fastapi>=0.135,<1",  # the page's service: `fastapi.sse`
        "uvicorn>=0.34,<1",  # its server
    ],
    "mcp": [
        "mcp>=2.3,<3",  # the protocol by which agents call tools
        "fastapi>=0.135,<1",  # what requests may have is declared for the service
    ],
    "onnx": [*ONNX],
    "dense": ["faiss-cpu>=1.15,<2", *ONNX],  # vectors: RaBitQ fast-scan, mapped without prefetch
    "gs": ["gcsfs>=2026.1"],  # gs://, as fsspec knows it; each needs the fsspec of its month
    "s3": ["s3fs>=2026.1"],
    "abfs": ["adlfs>=2024.12"],
    "gcp": ["apache-beam[gcp]>=2.77,<3", "gcsfs>=2026.1"],  # Dataflow
    "pandas": ["pandas>=2.2,<4"],
}
TRIED = [name for name in EXTRAS if name != "gcp"]  # by the tests
EXTRAS["all"] = [f"ufo-factuality[{','.join(EXTRAS)}]"]
EXTRAS["hub"] = [  # models of a hub, and those without an ONNX file; not in `all`: gigabytes
    "huggingface-hub>=0.25,<3",  # fetches models
    "torch>=2.4",  # computes those without an ONNX file
    "transformers>=5,<6",  # loads the verifiers
    "sentence-transformers>=6,<7",  # loads the embedders
    *ONNX,
]
# The tools that people evaluate with; not in `all`: each brings versions of its own.
EXTRAS["pytest"] = ["pytest>=8.3,<10"]  # the fixture `ufo`
EXTRAS["inspect"] = ["inspect-ai>=0.3.285"]  # a scorer
EXTRAS["deepeval"] = ["deepeval>=4.3,<5"]  # a metric
EXTRAS["docs"] = ["mkdocs-material>=9.6,<10", "mkdocstrings[python]>=1,<2"]  # the site
EXTRAS["dev"] = [
    f"ufo-factuality[{','.join([*TRIED, 'docs'])}]",
    "pytest>=8.3,<10",
    "pytest-xdist>=3.6,<4",
    "pytest-timeout>=2.4,<3",  # a test that hangs fails, and says where
    "coverage>=7.10,<8",  # which test executes which line, for benchmarks/mutants.py
    "hypothesis>=6.120,<7",
    "mypy>=1.15,<3",
    "ruff>=0.9,<1",
    "import-linter>=2.1,<3",
    "types-PyYAML>=6.0.12",
    "uv>=0.8,<1",  # resolves quickly, in .ci/try_versions and .ci/try_wheel
    "build>=1.2,<2",
    "setuptools>=77",  # what the packaging test builds with
    "scikit-learn>=1.6,<2",
    "scipy>=1.13,<2",
    "statsmodels>=0.14,<0.16",  # what our statistics are checked against
    "playwright>=1.50,<2",  # drives a real Chromium
    "axe-playwright-python>=0.1.4,<1",  # accessibility rules
    "schemathesis>=4,<5",  # the service against its own OpenAPI document
    "openapi-python-client>=0.29,<1",  # a client of it
    "nbclient>=0.10,<1",  # executes the notebooks of the examples
    "ipykernel>=6.29,<8",  # what they run in
    "polars>=1,<3",  # a table that `ufo.evaluate` takes
    "httpx2>=2,<3",  # requests of Starlette's TestClient; openai brings it only from 3.0
    "datasets>=4,<6",  # reads our tables, as does the next
    "fastparquet>=2024.11",
    "onnx>=1.17,<2",  # makes the tiny models that the verifiers are tested on
    "moto[server]>=5.2,<6",  # an emulator of S3
    "gcp-storage-emulator>=2026.7",  # and one of Google Cloud Storage
    "gunicorn>=23,<28",  # its workers are forked from a program that was loaded before
    "celery>=5.4,<6",  # so are the workers of its queue
    "psutil>=6,<8",  # the memory of a run's processes, in benchmarks/speed
    "proselint>=0.16,<0.17",  # the style of the documents
]


def readme() -> str:
    """Return the README for a package index, where a link into the repository leads nowhere.

    With the repository's address links and pictures are absolute; without it the text of a link is
    left, and pictures go.
    """
    raw = f"{REPOSITORY}/raw/v{VERSION}/"

    def absolute(link: re.Match[str]) -> str:
        text, path = link.groups()
        return f"[{text}]({REPOSITORY}/blob/v{VERSION}/{path})" if REPOSITORY else text

    text = (HERE / "README.md").read_text(encoding="utf-8")
    text = (
        re.sub(r'<img src="', rf"\g<0>{raw}", text)
        if REPOSITORY
        else re.sub("<img [^>]+>", "", text)
    )
    return re.sub(r"\[([^\]]*)\]\((?![a-z]+:|#)([^)]+)\)", absolute, text)


URLS = {
    "Documentation": "/tree/main/docs",
    "Source": "",
    "Issues": "/issues",
    "Changelog": "/blob/main/CHANGELOG.md",
}

setup(
    name="ufo-factuality",
    version=VERSION,
    description="Evaluates the factuality of LLM responses against plug-and-play fact sources.",
    long_description=readme(),
    long_description_content_type="text/markdown",
    project_urls={name: REPOSITORY + path for name, path in URLS.items()} if REPOSITORY else {},
    license="Apache-2.0",
    license_files=["LICENSE", "NOTICE"],
    python_requires=">=3.11",
    packages=find_packages(include=["ufo", "ufo.*"]),  # through the links below ufo/
    package_data=PACKAGE_DATA,
    entry_points={
        "console_scripts": ["ufo = ufo.pipelines.cli:program"],
        "pytest11": ["ufo = ufo.pipelines.integrations.pytest_plugin"],
        "ufo.fact_sources": [
            "reference = ufo.transforms.sources.reference:ReferenceSource",
            "wikipedia = ufo.transforms.sources.wikipedia:WikipediaSource",
            "web = ufo.transforms.sources.web.source:WebSource",
            "llm = ufo.transforms.sources.llm:LlmSource",
        ],
        "ufo.judges": [
            "offline = ufo.transforms.judges.offline.offline_judge:OfflineJudge",
            "llm = ufo.transforms.judges.llm.llm_judge:LlmJudge",
        ],
        "ufo.verifiers": [
            "bundled = ufo.transforms.verifiers.bundled:BundledVerifier",
            "overlap = ufo.transforms.verifiers.overlap:OverlapVerifier",
        ],
    },
    install_requires=[
        "apache-beam>=2.77,<3",  # the pipelines
        "packaging>=22",  # versions of optional packages: schemas/dependencies.py
        "fsspec>=2024.12",  # files by URI; on most systems with a package for the scheme
        "pyarrow>=20,<26",  # tables and Parquet: `maps_as_pydicts`; Beam allows < 26
        "duckdb>=2.0,<3",  # reports and SQL over the results: `ResourceInUseException`
        "numpy>=1.26.1,<3",  # arrays of names, offsets and vectors: faiss-cpu imports `numpy._core`
        "rank-bm25>=0.2.2,<0.3",  # ranking of small corpora and of long references
        "tantivy>=0.27,<0.28",  # BM25 of an index, whose files it wrote
        "PyStemmer>=2.2.0.2,<4",  # stems of index terms and claims: the first that installs
        "sentencex>=1.0.32,<2",  # sentence ends: earlier ones find others
        "markdown-it-py>=3,<5",  # Markdown files of an index; rich needs it too
        "loky>=3.5,<4",  # worker processes that need no `if __name__ == \"__main__\"`
        "filelock>=3.29.5,<5",  # one run of a name at a time: notices, but causes no, deleted file
        "PyYAML>=6.0.1,<7",  # configuration files: the first that installs
        "rich>=13.9.4,<16",  # tables and progress on a terminal
        "jinja2>=3.1,<4",  # the report and notebooks as HTML
    ],
    extras_require=EXTRAS,
    author="The ufo authors",
    keywords=[
        "factuality",
        "hallucination",
        "fact checking",
        "evaluation",
        "LLM",
        "RAG",
        "Apache Beam",
        "Parquet",
    ],
    classifiers=[
        "Development Status :: 4 - Beta",
        "Environment :: Console",
        "Environment :: Web Environment",
        "Intended Audience :: Developers",
        "Intended Audience :: Science/Research",
        "Operating System :: POSIX :: Linux",
        "Programming Language :: Python :: 3",
        "Programming Language :: Python :: 3 :: Only",
        "Programming Language :: Python :: 3.11",
        "Programming Language :: Python :: 3.12",
        "Programming Language :: Python :: 3.13",
        "Programming Language :: Python :: 3.14",
        "Topic :: Scientific/Engineering :: Artificial Intelligence",
        "Topic :: Software Development :: Testing",
        "Typing :: Typed",
    ],
)
