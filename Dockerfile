# `ufo` in an image, for `ufo serve` and `ufo evaluate`:
#   docker build --tag ufo .
#   docker run --rm --volume "$PWD:/data" ufo evaluate --input responses.jsonl --output results
#   docker run --rm --publish 127.0.0.1:8080:8080 --env UFO_TOKEN=… ufo serve --host 0.0.0.0
# The image of Dataflow's flex template is scripts/dataflow/Dockerfile.
ARG PYTHON=3.11

FROM python:${PYTHON}-slim AS wheel
WORKDIR /source
COPY . .
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:${PYTHON}-slim
ARG EXTRAS=llm,web,serve
COPY --from=wheel /wheels /wheels
COPY constraints.txt /
RUN wheel="$(ls /wheels/ufo_factuality-*.whl)" \
    && pip install --no-cache-dir --constraint /constraints.txt "$wheel[$EXTRAS]" \
    && pip check \
    && useradd --create-home --uid 1000 ufo \
    && install --directory --owner ufo /data
USER ufo
WORKDIR /data
EXPOSE 8080
ENTRYPOINT ["ufo"]
CMD ["--help"]
