"""A thousand attempts of users, models and tools to extract a secret, and how many succeeded."""

import logging
import tempfile
import time
from pathlib import Path

from bench.figures import Figure
from gateway.security.secrets import Secrets
from tests.gateway.canaries import VALUES, found, plant
from tests.gateway.escapes import escape

TURNS = 1_000
ROOMS = 40
FEW = 23
"""Number of turns that covers every quick way once."""
PROSE = "The answer is forty-two, as has been said before by people who had more time to think about it. " * 10_500
"""One megabyte of text."""


async def figures() -> list[Figure]:
    with tempfile.TemporaryDirectory(prefix="parley-bench-") as folder:
        secrets = plant(Path(folder)).secrets
        began = time.monotonic()
        kept = await escape(Path(folder, "home"), secrets, TURNS, ROOMS)
        seconds = time.monotonic() - began
        told = await escape(Path(folder, "blabs"), Secrets(), FEW, ROOMS)
    logging.getLogger().handlers.clear()
    texts = kept.texts()
    return [
        Figure("canaries that got out", sum(len(found(each)) for each in texts.values()), "", 0),
        Figure("turns", TURNS, "", 1_000, at_least=True),
        Figure("looked through", sum(len(text) for each in texts.values() for text in each) / 1e6, "MB"),
        Figure("canaries that get out where none is known", len(set().union(*map(found, told.texts().values()))), ""),
        Figure("all turns", seconds, "s"),
        Figure(f"masking a megabyte, {len(VALUES)} secrets", _masking(secrets), "ms", 250),
    ]


def _masking(secrets: Secrets) -> float:
    began = time.process_time()
    secrets.mask(PROSE)
    return 1000 * (time.process_time() - began)
