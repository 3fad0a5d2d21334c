"""`python -m bench [NAME...]`: run all benches, or those named, and print one table. Exit code 0, whatever it says."""

import asyncio
import importlib
import logging
import sys
import time

from bench.figures import Figure, machine, table

BENCHES = ("latency", "crowd", "start", "request_size", "kill", "progress", "cost")


def main(names: list[str]) -> int:
    unknown = set(names) - set(BENCHES)
    if unknown:
        print(f"no bench named {', '.join(sorted(unknown))}; there are {', '.join(BENCHES)}", file=sys.stderr)
        return 2
    logging.getLogger("aiohttp.server").disabled = True  # a bot that is killed leaves its requests behind
    print(machine())
    began = time.monotonic()
    found: list[Figure] = []
    for name in names or BENCHES:
        measured = asyncio.run(importlib.import_module(f"bench.{name}").figures())
        print(f"\n{name}\n{table(measured)}", flush=True)
        found += measured
    missed = [figure.name for figure in found if figure.verdict == "MISSED"]
    print(f"\n{time.monotonic() - began:.0f} s; missed: {', '.join(missed) or 'nothing'}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
