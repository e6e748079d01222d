"""The training loop: seeded, on a processor or a GPU."""

import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from transformers import BertForSequenceClassification

from benchmarks.training.pairs import LABELS, Labelled, passes
from ufo.transforms.verifiers.bundled.encoding import Encoded, Encoder

BATCH = 32
SORTED = 16
"""Batches whose pairs are sorted by length together."""
WARM_UP = 60
DECAY = 0.45
"""The share of the steps, at the end, in which the learning rate falls to zero."""
REFUTED_WEIGHT = 1.3
BUDGETS = ((28, 0.35), (44, 0.35), (64, 0.3))
"""(words of the passage, share of the pairs): the model learns to read any of them."""
_SAID_EVERY = 100


@dataclass(frozen=True, slots=True)
class Plan:
    """How long and how fast to train: `pairs` seen in all, and the highest learning rate."""

    pairs: int
    decay: float = DECAY
    rate: float = 1e-4
    seed: int = 0

    @property
    def steps(self) -> int:
        return self.pairs // BATCH

    def rate_at(self, step: int) -> float:
        """Return the learning rate: a warm-up, a constant stretch, a linear fall to zero."""
        up = min(1.0, (step + 1) / WARM_UP)
        down = min(1.0, (self.steps - step) / max(1.0, self.decay * self.steps))
        return self.rate * up * down


def batches(items: Sequence[Labelled], encoder: Encoder, seed: int) -> Iterator[list[Any]]:
    """Yield batches of (Encoded, label) without end, of pairs of similar length."""
    chance = random.Random(f"batches {seed}")
    budgets = [words for words, _ in BUDGETS]
    shares = [share for _, share in BUDGETS]
    window: list[tuple[Encoded, str]] = []
    for seen in passes(items, seed):
        for item in seen:
            words = chance.choices(budgets, shares)[0]
            window.append((encoder.encode(item.pair, words), item.label))
            if len(window) == BATCH * SORTED:
                window.sort(key=lambda one: len(one[0].ids))
                cut = [window[at : at + BATCH] for at in range(0, len(window), BATCH)]
                chance.shuffle(cut)
                yield from cut
                window = []


def tensors(encoded: Sequence[Encoded], device: str) -> dict[str, torch.Tensor]:
    """Return the model's inputs, padded to the longest."""
    longest = max(len(one.ids) for one in encoded)

    def padded(rows: Sequence[Sequence[int]]) -> torch.Tensor:
        return torch.tensor([[*row, *[0] * (longest - len(row))] for row in rows], device=device)

    return {
        "input_ids": padded([one.ids for one in encoded]),
        "token_type_ids": padded([one.types for one in encoded]),
        "attention_mask": padded([[1] * len(one.ids) for one in encoded]),
    }


def loss_of(logits: torch.Tensor, labels: Sequence[str]) -> torch.Tensor:
    """Return the mean loss; `not` is the probability of refuted and noans together."""
    logs = torch.log_softmax(logits.float(), dim=1)
    logs = torch.cat([logs, torch.logsumexp(logs[:, 1:], dim=1, keepdim=True)], dim=1)
    places = torch.tensor([LABELS.index(label) for label in labels], device=logits.device)
    weights = torch.ones_like(places, dtype=torch.float32)
    weights[places == LABELS.index("refuted")] = REFUTED_WEIGHT
    chosen = logs.gather(1, places[:, None])[:, 0]
    return -(weights * chosen).sum() / weights.sum()


def train(
    model: BertForSequenceClassification,
    items: Sequence[Labelled],
    encoder: Encoder,
    plan: Plan,
    say: Callable[[str], None],
) -> None:
    """Train the model in place.

    The weights are bfloat16 while they are used, and float32 in the optimizer.
    """
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model.to(device=device, dtype=torch.bfloat16).train()
    used = [value for value in model.parameters() if value.requires_grad]
    exact = [value.detach().float().clone() for value in used]
    optimizer = torch.optim.AdamW(exact, lr=plan.rate, weight_decay=0.01, fused=True)
    step = 0
    _copy(used, exact)
    source = batches(items, encoder, plan.seed)
    started, total = time.monotonic(), 0.0
    while step < plan.steps:
        batch = next(source)
        for group in optimizer.param_groups:
            group["lr"] = plan.rate_at(step)
        logits = model(**tensors([one for one, _ in batch], device)).logits
        loss = loss_of(logits, [label for _, label in batch])
        loss.backward()
        for value, low in zip(exact, used, strict=True):
            value.grad = low.grad.float() if low.grad is not None else None
            low.grad = None
        torch.nn.utils.clip_grad_norm_(exact, 1.0)
        optimizer.step()
        _copy(used, exact)
        total += loss.item()
        step += 1
        if step % _SAID_EVERY == 0 or step == plan.steps:
            speed = step * BATCH / (time.monotonic() - started)
            say(
                f"{step * BATCH:,} of {plan.pairs:,} pairs, {speed:.0f} a second, "
                f"loss {total / ((step - 1) % _SAID_EVERY + 1):.3f}"
            )
            total = 0.0
    model.float()
    with torch.no_grad():
        for value, kept in zip(used, exact, strict=True):
            value.copy_(kept)
    model.eval()


def _copy(used: Sequence[torch.Tensor], exact: Sequence[torch.Tensor]) -> None:
    with torch.no_grad():
        for low, value in zip(used, exact, strict=True):
            low.copy_(value)
