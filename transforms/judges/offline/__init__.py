"""The offline judge: rules and a small fitted model, no network and no LLM."""
