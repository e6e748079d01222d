import gzip
import json
from pathlib import Path

from benchmarks.verifier_training.pairs import LABELS, Labelled, held, left_to_tests, read_pairs
from benchmarks.verifier_training.relations import relations, role_pairs
from benchmarks.verifier_training.synthetic import Article, synthetic

ROLES = Path(__file__).parents[2] / "transforms" / "verifiers" / "bundled" / "roles.jsonl"
TEXT = (
    "Mary Holt (born 4 May 1951) is a Danish painter from Odense. She was taught by Petra Falk in "
    "Paris. Her brother was a doctor. In 1980 she opened a school in Aarhus."
)
OTHER = (
    "Thomas Cole (born 1 June 1948) is a British sculptor. Thomas Cole won two medals at the fair "
    "of Leeds. He lives in York."
)
ARTICLES = [Article("Mary Holt", TEXT), Article("Thomas Cole", OTHER)]


def of_kind(kind: str) -> list[Labelled]:
    found = [item for seed in range(20) for item in synthetic(ARTICLES, seed)]
    return [item for item in found if item.origin == f"made_{kind}"]


def test_a_relation_says_the_same_in_all_wordings_and_another_thing_exchanged() -> None:
    made = list(role_pairs(["The town has a port."], 0))
    beats = [item for item in made if item.document.startswith("relation-A outwitted B / ")]
    claims = {
        (item.pair.claim, item.label)
        for item in beats
        if item.pair.passage == beats[0].pair.passage
    }
    assert len({label for _, label in claims} & {"supported", "not"}) == 2
    assert {item.label for item in made} <= set(LABELS)
    assert not [item for item in made if "{" in item.pair.claim + item.pair.passage]
    assert made == list(role_pairs(["The town has a port."], 0))


def test_a_tenth_of_the_relations_is_held_out() -> None:
    known = {"relation-" + " / ".join(one.wordings) for one in relations()}
    assert len(known) > 400
    assert 0.07 < sum(map(held, known)) / len(known) < 0.13


def test_names_are_exchanged_in_claim_or_passage() -> None:
    said = {(item.pair.claim, item.label) for item in of_kind("exchanged")}
    assert ("Petra Falk was taught by Mary Holt in Paris.", "refuted") in said
    assert ("Mary Holt was taught by Petra Falk in Paris.", "supported") in said


def test_what_is_said_of_a_brother_is_not_said_of_the_subject() -> None:
    said = {(item.pair.claim, item.label) for item in of_kind("relative")}
    assert ("Mary Holt was a doctor.", "noans") in said


def test_a_fact_of_one_page_is_no_answer_about_another() -> None:
    said = {(item.pair.claim, item.pair.title, item.label) for item in of_kind("fact")}
    assert ("Mary Holt was born in 1951.", "Mary Holt", "supported") in said
    claims = [claim for claim, title, label in said if label == "noans" and title == "Thomas Cole"]
    assert [claim for claim in claims if "Mary Holt" in claim]
    assert not [claim for claim in claims if "Thomas Cole" in claim and "1948" in claim]


def test_a_sentence_on_another_subject_says_nothing_of_the_page(tmp_path: Path) -> None:
    found = of_kind("subject")
    claimed = "Mary Holt won two medals at the fair of Leeds."
    assert {item.label for item in found if item.pair.claim == claimed} == {"noans"}
    told = "Thomas Cole won two medals at the fair of Leeds."
    assert {item.label for item in found if item.pair.claim == told} == {"supported"}


def test_measured_sets_and_pages_of_tests_are_not_read(tmp_path: Path) -> None:
    titles = [f"Page {number}" for number in range(40)]
    rows = [("fm2", "fm2-x", True), ("wice_dev_cor", "wice-x", True), ("covidfact", "c", False)]
    rows += [("syn_noans", f"hp-{title}", True) for title in titles]
    path = tmp_path / "pairs.jsonl.gz"
    with gzip.open(path, "wt", encoding="utf-8") as file:
        for origin, document, licensed in rows:
            row = {"claim": "A", "passage": "B", "label": "noans", "origin": origin}
            file.write(json.dumps(row | {"document": document, "licensed": licensed}) + "\n")
    read = [item.document for item in read_pairs(path)]
    assert read == ["fm2-x", *(f"hp-{title}" for title in titles if not left_to_tests(title))]
    assert 0 < len(read) - 1 < len(titles)


def test_the_relations_of_the_test_set_are_not_in_the_training() -> None:
    words = {word for one in relations() for text in one.wordings for word in text.split()}
    tests = [json.loads(line)["relation"] for line in ROLES.read_text().splitlines()]
    assert len(tests) >= 60
    stems = {test[:7] for test in tests if " " not in test}
    assert not {word for word in words if len(word) > 4 and word[:7] in stems}
