"""Reading of documents: how complete, how contained, how fast and how large it is. Its plugin has the measures."""

import importlib
import importlib.util

from bench.figures import Figure


async def figures() -> list[Figure]:
    """Return the figures; none where the plugin was taken out."""
    if importlib.util.find_spec("tests.plugins.documents") is None:
        return []
    measured: list[Figure] = await importlib.import_module("tests.plugins.documents.figures").figures()
    return measured
