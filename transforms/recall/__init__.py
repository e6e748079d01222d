"""Measure factual recall (FaaF, Katranidis & Barany, 2024): the expected facts in an answer.

Facts are given, or generated from a question and its ground truth. Each answer, such as the output
of a RAG system, is verified against all facts. `recall_input` parses records, `recallers` has the
judges and makes the rows of a record, `sheet` writes a table for human annotation.

The format of requests and replies, beside that of `ufo.transforms.judges.llm`, which verifies
(facts have no queries; the one passage is the answer):

Task: generate_facts — function of the same name, role extractor, step facts::

    <question>…</question>
    <answer>…</answer>

    {"facts": ["…", …]}
"""
