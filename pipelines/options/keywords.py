"""Type the keywords of `ufo.evaluate`, `ufo.check` and `ufo.recall`.

`python scripts/keywords.py --write` makes this file of the declarations of the options.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypedDict

from ufo.transforms.judges.judge import Judge


class CheckKeywords(TypedDict, total=False):
    """Options by keyword:

    config: YAML file with these options, named sources and judges; flags on the command
        line win.
    tie: verdict where as many passages support a claim as contradict it: not_factual
        (default) or factual.
    units: what is checked as a claim: claim (default): atomic claims of a sentence;
        sentence: each sentence as a whole.
    index: index of the source wikipedia, a folder or gs://….
    retriever: how an index is searched (dense and hybrid need one that was built with
        --embedder): bm25 (default): by words; dense: by meaning; hybrid: by both.
    embedder: embedder of dense and hybrid: openai[:MODEL], a model folder or a name on a
        model hub (default: the one that the index was built with).
    passages: passages to retrieve per claim and source (default 5); more see more, and cost
        more.
    samples: samples of the source llm (default 5).
    temperature: sampling temperature of the source llm (default 1).
    sampling: requests of the source llm: per_query (default): one for each query; bundled:
        one for all queries of a response.
    search: search engine: serper (default), searxng or brave.
    pages: pages to fetch per query (default 5); several addresses of one page count as one.
    passages_per_page: best sentences to take per page (default 1); each is a passage, and
        those whose contexts overlap are merged; 0: use the search snippets and fetch
        nothing.
    context_sentences: sentences before and after each best one (default 1).
    web_retriever: how the sentences of a page are ranked (dense needs --embedder): bm25
        (default): by words; dense: by meaning.
    include_categories: use only pages of these categories: news,wiki,….
    exclude_categories: exclude hosts of these categories.
    include_domains: use only these domains: example.org,*.gov.
    exclude_domains: exclude these registered domains.
    web_snapshot: a new folder records searches and pages; a finished one replays them
        without network.
    allow_private_hosts: also fetch from private addresses and unusual ports.
    judge: llm (default if a key or base URL is given); offline: a small local model, no
        network; FILE.py:Class, or any that `ufo judges` lists.
    verifier: model of the offline judge: overlap (default), bundled, a folder,
        FILE.py:Class or a cross-encoder on a model hub (organisation/model).
    formulation: how the model is asked: function (default): all facts in one call (FaaF);
        stepwise: step by step (UFO); rationale: rationale first (Facts&Evidence); prompt:
        each fact alone; minicheck: MiniCheck's form; granite_guardian: Granite Guardian's;
        lynx: Lynx's.
    verdict_labels: labels that the model may give: tfn (default): true, false, not clear;
        tf: true, false.
    explain: ask for an answer and a rationale with each verdict: short (default) or none.
    citation: ask for an exact quote with each verdict.
    format: format of the reply to the formulation function: json (default) or xml.
    repairs: times to ask again for missing parts of a reply: 1 (default) or 0.
    as_published: use the prompts of the papers: FaaF's for function and prompt,
        Facts&Evidence's for rationale and its claims; prompt and rationale need
        --verdict_labels tf.
    passages_per_call: maximum number of passages in one call (default 100).
    facts_per_call: maximum number of facts in one call (default 40).
    extract_tokens: split a text longer than N tokens for extraction (default 2000).
    prompts: folder with prompts that replace the shipped ones of the same name.
    model: model of the judge; also of extraction and the source llm, unless they have their
        own.
    base_url: endpoint of --model (default: OPENAI_BASE_URL, else AZURE_OPENAI_ENDPOINT,
        else OpenAI's).
    extractor_model: model that extracts claims.
    extractor_base_url: endpoint of --extractor_model.
    knowledge_model: model of the source llm.
    knowledge_base_url: endpoint of --knowledge_model.
    header: extra header of requests to --base_url, and the environment variable that holds
        its value.
    body_json: JSON object of fields to add to requests to --base_url, such as {"top_k": 1}.
    reasoning_effort: how much a model at --base_url reasons, in its API's words: none, low,
        medium, high, ….
    context: context size of the models in tokens, prompt and reply together; calls are
        packed to fit (default: learned from the endpoint's errors).
    concurrency: requests at a time to an endpoint (default 64).
    requests_per_minute: requests per minute to an endpoint.
    tokens_per_minute: tokens of prompt and reply per minute at an endpoint.
    timeout: time-out of a request in seconds (default 300).
    retry_seconds: seconds for which a failed request is retried (default 900); the run ends
        if an endpoint asks for a longer pause.
    cache: where replies are cached: a .sqlite file (default: in the user's cache folder), a
        folder or bucket prefix ending in /, or off.
    no_share: judge equal claims of different responses anew, instead of once.
    prices: YAML file with model prices; they override the shipped ones.
    """

    config: str | Path
    tie: Literal["not_factual", "factual"]
    units: Literal["claim", "sentence"]
    index: str | Path
    retriever: Literal["bm25", "dense", "hybrid"]
    embedder: str
    passages: int
    samples: int
    temperature: float
    sampling: Literal["per_query", "bundled"]
    search: Literal["serper", "searxng", "brave"]
    pages: int
    passages_per_page: int
    context_sentences: int
    web_retriever: Literal["bm25", "dense"]
    include_categories: str | Sequence[str]
    exclude_categories: str | Sequence[str]
    include_domains: str | Sequence[str]
    exclude_domains: str | Sequence[str]
    web_snapshot: str | Path
    allow_private_hosts: bool
    judge: str | Mapping[str, Any] | Judge
    verifier: str
    formulation: Literal[
        "function", "stepwise", "rationale", "prompt", "minicheck", "granite_guardian", "lynx"
    ]
    verdict_labels: Literal["tfn", "tf"]
    explain: Literal["short", "none"]
    citation: bool
    format: Literal["json", "xml"]
    repairs: int
    as_published: bool
    passages_per_call: int
    facts_per_call: int
    extract_tokens: int
    prompts: str | Path
    model: str
    base_url: str
    extractor_model: str
    extractor_base_url: str
    knowledge_model: str
    knowledge_base_url: str
    header: str | Sequence[str]
    body_json: str
    reasoning_effort: str
    context: int
    concurrency: int
    requests_per_minute: int
    tokens_per_minute: int
    timeout: float
    retry_seconds: float
    cache: str | Path
    no_share: bool
    prices: str | Path


class EvaluateKeywords(CheckKeywords, total=False):
    """Options by keyword:

    map: keys of a record and the columns of the input that hold them:
        response=output,question=prompt.
    max_line_bytes: longest line in bytes; longer ones are recorded as failures (default
        4194304).
    config: YAML file with these options, named sources and judges; flags on the command
        line win.
    secrets: environment variables of workers that hold secrets of Google Secret Manager:
        OPENAI_API_KEY=projects/P/secrets/S.
    tie: verdict where as many passages support a claim as contradict it: not_factual
        (default) or factual.
    units: what is checked as a claim: claim (default): atomic claims of a sentence;
        sentence: each sentence as a whole.
    index: index of the source wikipedia, a folder or gs://….
    retriever: how an index is searched (dense and hybrid need one that was built with
        --embedder): bm25 (default): by words; dense: by meaning; hybrid: by both.
    embedder: embedder of dense and hybrid: openai[:MODEL], a model folder or a name on a
        model hub (default: the one that the index was built with).
    passages: passages to retrieve per claim and source (default 5); more see more, and cost
        more.
    samples: samples of the source llm (default 5).
    temperature: sampling temperature of the source llm (default 1).
    sampling: requests of the source llm: per_query (default): one for each query; bundled:
        one for all queries of a response.
    search: search engine: serper (default), searxng or brave.
    pages: pages to fetch per query (default 5); several addresses of one page count as one.
    passages_per_page: best sentences to take per page (default 1); each is a passage, and
        those whose contexts overlap are merged; 0: use the search snippets and fetch
        nothing.
    context_sentences: sentences before and after each best one (default 1).
    web_retriever: how the sentences of a page are ranked (dense needs --embedder): bm25
        (default): by words; dense: by meaning.
    include_categories: use only pages of these categories: news,wiki,….
    exclude_categories: exclude hosts of these categories.
    include_domains: use only these domains: example.org,*.gov.
    exclude_domains: exclude these registered domains.
    web_snapshot: a new folder records searches and pages; a finished one replays them
        without network.
    allow_private_hosts: also fetch from private addresses and unusual ports.
    judge: llm (default if a key or base URL is given); offline: a small local model, no
        network; FILE.py:Class, or any that `ufo judges` lists.
    verifier: model of the offline judge: overlap (default), bundled, a folder,
        FILE.py:Class or a cross-encoder on a model hub (organisation/model).
    formulation: how the model is asked: function (default): all facts in one call (FaaF);
        stepwise: step by step (UFO); rationale: rationale first (Facts&Evidence); prompt:
        each fact alone; minicheck: MiniCheck's form; granite_guardian: Granite Guardian's;
        lynx: Lynx's.
    verdict_labels: labels that the model may give: tfn (default): true, false, not clear;
        tf: true, false.
    explain: ask for an answer and a rationale with each verdict: short (default) or none.
    citation: ask for an exact quote with each verdict.
    format: format of the reply to the formulation function: json (default) or xml.
    repairs: times to ask again for missing parts of a reply: 1 (default) or 0.
    as_published: use the prompts of the papers: FaaF's for function and prompt,
        Facts&Evidence's for rationale and its claims; prompt and rationale need
        --verdict_labels tf.
    passages_per_call: maximum number of passages in one call (default 100).
    facts_per_call: maximum number of facts in one call (default 40).
    extract_tokens: split a text longer than N tokens for extraction (default 2000).
    prompts: folder with prompts that replace the shipped ones of the same name.
    model: model of the judge; also of extraction and the source llm, unless they have their
        own.
    base_url: endpoint of --model (default: OPENAI_BASE_URL, else AZURE_OPENAI_ENDPOINT,
        else OpenAI's).
    extractor_model: model that extracts claims.
    extractor_base_url: endpoint of --extractor_model.
    knowledge_model: model of the source llm.
    knowledge_base_url: endpoint of --knowledge_model.
    header: extra header of requests to --base_url, and the environment variable that holds
        its value.
    body_json: JSON object of fields to add to requests to --base_url, such as {"top_k": 1}.
    reasoning_effort: how much a model at --base_url reasons, in its API's words: none, low,
        medium, high, ….
    context: context size of the models in tokens, prompt and reply together; calls are
        packed to fit (default: learned from the endpoint's errors).
    concurrency: requests at a time to an endpoint (default 64).
    requests_per_minute: requests per minute to an endpoint.
    tokens_per_minute: tokens of prompt and reply per minute at an endpoint.
    timeout: time-out of a request in seconds (default 300).
    retry_seconds: seconds for which a failed request is retried (default 900); the run ends
        if an endpoint asks for a longer pause.
    cache: where replies are cached: a .sqlite file (default: in the user's cache folder), a
        folder or bucket prefix ending in /, or off.
    no_share: judge equal claims of different responses anew, instead of once.
    max_cost: budget in US dollars, with earlier attempts; the run stops before exceeding it
        (exit 4).
    prices: YAML file with model prices; they override the shipped ones.
    batch: ask models through their provider's batch API: about half the price, within 24
        hours.
    batch_wait: seconds to wait for batches (default: until all are done), then exit 5; give
        the same command again to continue.
    batch_requests: maximum number of requests in a batch (default 50000).
    batch_mb: maximum size of a batch in megabytes (default 200).
    batch_endpoints: base URLs to ask by batches (default: all); others are asked at once.
    title: title of the run in reports (default: input and time).
    run: name of the run (default: a hash of the input file names and the options).
    if_finished: if the run is finished: replace it (default), skip, or retry_errors, which
        evaluates only responses with errors again.
    since: evaluate only new and changed responses; take the others from run NAME.
    fresh: start over if an unfinished attempt had other options or input.
    workers: worker processes (default: one per core; one if a model is asked).
    chunk_size: responses to evaluate and write together (default 500 to 4000).
    fail_under: exit 3 if the score is below X.
    no_claim: what a response without a claim means for --fail_under: left_out (default): it
        is left out of the mean; pass: it counts as 1; fail: it counts as 0.
    min_scored: exit 3 if less than this share of the responses has a score.
    baseline: finished run in --output to compare with; exit 3 if this run is significantly
        worse, or if that cannot be decided.
    fail_if_worse: significance level of --baseline: exit 3 if p of a one-sided paired t
        test is below it (default 0.05).
    least_shared: share of the questions of each run that must be in both with a score: with
        less, nothing is decided (default 0.5).
    """

    map: str | Mapping[str, str]
    max_line_bytes: int
    secrets: str | Mapping[str, str]
    max_cost: float
    batch: bool
    batch_wait: float
    batch_requests: int
    batch_mb: float
    batch_endpoints: str | Sequence[str]
    title: str
    run: str
    if_finished: Literal["replace", "skip", "retry_errors"]
    since: str
    fresh: bool
    workers: int
    chunk_size: int
    fail_under: float
    no_claim: Literal["left_out", "pass", "fail"]
    min_scored: float
    baseline: str
    fail_if_worse: float
    least_shared: float


class RecallKeywords(TypedDict, total=False):
    """Options by keyword:

    run: name of the run (default: a hash of the input file names and the options).
    fresh: start over if an unfinished attempt had other options or input.
    workers: worker processes (default: one per core; one if a model is asked).
    chunk_size: responses to evaluate and write together (default 500 to 4000).
    max_line_bytes: longest line in bytes; longer ones are recorded as failures (default
        4194304).
    if_finished: if the run is finished: replace it (default) or skip.
    facts_only: generate facts and write DIR/facts.csv, a sheet for people to annotate; give
        it back as --input.
    config: YAML file with these options, named sources and judges; flags on the command
        line win.
    formulations: formulations to compare in one run: prompt, tf, tfn; tf and tfn also with
        +citation, +xml (default: prompt,tf,tf+citation,tfn,tfn+citation).
    judge: llm (default if a key or base URL is given); offline: a small local model, no
        network; FILE.py:Class, or any that `ufo judges` lists.
    verifier: model of the offline judge: overlap (default), bundled, a folder,
        FILE.py:Class or a cross-encoder on a model hub (organisation/model).
    format: format of the reply to the formulation function: json (default) or xml.
    repairs: times to ask again for missing parts of a reply: 1 (default) or 0.
    as_published: use the prompts of the papers: FaaF's for function and prompt,
        Facts&Evidence's for rationale and its claims; prompt and rationale need
        --verdict_labels tf.
    facts_per_call: maximum number of facts in one call (default 40).
    prompts: folder with prompts that replace the shipped ones of the same name.
    model: model of the judge; also of extraction and the source llm, unless they have their
        own.
    base_url: endpoint of --model (default: OPENAI_BASE_URL, else AZURE_OPENAI_ENDPOINT,
        else OpenAI's).
    extractor_model: model that extracts claims.
    extractor_base_url: endpoint of --extractor_model.
    header: extra header of requests to --base_url, and the environment variable that holds
        its value.
    body_json: JSON object of fields to add to requests to --base_url, such as {"top_k": 1}.
    reasoning_effort: how much a model at --base_url reasons, in its API's words: none, low,
        medium, high, ….
    context: context size of the models in tokens, prompt and reply together; calls are
        packed to fit (default: learned from the endpoint's errors).
    concurrency: requests at a time to an endpoint (default 64).
    requests_per_minute: requests per minute to an endpoint.
    tokens_per_minute: tokens of prompt and reply per minute at an endpoint.
    timeout: time-out of a request in seconds (default 300).
    retry_seconds: seconds for which a failed request is retried (default 900); the run ends
        if an endpoint asks for a longer pause.
    cache: where replies are cached: a .sqlite file (default: in the user's cache folder), a
        folder or bucket prefix ending in /, or off.
    no_share: judge equal claims of different responses anew, instead of once.
    max_cost: budget in US dollars, with earlier attempts; the run stops before exceeding it
        (exit 4).
    prices: YAML file with model prices; they override the shipped ones.
    batch: ask models through their provider's batch API: about half the price, within 24
        hours.
    batch_wait: seconds to wait for batches (default: until all are done), then exit 5; give
        the same command again to continue.
    batch_requests: maximum number of requests in a batch (default 50000).
    batch_mb: maximum size of a batch in megabytes (default 200).
    batch_endpoints: base URLs to ask by batches (default: all); others are asked at once.
    """

    run: str
    fresh: bool
    workers: int
    chunk_size: int
    max_line_bytes: int
    if_finished: Literal["replace", "skip"]
    facts_only: bool
    config: str | Path
    formulations: str | Sequence[str]
    judge: str | Mapping[str, Any] | Judge
    verifier: str
    format: Literal["json", "xml"]
    repairs: int
    as_published: bool
    facts_per_call: int
    prompts: str | Path
    model: str
    base_url: str
    extractor_model: str
    extractor_base_url: str
    header: str | Sequence[str]
    body_json: str
    reasoning_effort: str
    context: int
    concurrency: int
    requests_per_minute: int
    tokens_per_minute: int
    timeout: float
    retry_seconds: float
    cache: str | Path
    no_share: bool
    max_cost: float
    prices: str | Path
    batch: bool
    batch_wait: float
    batch_requests: int
    batch_mb: float
    batch_endpoints: str | Sequence[str]
