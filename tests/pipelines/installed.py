"""A third party's package, installed as pip does it."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path


def install(
    folder: Path, code: str, group: str = "ufo.fact_sources", entry: str = "acme = acme_facts:Acme"
) -> dict[str, str]:
    """Install a package `acme-facts` into a folder; returns an environment that sees it. Its one
    module is `acme_facts`."""
    wheel = folder / "acme_facts-1.0-py3-none-any.whl"
    info = "acme_facts-1.0.dist-info"
    files = {
        "acme_facts.py": code,
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: acme-facts\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": f"[{group}]\n{entry}\n",
    }
    record = "".join(f"{name},,\n" for name in [*files, f"{info}/RECORD"])
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, content in {**files, f"{info}/RECORD": record}.items():
            archive.writestr(name, content)
    target = folder / "site"
    pip = [sys.executable, "-m", "pip", "install", "--no-index", "--no-deps", "--quiet"]
    subprocess.run(
        [*pip, "--disable-pip-version-check", "--target", str(target), str(wheel)], check=True
    )
    return {**os.environ, "PYTHONPATH": str(target)}
