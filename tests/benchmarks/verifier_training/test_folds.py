from benchmarks.judge_sets import Record
from benchmarks.verifier_training.folds import FOLDS, folds_of, unseen
from benchmarks.verifier_training.pairs import Labelled
from ufo.transforms.verifiers.base import Pair


def test_documents_are_spread_evenly_and_the_same_for_a_seed() -> None:
    records = [Record(f"claim {n}", ("text",), "supported", f"document {n}") for n in range(9)]
    folds = folds_of({"stance": records}, seed=1)
    assert sorted(folds.values()) == sorted(list(range(FOLDS)) * 3)
    assert folds == folds_of({"stance": records[::-1]}, seed=1)


def test_a_pair_is_not_seen_where_claim_passage_or_document_is_measured() -> None:
    records = [
        Record("Held claim.", ("Held  passage.",), "supported", "one"),
        Record("Other claim.", ("Other passage.",), "supported", "two"),
    ]
    folds = {"one": 0, "two": 1}
    items = [
        Labelled(Pair("held claim.", "x"), "noans", "wice_dev", "a"),
        Labelled(Pair("corrupted", "y"), "refuted", "wice_dev_cor", "a"),
        Labelled(Pair("z", "Held passage."), "noans", "wice_dev", "b"),
        Labelled(Pair("Other claim.", "Other passage."), "noans", "wice_dev", "c"),
    ]
    assert unseen(items, {"stance": records}, folds, 0) == items[3:]
    assert unseen(items, {"stance": records}, folds, 1) == items[:3]
