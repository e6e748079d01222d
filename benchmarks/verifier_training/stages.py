"""What is trained one after the other, and what each model has not seen."""

import gzip
import json
import os
import random
import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import torch
from transformers import BertForSequenceClassification

from benchmarks.verifier_training.model import common_pieces, new_model, tokenizer
from benchmarks.verifier_training.pairs import Labelled, labelled
from benchmarks.verifier_training.synthetic import Article, synthetic
from benchmarks.verifier_training.training import Plan, train
from ufo.transforms.verifiers.bundled.encoding import Encoder

MADE = "made_"
PUBLIC_PAIRS = 16_000
"""Seen first, before made pairs join."""
ROUNDS = 3
RUNS = 2
"""In each round so many runs see pairs of their own; their weights are averaged after it."""
TUNING_RATE = 5e-5


@dataclass(frozen=True, slots=True)
class Task:
    """One model to train: its name, the weights it starts from (None: the base), pairs, plan."""

    name: str
    start: Path | None
    items: Sequence[Labelled]
    plan: Plan


@dataclass(frozen=True, slots=True)
class Trainer:
    """Trains what is not trained yet; every model and every unfinished one is in `folder`.

    `processes` tasks are trained at a time. The weights do not depend on that number.
    """

    folder: Path
    seed: int = 0
    processes: int = 1

    def base(self, items: Sequence[Labelled], pairs: int) -> Path:
        """Return the weights of the model that saw no pair of the sets that are measured."""
        people = [item for item in items if not item.origin.startswith(MADE)]
        first = Plan(PUBLIC_PAIRS, decay=0.0, seed=self.seed)
        start = self.trained([Task("public", None, people, first)])[0]
        for number in range(ROUNDS):
            last = number == ROUNDS - 1
            plan = Plan(pairs // (ROUNDS * RUNS), warm_up=30, decay=0.9 if last else 0.0)
            seeds = [self.seed + 1 + number * RUNS + run for run in range(RUNS)]
            tasks = [
                Task(f"base{number}_{run}", start, items, replace(plan, seed=seed))
                for run, seed in enumerate(seeds)
            ]
            start = self.averaged(f"base{number}", self.trained(tasks))
        return start

    def tuned(
        self,
        base: Path,
        own: Mapping[str, Sequence[Labelled]],
        others: Sequence[Labelled],
        pairs: int,
    ) -> dict[str, Path]:
        """Return the base after it saw pairs of the measured sets, among as many others, by name.

        Args:
            own: Pairs of the measured sets, by the name of the model that sees them.
        """
        plan = Plan(pairs, rate=TUNING_RATE, warm_up=30, decay=0.9, seed=self.seed + 100)
        chance = random.Random(self.seed)
        tasks = []
        for name, items in own.items():
            again = chance.sample(list(others), min(len(others), len(items)))
            tasks.append(Task(name, base, [*items, *again], plan))
        return dict(zip(own, self.trained(tasks), strict=True))

    def trained(self, tasks: Sequence[Task]) -> list[Path]:
        """Return the weights of each task; those that were finished before are not trained."""
        processes = min(self.processes, len(tasks))
        calls = [(self.folder, self.seed, threads_for(processes), task) for task in tasks]
        if processes == 1:
            return [_train(*call) for call in calls]
        with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
            return list(pool.map(_train, *zip(*calls, strict=True)))

    def averaged(self, name: str, paths: Sequence[Path]) -> Path:
        """Return the mean of several models' weights."""
        states = [torch.load(path, weights_only=True) for path in paths]
        mean = {key: sum(state[key] for state in states) / len(states) for key in states[0]}
        path = self.folder / f"{name}.pt"
        torch.save(mean, path)
        return path


def threads_for(processes: int) -> int:
    """Return how many threads each of several processes gets."""
    return max(1, (os.cpu_count() or 1) // processes)


def model_of(path: Path) -> BertForSequenceClassification:
    """Return a trained model."""
    model = new_model(0)
    model.load_state_dict(torch.load(path, weights_only=True))
    return model.eval()


def _train(folder: Path, seed: int, threads: int, task: Task) -> Path:
    path = folder / f"{task.name}.pt"
    if not path.is_file():
        torch.set_num_threads(threads)
        model = new_model(seed)
        if task.start:
            model.load_state_dict(torch.load(task.start, weights_only=True))
        pieces = tokenizer()
        state = folder / f"{task.name}.state"
        say(f"{task.name}: {task.plan.pairs:,} pairs out of {len(task.items):,}")
        encoder = Encoder(pieces, common_pieces(pieces))
        train(model, task.items, encoder, task.plan, state, partial(_say_of, task.name))
        torch.save(model.cpu().state_dict(), path)
        state.unlink()
    return path


def _say_of(name: str, text: str) -> None:
    say(f"{name}: {text}")


def say(text: str) -> None:
    """Print progress with the time."""
    print(time.strftime("%H:%M:%S"), text, file=sys.stderr, flush=True)


def made_pairs(data: Path, path: Path, seed: int) -> list[Labelled]:
    """Return the pairs made from HotpotQA's passages; they are kept in `path`."""
    if not path.is_file():
        with (data / "hotpotqa" / "passages.jsonl").open(encoding="utf-8") as file:
            articles = [Article(row["title"], row["text"]) for row in map(json.loads, file)]
        with gzip.open(path, "wt", encoding="utf-8") as out:
            for item in synthetic(articles, seed):
                row = item.pair._asdict() | {"label": item.label, "origin": item.origin}
                out.write(json.dumps(row | {"document": item.document}) + "\n")
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [labelled(row) for row in map(json.loads, file)]
