"""`python -m bench [NAME...] [--on telegram,slack,discord]`: run all benches, or those named, on all platforms or those
named, and print one table for each. Exit code 0, whatever they say."""

import argparse
import asyncio
import importlib
import logging
import sys
import time
from collections.abc import Iterator, Sequence

from bench.figures import Figure, machine, table
from bench.place import PLACES

ON_EACH = ("latency", "crowd", "start", "kill", "progress", "socket")
"""What is measured on every platform."""
ONCE = ("request_size", "skills", "cost", "loop", "schedules", "zones", "sandbox", "confined", "canaries", "injections")
"""What does not depend on the platform."""
SOCKETS = ("slack", "discord")
"""Where events come over a socket that the platform may take away."""


def main(arguments: Sequence[str]) -> int:
    names, platforms = _read(arguments)
    logging.getLogger("aiohttp.server").disabled = True  # a bot that is killed leaves its requests behind
    print(machine())
    began = time.monotonic()
    missed: list[str] = []
    for title, measured in _measure(names, platforms):
        print(f"\n{title}\n{table(measured)}", flush=True)
        missed += [f"{title}: {figure.name}" for figure in measured if figure.verdict == "MISSED"]
    print("\n  ".join([f"\n{time.monotonic() - began:.0f} s; missed:", *(missed or ["nothing"])]))
    return 0


def _read(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Benches and platforms."""
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measure Parley beside bare bots.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join((*ON_EACH, *ONCE)))
    parser.add_argument("--on", default=",".join(PLACES), metavar="PLATFORMS", help="default: %(default)s")
    read = parser.parse_args(arguments)
    names: list[str] = read.names or [*ON_EACH, *ONCE]
    platforms: list[str] = read.on.split(",")
    for given, known in ((names, (*ON_EACH, *ONCE)), (platforms, tuple(PLACES))):
        unknown = sorted(set(given) - set(known))
        if unknown:
            parser.error(f"there is no {', '.join(unknown)}; there are {', '.join(known)}")
    return names, platforms


def _measure(names: Sequence[str], platforms: Sequence[str]) -> Iterator[tuple[str, list[Figure]]]:
    """Each bench's title and figures, as they come."""
    for name in names:
        figures = importlib.import_module(f"bench.{name}").figures
        if name in ONCE:
            yield name, asyncio.run(figures())
            continue
        for platform in platforms:
            if name != "socket" or platform in SOCKETS:
                yield f"{name} on {platform}", asyncio.run(figures(platform))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
