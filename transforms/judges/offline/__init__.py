"""The offline judge: rules and a small fitted model, no network and no LLM."""

# As scripts/measure_judge.py prints it, cross-validated by document.
ACCURACY = (
    "Balanced accuracy on human labels: .71 Factcheck-GPT stance, .74 WiCE, .91 BEGIN; a language "
    "model judges better (--judge llm)."
)
