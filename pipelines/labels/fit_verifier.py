"""Refit a verifier on the labels of a run, and write it if it improved."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ufo.pipelines.labels.labelled_claims import (
    VIEWS,
    LabelledClaim,
    LabelledClaims,
    labelled_claims,
)
from ufo.pipelines.runs.results import open_results
from ufo.schemas.errors import RunError, UsageError
from ufo.transforms.verifiers.base import Array, Pair, Verifier
from ufo.transforms.verifiers.fitted import FILE, Fit, is_fitted, write_fit
from ufo.transforms.verifiers.fitting import Labelled
from ufo.transforms.verifiers.gains import Gain, Refit, refit
from ufo.transforms.verifiers.registry import content_of, default_verifier, opened, usable

LEAST_CLAIMS = 20
LEAST_OF_A_KIND = 5
LEAST_RESPONSES = 5
_AT_ONCE = 64
MEASURES = {
    "log_loss": "log loss of claims",
    "balanced_accuracy": "balanced accuracy",
    "auc": "AUC",
}

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The labels that a fit used, and what it gained.

    `found` counts the labels of the run. `written` is the folder, or None with the reason in `why`.
    """

    run: str
    verifier: str
    found: LabelledClaims
    trained: dict[str, Any]
    refit: Refit
    written: str | None
    why: str


def fit_verifier(
    directory: str, output: str, run: str | None, verifier: str | None, say: Say
) -> Outcome:
    """Refit a verifier on the labels of a run; write it to `output` if it improved.

    Args:
        directory: the `--output` of `ufo evaluate`.
        output: the folder to write; one that holds a fitted verifier is replaced.
        run: a finished run (default: the newest).
        verifier: a name or a folder as `--verifier` takes it (default: the default one).
        say: called with each step, as text.

    Raises:
        UsageError: no such run or verifier, or `output` holds something else.
        RunError: the run has too few labels.
    """
    _check_output(Path(output))
    name = usable(verifier or default_verifier()[0])
    if is_fitted(name):
        raise UsageError(
            f"the verifier {name!r} is itself fitted to labels; fit the one that it was fitted "
            f"from ({Path(name) / FILE} names it as `base`)."
        )
    with open_results(directory, run, only=VIEWS) as results:
        found = labelled_claims(results)
        of = results.runs[-1]
    _check_enough(directory, of.name, found)
    base = opened(name)
    vectors = _vectors(base, found.claims, say)
    claims = [
        replace(claim, pairs=kept)
        for claim in found.claims
        if (kept := tuple(pair for pair in claim.pairs if pair in vectors))
    ]
    found = replace(found, claims=claims, settled=len(found.claims) - len(claims))
    _check_enough(directory, of.name, found)
    data = _labelled(claims, vectors)
    say("the last layer is refitted and cross-validated by response")
    fitted = refit(data, base.head())
    trained = {
        "run": of.name,
        "finished_at": of.finished_at.isoformat(),
        "n_claims": len(found.claims),
        "n_true": int(data.labels.sum()),
        "n_responses": len(set(data.responses)),
        "spread": fitted.spread,
        "gains": {measure: asdict(getattr(fitted, measure)) for measure in MEASURES},
    }
    why = fitted.not_gained
    if not why:
        fit = Fit(name, content_of(name), fitted.head, trained)
        try:
            write_fit(output, fit, card(Path(output).resolve().name, fit))
        except OSError as error:
            raise UsageError(f"--output: cannot write {output!r}: {error}.") from error
    return Outcome(of.name, name, found, trained, fitted, None if why else output, why)


def _check_output(folder: Path) -> None:
    """Raise a UsageError if `output` is anything but a fitted verifier, before the work is done."""
    if folder.is_dir() and not is_fitted(folder) and any(folder.iterdir()):
        raise UsageError(
            f"--output {str(folder)!r} holds something else than a fitted verifier; name another "
            "folder, one that is empty or does not exist."
        )
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"--output {str(folder)!r} is a file; name a folder.")


def _check_enough(directory: str, run: str, found: LabelledClaims) -> None:
    true = sum(claim.label for claim in found.claims)
    false = len(found.claims) - true
    responses = len({claim.response_id for claim in found.claims})
    if (
        len(found.claims) >= LEAST_CLAIMS
        and min(true, false) >= LEAST_OF_A_KIND
        and responses >= LEAST_RESPONSES
    ):
        return
    raise RunError(
        f"run {run!r} has {len(found.claims):,} claims to learn from ({true:,} true, {false:,} "
        f"false, in {responses:,} responses); it takes {LEAST_CLAIMS}, {LEAST_OF_A_KIND} of each "
        f"kind, in {LEAST_RESPONSES} responses. {left_out(found)} Have people "
        f"label more: 'ufo label sample {directory}', then 'ufo label import {directory} SHEET'."
    )


def left_out(found: LabelledClaims) -> str:
    """Return a sentence with the numbers of labelled claims that are not used, and why."""
    settled = f", {found.settled:,} with no passage that the last layer reads" * bool(found.settled)
    return (
        f"Left out of {found.n_labelled:,} labelled claims: {found.without_passages:,} without "
        f"a passage, {found.tagged:,} tagged wrong_claim or wrong_evidence{settled}."
    )


def _vectors(verifier: Verifier, claims: Sequence[LabelledClaim], say: Say) -> dict[Pair, Array]:
    """Return the input of the verifier's last layer for each pair."""
    pairs = list(dict.fromkeys(pair for claim in claims for pair in claim.pairs))
    say(f"{len(pairs):,} pairs of a claim and a passage are read by {verifier.name}")
    found: dict[Pair, Array] = {}
    for start in range(0, len(pairs), _AT_ONCE):
        some = pairs[start : start + _AT_ONCE]
        settled = zip(some, verifier.settled(some), strict=True)
        if left := [pair for pair, known in settled if known is None]:
            found |= zip(left, verifier.vectors(left), strict=True)
        done = start + len(some)
        if done % (10 * _AT_ONCE) == 0:
            say(f"{done:,} of {len(pairs):,} pairs are read")
    return found


def _labelled(claims: Sequence[LabelledClaim], vectors: Mapping[Pair, Array]) -> Labelled:
    sizes = np.array([len(claim.pairs) for claim in claims])
    return Labelled(
        np.array([vectors[pair] for claim in claims for pair in claim.pairs], dtype=np.float64),
        np.cumsum(sizes) - sizes,
        np.array([claim.label for claim in claims]),
        [claim.response_id for claim in claims],
    )


def in_words(measure: str, gain: Gain) -> str:
    """Return a line with the gain in one measure."""
    return (
        f"{MEASURES[measure]:<20} {gain.before:.3f} → {gain.after:.3f}, gain {gain.gain:+.3f} "
        f"({gain.low:+.3f} to {gain.high:+.3f})"
    )


def card(name: str, fit: Fit) -> str:
    """Return the model card of a fitted verifier, in Markdown."""
    trained = fit.trained
    rows = "\n".join(
        f"| {words} | {gain['before']:.3f} | {gain['after']:.3f} | {gain['gain']:+.3f} | "
        f"{gain['low']:+.3f} to {gain['high']:+.3f} |"
        for measure, words in MEASURES.items()
        for gain in [trained["gains"][measure]]
    )
    changed = (
        "Temperature, bias and weights of `supported` were refitted (L2 penalty towards the "
        f"verifier's own weights, log-odds expected to change by {trained['spread']:g})."
        if trained["spread"]
        else "Temperature and bias of `supported` were refitted; the weights are the verifier's "
        "own."
    )
    return f"""# {name}

The verifier `{fit.base}` (checksum `{fit.fingerprint}`) with its last layer refitted to labels of
people. `--judge offline --verifier FOLDER` uses it. It needs that verifier, which is not copied,
and holds no text of the labelled claims.

- Fitted to: run `{trained["run"]}`, finished {trained["finished_at"]}: {trained["n_claims"]:,}
  claims ({trained["n_true"]:,} true) of {trained["n_responses"]:,} responses.
- {changed}

Measured on responses that it was not fitted to (cross-validated by response), with 95 % intervals
of the gain (bootstrap of responses); true and false claims weigh the same:

| measure | before | after | gain | interval |
|---|---|---|---|---|
{rows}

On texts of another kind it may be worse than `{fit.base}`: measure it there.
"""
