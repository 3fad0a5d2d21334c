"""`python -m bench [NAME...] [--on telegram,slack,discord]`: run benches and print one table for each.

Without names all of them run, and without `--on` on all platforms. The exit code is 0 whatever the figures are;
`python -m bench house --check` alone is a gate, which exits with 1 if it fails. `python -m bench pictures`,
`python -m bench commands` and `python -m bench public` measure nothing: they draw docs/architecture/README.md, and
write what is told of the commands, and docs/public.md. `python -m bench flame` draws bench/hello.svg.
"""

import argparse
import asyncio
import importlib
import logging
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from bench import flame
from bench.commands import commands, pages
from bench.entered import trips
from bench.figures import Figure, machine, table
from bench.house import failure
from bench.kills import Sizes
from bench.modules import PRODUCT, modules
from bench.pictures import PAGE, page
from bench.place import PLACES
from bench.public import PAGE as PUBLIC
from bench.public import page as public_page

ON_EACH = ("latency", "crowd", "burst", "start", "kill", "progress", "socket")
"""Benches that run on every platform."""
ONCE = (
    "request_size",
    "skills",
    "cost",
    "loop",
    "memory",
    "schedules",
    "zones",
    "sandbox",
    "confined",
    "documents",
    "quotas",
    "budgets",
    "search",
    "authorize",
    "audit",
    "canaries",
    "injections",
    "page",
    "screens",
    "path",
    "house",
)
"""Benches that do not depend on the platform."""
KILLS = "kills"
"""A bench that takes minutes and therefore runs only if it is named."""
HOOKS = "hooks"
"""Another one, of events that other programs report."""
CHAOS = "chaos"
"""Another one, of several nodes on all platforms at once."""
CLUSTER = "cluster"
"""A bench of several nodes; like chaos it starts a PostgreSQL, and runs only if it is named."""
NEWCOMER = "newcomer"
"""A bench that installs Parley from a package index; it runs only if it is named, too."""
VERSIONS = "versions"
"""A bench of two versions of Parley; it runs only if it is named, as it needs another checkout."""
SOCKETS = ("slack", "discord")
"""Platforms whose events come over a socket that the platform may close."""


def _draw_pictures() -> None:
    PAGE.write_text(page(asyncio.run(trips())), "utf-8")


def _write_commands() -> None:
    for path, text in pages(asyncio.run(commands())).items():
        path.write_text(text, "utf-8")


DRAWN: Mapping[str, Callable[[], object]] = {
    "pictures": _draw_pictures,
    "commands": _write_commands,
    "public": lambda: PUBLIC.write_text(public_page(), "utf-8"),
    "flame": flame.main,
}
"""Outputs that are made from the code and are no table of figures."""


def main(arguments: Sequence[str]) -> int:
    if list(arguments) == ["house", "--check"]:
        why = failure(modules(*PRODUCT))
        if why:
            print(why)
        return 1 if why else 0
    if len(arguments) == 1 and (draw := DRAWN.get(arguments[0])):
        draw()
        return 0
    names, platforms, sizes, beside = _read(arguments)
    logging.getLogger("aiohttp.server").disabled = True  # a killed bot leaves its requests behind
    print(machine())
    began = time.monotonic()
    missed: list[str] = []
    for title, measured in _measure(names, platforms, sizes, beside):
        print(f"\n{title}\n{table(measured)}", flush=True)
        missed += [f"{title}: {figure.name}" for figure in measured if figure.verdict == "MISSED"]
    print("\n  ".join([f"\n{time.monotonic() - began:.0f} s; missed:", *(missed or ["nothing"])]))
    return 0


def _read(arguments: Sequence[str]) -> tuple[list[str], list[str], Sizes, Path]:
    """Parse the command line into benches, platforms, the sizes of `kills`, and the checkout for `versions`."""
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measure Parley beside bare bots.")
    known_names = (*ON_EACH, *ONCE, KILLS, HOOKS, CHAOS, CLUSTER, NEWCOMER, VERSIONS)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(known_names))
    parser.add_argument("--on", default=",".join(PLACES), metavar="PLATFORMS", help="default: %(default)s")
    for name, default in (("messages", 1000), ("chats", 20), ("kills", 60), ("seed", 1)):
        parser.add_argument(
            f"--{name}", type=int, default=default, help="of kills, hooks and chaos; default: %(default)s"
        )
    for name, default in (("freezes", 20), ("restarts", 5), ("nodes", 3)):
        parser.add_argument(f"--{name}", type=int, default=default, help="of chaos; default: %(default)s")
    parser.add_argument("--signal", choices=("kill", "term"), default="kill", help="of kills; default: %(default)s")
    parser.add_argument("--beside", type=Path, metavar="FOLDER", help="the other checkout of versions")
    read = parser.parse_args(arguments)
    if VERSIONS in read.names and read.beside is None:
        parser.error("versions needs --beside FOLDER, a checkout of the other version")
    names: list[str] = read.names or [*ON_EACH, *ONCE]
    sizes = Sizes(
        read.messages, read.chats, read.kills, read.signal, read.seed, read.freezes, read.restarts, read.nodes
    )
    platforms: list[str] = read.on.split(",")
    for given, known in ((names, known_names), (platforms, tuple(PLACES))):
        unknown = sorted(set(given) - set(known))
        if unknown:
            parser.error(f"there is no {', '.join(unknown)}; there are {', '.join(known)}")
    return names, platforms, sizes, read.beside or Path()


def _measure(
    names: Sequence[str], platforms: Sequence[str], sizes: Sizes, beside: Path
) -> Iterator[tuple[str, list[Figure]]]:
    """Run the benches and yield the title and figures of each when it is done."""
    for name in names:
        figures = importlib.import_module(f"bench.{name}").figures
        if name in (*ONCE, CLUSTER, NEWCOMER):
            yield name, asyncio.run(figures())
            continue
        if name == CHAOS:
            yield name, asyncio.run(figures(sizes))
            continue
        for platform in platforms:
            if name == VERSIONS:
                yield f"{name} on {platform}, beside {beside}", asyncio.run(figures(platform, beside))
            elif name == HOOKS:
                yield f"{name} on {platform}", asyncio.run(figures(platform, sizes))
            elif name == KILLS:
                yield f"{name} on {platform}, by {sizes.signal}", asyncio.run(figures(platform, sizes))
            elif name != "socket" or platform in SOCKETS:
                yield f"{name} on {platform}", asyncio.run(figures(platform))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
