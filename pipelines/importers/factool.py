"""Import FacTool (Chern et al. 2023): its knowledge questions, with claims that people labelled."""

from pathlib import Path

from ufo.pipelines.importers.reading import (
    LEFT_OUT,
    NEITHER,
    Record,
    get,
    objects_of,
    response_text,
    text_of,
)


def factool(raw: Record, file: Path, number: int) -> Record:
    """FacTool (Chern et al. 2023): responses of ChatGPT with labelled claims."""
    left_out: list[str] = []
    claims: list[Record] = []
    for claim in objects_of(raw, "claims"):
        found: Record = {"claim": text_of(claim, "claim").strip()}
        if isinstance(claim.get("label"), bool):
            found["label"] = claim["label"]
        else:
            left_out.append(NEITHER)
        claims.append(found)
    return {
        "id": f"factool-{number}",
        "model": "ChatGPT",
        "dataset": "factool",
        "question": text_of(raw, "prompt").strip(),
        "response": response_text(raw, "response"),
        "label": get(raw, "label", bool),
        "claims": claims,
        LEFT_OUT: left_out,
    }
