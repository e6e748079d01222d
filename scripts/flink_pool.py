"""Serve a pool of Beam's Python workers on one address, for one task manager of scripts/flink.

Beam's own `python -m apache_beam.runners.worker.worker_pool_main` listens on every address, which
suits task managers on separate machines. Here they share a machine, and both name their worker
"1-1": with one common pool, each would stop the other's worker.
"""

import argparse
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc
from apache_beam.portability.api import beam_fn_api_pb2_grpc
from apache_beam.runners.worker.worker_pool_main import BeamFnExternalWorkerPoolServicer


class Pool(BeamFnExternalWorkerPoolServicer):  # type: ignore[misc]
    """Beam's pool, which records the process of each worker that it starts."""

    def StartWorker(self, request: Any, context: Any) -> Any:
        reply = super().StartWorker(request, context)
        started = self._worker_processes.get(request.worker_id)
        if started is not None:
            print(f"worker {started.pid} {request.worker_id}", flush=True)
        return reply


def main() -> None:
    """Serve until stopped; the workers end with the pool."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("address", metavar="HOST:PORT")
    server = grpc.server(ThreadPoolExecutor(16), options=[("grpc.so_reuseport", 0)])
    server.add_insecure_port(parser.parse_args().address)
    pool = Pool(use_process=True, data_buffer_time_limit_ms=-1)
    beam_fn_api_pb2_grpc.add_BeamFnExternalWorkerPoolServicer_to_server(pool, server)
    server.start()
    stopped = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stopped.set())
    stopped.wait()
    server.stop(None)
    for worker in pool._worker_processes.values():
        worker.terminate()


if __name__ == "__main__":
    main()
