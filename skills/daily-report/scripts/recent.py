"""Lists the recently changed files of a folder with details for a report, or prints `Nothing to report.`"""

import argparse
import csv
import os
import re
import stat
import sys
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple

MOST_FILES, MOST_HEADINGS, MOST_BYTES = 40, 6, 1_000_000
WORDS = {".md", ".txt", ".log", ".rst", ".org", ".markdown"}
TABLES = {".csv", ".tsv"}
HEADING = re.compile(r"^#{1,3} +(.+?)\s*#*$", re.MULTILINE)
OPEN, DONE = re.compile(r"^\s*[-*+] \[ \] ", re.MULTILINE), re.compile(r"^\s*[-*+] \[[xX]\] ", re.MULTILINE)
OURS = {"reports", "watch", "report.png", "usage.csv", "usage.png"}
"""Files and folders that reports themselves create, which are ignored."""
NUMBER = re.compile(r"[-+]?[.,]*\d[\d.,]*\s*%?")


class Found(NamedTuple):
    path: Path
    changed: datetime
    size: int


def files(folder: Path) -> Iterator[Found]:
    """Yield all files except hidden and ignored ones; links are not followed."""
    for here, folders, names in os.walk(folder):
        left_out = OURS if Path(here) == folder else set()
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in left_out)
        for name in sorted(names):
            path = Path(here, name)
            if name.startswith(".") or name in left_out:
                continue
            try:
                status = path.lstat()
                changed = datetime.fromtimestamp(status.st_mtime).astimezone()
            except (OSError, OverflowError, ValueError):
                continue  # deleted meanwhile, or with an invalid time
            if stat.S_ISREG(status.st_mode):
                yield Found(path, changed, status.st_size)


def about(file: Found, folder: Path) -> str:
    line = f"- {file.path.relative_to(folder)}  {file.changed:%Y-%m-%d %H:%M}, {file.size:,} bytes"
    kind = file.path.suffix.lower()
    if file.size > MOST_BYTES or kind not in WORDS | TABLES:
        return line
    try:
        text = file.path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        return f"{line}; cannot be read: {error.strerror}"
    except UnicodeDecodeError:
        return f"{line}; not in UTF-8: read_file tells what is in it"
    more = of_table(text) if kind in TABLES else of_words(text)
    return "; ".join([line, *more])


def of_words(text: str) -> Iterator[str]:
    if headings := HEADING.findall(text):
        yield "headings: " + " / ".join(headings[:MOST_HEADINGS])
    if tasks := len(OPEN.findall(text)):
        yield f"{tasks} open"
    if tasks := len(DONE.findall(text)):
        yield f"{tasks} done"


def of_table(text: str) -> Iterator[str]:
    delimiter = max(",;\t|", key=text.partition("\n")[0].count)
    try:
        head, *rows = [row for row in csv.reader(text.splitlines(), delimiter=delimiter) if any(row)] or [[]]
    except csv.Error:
        return
    yield f"{len(rows)} rows"
    names = [
        name.strip()
        for at, name in enumerate(head)
        if rows and all(NUMBER.fullmatch(row[at].strip()) for row in rows if len(row) > at and row[at].strip())
    ]
    if names:
        yield f"numbers: {', '.join(names[:MOST_HEADINGS])}"
    if changed := list(changes(head, rows, names)):
        yield f"changed: {', '.join(changed[:MOST_HEADINGS])}"


def changes(head: Sequence[str], rows: Sequence[Sequence[str]], names: Sequence[str]) -> Iterator[str]:
    """Return the numbers of the last row that differ from the row before."""
    if len(rows) < 2:  # noqa: PLR2004
        return
    before, last = rows[-2:]
    for name, old, new in zip(head, before, last, strict=False):
        if name.strip() in names and old.strip() != new.strip():
            yield f"{name.strip()} {old.strip()} -> {new.strip()}"


def report(folder: Path, since: datetime) -> list[str]:
    found = sorted((file for file in files(folder) if file.changed >= since), key=lambda file: file.changed)
    if not found:
        return ["Nothing to report.", f"No file in {folder} has changed since {since:%Y-%m-%d %H:%M}."]
    shown = found[::-1][:MOST_FILES]
    lines = [f"{len(found)} files changed since {since:%Y-%m-%d %H:%M}, newest first:"]
    lines += [about(file, folder) for file in shown]
    if len(found) > len(shown):
        lines.append(f"and {len(found) - len(shown)} more, older ones")
    return lines


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="recent.py", description="List what is new in a folder.")
    parser.add_argument("folder", type=Path, nargs="?", default=Path())
    parser.add_argument("--hours", type=float, default=24.0)
    parser.add_argument("--since", type=datetime.fromisoformat, help="such as 2026-12-27T09:00")
    asked = parser.parse_args(arguments)
    if not asked.folder.is_dir():
        sys.stderr.write(f"recent.py: there is no folder {asked.folder}\n")
        return 2
    try:
        since = (asked.since or datetime.now().astimezone() - timedelta(hours=asked.hours)).astimezone()
    except (OverflowError, ValueError) as error:
        sys.stderr.write(f"recent.py: that time cannot be used: {error}\n")
        return 2
    sys.stdout.write("\n".join([*report(asked.folder, since), ""]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
