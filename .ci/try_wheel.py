"""Install the wheel into an empty environment of this Python, and use it as a project does.

    PYTHON .ci/try_wheel.py WHEEL CONSTRAINTS PROJECT [UV]

With the program `uv` the wheel is tried once more, with its extras and the newest of everything.
PROJECT is a folder with a `main.py` and with files of its own that are called like ufo's packages:
what the wheel installs must not come in their way.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

EXTRAS = ("llm", "web", "serve", "mcp", "onnx", "dense", "pandas")
PLAIN = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "OPENAI_", "UFO_"))}
CODE = """
from importlib.metadata import files
print(*sorted({path.parts[0] for path in files("ufo-factuality") if "dist-info" not in str(path)}))
"""
IMPORTS = """
import importlib, sys
from ufo.schemas.dependencies import MODULES
for module in [module for extra in sys.argv[1:] for module in MODULES.get(extra, [extra])]:
    importlib.import_module(module)
import ufo.indexes.dense, ufo.pipelines.integrations.mcp_server, ufo.webapp.app
import ufo.transforms.llm.transport, ufo.transforms.sources.web.source
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
    if len(sys.argv) > 4:
        uv, newest = Path(sys.argv[4]).resolve(), Path(temporary, "newest")
        run(project, uv, "venv", "--python", sys.executable, newest)
        of_extras = f"{wheel}[{','.join(EXTRAS)}]"
        run(project, uv, "pip", "install", "--python", newest / "bin/python", of_extras)
        run(project, newest / "bin/python", "-c", IMPORTS, *EXTRAS)
        check = (newest / "bin/ufo", "check", "It is old.", "--references", "It is old.")
        expect(run(project, *check, "--judge", "offline"), "1 of 1 claim supported")
        expect(run(project, newest / "bin/python", "main.py"), "answers indexes [1.0, 1.0, 1.0")
        print(f"and so with the newest versions of {', '.join(EXTRAS)}")
