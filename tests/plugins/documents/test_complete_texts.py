"""The text of every document is read completely and in order."""

import re
from pathlib import Path

from agent_core.clock import SystemClock
from agent_core.sandbox.command import Launcher
from agent_core.sandbox.process import ProcessSandbox
from gateway.plugins.documents.reader.page import Wish
from gateway.plugins.documents.reader.program import Job
from gateway.plugins.documents.sandboxed import DocumentReader
from tests.plugins.documents.references import Reference, references


async def missing(reader: DocumentReader, reference: Reference) -> list[str]:
    """Return the words of a document that were not read, or not in their place."""
    found = await reader.read(reference.content, Job(reference.name, Wish(), room=1_000_000))
    read = re.findall(r"(?:word|词)\d+x\d+", "\n".join(each.text for each in found.pages))
    return [] if read == list(reference.words) else [*set(reference.words) ^ set(read)] or ["the order"]


async def test_nothing_is_missing_in_sixty_documents(launcher: Launcher, tmp_path: Path) -> None:
    reader = DocumentReader(ProcessSandbox(launcher, SystemClock()), tmp_path / "documents")

    lacking = {each.name: words for each in references() if (words := await missing(reader, each))}

    assert lacking == {}
