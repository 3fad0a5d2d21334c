"""Sources of stored messages."""

import asyncio
import json
from collections.abc import Sequence

from tests.end_to_end.stage import Stage
from tests.end_to_end.tables import stored


async def sources(stage: Stage, role: str = "user") -> Sequence[str]:
    """Return the sources of the newest stored message with that role."""
    query = "SELECT message FROM transcript ORDER BY seq DESC"
    found = [json.loads(text) for (text,) in await asyncio.to_thread(stored, stage.program.home, query)]
    newest: Sequence[str] = next(message["origin"]["sources"] for message in found if message["role"] == role)
    return newest
