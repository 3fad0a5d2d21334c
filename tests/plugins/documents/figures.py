"""Figures of documents: how complete, how contained, how fast and how large reading them is."""

import resource
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from agent_core.clock import SystemClock
from agent_core.sandbox.probe import NoLauncher, find_launcher
from agent_core.sandbox.process import ProcessSandbox
from bench.figures import Figure, median
from gateway.plugins.documents.reader.job import Job
from gateway.plugins.documents.reader.page import Wish
from gateway.plugins.documents.sandboxed import DocumentReader, NotRead
from tests.plugins.documents.hostile_samples import HOSTILE
from tests.plugins.documents.pdf_samples import pdf
from tests.plugins.documents.references import references
from tests.plugins.documents.test_complete_texts import missing

PAGES, LINES = 100, 55
TIMES = 5


async def figures() -> list[Figure]:
    """Measure in this machine's sandbox; without one there is nothing to measure."""
    with tempfile.TemporaryDirectory(prefix="parley-bench-") as folder:
        launcher = await find_launcher(Path(folder))
        if isinstance(launcher, NoLauncher):
            return []
        reader = DocumentReader(ProcessSandbox(launcher, SystemClock()), Path(folder) / "documents")
        known = list(references())
        complete = sum([not await missing(reader, each) for each in known])
        seconds = median([await _seconds(reader) for _ in range(TIMES)])
        good = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        contained = sum([await _is_contained(reader, each.name, each.make()) for each in HOSTILE.values()])
    return [
        Figure(f"complete texts, of {len(known)}", complete, "documents", len(known), at_least=True),
        Figure(f"hostile files contained, of {len(HOSTILE)}", contained, "files", len(HOSTILE), at_least=True),
        Figure(f"a PDF of {PAGES} pages", seconds, "s", 3),
        Figure("most memory of the reader", good, "MB", 300),
    ]


async def _seconds(reader: DocumentReader) -> float:
    lines = [f"{each} The party of the first part pays the party of the second part" for each in range(LINES)]
    content = pdf(*[[f"Page {number}", *lines] for number in range(1, PAGES + 1)])
    began = time.perf_counter()
    found = await reader.read(content, Job("long.pdf", Wish(), room=10_000_000), None)
    assert found.done == PAGES
    return time.perf_counter() - began


async def _is_contained(reader: DocumentReader, name: str, content: bytes) -> bool:
    """Return True if the file was read, or refused with a reason, and the reader reads on."""
    with suppress(NotRead):
        await reader.read(content, Job(name, Wish()), None)
    found = await reader.read(pdf(["fine"]), Job("fine.pdf", Wish()), None)
    return found.pages[0].text == "fine"
