"""`POST /v1/embeddings`: a text's vector is its length and 1, as the caller can work out."""

from typing import Any


class Embeddings:
    """What the server embeds with, and what it does wrong on request."""

    def __init__(self) -> None:
        self.model = "small-1"
        self.left_out = 0
        """How many of the first vectors a reply lacks."""

    def answer(self, body: Any) -> dict[str, Any]:
        """Return the reply to a request, in the order that OpenAI does not promise: backwards."""
        rows = [
            {"object": "embedding", "index": index, "embedding": [float(len(text)), 1.0]}
            for index, text in enumerate(body["input"])
        ]
        return {
            "object": "list",
            "model": self.model,
            "data": rows[self.left_out :][::-1],
            "usage": {"prompt_tokens": 1, "total_tokens": 1},
        }
