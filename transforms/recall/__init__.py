"""Factual recall (FaaF, Katranidis & Barany 2024): does an answer say the facts that it should?

Facts are taken from a question and its true answer, or given; each answer to be checked, such as
the outputs of a RAG system, is then held against all of them. `read` reads records, `step` is the
step of one record, `llm` and `offline` say who generates and verifies, `sheet` is the table that
people annotate.

What a stub of the model has to know, beside `transforms.judges.llm`, whose
verification is used (facts without queries, one passage, which is the answer):

Task: generate_facts — function of the same name, role extractor, step facts::

    <question>…</question>
    <answer>…</answer>

    {"facts": ["…", …]}
"""
