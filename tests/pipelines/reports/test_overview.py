"""The overview of a run: which passage is quoted, what is counted, and which claims come first."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import rows_of, write_run
from ufo.pipelines.reports.overview import lowest_responses, overview
from ufo.schemas.records import UNSUPPORTED_LANGUAGE, Failure
from ufo.schemas.results import open_results
from ufo.transforms.score_words import brief_score

Row = dict[str, Any]


def overview_of(folder: Path, rows: dict[str, list[Any]], mode: str = "all") -> Row:
    write_run(folder, rows, mode=mode)
    with open_results(folder) as results:
        return overview(results)


def changed(rows: dict[str, list[Any]], passages: dict[str, Row]) -> None:
    """Change the evidence on these passages."""
    rows["evidence"] = [
        replace(row, **passages.get(row.passage_id, {})) for row in rows["evidence"]
    ]


# --- the contradicted claims, each with its strongest passage

# What the passages of a claim say of it, what is different of some of them, and which is quoted.
QUOTED: dict[str, tuple[dict[str, str], dict[str, Row], str]] = {
    "the source that decided, not one that contradicts with a better rank": (
        {"ref": "nr", "wiki": "r"},
        {},
        "ref 1",
    ),
    "a later source, where the first has no answer": ({"ref": "n", "wiki": "r"}, {}, "wiki 0"),
    "a passage that contradicts, not one that supports": ({"ref": "srr"}, {}, "ref 1"),
    "a passage with a citation": ({"ref": "rr"}, {"ref 0": {"citation": None}}, "ref 1"),
    "the better rank of two": (
        {"ref": "rr"},
        {"ref 0": {"rank": 1}, "ref 1": {"rank": 0}},
        "ref 1",
    ),
}


@pytest.fixture(name="quoted", scope="module")
def _quoted(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Row]:
    """The contradicted claims by the names of their cases."""
    rows = rows_of({name: {name: votes} for name, (votes, _, _) in QUOTED.items()}, mode="all")
    for at, row in enumerate(rows["evidence"]):
        passage = f"{row.source} {row.passage_id[-1]}" if row.passage_id else ""
        changes = QUOTED[row.response_id][1].get(passage, {})
        rows["evidence"][at] = replace(row, rationale=passage, **changes)
    overview = overview_of(tmp_path_factory.mktemp("quoted"), rows)
    return {row["response_id"]: row for row in overview["contradicted"]}


@pytest.mark.parametrize("name", QUOTED)
def test_a_contradicted_claim_quotes(quoted: dict[str, Row], name: str) -> None:
    assert quoted[name]["rationale"] == QUOTED[name][2]
    assert quoted[name]["evidence_source"] == quoted[name]["rationale"].split()[0]


def test_a_claim_that_all_sources_voted_on_quotes_any_of_them(tmp_path: Path) -> None:
    rows = rows_of({"a": {"u": {"ref": "n", "wiki": "r"}}}, mode="mv")
    (claim,) = overview_of(tmp_path, rows, "mv")["contradicted"]
    assert claim["source"] == "multi"
    assert claim["evidence_source"] == "wiki"


def test_without_a_citation_a_passage_is_quoted_up_to_300_characters(tmp_path: Path) -> None:
    rows = rows_of({"a": {"u": {"ref": "r"}}})
    changed(rows, {"ref:a-u-0": {"citation": None}})
    rows["passages"] = [replace(row, text="x" * 301) for row in rows["passages"]]
    (claim,) = overview_of(tmp_path, rows, "seq")["contradicted"]
    assert claim["quote"] == "x" * 299 + "…"


@pytest.fixture(name="overview", scope="module")
def _overview(tmp_path_factory: pytest.TempPathFactory) -> Row:
    """The overview of a run with claims of every kind."""
    votes = {
        "tied": {"t": {"ref": "sr"}},
        "weak": {"w": {"ref": "srr"}},
        "strong": {"s": {"ref": "rr"}, "second": {"ref": "r"}},
        "stronger": {"r": {"ref": "srrrr", "wiki": "s"}},
        "same question": {"q": {"ref": "r"}},
        "elsewhere": {"e": {"ref": "s", "wiki": "r"}},
        "supported": {"y": {"ref": "s"}},
        "undecided": {"n": {"ref": "n", "wiki": "-"}},
    }
    rows = rows_of(votes, mode="all", questions={"same question": "What of weak?"})
    return overview_of(tmp_path_factory.mktemp("overview"), rows)


def test_the_claims_with_the_most_votes_against_them_come_first_and_ties_last(
    overview: Row,
) -> None:
    """One for each question; claims that only another mode decides are none."""
    shown = [row["claim"] for row in overview["contradicted"]]
    assert shown == ["Claim r.", "Claim s.", "Claim w.", "Claim t."]


def test_at_most_ten_contradicted_claims_are_shown(tmp_path: Path) -> None:
    rows = rows_of({f"r{n}": {f"u{n}": {"ref": "r"}} for n in range(11)})
    assert len(overview_of(tmp_path, rows, "seq")["contradicted"]) == 10


# --- what is counted


def test_failures_are_of_steps_and_of_judgements_the_most_frequent_first(tmp_path: Path) -> None:
    rows = rows_of({"a": {"u": {"ref": "eee", "wiki": "s"}, "v": {"ref": "n", "wiki": "n"}}})
    changed(rows, {"ref:a-u-2": {"reason": None}, "wiki:a-v-0": {"reason": UNSUPPORTED_LANGUAGE}})
    changed(rows, {"ref:a-v-0": {"reason": "no_passages"}})  # no answer is no failure
    rows["failures"] = [
        Failure("read", "in.jsonl:3", "BadJson", "", None),
        *[Failure("extract", f"x{n}", "refused", "", None) for n in range(3)],
        # What is told of a judgement is in its evidence.
        Failure("verify", "a", "transport", "", None),
        Failure("source:ref", "a", "OSError", "", None),
    ]
    failures = overview_of(tmp_path, rows, "seq")["failures"]
    assert [(row["place"], row["reason"], row["n"]) for row in failures] == [
        ("extract", "refused", 3),
        ("ref", "transport", 2),
        ("read", "BadJson", 1),
        ("ref", "unknown", 1),
        ("wiki", UNSUPPORTED_LANGUAGE, 1),
    ]


def test_the_support_of_evidence_leaves_errors_out(tmp_path: Path) -> None:
    rows = rows_of({"a": {"u": {"ref": "sre"}}, "b": {"v": {"ref": "n"}}})
    assert overview_of(tmp_path, rows, "seq")["evidence_support"] == pytest.approx(1 / 3)


def test_models_are_ranked_by_score_then_by_responses(tmp_path: Path) -> None:
    votes = {
        "a": {"a": {"ref": "r"}},
        "b": {"b": {"ref": "s"}},
        "c": {"c": {"ref": "s"}},
        "d": {"d": {"ref": "s"}},
        "e": {},
    }
    models = {"a": "low", "b": "alone", "c": "twice", "d": "twice", "e": "none"}
    overview = overview_of(tmp_path, rows_of(votes, models=models, mode="all"))
    assert [row["model"] for row in overview["models"]] == ["twice", "alone", "low", "none"]


def test_the_scores_of_a_run_of_all_modes_are_those_of_its_main_mode_first(overview: Row) -> None:
    assert overview["score"]["mode"] == "seq"
    shown = [(row["mode"], row["source"]) for row in overview["scores"]]
    assert shown == [("seq", None), ("mv", None), ("single", "ref"), ("single", "wiki")]
    assert {row["mode"] for row in overview["contributions_by_model"]} == {"seq"}


@pytest.mark.parametrize(
    ("judge", "model", "is_told"),
    [
        pytest.param("offline", "overlap", True, id="the offline judge by a verifier"),
        pytest.param("llm", "m", True, id="another judge"),
        pytest.param("offline", None, False, id="the offline judge without a verifier"),
    ],
)
def test_how_far_to_trust_a_judge_is_told_of(
    tmp_path: Path, judge: str, model: str | None, is_told: bool
) -> None:
    rows = rows_of({"a": {"u": {"ref": "s"}}})
    changed(rows, {"ref:a-u-0": {"judge": judge, "model": model}})
    assert bool(overview_of(tmp_path, rows, "seq")["trust"]) == is_told


# --- the responses to look at first


@pytest.fixture(name="lowest")
def _lowest(tmp_path: Path) -> Callable[..., list[Row]]:
    def lowest(rows: dict[str, list[Any]], mode: str = "seq") -> list[Row]:
        write_run(tmp_path, rows, mode=mode)
        with open_results(tmp_path) as results:
            return lowest_responses(results)

    return lowest


def test_responses_with_the_lowest_scores_come_first(lowest: Callable[..., list[Row]]) -> None:
    votes = {
        "no claim": {},
        "unusable": {"e": {"ref": "e", "wiki": "e"}},
        "good": {"g": {"ref": "s"}},
        "not decided": {"n": {"ref": "n"}},
        "half": {"h": {"ref": "s"}, "i": {"ref": "r"}},
        "refuted": {"r": {"ref": "r"}},
    }
    shown = [row["response_id"] for row in lowest(rows_of(votes, mode="all"), "all")]
    assert shown == ["refuted", "not decided", "half", "good", "unusable"]


def test_twenty_responses_are_shown(lowest: Callable[..., list[Row]]) -> None:
    responses = lowest(rows_of({f"r{n}": {f"u{n}": {"ref": "s"}} for n in range(21)}))
    assert len(responses) == 20


def test_forty_claims_of_a_response_are_shown(lowest: Callable[..., list[Row]]) -> None:
    votes = {str(n): {f"{n}-{at}": {"ref": "s"} for at in range(n)} for n in (40, 41)}
    responses = {row["response_id"]: row for row in lowest(rows_of(votes))}
    shown = {
        name: sum(len(some) for _, some in row["sentences"]) for name, row in responses.items()
    }
    assert shown == {"40": 40, "41": 40}
    assert {name: row["n_claims"] for name, row in responses.items()} == {"40": 40, "41": 41}


def test_five_judgements_of_a_claim_are_shown_those_that_answer_first(
    lowest: Callable[..., list[Row]],
) -> None:
    (response,) = lowest(rows_of({"a": {"u": {"ref": "nne", "wiki": "srs"}}}))
    ((_, (claim,)),) = response["sentences"]
    shown = [(one["source"], one["outcome"]) for one in claim["evidence"]]
    assert shown == [
        ("wiki", "supported"),
        ("wiki", "refuted"),
        ("wiki", "supported"),
        ("ref", "error"),
        ("ref", "noans"),
    ]
    assert claim["n_judgements"] == 6


def test_a_text_is_cut_after_12_000_characters(lowest: Callable[..., list[Row]]) -> None:
    rows = rows_of({"just whole": {"u": {"ref": "s"}}, "one more": {"v": {"ref": "s"}}})
    texts = {"just whole": "x" * 12_000, "one more": "x" * 12_001}
    rows["responses"] = [replace(row, text=texts[row.response_id]) for row in rows["responses"]]
    responses = {row["response_id"]: row for row in lowest(rows)}
    assert {name: row["unshown"] for name, row in responses.items()} == {
        "just whole": 0,
        "one more": 1,
    }
    shown = {name: sum(len(text) for text, _ in row["pieces"]) for name, row in responses.items()}
    assert shown == {"just whole": 12_000, "one more": 12_000}


PLACES = {
    "within the text": (0, 9, ["S u. and "]),
    "to the end of the text": (0, 14, ["S u. and more."]),
    "past the end of the text": (0, 15, []),
    "of no length": (5, 5, []),
}


@pytest.fixture(name="placed", scope="module")
def _placed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Row]:
    """Responses with a sentence at each place, by its name."""
    rows = rows_of({name: {name: {"ref": "s"}} for name in PLACES})
    rows["responses"] = [replace(row, text="S u. and more.") for row in rows["responses"]]
    for at, row in enumerate(rows["sentences"]):
        start, end, _ = PLACES[row.response_id]
        rows["sentences"][at] = replace(row, start=start, end=end)
    folder = tmp_path_factory.mktemp("placed")
    write_run(folder, rows)
    with open_results(folder) as results:
        return {row["response_id"]: row for row in lowest_responses(results)}


@pytest.mark.parametrize("place", PLACES)
def test_a_sentence_is_marked_in_the_text_where_its_place_is(
    placed: dict[str, Row], place: str
) -> None:
    pieces = placed[place]["pieces"]
    assert [text for text, sentence in pieces if sentence] == PLACES[place][2]
    assert "".join(text for text, _ in pieces) == "S u. and more."


def test_a_claim_without_a_usable_judgement_is_told_from_one_that_is_not_decided(
    lowest: Callable[..., list[Row]],
) -> None:
    votes = {"error": "e", "language": "n", "undecided": "n", "good": "s", "bad": "r"}
    rows = rows_of({"a": {name: {"ref": vote} for name, vote in votes.items()}})
    changed(rows, {"ref:a-language-0": {"reason": UNSUPPORTED_LANGUAGE}})
    (response,) = lowest(rows)
    states = {one["claim"]: one["state"] for _, some in response["sentences"] for one in some}
    assert states == {
        "Claim error.": "error",
        "Claim language.": "error",
        "Claim undecided.": "not found",
        "Claim good.": "supported",
        "Claim bad.": "contradicted",
    }


def test_the_label_of_people_stands_beside_its_claim(lowest: Callable[..., list[Row]]) -> None:
    (response,) = lowest(rows_of({"a": {"u": {"ref": "s"}, "v": {"ref": "s"}}}, labels={"u": 0}))
    claims = [claim for _, some in response["sentences"] for claim in some]
    assert [(claim["claim"], claim["human_label"]) for claim in claims] == [
        ("Claim u.", 0),
        ("Claim v.", None),
    ]


def test_a_few_unusable_judgements_are_no_warning_at_a_response(tmp_path: Path) -> None:
    write_run(tmp_path, rows_of({"a": {"u": {"ref": "s" * 10 + "e"}}}))
    with open_results(tmp_path) as results:
        (row,) = lowest_responses(results)
    assert brief_score(row) == "1.000"
