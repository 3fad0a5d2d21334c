"""Attempts to escape from a sandbox in all known ways; they do no harm if they succeed.

Runs inside the sandbox and prints a line of JSON for each attempt: its name, and how it escaped or "".
"""

import ctypes
import json
import sys

from tests.agent_core.sandbox.escapes import files, kernel, legitimate, limits, network, processes
from tests.agent_core.sandbox.escapes.frame import PROBES

MODULES = (files, processes, network, kernel, limits, legitimate)

for each in PROBES:
    ctypes.set_errno(0)
    module = each.__module__.rpartition(".")[2]
    try:
        found = each()
    except (OSError, MemoryError) as error:
        found = f"failed: {error}" if module == "legitimate" else ""
    sys.stdout.write(json.dumps([f"{module}.{each.__name__}", found]) + "\n")
    sys.stdout.flush()
