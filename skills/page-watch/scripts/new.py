"""Prints the lines of `NAME.now` that were not there at earlier looks, and stores them in `NAME.json`.

The same content within ten minutes gets the same answer, so that an interrupted run loses nothing. A line with an
address is new once. A line without one is new whenever it was missing at the last look, so that a price may return.
"""

import argparse
import hashlib
import json
import re
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

MOST_LINES, MOST_KEPT, MOST_BYTES = 200, 2_000, 1_000_000
AGAIN = 600.0
"""Seconds within which the same content counts as a repeated look."""
ADDRESS = re.compile(r"https?://[^\s<>\"')\]]+")
FOLLOWED = re.compile(r"[?&](?:utm_\w+|fbclid|gclid|ref)=[^&#]*")
"""Tracking parameters, which do not distinguish addresses."""


class Kept(NamedTuple):
    seen: list[str]
    facts: list[str]
    """Lines without an address at the last look."""
    look: str
    """Digest of the content at the last look."""
    at: float
    new: list[str]
    """New lines at the last look."""
    first: bool


def lines(text: str) -> Iterator[str]:
    """Yield the lines without list markers, headings and blank lines."""
    for line in text.splitlines():
        words = " ".join(re.sub(r"^\s*(?:[-*+•]|\d{1,3}[.)])\s+", "", line).split())
        if words and not re.match(r"#{1,6} ", words):
            yield words


def key(line: str) -> str:
    """Return the identity of a line: its address without tracking parameters, or its words in lower case."""
    found = ADDRESS.search(line)
    if found is None:
        return re.sub(r"[^\w%€$£¥+-]+", " ", line).casefold().strip()
    address = found.group().rstrip(".,;:!?").partition("#")[0]
    return FOLLOWED.sub("", address).rstrip("/?&").casefold()


def read_kept(path: Path) -> Kept | None:
    """Return the stored state, or None. Raises ValueError for any other file."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    match found:
        case {
            "seen": [*seen],
            "facts": [*facts],
            "look": str(look),
            "at": float() | int() as at,
            "new": [*new],
            "first": bool(first),
        }:
            return Kept(list(map(str, seen)), list(map(str, facts)), look, float(at), list(map(str, new)), first)
        case _:
            raise ValueError("it holds something else")


def keep(path: Path, kept: Kept) -> None:
    """Write the file atomically."""
    arriving = path.with_name(f"{path.name}.part")
    arriving.write_text(json.dumps(kept._asdict(), ensure_ascii=False, indent=1), encoding="utf-8")
    arriving.replace(path)


def told(kept: Kept) -> list[str]:
    if kept.first:
        return [f"First look: {len(kept.new)} lines are kept, and what is new is told from the next look on."]
    return [f"{len(kept.new)} new:", *(f"- {line}" for line in kept.new)] if kept.new else ["Nothing new."]


def looked(path: Path, text: str, now: float) -> Kept:
    """Compare the content with the stored state and update it. Raises ValueError and OSError."""
    before = read_kept(path)
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    if before is not None and before.look == digest and 0 <= now - before.at < AGAIN:
        return before
    found = {name: line for line in lines(text) if (name := key(line))}
    facts = [name for name in found if not ADDRESS.match(name)]
    known = {*before.seen, *before.facts} if before else set()
    new = [name for name in found if name not in known][:MOST_LINES]
    seen = [name for name in new if ADDRESS.match(name)] + (before.seen if before else [])
    kept = Kept(seen[:MOST_KEPT], facts, digest, now, [found[name] for name in new], first=before is None)
    keep(path, kept)
    return kept


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="new.py", description="Tell what is new since the last look.")
    parser.add_argument("name", type=Path, metavar="watch/NAME")
    name = parser.parse_args(arguments).name
    now, kept = (name.with_name(f"{name.name.removesuffix('.now')}{suffix}") for suffix in (".now", ".json"))
    try:
        if now.stat().st_size > MOST_BYTES:
            sys.stderr.write(f"new.py: {now} is larger than {MOST_BYTES:,} bytes\n")
            return 2
        text = now.read_text(encoding="utf-8-sig", errors="replace")
    except OSError as error:
        sys.stderr.write(f"new.py: cannot read {now}: {error.strerror}; write the lines of this look there first\n")
        return 2
    try:
        said = told(looked(kept, text, time.time()))
    except OSError as error:
        sys.stderr.write(f"new.py: cannot keep {kept}: {error.strerror}\n")
        return 2
    except ValueError as error:
        sys.stderr.write(f"new.py: {kept} cannot be used ({error}); take it away to begin anew\n")
        return 2
    sys.stdout.write("\n".join([*said, ""]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
