"""The LLM judge: extraction and verification by a model behind `ufo.transforms.llm.Client`.

`asking.ask_for_items` sends all requests: extraction, queries, the facts of recall and the
formulations are forms of it. The rest of this text is the format of requests and replies, for test
servers and fake clients.

Every message list is [system, user]; only requests as in FaaF's paper (`--as_published`, and `ufo
recall`) have the user message alone. The system message is one of `transforms/prompts/`; its first
line is `Task: NAME`. The user message is data between tags.

Data is escaped, and `ufo.transforms.prompts.data.read` reverses it. `<` before a letter, `/`, `!`
or `?` becomes `&lt;`. `&` before `lt;`, `amp;` or `quot;` becomes `&amp;`. In attributes `"`
becomes `&quot;`. All numbers start at 1.

A repair request asks for the items that a reply lacks, and ends in the text of `repair.txt`, which
says what was wrong. A model without tools gets an example of the arguments in the prompt instead of
the schema (`ufo.transforms.llm.chat.reply_instructions`).

Task: extract_facts, extract_sentences — function of the same name, role extractor, step extract::

    <question>…</question>          Only if the record has one.
    <context>…</context>            Only for a part of a longer text: the text around it.
    <text language="en">            The attribute only if the record has it.
    <s1>…</s1>                      Sentence number = sentence_index + 1. A blank line between two
    <s2>…</s2>                      sentences is a paragraph break of the text.
    </text>

    {"facts": [{"sentence": 1, "claim": "…", "query": "…"}, …], "no_claim": [2, …]}

A claim without a content word of its sentence is rejected, and so is a query without a content word
of the sentence or the claim.

Task: write_queries — function of the same name, role extractor, step query::

    <c1>claim</c1>
    <c2>claim</c2>

    {"queries": [{"claim": 1, "query": "…"}, …]}

Task: verify_facts — function of the same name, role verifier, step verify (as all below)::

    <passages>
    <p1 title="…">                  The attribute only if the passage has a title.
    text
    </p1>
    …
    </passages>
    <context>…</context>
    <facts>
    <f1 query="…" passages="1-3 5">claim</f1>     No `passages` if the call has one passage.
                                                  No `query` if it repeats the claim.
    …
    </facts>

    several passages:  {"f1": {"checks": [CHECK, …], "noans": [3, 5]}, "f2": …}
    one passage:       {"f1": CHECK without passage, …}
    CHECK:             {"passages": [1, 4], "answer": "…", "rationale": "…", "verdict": "T"}
    with `--citation`: {"passage": 1, "answer": "…", "citation": "…", "rationale": "…",
                        "verdict": "T"}

- Each passage of a fact is in one of the two lists. `noans` lists the passages that do not answer
  the query; it is absent with `tf`.
- A single passage that does not answer has `answer` NOANS and verdict N, with `--explain none` the
  verdict alone.
- A check is of one passage, or of several that give the same answer; with `--citation` always of
  one.
- `answer` and `rationale` are present with `--explain short`, `citation` with `--citation`.
- `verdict` is T, F or N (not clear; not with `tf`).

Task: verify_xml — no function; the same user message, and a reply in tags. Repairs are requests of
verify_facts::

    <f1><p1><answer>…</answer><citation>…</citation><rationale>…</rationale><verdict>T</verdict></p1>
    <noans>3 5</noans></f1>
    one passage: <f1><answer>…</answer>…<verdict>T</verdict></f1>

Task: stepwise_answer — text: the answer, or NOANS; then, where there is an answer,
Task: stepwise_consistency — text: True, False or (not with `tf`) Unclear::

    <passage title="…">             <query>…</query>       no `query` where it repeats the claim
    text                            <answer>…</answer>
    </passage>                      <claim>…</claim>
    <query>…</query>                Does the claim agree …? Reply with one word.

Task: fact_checker — FaaF's function object in tags: `<fact_1>True</fact_1>` and, with citations,
`<fact_1_text_evidence>…</fact_1_text_evidence>`. As a function it has no system message.

Formulations of models that are trained to judge (`pairwise.py`) — text, without escapes; a word,
or JSON from Lynx. Granite Guardian gets the passage and the claim as messages of the roles
`document` (or `context`) and `assistant`.

Task: rationale — text: `Rationale: …` and in the last line `Verdict: True`, `False` or `Not clear`.
Task: prompt — text: True, False or (not with `tf`) Not clear::

    <passage title="…">
    text
    </passage>
    <context>…</context>            only for `rationale`
    <claim>…</claim>
"""
