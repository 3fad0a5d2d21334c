"""Sources of stored messages."""

import asyncio
import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing

from gateway.store.opening import FILE
from tests.end_to_end.stage import Stage


async def sources(stage: Stage, role: str = "user") -> Sequence[str]:
    """Return the sources of the newest stored message with that role."""

    def read() -> str:
        with closing(sqlite3.connect(f"file:{stage.program.home / FILE}?mode=ro", uri=True)) as store:
            query = (
                "SELECT json_extract(message, '$.sources') FROM transcript"
                " WHERE json_extract(message, '$.role') = ? ORDER BY seq DESC LIMIT 1"
            )
            return str(store.execute(query, (role,)).fetchone()[0])

    found: list[str] = json.loads(await asyncio.to_thread(read))
    return found
