"""The model card of the bundled verifier: what it is, what it learned from, how good it is."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
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


def card(
    result: Mapping[str, Any],
    items: Sequence[Labelled],
    licences: Mapping[str, str],
    numbers: Mapping[str, int],
) -> str:
    """Return the text of the card for the figures that were measured."""
    text = Path(__file__).with_name("card.md").read_text(encoding="utf-8")
    return text.format(
        sha256=WEIGHTS_SHA256,
        origins="\n".join(_origins(items, licences)),
        sets="\n".join(_sets(result["with rules"]["sets"])),
        counts="\n".join(_counts(result["with rules"])),
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
