"""The offline judge: claims by rules, verdicts by a small model, without network and LLM."""

from collections.abc import Iterable, Mapping

from ufo.transforms.verifiers.measured import OF_SOURCE


def judged_by(verifier: str | None = None, sources: Iterable[str] = ()) -> str:
    """Return a sentence for users: the verifier in use and its measured accuracy.

    None is the default verifier; where that is not DEFAULT, the text says why. For `sources` (types
    of fact sources) the accuracy on their kind of evidence is given, where it was measured.
    """
    from ufo.transforms.verifiers.registry import DEFAULT, default_verifier, make_verifier

    name, reason = (verifier, "") if verifier else default_verifier()
    made = make_verifier(name)
    fallback = f"{DEFAULT} cannot be used: {reason}. " if reason else ""
    accuracy = (
        _by_source(made.by_set(), sources)
        or made.accuracy()
        or "how often it agrees with people is not known"
    )
    return f"{fallback}Verifier {made.name}: {accuracy}."


def _by_source(by_set: Mapping[str, float], sources: Iterable[str]) -> str:
    """Return the accuracy measured for each type of source, empty where there is none."""
    figures, others = [], []
    for source in dict.fromkeys(sources):
        data_set, description = OF_SOURCE.get(source, ("", ""))
        if data_set in by_set:
            figures.append(f"{by_set[data_set]:.2f} for {source} (measured on {description})")
        else:
            others.append(source)
    if not figures:
        return ""
    unknown = f"; not measured for {' and '.join(others)}" if others else ""
    share = by_set.get("false_claims")
    recall = f"; of false claims it recognises {share:.2f}" if share is not None else ""
    return f"balanced accuracy on people's labels {', '.join(figures)}{unknown}{recall}"
