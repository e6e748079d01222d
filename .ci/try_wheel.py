"""Install the wheel into an empty environment of this Python, and use it as a project does.

    PYTHON .ci/try_wheel.py WHEEL CONSTRAINTS PROJECT

Needs nothing but Python. PROJECT is a folder with a `main.py` and with files of its own that are
called like ufo's packages: what the wheel installs must not come in their way.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PLAIN = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "OPENAI_", "UFO_"))}
CODE = """
from importlib.metadata import files
print(*sorted({path.parts[0] for path in files("ufo-factuality") if "dist-info" not in str(path)}))
"""


def run(folder: Path, *words: object) -> str:
    done = subprocess.run(
        [str(word) for word in words], cwd=folder, env=PLAIN, capture_output=True, text=True
    )
    if done.returncode:
        sys.exit(f"{' '.join(map(str, words))}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def expect(found: str, wanted: str) -> None:
    if wanted not in found:
        sys.exit(f"expected {wanted!r}, got:\n{found}")


with tempfile.TemporaryDirectory() as temporary:
    wheel, constraints = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    environment, project = Path(temporary, "environment"), Path(temporary, "project")
    shutil.copytree(sys.argv[3], project)
    run(project, sys.executable, "-m", "venv", environment)
    python, ufo = environment / "bin/python", environment / "bin/ufo"
    pip = (python, "-m", "pip", "install", "--quiet", "--no-compile")
    run(project, *pip, "--constraint", constraints, wheel)
    top = run(project, python, "-c", CODE).split()
    if set(top) - {"..", "ufo"}:  # `..` leads to the command
        sys.exit(f"the wheel installs more than ufo at the top: {top}")
    expect(run(project, python, "main.py"), "answers indexes [1.0, 1.0, 1.0, 1.0]")
    expect(run(project, ufo, "report", "results"), "4 of 4 claims supported")
    expect(run(project, python, "-m", "ufo.pipelines.evaluate", "--help"), "--sources")
print(f"the wheel runs in an empty environment of Python {sys.version.split()[0]}")
