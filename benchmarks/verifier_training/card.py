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
  model's log-odds and the features of `overlap` (`transforms/verifiers/overlap/features.py`),
  fitted to {fitted:,} pairs of documents and relations that the model did not see.
- **Training**: `benchmarks/train_verifier.py`; {first:,} pairs of people seen, then {second:,} of
  all; weights in bfloat16, AdamW, one CPU core.

## What it learned from

Pairs of claim and passage. Those "made" are of this project's code
(`benchmarks/verifier_training`): from Wikipedia text (HotpotQA and a dump, CC BY-SA 4.0), or, those
of roles, from relations and names written for it. One document or relation in ten is in the last
layer only; one page in eight is in neither, and tested on.

| origin | supported | refuted | no answer | either of the two | licence |
|---|---|---|---|---|---|
{origins}

Nothing of Factcheck-GPT, WiCE and BEGIN is among them.

## How often it agrees with people

On sets that neither the model nor its last layer has seen, and `overlap` fitted to other sets alone
beside it. Supported counts against the rest; the intervals (95 %) of the differences are
bootstrapped by document. The rules of the offline judge, which follow a verifier, are not applied.

| labels of | n | figure | `bundled` | `overlap` | difference |
|---|---|---|---|---|---|
{sets}

Pairs that differ in who did what (relations that are not in the training), and passages about
another subject than the claim's, of Wikipedia pages that are not in the training and written for
the tests:

| pairs | `bundled` | `overlap` |
|---|---|---|
{counts}

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
    return _HEAD.format(
        sha256=WEIGHTS_SHA256,
        origins="\n".join(_origins(items, licences)),
        sets="\n".join(_sets(result["sets"])),
        counts="\n".join(_counts(result)),
        **numbers,
    )


def _origins(items: Sequence[Labelled], licences: Mapping[str, str]) -> list[str]:
    counts = Counter((item.origin, item.label) for item in items)
    return [
        " | ".join(
            [
                f"| {origin.replace('_', ' ', 1) if origin.startswith('made_') else origin}",
                *(f"{counts[origin, of]:,}" for of in ("supported", "refuted", "noans", "not")),
                f"{licences.get(origin, 'CC BY-SA 4.0 (Wikipedia), or this project')} |",
            ]
        )
        for origin in sorted({origin for origin, _ in counts})
    ]


def _sets(figures: Mapping[str, Any]) -> list[str]:
    lines = []
    for name, label in SETS.items():
        for key, column in _COLUMNS.items():
            found = figures.get(name, {}).get(key)
            if found:
                both = f"{found['bundled']:.3f} | {found['overlap']:.3f}"
                more = "{:+.3f} ({:+.3f} to {:+.3f})".format(
                    found["difference"], *found["interval"]
                )
                lines.append(f"| {label} | {figures[name]['n']:,} | {column} | {both} | {more} |")
    return lines


def _counts(result: Mapping[str, Any]) -> list[str]:
    return [
        f"| {pairs}: {what} | {share:.2f} | {of['overlap'][what]:.2f} |"
        for pairs, of in result.items()
        if pairs != "sets"
        for what, share in of["bundled"].items()
    ]
