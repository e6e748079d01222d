"""A third party's package, as an installation of its wheel leaves it."""

import os
from pathlib import Path


def install(
    folder: Path, code: str, group: str = "ufo.fact_sources", entry: str = "acme = acme_facts:Acme"
) -> dict[str, str]:
    """Write a package `acme-facts` into a folder; returns an environment that sees it. Its one
    module is `acme_facts`."""
    target = folder / "site"
    info = target / "acme_facts-1.0.dist-info"
    info.mkdir(parents=True)
    (target / "acme_facts.py").write_text(code)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-facts\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{group}]\n{entry}\n")
    return {**os.environ, "PYTHONPATH": str(target)}
