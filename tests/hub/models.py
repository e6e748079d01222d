"""Tiny models with random weights of the architectures of each family, run by transformers, and the
real all-MiniLM-L6-v2 by sentence-transformers.

Not collected with the other tests: test_hub.py runs this file where torch is installed.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from safetensors.torch import save_file

from benchmarks.speed.embedder import base_folder
from tests.transforms.verifiers.tiny import SPECIAL, WORDS, tokenizer
from ufo.indexes.embedders import LocalEmbedder, make_embedder
from ufo.indexes.index import open_index
from ufo.pipelines.build_index import build
from ufo.schemas.errors import PluginError, UsageError
from ufo.transforms.verifiers.by_name import open_verifier, usable_name
from ufo.transforms.verifiers.hub import HubVerifier
from ufo.transforms.verifiers.verifier import Pair

VOCABULARY = len(SPECIAL) + len(WORDS)
SMALL: dict[str, Any] = {
    "vocab_size": VOCABULARY,
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 32,
    "max_position_embeddings": 66,
    "initializer_range": 0.5,
}
PAIRS = [
    Pair("so it is", "it is yes yes ."),
    Pair("it is so", "it is no . " * 40),
    Pair("so", "maybe", "yes"),
    Pair("so it is", "it is " * 100 + "yes ."),
]
RELATIVE = {"position_biased_input": False, "relative_attention": True}
TEXTS = transformers.PreTrainedTokenizerFast(
    tokenizer_object=tokenizer(), eos_token="[SEP]", pad_token="[PAD]", model_max_length=64
)


def kept(model: transformers.PreTrainedModel, folder: Path, **more: object) -> Path:
    """Write a model and its tokenizer as transformers does."""
    model.save_pretrained(folder)
    TEXTS.save_pretrained(folder)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | more))
    return folder


def by_itself(folder: Path, *texts: str) -> list[float]:
    """What transformers alone says, by its own tokenizer."""
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
    types = model.config.model_type == "bert"
    inputs = TEXTS(*texts, return_tensors="pt", return_token_type_ids=types)
    with torch.no_grad():
        shares = model(**inputs).logits[0].softmax(-1).tolist()
    return list(shares)


@pytest.fixture(autouse=True)
def _same_weights() -> None:
    torch.manual_seed(3)


BERT = (transformers.BertConfig, transformers.BertForSequenceClassification)
ROBERTA = (transformers.RobertaConfig, transformers.RobertaForSequenceClassification)
DEBERTA = (transformers.DebertaV2Config, transformers.DebertaV2ForSequenceClassification)


@pytest.mark.parametrize(("config", "kind"), [BERT, ROBERTA, DEBERTA])
def test_an_entailment_model(tmp_path: Path, config: Any, kind: Any) -> None:
    labels = dict(enumerate(("neutral", "entailment", "contradiction")))
    model_config = config(**SMALL, num_labels=3, id2label=labels, pad_token_id=0)
    folder = kept(kind(model_config), tmp_path / "nli")
    verifier = open_verifier(usable_name(str(folder)))
    neutral, entailed, contradicted = by_itself(folder, "it is yes yes .", "so it is")
    probabilities = verifier.predict(PAIRS)
    assert probabilities[0] == pytest.approx((entailed, contradicted, neutral), abs=1e-5)
    assert [verifier.predict([pair])[0] for pair in PAIRS] == probabilities
    assert all(sum(one) == pytest.approx(1.0) for one in probabilities)
    assert torch.get_num_threads() == 1


FACTCG = """it is yes yes .

Choose your answer: based on the paragraph above can we conclude that "so it is"?

OPTIONS:
- Yes
- No
I think the answer is """


@pytest.mark.parametrize(
    ("name", "kinds", "text"),
    [("minicheck", ROBERTA, "it is yes yes .[SEP]so it is"), ("factcg", DEBERTA, FACTCG)],
)
def test_a_fact_checking_model(tmp_path: Path, name: str, kinds: Any, text: str) -> None:
    config, kind = kinds
    model_config = config(**SMALL, **RELATIVE, num_labels=2, pad_token_id=0)
    folder = kept(kind(model_config), tmp_path / name)
    probabilities = open_verifier(usable_name(str(folder))).predict(PAIRS)
    _, supported = by_itself(folder, text)
    assert probabilities[0] == pytest.approx((supported, 0.0, 1.0 - supported), abs=1e-5)
    assert all(one.refuted == 0.0 for one in probabilities)


@pytest.mark.parametrize("labels", [1, 2, 3])
def test_the_heads_of_alignscore(tmp_path: Path, labels: int) -> None:
    model_config = transformers.RobertaConfig(**SMALL, num_labels=labels, pad_token_id=0)
    folder = kept(
        transformers.RobertaForSequenceClassification(model_config), tmp_path / "alignscore"
    )
    (probabilities,) = open_verifier(usable_name(str(folder))).predict(PAIRS[:1])
    assert sum(probabilities) == pytest.approx(1.0)
    expected = by_itself(folder, "it is yes yes .", "so it is")
    if labels == 3:
        assert probabilities == pytest.approx((expected[0], expected[2], expected[1]), abs=1e-5)
    elif labels == 2:
        assert probabilities.supported == pytest.approx(expected[1], abs=1e-5)
    else:
        assert probabilities.refuted == 0.0


def hhem(folder: Path) -> tuple[Path, transformers.T5ForTokenClassification]:
    """A model as HHEM-2.1-open is published: weights under `t5.`, all else at its foundation."""
    foundation = transformers.T5Config(
        vocab_size=VOCABULARY, d_model=16, d_kv=8, d_ff=32, num_layers=2, num_heads=2, num_labels=2
    )
    foundation.save_pretrained(folder / "foundation")
    TEXTS.save_pretrained(folder / "foundation")
    model = transformers.T5ForTokenClassification(foundation).eval()
    (folder / "hhem").mkdir()
    name = "HHEMv2ForSequenceClassification"
    config = {
        "model_type": "HHEMv2",
        "architectures": [name],
        "auto_map": {"AutoModelForSequenceClassification": f"modeling.{name}"},
        "foundation": str(folder / "foundation"),
        "prompt": "<pad> hypothesis it is so?\n\nPremise: {text1}\n\nHypothesis: {text2}",
    }
    (folder / "hhem" / "config.json").write_text(json.dumps(config))
    (folder / "hhem" / "modeling.py").write_text("raise AssertionError('this must not be run')")
    weights = {f"t5.{name}": weight.clone() for name, weight in model.state_dict().items()}
    del weights["t5.transformer.encoder.embed_tokens.weight"]
    save_file(weights, folder / "hhem" / "model.safetensors")
    return folder / "hhem", model


def test_hhem_without_its_own_code(tmp_path: Path) -> None:
    folder, model = hhem(tmp_path)
    verifier = open_verifier(usable_name(str(folder)))
    probabilities = verifier.predict(PAIRS)
    prompt = "<pad> hypothesis it is so?\n\nPremise: it is yes yes .\n\nHypothesis: so it is"
    with torch.no_grad():
        scores = model(input_ids=torch.tensor([TEXTS(prompt).input_ids])).logits[0, 0].softmax(-1)
    assert probabilities[0] == pytest.approx((scores[1].item(), 0.0, scores[0].item()), abs=1e-5)
    before = verifier.fingerprint()
    (tmp_path / "foundation" / "config.json").write_text("{}")
    assert HubVerifier(str(folder)).fingerprint() != before


def test_code_of_a_model_is_never_run(tmp_path: Path) -> None:
    model_config = transformers.RobertaConfig(**SMALL, num_labels=2, pad_token_id=0)
    own = {"AutoConfig": "modeling.Config", "AutoModelForSequenceClassification": "modeling.Own"}
    model, path = (
        transformers.RobertaForSequenceClassification(model_config),
        tmp_path / "minicheck",
    )
    folder = kept(model, path, model_type="own", auto_map=own)
    (folder / "modeling.py").write_text("raise AssertionError('this must not be run')")
    with pytest.raises(PluginError, match="does not load: ValueError"):
        open_verifier(usable_name(str(folder)))


# --- an embedder ---

PAGES = {
    "Radium": "Marie Curie and her husband isolated this element from pitchblende in 1898.",
    "Danube": "It flows through ten countries into the Black Sea.",
    "Honey": "Bees make it from the nectar of flowers.",
}


def test_texts_of_one_meaning_are_near() -> None:
    embedder = make_embedder(str(base_folder()))
    assert isinstance(embedder, LocalEmbedder)
    assert embedder.name == str(base_folder())
    assert embedder.dimension == 384
    vectors = embedder.embed(["The physician cured him.", "A doctor healed the man.", "It rained."])
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 1, 1], abs=1e-5)
    assert vectors[0] @ vectors[1] > 0.5 > vectors[0] @ vectors[2]
    assert embedder.embed([]).shape == (0, 384)


def test_an_index_is_searched_by_meaning(tmp_path: Path) -> None:
    source = tmp_path / "pages.jsonl"
    rows = ({"title": title, "text": text} for title, text in PAGES.items())
    source.write_text("\n".join(map(json.dumps, rows)))
    result = build(source, tmp_path / "index", embedder=str(base_folder()))
    assert open_index(result.path).search(["insects' sweet food"], 1) == [[]]  # no word of it
    for retriever in ("dense", "hybrid"):
        [hits] = open_index(result.path, retriever).search(["insects' sweet food"], 1)
        assert [hit.passage.title for hit in hits] == ["Honey"]


def test_a_folder_without_a_model_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not a sentence-transformers model"):
        make_embedder(str(tmp_path))
