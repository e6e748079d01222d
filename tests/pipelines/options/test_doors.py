"""Advice in the words of the door that it comes through."""

from typing import Any

import pytest

import ufo
from ufo.pipelines.options.doors import in_fields, in_keywords

WORDS = [
    ("unknown --mode 'zz'; allowed: seq.", "unknown mode='zz'; allowed: seq."),
    ("a lower --concurrency or a longer --timeout", "a lower concurrency or a longer timeout"),
    ("with --if_finished retry_errors", 'with if_finished="retry_errors"'),
    ("pass --fresh to start over", "pass fresh=True to start over"),
    ("--map response=output,question=q?", 'map="response=output,question=q"?'),
    ("--passages 3 is", "passages=3 is"),
    ("--model M", 'model="M"'),
    ("--input 'a.jsonl' is", "responses='a.jsonl' is"),
    ("unknown flag --pasages; did you mean --passages?",
     "unknown keyword pasages; did you mean passages?"),
    ("the same command completes it", "the same call completes it"),
    ("as `ufo serve --port 1` does", "as `ufo serve --port 1` does"),
    ("`ufo index build --embedder` and --index DIR",
     '`ufo index build --embedder` and index="DIR"'),
    ("--passages '0' is wrong", "passages=0 is wrong"),
    ("--max_cost 1.5 and --batch True", "max_cost=1.5 and batch=True"),
    ("use --judge llm", 'use judge="llm"'),
    ("--formulations is wrong", "formulations is wrong"),
    ("a --word that is no flag", "a --word that is no flag"),
    ("no-mode--mode", "no-mode--mode"),
]  # fmt: skip


@pytest.mark.parametrize(("message", "reworded"), WORDS)
def test_python_names_keywords(message: str, reworded: str) -> None:
    assert in_keywords(message, {"input": "responses"}) == reworded


@pytest.mark.parametrize(
    ("message", "reworded"),
    [
        ("unknown --mode 'zz'", "unknown “Mode” 'zz'"),
        ("--input 'a.pdf' is PDF", "'a.pdf' is PDF"),
        ("--input is empty", "the file is empty"),
        ("a lower --concurrency", "a lower concurrency"),
        ("fewer --workers", "fewer processes"),
        ("longer than --max_line_bytes, which is 4", "longer than the longest record, which is 4"),
        ("mean --map response=output,id=key?", "mean “output” for response, “key” for id?"),
        ("mean --map 'response=a[0].b'?", "mean “a[0].b” for response?"),
        ("no column of --map response=COLUMN: 'x'", "no column for response: 'x'"),
        ("has the column of --map response=x.", "has the column “x” for response."),
        ("unless --map names them: a", "unless they are chosen as columns: a"),
        ("kept; the same command resumes it", "kept; “Resume” resumes it"),
        ("run the same command again", "press “Resume”"),
        ("Pass --fresh to start it over", "delete it, and evaluate the file again"),
        ("llama.cpp: --reasoning-format", "llama.cpp: --reasoning-format"),
    ],
)
def test_the_page_names_fields(message: str, reworded: str) -> None:
    assert in_fields(message) == reworded


RAISED: list[tuple[str, tuple[Any, ...], dict[str, Any], str]] = [
    ("check_sync", ("A b.",), {"mode": "zz"}, "ufo.check: unknown mode='zz'; allowed: "),
    (
        "evaluate",
        (["A b."],),
        {"pasages": 3},
        "ufo.evaluate: unknown keyword pasages; did you mean passages",
    ),
    ("evaluate", (["A b."],), {"passages": 0}, "ufo.evaluate: passages=0 is not a whole number"),
    (
        "evaluate",
        (["A b."],),
        {"json": True},
        "json is an option of the command `ufo evaluate` alone",
    ),
    ("evaluate", (["A b."],), {"input": "a"}, "ufo.evaluate: unknown keyword input; the input is "),
    ("evaluate", (["A b."],), {"direct_num_workers": "x"}, "argument direct_num_workers: invalid"),
    ("evaluate", (["A b."],), {"runner": "x"}, "ufo.evaluate: unknown runner='x'; allowed: "),
    ("recall", (["A?"],), {"formulations": "x", "judge": "offline"}, "formulations is for judge="),
    ("check_sync", ("A b.",), {"workers": 2}, "ufo.check: unknown keyword workers. See `help(ufo."),
    ("evaluate", ("none.jsonl",), {}, "responses='none.jsonl': the file does not exist"),
    ("evaluate", ([{"output": "A b."}],), {}, 'did you mean map="response=output"?'),
    ("recall", ([{"question": "A?"}],), {}, "records: no record of the input can be used"),
]


@pytest.mark.parametrize(("name", "arguments", "options", "text"), RAISED)
def test_no_flag_and_no_file_of_ours_reaches_python(
    name: str, arguments: tuple[Any, ...], options: dict[str, Any], text: str
) -> None:
    quiet = {} if name == "check_sync" else {"quiet": True}
    with pytest.raises(ufo.UfoError) as raised:
        getattr(ufo, name)(*arguments, **options, **quiet)
    message = str(raised.value)
    assert text in message
    assert "--" not in message
    assert "ufo-own-" not in message
    assert message == raised.value.message
