"""The model card of the bundled verifier: what it is, what it learned from, how good it is."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.embedder import WEIGHTS_SHA256
from benchmarks.verifier_training.pairs import Labelled

SETS = {
    "stance": "Factcheck-GPT, does this evidence support the claim",
    "claims": "Factcheck-GPT, is the claim true, by the majority of its evidence",
    "wice": "WiCE, does the cited article support the claim wholly",
    "begin_wow": "BEGIN, Wizard of Wikipedia: is the answer wholly from the knowledge",
    "begin_cmu": "BEGIN, CMU dialogues: the same",
}
_COLUMNS = {
    "auc": "AUC",
    "balanced_accuracy": "balanced accuracy",
    "ece_even": "calibration error",
    "refuted_recall": "refuted: recall",
    "refuted_precision": "refuted: precision",
}
_HEAD = """\
# Model card: the verifier `bundled`

A cross-encoder that reads a claim and a passage and gives the probabilities that the passage
supports the claim, refutes it, or does not answer. 22.7 million parameters in int8, English, run on
one thread of a CPU. `--verifier bundled` asks it.

## What it is made of

- **Base**: all-MiniLM-L6-v2 (Apache-2.0; SHA-256 of `model.safetensors`:
  `{sha256}`), and its tokenizer.
- **Changes**: four token types instead of two, so that word pieces that claim and passage share are
  marked. A passage of over {words} words is cut to the sentences that share most with the claim.
- **Last layer**: two logistic regressions, of supported and of refuted among the rest, over the
  model's log-odds and the features of `overlap` (`transforms/verifiers/overlap/features.py`).
- **Training**: `benchmarks/train_verifier.py`; {seen:,} pairs seen by the base, {tuned:,} more that
  include the sets below; weights in bfloat16, AdamW, two CPU cores.

## What it learned from

Pairs of claim and passage; those "made" are from Wikipedia introductions (HotpotQA, CC BY-SA 4.0)
by `benchmarks/verifier_training/synthetic.py`.

| origin | pairs | licence |
|---|---|---|
{origins}

## How often it agrees with people

**New domain**: the model before it saw any pair of these sets, which is what a user's own texts
meet. **Out of fold**: models that saw pairs of other documents of the same sets. The shipped model
saw all of them, so what it says of these very records says nothing. Supported counts against the
rest; intervals (95 %) are bootstrapped by document; the calibration error is that of `supported`
where it is as frequent as the rest.

{tables}

## Known weaknesses

- It reads a passage, not the world: a claim that its passages do not settle is not answered, and a
  false passage makes a false verdict.
- A claim with one wrong detail among many right ones is often called supported; so is a claim
  that a passage only denies in other words.
- Arithmetic, dates relative to today, and conclusions over several passages are beyond it.
- Texts in other languages are not read: the offline judge answers `unsupported_language`.
- It read nothing longer than 173 word pieces while it was trained.
"""


def card(
    result: Mapping[str, Any],
    items: Sequence[Labelled],
    licences: Mapping[str, str],
    numbers: Mapping[str, int],
) -> str:
    """Return the text of the card for the figures that were measured."""
    counts = Counter(item.origin for item in items)
    made = sum(count for origin, count in counts.items() if origin.startswith("made_"))
    rows = [
        f"| {origin} | {count:,} | {licences.get(origin, '')} |"
        for origin, count in sorted(counts.items())
        if not origin.startswith("made_")
    ]
    rows.append(f"| made | {made:,} | CC BY-SA 4.0 (HotpotQA, Wikipedia) |")
    tables = [
        f"### {title}\n\n{_table(result[name])}"
        for title, name in (("New domain", "new_domain"), ("Out of fold", "folds"))
    ]
    return _HEAD.format(
        sha256=WEIGHTS_SHA256, origins="\n".join(rows), tables="\n\n".join(tables), **numbers
    )


def _table(figures: Mapping[str, Any]) -> str:
    lines = [
        "| labels of | n | " + " | ".join(_COLUMNS.values()) + " |",
        "|---|---|" + "---|" * len(_COLUMNS),
    ]
    for name, label in SETS.items():
        if name in figures:
            cells = [_cell(figures[name].get(column)) for column in _COLUMNS]
            lines.append(f"| {label} | {figures[name]['n']:,} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _cell(figure: Mapping[str, Any] | None) -> str:
    if figure is None:
        return "–"
    low, high = figure["interval"]
    return f"{figure['value']:.3f} ({low:.3f}–{high:.3f})"
