"""Sources of stored messages, and files with some words."""

import asyncio
import json
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from tests.end_to_end.stage import Stage
from tests.end_to_end.tables import stored


async def sources(stage: Stage, role: str = "user") -> Sequence[str]:
    """Return the sources of the newest stored message with that role."""
    query = "SELECT message FROM transcript ORDER BY seq DESC"
    found = [json.loads(text) for (text,) in await asyncio.to_thread(stored, stage.program.home, query)]
    newest: Sequence[str] = next(message["origin"]["sources"] for message in found if message["role"] == role)
    return newest


def files_with(folder: Path, words: str) -> list[Path]:
    """Return the files that hold the words; files and folders may vanish meanwhile."""
    found = []
    for path, _, names in os.walk(folder):
        for file in (Path(path) / name for name in names):
            with suppress(FileNotFoundError):
                if file.is_file() and words.encode() in file.read_bytes():
                    found.append(file)
    return found
